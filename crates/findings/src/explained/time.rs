//! Findings of `assay time`.

use super::{Explain, Explained, says};
use assay_model::TimeRule;

impl Explain for TimeRule {
    fn explained(self) -> Option<Explained> {
        use TimeRule as T;
        match self {
            T::RunQueueOverloaded => says(
                "Threads that wait for a processor on average (from 1 on), and the pool that has half of the waiting or more.",
                "One pool has more runnable threads than there are processors.",
                "Fewer threads in that pool, or more processors (a higher CPU limit).",
            ),
            T::SoftirqOnOneCpu => says(
                "Soft interrupts of each processor; made where one has 30 % of its time in them, and 60 % of all.",
                "The network adapter interrupts one processor, or has one receive queue.",
                "More receive queues (`ethtool -L`), or receive packet steering (`rps_cpus`).",
            ),
            T::GcThreadsThrottled => says(
                "Time for which the CPU limit stopped the group, its quota, and the collector's threads and CPU time (from 10 % on).",
                "More collector threads run than the quota has processors: they use it up, and the application is stopped with them.",
                "`-XX:ParallelGCThreads` as large as the quota, or a higher CPU limit.",
            ),
            T::GcThreadsOverCpus => says(
                "JVMs on the machine, their threads for parallel collection together, the processors, and how long ours waited.",
                "Each JVM sizes its collector for the whole machine.",
                "`-XX:ParallelGCThreads=N` for each JVM, so that the sum is near the number of processors.",
            ),
            T::BusyWait => says(
                "A thread's CPU time and voluntary switches: it ran or was ready 95 % of the time and never waited.",
                "A busy-wait loop, or one long computation.",
                "`jcmd PID Thread.print` shows what it runs.",
            ),
            T::ShortRuns => says(
                "Voluntary switches in a second of CPU time, from 10,000 on, of a pool with 20 % of the CPU time.",
                "A lock that is handed from thread to thread, or I/O in tiny pieces.",
                "`jcmd PID Thread.print`, several times, shows what they are parked on.",
            ),
            T::StillCompiling => says(
                "CPU time of the compilers, from 20 % of the process's on.",
                "The JVM is warming up.",
                "Measure again when it has run longer: figures for each request are not yet those of a warm server.",
            ),
            T::FaultStorm => says(
                "Page faults without a read in a second of CPU time (from 50,000 on), and the share of time in the kernel (from 20 %).",
                "Memory is mapped, touched and given back all the time; each first touch of a page is a fault.",
                "Of the collector: `-Xms` as large as `-Xmx` with `-XX:+AlwaysPreTouch`. Of others: keep and reuse buffers. Or large pages.",
            ),
            T::FaultsInOnePlace => says(
                "The share of sampled page faults in one part of the memory, with its interval (from 60 % on).",
                "That part grows, or is given back and touched anew.",
                "In the Java heap: `-Xms` as large as `-Xmx` with `-XX:+AlwaysPreTouch`. Elsewhere `assay memory PID` and `assay memory diff` show what grows.",
            ),
            T::OneKindOfCall => says(
                "CPU time, rate and waits of one kind of system call, from 20 % of the CPU time on.",
                "Many small calls: messages, locks, mappings, connections.",
                "Fewer and larger calls: buffers, batches, keep-alive. The finding says which for the kind of call.",
            ),
            T::CarriersBlocked => says(
                "Samples of carrier threads that found one in a native method's system call, from 20 % on, with the calls.",
                "A virtual thread in native code keeps its carrier, and other virtual threads wait for one.",
                "Such calls belong on platform threads; `-Djdk.virtualThreadScheduler.parallelism=N` adds carriers.",
            ),
            T::FalseSharing => says(
                "A line of the caches that several threads write at different bytes, with the samples of their stores.",
                "Each write takes the line away from the other processors.",
                "Keep what threads write 64 bytes apart: `@Contended` with `-XX:-RestrictContended`, `LongAdder`.",
            ),
            T::KernelStorm => says(
                "A pool's share of CPU time in the kernel, with its interval (from 50 % on), where page faults are few.",
                "System calls.",
                "`perf trace -s -p PID` counts the calls, and so does `assay time` where it may load programs into the kernel; fewer and larger ones cost less.",
            ),
            T::Other => None,
        }
    }
}
