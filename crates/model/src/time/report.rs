//! The CPU time of a process over an interval: what `assay time PID --json` prints.

use super::{
    CarrierWaits, DataAccesses, FaultPlaces, HardwareCounters, ThreadRole, TimeRecording, TimeSamples,
    TimeSource, TimeTraced,
};
use crate::{Certainty, Estimate, Finding, Problem, Provenance, RuleId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPU time that a process used between two readings, by what it was used for. The CPU time of the groups adds up to that of the roles
/// and to `threads_cpu_ns`; with `difference_ns` that is the kernel's total for the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeReport {
    /// `assay.time/4`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// The process, as Assay's own PID namespace numbers it.
    pub pid: u32,
    /// Name of the program (`comm`); command lines are not stored, since they may hold secrets.
    pub program: String,
    /// Start of the process, clock ticks since boot: with `pid` and `boot_id` it is the process and no later one with the same number.
    pub start_ticks: u64,
    /// The boot that `start_ticks` counts from.
    pub boot_id: Option<String>,
    /// Wall-clock time of the last reading, RFC 3339.
    pub taken_at: String,
    /// The first reading, on `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// From the first to the last reading.
    pub duration_ns: u64,
    /// Readings of the threads, the first included.
    pub readings: u64,
    /// CPU time that the readings took in Assay.
    pub readings_cpu_ns: u64,
    /// The JVM; absent when the process is none that could be read.
    pub jvm: Option<TimeJvm>,
    /// What the kernel counts for the process as a whole.
    pub process: ProcessTime,
    /// Σ of the CPU time of the groups.
    pub threads_cpu_ns: u64,
    /// `process.cpu_ns` less `threads_cpu_ns`: what threads used that ended after they were last looked at, or came and went between two
    /// readings, and what lies between the moments at which threads and process are read.
    pub difference_ns: i64,
    /// By how much the moments of reading can make `difference_ns` wrong, either way.
    pub difference_reading_ns: u64,
    /// Threads that were read at least once and ended.
    pub threads_ended: u64,
    /// Threads that were counted to their end by the kernel's records of them; absent where it sends none.
    #[serde(default)]
    pub exit_records: Option<ExitRecordsTime>,
    /// By role, the most CPU time first.
    pub roles: Vec<RoleTime>,
    /// By role and name, the most CPU time first within a role.
    pub groups: Vec<TimeGroup>,
    /// The threads that used most, the most first; bounded.
    pub threads: Vec<ThreadTime>,
    /// Its split by samples; absent where there are none: `left_out` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<TimeSamples>,
    /// What a recording of the flight recorder says; absent where none was requested, or it could not be read: `problems` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<TimeRecording>,
    /// What the processor's counters say; absent where they were not requested, or cannot be had: `left_out` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<HardwareCounters>,
    /// Which lines of the caches threads share; absent as `hardware` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_accesses: Option<DataAccesses>,
    /// Where page faults were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_places: Option<FaultPlaces>,
    /// In which calls carriers of virtual threads waited; absent where there are none, or their calls cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier_waits: Option<CarrierWaits>,
    /// What the JVM held meanwhile; absent where it was not looked at for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm_held: Option<JvmHeld>,
    /// Its split by programs in the kernel; absent where there are none: `left_out` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<TimeTraced>,
    /// Requests in this time, as the user gave them; absent when not given.
    pub requests: Option<f64>,
    /// The control group of the process.
    pub cgroup: Option<CgroupTime>,
    /// The machine.
    pub machine: MachineTime,
    /// What these figures show to be wrong.
    #[serde(default)]
    pub findings: Vec<Finding<RuleId>>,
    /// Which figure comes from where.
    pub figures: Vec<TimeFigure>,
    /// Figures that are not here.
    pub left_out: Vec<LeftOutFigure>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// Sums over some threads. Counts that the kernel does not keep are absent. The split of each sum comes from its own samples, so that those of
/// groups add up to that of their role only within their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TimeSums {
    /// Threads.
    pub threads: u64,
    /// CPU time, user and kernel.
    pub cpu_ns: u64,
    /// Of it, user mode; inferred. Absent where the kernel's samples are too few.
    pub user_ns: Option<u64>,
    /// Of it, in the kernel; inferred.
    pub kernel_ns: Option<u64>,
    /// Share of `cpu_ns` in the kernel, 0 to 1, with its interval.
    pub kernel_share: Option<Estimate>,
    /// Time ready to run, but waiting for a processor.
    pub run_delay_ns: Option<u64>,
    /// Times that a thread gave its processor up to wait for something.
    pub voluntary_switches: Option<u64>,
    /// Times that the kernel took the processor away.
    pub involuntary_switches: Option<u64>,
    /// Page faults that needed no read from a disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Time blocked on block devices, swapping in included.
    pub block_io_ns: Option<u64>,
}

/// What the kernel counts for a process.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProcessTime {
    /// CPU time of all its threads, live and ended.
    pub cpu_ns: u64,
    /// By how much `cpu_ns` may be wrong because of the unit in which it is counted.
    pub cpu_resolution_ns: u64,
    /// `utime`: ticks converted.
    pub user_ns: u64,
    /// `stime`: ticks converted.
    pub kernel_ns: u64,
    /// Share in the kernel, 0 to 1, by these ticks.
    pub kernel_share: Option<Estimate>,
    /// Page faults that needed no read from a disk, ended threads included.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Threads at the last reading.
    pub threads: u64,
    /// CPU time from its start to the last reading.
    #[serde(default)]
    pub cpu_since_start_ns: Option<u64>,
}

/// CPU time that the kernel's records of ended threads add to the readings of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExitRecordsTime {
    /// Threads that had been read before.
    pub threads_seen: u64,
    /// Threads that came and went between two readings.
    pub threads_unseen: u64,
    /// CPU time after the last reading of each, all of it for those that were never read.
    pub cpu_ns: u64,
    /// Of it, what the kernel's total for the process has beyond the records, which are as of the last timer interrupt for threads that
    /// have waited: inferred, and shared out by how much each may have used since.
    pub inferred_ns: u64,
    /// Whether more threads ended at once than the kernel keeps records of: some are missing.
    pub has_lost: bool,
}

/// What one role used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleTime {
    /// The role.
    pub role: ThreadRole,
    /// Of its CPU time, that of threads whose role is inferred, as of [`TimeGroup::is_role_inferred`].
    #[serde(default)]
    pub inferred_ns: u64,
    /// What its threads used.
    #[serde(flatten)]
    pub sums: TimeSums,
}

/// What threads of one role and name used: a pool, the workers of a collector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeGroup {
    /// The role.
    pub role: ThreadRole,
    /// The name that the threads share, the last number in it replaced: `http-nio-8080-exec-*`.
    pub name: String,
    /// Whether the role is inferred from the kernel's name of the threads: they ended before the JVM's list could be read, and have the name
    /// of threads with this role; or the JVM has no symbols that give its lists or Java names, and they have a name, or none of the names,
    /// that HotSpot gives its own threads.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_role_inferred: bool,
    /// What its threads used.
    #[serde(flatten)]
    pub sums: TimeSums,
}

/// What one thread used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTime {
    /// Thread id, as Assay's own PID namespace numbers it.
    pub tid: u32,
    /// Java name where there is one, else the kernel's.
    pub name: String,
    /// The role.
    pub role: ThreadRole,
    /// Whether the role is inferred, as of [`TimeGroup::is_role_inferred`].
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_role_inferred: bool,
    /// CPU time.
    pub cpu_ns: u64,
    /// Share of it in the kernel, 0 to 1, with its interval.
    #[serde(default)]
    pub kernel_share: Option<Estimate>,
    /// Time ready to run, but waiting for a processor.
    pub run_delay_ns: Option<u64>,
    /// Times that it gave its processor up to wait for something.
    #[serde(default)]
    pub voluntary_switches: Option<u64>,
    /// Whether it ended before the last reading.
    pub has_ended: bool,
}

/// The JVM, in short.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TimeJvm {
    /// Full version, for example `17.0.15+6-Debian-1deb12u1`, `8u504 (HotSpot 25.504-b01)`.
    pub version: Option<String>,
    /// Feature release, for example 17.
    pub feature: Option<u32>,
    /// `G1`, `Serial`, `Parallel`, `Z`, `Shenandoah`, `Epsilon`.
    pub collector: Option<String>,
}

/// What a JVM held while its CPU time was counted, over several looks. A figure is absent where the JVM does not tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JvmHeld {
    /// Looks at the JVM.
    pub looks: u64,
    /// From the first look to the last.
    pub duration_ns: u64,
    /// Objects in the Java heap, live and dead, where a look found the fewest: no more are live.
    pub heap_bytes_least: Option<u64>,
    /// `MaxHeapSize`.
    pub heap_bytes_max: Option<u64>,
    /// Classes loaded between the first look and the last (`java.cls.loadedClasses`).
    pub classes_loaded: Option<u64>,
}

/// What the control group of the process used in the same time, with all processes in it and in the groups below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupTime {
    /// The group, from its hierarchy's root.
    pub path: String,
    /// CPU time.
    pub cpu_ns: u64,
    /// `cpu_ns` less that of the process: other processes of the group, and interrupts that the kernel charges to nobody else.
    pub others_cpu_ns: i64,
    /// CPU limit, in processors, the tightest of the group and those above; absent means none.
    pub cpus_max: Option<f64>,
    /// Periods in which the process was throttled.
    pub throttled_periods: Option<u64>,
    /// Time for which the limit stopped the group, added up over processors.
    pub throttled_ns: Option<u64>,
}

/// What the machine did in the same time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MachineTime {
    /// Processors online.
    pub cpus: Option<u32>,
    /// CPU time of everybody, stolen time left out.
    pub busy_ns: Option<u64>,
    /// Time that the hypervisor ran something else while a thread was ready, over all processors.
    pub steal_ns: Option<u64>,
    /// Time in soft interrupts of each processor online, in the order of their numbers; sampled.
    #[serde(default)]
    pub softirq_ns: Vec<u64>,
    /// The JVMs that were there at the start.
    #[serde(default)]
    pub jvms: Option<JvmsOfMachine>,
}

/// JVMs of the machine, inferred from the kernel's names of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JvmsOfMachine {
    /// JVMs, the measured one among them.
    pub processes: u64,
    /// Their threads for parallel collection.
    pub gc_threads: u64,
}

/// Where a figure comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeFigure {
    /// The figure, in words.
    pub figure: String,
    /// What it comes from.
    pub source: TimeSource,
    /// How well it is known.
    pub basis: Certainty,
    /// The file or call, and how it is used.
    pub from: String,
}

/// A figure that is not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutFigure {
    /// The figure, in words.
    pub figure: String,
    /// Why it is not here.
    pub why: String,
    /// What would give it.
    pub enable: String,
}
