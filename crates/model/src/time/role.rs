//! Words for who used CPU time, and for where its figures come from.

use crate::closed::closed;

closed! {
    /// What a thread does for the process.
    ThreadRole {
        /// Runs the application: its own threads and those of its pools.
        Application = "application",
        /// Carries virtual threads.
        Carrier = "virtual-thread-carrier",
        /// Waits for sockets and timers on behalf of virtual threads.
        Poller = "virtual-thread-poller",
        /// Works for the garbage collector.
        Collector = "collector",
        /// Compiles with C1, the fast compiler.
        C1 = "C1",
        /// Compiles with C2, the optimising compiler.
        C2 = "C2",
        /// Compiles with another compiler, such as one in Java (JVMCI).
        OtherCompiler = "other-compiler",
        /// The JVM's own: VM thread, watcher, signal dispatcher.
        Vm = "VM",
        /// Java threads of the JDK itself: references, cleaners, timers.
        Jdk = "JDK",
        /// Attached by an agent through the JVM's tool interface.
        Agent = "native-agent",
        /// The JVM does not list it, or the process is not a JVM.
        Unknown = "unknown",
    }
}

impl ThreadRole {
    /// Those of the JIT compilers.
    pub const COMPILERS: [ThreadRole; 3] = [ThreadRole::C1, ThreadRole::C2, ThreadRole::OtherCompiler];

    /// Its name in reports.
    pub const fn title(self) -> &'static str {
        match self {
            ThreadRole::Application => "application",
            ThreadRole::Carrier => "virtual-thread carriers",
            ThreadRole::Poller => "pollers of virtual threads",
            ThreadRole::Collector => "garbage collector",
            ThreadRole::C1 => "C1 compiler",
            ThreadRole::C2 => "C2 compiler",
            ThreadRole::OtherCompiler => "other compilers",
            ThreadRole::Vm => "VM",
            ThreadRole::Jdk => "JDK's own threads",
            ThreadRole::Agent => "native agents",
            ThreadRole::Unknown | ThreadRole::Other => "unknown",
        }
    }
}

closed! {
    /// Where figures of CPU time come from, each better than the one before.
    TimeSource {
        /// Files of `/proc` and of control groups.
        Procfs = "procfs",
        /// The CPU clock of the process.
        CpuClock = "cpu-clock",
        /// What the kernel sends of each thread that ends (taskstats).
        ExitRecords = "exit-records",
        /// Samples of the processors by a software event of the kernel's `perf_event_open`.
        Sampling = "sampling",
        /// Programs on the kernel's raw tracepoints (BPF).
        Tracing = "tracing",
        /// The layout of the JVM, read from its memory.
        VmStructures = "vm-structures",
    }
}
