//! Rules of findings about an account of CPU time.

use crate::closed::closed;

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
