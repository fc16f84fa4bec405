//! The check of a machine and its JVMs: what was read (a snapshot), and what follows from it (a report).

use crate::closed::closed;
use crate::{Finding, JvmContainer, Problem, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

closed! {
    /// A rule of `assay host`.
    HostRule {
        /// Transparent huge pages only where a program asks for them.
        ThpMode = "thp-mode",
        /// No thread waits while the kernel puts a huge page together.
        ThpDefrag = "thp-defrag",
        /// Thread stacks stay out of huge pages.
        ThpThreadStacks = "thp-thread-stacks",
        /// A JVM that asks for transparent huge pages can get them.
        ThpRequested = "thp-requested",
        /// Reserved huge pages are used.
        HugePagesUnused = "huge-pages-unused",
        /// A JVM that asks for huge pages has them.
        HugePagesDelivered = "huge-pages-delivered",
        /// No part of a JVM is swapped out.
        SwapUsed = "swap-used",
        /// The kernel prefers to drop files over swapping out heaps.
        Swappiness = "swappiness",
        /// Strict overcommit leaves room for the reservations of JVMs.
        Overcommit = "overcommit",
        /// The machine survives a process that runs out of memory.
        PanicOnOom = "panic-on-oom",
        /// Memory of another node is used before files are dropped.
        ZoneReclaim = "zone-reclaim",
        /// Pages of bound processes are not moved between nodes.
        NumaBalancing = "numa-balancing",
        /// A JVM on several nodes knows them.
        NumaSpanned = "numa-spanned",
        /// Room for more memory mappings.
        MappingsHeadroom = "mappings-headroom",
        /// Memory is left.
        MemoryAvailable = "memory-available",
        /// Nothing waits for memory.
        MemoryPressure = "memory-pressure",
        /// All heaps fit into the machine's memory.
        HeapsOverMemory = "heaps-over-memory",
        /// Heap and limit of the container leave room for the rest.
        HeapOverContainer = "heap-over-container",
        /// The JVM keeps to the limits of its container.
        ContainerUnseen = "container-unseen",
        /// malloc keeps to few arenas.
        MallocArenas = "malloc-arenas",
        /// Processors run at full frequency.
        Governor = "governor",
        /// Processors prefer speed to saving energy.
        EnergyPreference = "energy-preference",
        /// Hardware threads are on.
        Smt = "smt",
        /// All processors are online.
        OfflineProcessors = "offline-processors",
        /// Reading the clock takes no system call.
        ClockSource = "clock-source",
        /// The hypervisor gives the processors that it promised.
        Steal = "steal",
        /// Threads do not queue for processors.
        CpuPressure = "cpu-pressure",
        /// Nothing waits for disks.
        IoPressure = "io-pressure",
        /// No more work than processors.
        LoadAverage = "load-average",
        /// All hardware counters are free.
        NmiWatchdog = "nmi-watchdog",
        /// The hardware prefetcher is as it was meant.
        Prefetcher = "prefetcher",
        /// The CPU limit does not stop the JVM.
        Throttled = "throttled",
        /// No more GC threads than processors that the JVM may use.
        GcThreadsOverLimit = "gc-threads-over-limit",
        /// GC threads of all JVMs together fit the machine.
        GcThreadsSum = "gc-threads-sum",
        /// A server does not get SerialGC unasked.
        SerialByDefault = "serial-by-default",
        /// Several processors receive packets.
        ReceiveOnOneCpu = "receive-on-one-cpu",
        /// Steering of packets fits the number of queues.
        ReceiveSteering = "receive-steering",
        /// No packet is dropped before the network stack.
        PacketsDropped = "packets-dropped",
        /// The kernel empties the receive queues in one turn.
        ReceiveBudget = "receive-budget",
        /// The accept queue may be long.
        AcceptQueue = "accept-queue",
        /// No connection found the accept queue full.
        AcceptOverflow = "accept-overflow",
        /// Enough local ports.
        LocalPorts = "local-ports",
        /// The queue of half-open connections never overflowed.
        SynQueue = "syn-queue",
        /// Room in the table of tracked connections.
        ConnectionTracking = "connection-tracking",
        /// The network adapter is near its processors.
        AdapterNode = "adapter-node",
        /// Room for more open files.
        OpenFiles = "open-files",
        /// Room for more open files on the machine.
        OpenFilesOfMachine = "open-files-of-machine",
        /// Room for more threads on the machine.
        ThreadsOfMachine = "threads-of-machine",
        /// Room for more threads in the container.
        ThreadsOfGroup = "threads-of-group",
        /// Room for more threads of the user.
        ProcessesOfUser = "processes-of-user",
        /// The heap is not just beyond compressed references.
        CompressedOopsThreshold = "compressed-oops-threshold",
        /// The code cache has its usual size.
        CodeCache = "code-cache",
        /// Thread stacks are not larger than usual.
        ThreadStackSize = "thread-stack-size",
        /// Collections are logged.
        GcLog = "gc-log",
        /// An OutOfMemoryError leaves a heap dump.
        HeapDumpOnOom = "heap-dump-on-oom",
        /// -XX:+UseNUMA has nodes to use.
        NumaWithoutNodes = "numa-without-nodes",
        /// Exceptions that come often keep their stack traces.
        StackTraceOmitted = "stack-trace-omitted",
        /// A JVM on Arm uses the processor's atomic instructions.
        Atomics = "atomics",
        /// NGINX may hold many connections.
        ProxyConnections = "proxy-connections",
        /// NGINX keeps connections open for many requests.
        ProxyRequestsPerConnection = "proxy-requests-per-connection",
        /// NGINX keeps connections to the servers.
        ProxyUpstreamKeepalive = "proxy-upstream-keepalive",
        /// NGINX does not write a line for each request unbuffered.
        ProxyAccessLog = "proxy-access-log",
        /// NGINX may open as many files as it has connections.
        ProxyOpenFiles = "proxy-open-files",
    }
}

closed! {
    /// What a rule says of a value.
    HostVerdict {
        /// It costs something.
        Bad = "bad",
        /// It could not be read, or does not decide.
        Unknown = "unknown",
        /// As it should be.
        Good = "good",
        /// There is nothing here that the rule is about.
        NotApplicable = "not-applicable",
    }
}

/// `assay host --snapshot`: what the rules read, as it was read. It can be judged elsewhere, and by newer rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSnapshot {
    /// `assay.host-snapshot/1`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// When, RFC 3339.
    pub taken_at: String,
    /// Files of the kernel by path.
    pub files: BTreeMap<String, FileRead>,
    /// JVMs that run.
    pub jvms: Vec<HostJvm>,
    /// NGINX servers that run.
    pub proxies: Vec<HostProxy>,
    /// Processes that may be JVMs and could not be read.
    pub not_readable: usize,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// What reading a file gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileRead {
    /// Its text.
    Text(String),
    /// The kernel does not have it.
    Absent,
    /// It is there and cannot be read: why.
    Unreadable(String),
}

/// A JVM, as far as rules ask.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostJvm {
    /// The process.
    pub pid: u32,
    /// Main class or jar.
    pub program: String,
    /// Its release, for example `17.0.15+6`.
    pub version: Option<String>,
    /// Feature release, for example 17.
    pub feature: Option<u32>,
    /// Its collector.
    pub collector: Option<String>,
    /// Flags in force, from the memory of the process: those that somebody set or that a rule asks for. Absent where it cannot be read.
    pub flags: Option<BTreeMap<String, HostFlag>>,
    /// Whether an option asks for a GC log.
    pub logs_collections: Option<bool>,
    /// Files that it has open.
    pub open_files: Option<u64>,
    /// Memory mappings.
    pub mappings: Option<u64>,
    /// Arenas of glibc's malloc, by the shape of the mappings.
    pub malloc_arenas: Option<u64>,
    /// Whether its environment limits the arenas.
    pub limits_arenas: Option<bool>,
    /// Its control group; absent where it cannot be read.
    pub group: Option<HostGroup>,
    /// What it took from its control group; absent where it cannot be read, and in snapshots of versions that did not ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub container: Option<JvmContainer>,
}

/// A flag in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostFlag {
    /// Its value, as the JVM prints it; a secret is replaced.
    pub value: String,
    /// Who set it.
    pub set_by: FlagOrigin,
}

closed! {
    /// Who set a JVM's flag.
    FlagOrigin {
        /// Nobody.
        Default = "default",
        /// Command line, environment variable or file of options.
        User = "user",
        /// The JVM itself, by the machine that it found.
        Ergonomics = "ergonomics",
        /// Another program while the JVM ran.
        Running = "running",
    }
}

/// Limits of a control group and those above it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostGroup {
    /// CPU time per time, in processors; absent means no limit.
    pub cpus: Option<f64>,
    /// Memory; absent means no limit.
    pub memory_bytes: Option<u64>,
    /// Time for which the CPU limit stopped it; absent where it is not counted.
    pub throttled_ns: Option<u64>,
    /// CPU time that it used; absent where it is not counted.
    pub cpu_ns: Option<u64>,
    /// Threads in it; absent where they are not counted.
    pub threads: Option<u64>,
    /// Most threads that it may have; absent means no limit.
    pub threads_max: Option<u64>,
}

/// An NGINX server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostProxy {
    /// Its master process.
    pub pid: u32,
    /// The arguments of each directive that a rule asks for, once for each place where it stands; absent where the configuration cannot be
    /// read.
    pub directives: Option<BTreeMap<String, Vec<String>>>,
}

/// `assay host --json`: what the rules say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostReport {
    /// `assay.host-check/3`
    pub schema: String,
    /// Machine and program that took the snapshot.
    pub provenance: Provenance,
    /// When the snapshot was taken, RFC 3339.
    pub taken_at: String,
    /// One for each rule, or for each rule and JVM: what costs most first.
    pub rulings: Vec<HostRuling>,
    /// JVMs that run.
    pub jvms: usize,
    /// Processes that may be JVMs and could not be read.
    pub not_readable: usize,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// A rule's verdict on the machine or on a JVM: the finding, whose claim is what the rule wants and whose effect is what a bad value
/// costs, with what only the machine has. It has a change only where the value is bad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostRuling {
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding<HostRule>,
    /// What is wrong, in a sentence; absent where nothing is, and in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The JVM; absent means the machine.
    pub pid: Option<u32>,
    /// Its main class or jar.
    pub program: Option<String>,
    /// What it says.
    pub verdict: HostVerdict,
    /// The value.
    pub value: Option<String>,
    /// Where others say otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// What was read.
    pub reads: Vec<String>,
}

impl HostRuling {
    /// What is wrong, in a sentence. Earlier versions stored what the rule asks for alone.
    pub fn fault(&self) -> Cow<'_, str> {
        self.fault.as_deref().map_or_else(|| format!("Not met: {}", self.finding.claim).into(), Cow::Borrowed)
    }
}

/// `assay host diff --json`: what differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostComparison {
    /// `assay.host-comparison/2`
    pub schema: String,
    /// When both were taken, RFC 3339.
    pub taken_at: [String; 2],
    /// Rules whose verdict or value differs: of the machine, since JVMs of two snapshots do not correspond.
    pub rulings: Vec<RulingChange>,
    /// Settings that differ, by path: files that do not change by themselves.
    pub settings: Vec<SettingChange>,
    /// What differs between the two machines: kernel, processors, memory.
    pub machine: Vec<SettingChange>,
}

/// A rule that says something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulingChange {
    /// The rule.
    pub rule: HostRule,
    /// What it wants.
    pub title: String,
    /// Verdicts before and after.
    pub verdicts: [HostVerdict; 2],
    /// Values before and after.
    pub values: [Option<String>; 2],
}

/// A setting that has another value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingChange {
    /// Its path or name.
    pub name: String,
    /// Values before and after; absent where it is not there or could not be read.
    pub values: [Option<String>; 2],
}
