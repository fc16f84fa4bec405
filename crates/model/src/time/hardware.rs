//! What hardware counters say of a process, user mode and kernel apart.

use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// What a processor counts.
    HardwareEvent {
        /// Cycles.
        Cycles = "cycles",
        /// Instructions that were completed.
        Instructions = "instructions",
        /// Reads that missed the first-level data cache.
        L1dMisses = "L1D-read-misses",
        /// Fetches of code that missed the first-level instruction cache.
        L1iMisses = "L1I-misses",
        /// Reads that missed the last-level cache.
        LlcMisses = "LLC-read-misses",
        /// Reads whose page was not in the translation buffer for data.
        DtlbMisses = "dTLB-read-misses",
        /// Fetches of code whose page was not in the translation buffer for code.
        ItlbMisses = "iTLB-misses",
        /// Branches.
        Branches = "branches",
        /// Branches that were predicted wrongly.
        BranchMisses = "branch-misses",
        /// Cycles in which the front end gave no instruction.
        FrontendStalls = "frontend-stall-cycles",
        /// Cycles in which the back end completed none.
        BackendStalls = "backend-stall-cycles",
    }
}

/// The hardware counters of a process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HardwareCounters {
    /// Threads that were counted. New ones are taken in at each reading: what a thread does before its first reading is missing.
    pub threads: u64,
    /// Threads that could not be counted, since they had ended or too few files may be open.
    pub threads_missed: u64,
    /// Groups of events that took turns, so that no more are on a processor at once than it has room for: each was counted for about one
    /// part in so many of the time.
    pub event_groups: u64,
    /// What was counted.
    pub figures: Vec<HardwareFigure>,
}

/// An event, counted together with the instructions of the same time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HardwareFigure {
    /// The event.
    pub event: HardwareEvent,
    /// In user mode.
    pub user: u64,
    /// In the kernel.
    pub kernel: u64,
    /// Instructions in user mode while it was counted.
    pub user_instructions: u64,
    /// Instructions in the kernel while it was counted.
    pub kernel_instructions: u64,
    /// Time for which threads ran while their counters were to count, added up over threads.
    pub enabled_ns: u64,
    /// Of it, the time for which they did count. If it is less, the kernel had them share counters with others (multiplexed), and the counts
    /// are those of this part alone: they are not scaled up.
    pub running_ns: u64,
}

impl HardwareFigure {
    /// Whether the kernel let others count in part of the time.
    pub const fn is_multiplexed(&self) -> bool {
        self.running_ns < self.enabled_ns
    }

    /// Events for each 1000 instructions in user mode, where there were any.
    pub fn user_per_1000_instructions(&self) -> Option<f64> {
        per_1000(self.user, self.user_instructions)
    }

    /// Events for each 1000 instructions in the kernel.
    pub fn kernel_per_1000_instructions(&self) -> Option<f64> {
        per_1000(self.kernel, self.kernel_instructions)
    }
}

fn per_1000(events: u64, instructions: u64) -> Option<f64> {
    (instructions != 0).then(|| events as f64 * 1000.0 / instructions as f64)
}

closed! {
    /// Where in the memory of a process an address is.
    DataPlace {
        /// The Java heap.
        JavaHeap = "java-heap",
        /// What the collector keeps for it: tables of cards, bitmaps.
        GcStructures = "gc-structures",
        /// The stack of a thread.
        Stack = "stack",
        /// A file that is mapped, its data included.
        MappedFile = "mapped-file",
        /// Any other memory.
        Native = "native",
        /// No mapping is known there.
        Unknown = "unknown",
    }
}

impl DataPlace {
    /// Its name in reports.
    pub const fn title(self) -> &'static str {
        match self {
            DataPlace::JavaHeap => "Java heap",
            DataPlace::GcStructures => "GC structures",
            DataPlace::Stack => "stacks",
            DataPlace::MappedFile => "mapped files",
            DataPlace::Native => "native memory",
            DataPlace::Unknown | DataPlace::Other => "unmapped since",
        }
    }
}

/// Where page faults are: samples of them, with their addresses.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FaultPlaces {
    /// One in so many faults is sampled.
    pub one_in: u64,
    /// Samples of this process.
    pub samples: u64,
    /// Samples that found no room.
    pub lost: u64,
    /// By place, the most first.
    pub places: Vec<FaultPlace>,
}

/// Page faults of one place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultPlace {
    /// Where.
    pub place: DataPlace,
    /// Samples.
    pub samples: u64,
    /// Share of all samples, 0 to 1, with its interval.
    pub share: crate::Estimate,
}

/// In which calls carriers of virtual threads were found to wait: a carrier without work waits for some in `futex`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CarrierWaits {
    /// Carriers that were measured.
    pub carriers: u64,
    /// Samples of a carrier, all carriers together.
    pub samples: u64,
    /// Of them, those that found it waiting in a system call other than `futex`: the call of a native method, which keeps the carrier.
    pub blocked: u64,
    /// Samples that found it waiting in `futex` with a virtual thread, which cannot leave it: inside `synchronized` before JDK 24, or called by
    /// native code.
    #[serde(default)]
    pub pinned: u64,
    /// These by call, the most first.
    pub calls: Vec<CarrierCall>,
}

/// A system call in which carriers were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CarrierCall {
    /// Its name, or its number where that is not a common one.
    pub call: String,
    /// Samples that found a carrier in it.
    pub samples: u64,
}

/// Sampled addresses of data: which lines of the caches several threads write.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DataAccesses {
    /// The processor's unit that sampled: `ibs_op`, or the event of `cpu`.
    pub source: String,
    /// Samples of this process with an address.
    pub samples: u64,
    /// Samples that found no room.
    pub lost: u64,
    /// Lines that threads share and of which one writes, the most samples first; bounded.
    pub lines: Vec<SharedLine>,
}

/// A line of 64 bytes that more than one thread used, one of them writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedLine {
    /// Its first address.
    pub address: u64,
    /// Where it is.
    pub place: DataPlace,
    /// Samples.
    pub samples: u64,
    /// Of them, stores.
    pub stores: u64,
    /// Who used it, the most samples first; bounded.
    pub threads: Vec<LineUser>,
    /// Whether no two threads used the same eight bytes: they share the line and not the data.
    pub is_false_sharing: bool,
}

/// A thread's use of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineUser {
    /// Thread id, as Assay's own PID namespace numbers it.
    pub tid: u32,
    /// Samples.
    pub samples: u64,
    /// Of them, stores.
    pub stores: u64,
    /// Offsets in the line, in units of eight bytes.
    pub words: Vec<u8>,
}
