//! What an account of CPU time shows to be wrong.

use crate::Severity;
use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// What `assay time` finds, by the rule that found it.
    TimeRule {
        /// One pool has most of the waiting for processors.
        RunQueueOverloaded = "run-queue-overloaded",
        /// Soft interrupts, mostly of the network, run on one processor.
        SoftirqOnOneCpu = "softirq-on-one-cpu",
        /// The CPU limit stops collections that have more threads than it has processors.
        GcThreadsThrottled = "gc-threads-throttled",
        /// The JVMs of the machine have more threads for collections than it has processors.
        GcThreadsOverCpus = "gc-threads-over-cpus",
        /// A thread ran all the time and waited for nothing.
        BusyWait = "busy-wait",
        /// Threads stop again after a few microseconds: a lock is handed over, or I/O comes in tiny pieces.
        ShortRuns = "short-runs",
        /// Compilation takes much of the CPU time.
        StillCompiling = "still-compiling",
        /// Threads are given new pages all the time.
        FaultStorm = "fault-storm",
        /// Most page faults are in one part of the memory.
        FaultsInOnePlace = "faults-in-one-place",
        /// Much of the CPU time is one kind of system call.
        OneKindOfCall = "one-kind-of-call",
        /// Carriers of virtual threads wait in calls of native methods.
        CarriersBlocked = "carriers-blocked",
        /// Threads write different data in one line of the caches.
        FalseSharing = "false-sharing",
        /// Threads are more in the kernel than outside, and not because of page faults.
        KernelStorm = "kernel-storm",
    }
}

/// A claim about an account, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeFinding {
    /// The rule that made the claim.
    pub rule: TimeRule,
    /// How grave it is.
    pub severity: Severity,
    /// The claim: one sentence.
    pub claim: String,
    /// What it rests on: figures with units, and from where on they count.
    pub evidence: String,
    /// What to do: the setting or command as it is typed.
    pub setting: String,
}
