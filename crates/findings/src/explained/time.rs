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
                "Use fewer threads in that pool.",
                &["Give the process more processors (a higher CPU limit)."],
            ),
            T::SoftirqOnOneCpu => says(
                "Soft interrupts of each processor; made where one has 30 % of its time in them, and 60 % of all.",
                "The network adapter interrupts one processor, or has one receive queue.",
                "Use more receive queues: `ethtool -L`.",
                &["Let other processors handle packets: `rps_cpus`."],
            ),
            T::GcThreadsThrottled => says(
                "Time for which the CPU limit stopped the group, its quota, and the collector's threads and CPU time (from 10 % on).",
                "More collector threads run than the quota has processors: they use it up, and the application is stopped with them.",
                "Set `-XX:ParallelGCThreads` as large as the quota.",
                &["Raise the CPU limit."],
            ),
            T::GcThreadsOverCpus => says(
                "JVMs on the machine, their threads for parallel collection together, the processors, and how long ours waited.",
                "Each JVM sizes its collector for the whole machine.",
                "Set `-XX:ParallelGCThreads=N` for each JVM, so that the sum is near the number of processors.",
                &[],
            ),
            T::BusyWait => says(
                "A thread's CPU time and voluntary switches: it ran or was ready 95 % of the time and never waited.",
                "A busy-wait loop, or one long computation.",
                "See what it runs: `jcmd PID Thread.print`.",
                &[],
            ),
            T::ShortRuns => says(
                "Voluntary switches in a second of CPU time, from 10,000 on, of a pool with 20 % of the CPU time.",
                "A lock that is handed from thread to thread, or I/O in tiny pieces.",
                "See what they are parked on: `jcmd PID Thread.print`, several times.",
                &[],
            ),
            T::StillCompiling => says(
                "CPU time of the compilers, from 20 % of the process's on.",
                "The JVM is warming up.",
                "Measure again when it has run longer: figures for each request are not yet those of a warm server.",
                &[],
            ),
            T::FaultStorm => says(
                "Page faults without a read in a second of CPU time (from 50,000 on), and the share of time in the kernel (from 20 %).",
                "Memory is mapped, touched and given back all the time; each first touch of a page is a fault.",
                "Keep and reuse buffers; of the collector's threads, `-Xms` as large as `-Xmx` with `-XX:+AlwaysPreTouch`.",
                &["Use large pages."],
            ),
            T::FaultsInOnePlace => says(
                "The share of sampled page faults in one part of the memory, with its interval (from 60 % on).",
                "That part grows, or is given back and touched anew.",
                "In the Java heap, `-Xms` as large as `-Xmx` with `-XX:+AlwaysPreTouch`; elsewhere, see what is there: `assay memory PID`.",
                &["Use large pages for the Java heap.", "See what grew elsewhere: `assay memory diff`."],
            ),
            T::OneKindOfCall => says(
                "CPU time, rate and waits of one kind of system call, from 20 % of the CPU time on.",
                "Many small calls: messages, locks, mappings, connections.",
                "Make fewer and larger calls (buffers, batches, keep-alive): the finding says which for the kind of call.",
                &[],
            ),
            T::CarriersBlocked => says(
                "Samples of carrier threads that found one in a native method's system call, from 20 % on, with the calls.",
                "A virtual thread in native code keeps its carrier, and other virtual threads wait for one.",
                "Move such calls to platform threads: `jcmd PID Thread.dump_to_file FILE` shows which.",
                &["Add carriers: `-Djdk.virtualThreadScheduler.parallelism=N`."],
            ),
            T::FalseSharing => says(
                "A line of the caches that several threads write at different bytes, with the samples of their stores.",
                "Each write takes the line away from the other processors.",
                "Keep what threads write 64 bytes apart: `@Contended` with `-XX:-RestrictContended`.",
                &["Let each thread write to an object of its own.", "Count with `LongAdder`."],
            ),
            T::KernelStorm => says(
                "A pool's share of CPU time in the kernel, with its interval (from 50 % on), where page faults are few.",
                "System calls.",
                "Count the calls: `perf trace -s -p PID`.",
                &[
                    "Let `assay time` count them, where it may load programs into the kernel.",
                    "Make fewer and larger calls (buffers, batches).",
                ],
            ),
            T::Other => None,
        }
    }
}
