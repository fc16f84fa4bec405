//! The metrics that windows, variants and comparisons carry, each with its unit and direction.
//!
//! A server's metrics are known beforehand: [`METRICS`]. A benchmark program names its benchmarks itself, so their metrics
//! are made from the name: `ns_per_op/PointerChase.follow(nodes=8192)`. So is that of a limit of the response time, up to which rate
//! it is kept: `rate_at_10_ms_per_s`.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Which direction is an improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Smaller values are better.
    Lower,
    /// Larger values are better.
    Higher,
}

/// Description of one metric. The identifier is the key in `Window::metrics` and `VariantSummary::metrics`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Key in stored files; ends with the unit.
    pub id: Cow<'static, str>,
    /// Title for people.
    pub title: Cow<'static, str>,
    /// Unit as shown beside a value.
    pub unit: &'static str,
    /// Direction of improvement.
    pub better: Better,
    /// How it is measured, in one sentence.
    pub source: &'static str,
    /// Whether others on the machine change it. A time or a rate needs a quiet machine; bytes that a request
    /// allocates do not depend on who else uses the processors.
    pub needs_quiet_machine: bool,
    /// By how many percent a server that is started again may differ, where it is known and small. Times depend on what the JIT compilers make
    /// of this start's profile, and resident memory on when the collector let the heap grow. What a request allocates is the program's, but
    /// for what escape analysis removes.
    pub start_percent_max: Option<u32>,
    /// Whether only studies that ask for it have it (`observe = ["areas"]`): elsewhere nobody misses it.
    pub on_request: bool,
}

/// Of allocation. Four times a server of the demo beside an equal one allocated 1, 1, -1.4 and -3 % more for each request; the intervals of the last
/// excluded 1. In CPU time they differed by 6, 9, -5 and -32 %.
const ALLOCATION_START_PERCENT_MAX: u32 = 5;

macro_rules! metrics {
    ($(#[$about:meta])* $list:ident:
        $($name:ident = $id:literal, $title:literal, $unit:literal, $better:ident $([$($mark:ident),*])?, $source:literal;)*) => {
        $(#[$about])*
        pub const $list: &[Metric] =
            &[$(Metric::new($name, $title, $unit, Better::$better, $source)$($(.$mark())*)?),*];
        $(#[doc = $title] pub const $name: &str = $id;)*
    };
}

metrics! {
    /// All metrics of servers, in the order in which reports list them.
    METRICS:
    GARBAGE_KIB_PER_REQUEST = "garbage_kib_per_request", "Garbage per request", "KiB", Lower [of_program],
        "bytes freed by the collections of a window after its first, divided by the requests completed \
        from the first to the last of these collections (GC log and load generator, same clock); \
        where a window has one collection only, the count begins at the last one before it";
    CPU_MS_PER_REQUEST = "cpu_ms_per_request", "CPU time per request", "ms", Lower [when_quiet],
        "user and system time of the server process in a window, from the scheduler's own accounting, \
        divided by the requests completed in it";
    CPU_WITHOUT_JIT_MS_PER_REQUEST = "cpu_without_jit_ms_per_request", "CPU time per request without JIT compilers", "ms", Lower [when_quiet, when_asked],
        "the same without HotSpot's JIT compiler threads (recognized by name), whose work fades as a server warms up";
    THROUGHPUT_PER_S = "throughput_per_s", "Throughput", "requests/s", Higher [when_quiet],
        "requests answered correctly in a window, divided by its length";
    RESPONSE_P50_MS = "response_p50_ms", "Response time, median", "ms", Lower [when_quiet],
        "from the intended start to the last byte of the answer";
    RESPONSE_P99_MS = "response_p99_ms", "Response time, 99th percentile", "ms", Lower [when_quiet],
        "from the intended start to the last byte of the answer";
    GC_PAUSE_MS_PER_S = "gc_pause_ms_per_s", "Time stopped for collection", "ms/s", Lower [when_quiet],
        "sum of the collection pauses that the GC log gives for a window, divided by its length";
    CRITICAL_RATE_PER_S = "critical_rate_per_s", "Critical rate", "requests/s", Higher [when_quiet, when_asked],
        "geometric mean of the rates up to which a percentile of the response time keeps each of the study's limits";
    MAX_RATE_PER_S = "max_rate_per_s", "Highest sustained rate", "requests/s", Higher [when_quiet, when_asked],
        "highest rate of Poisson arrivals at which right answers keep up with requests, whatever the response time";
    RSS_BYTES = "rss_bytes", "Resident memory", "bytes", Lower,
        "the kernel's resident set size of the server process at the end of a window";
    START_TO_READY_MS = "start_to_ready_ms", "Start-up", "ms", Lower [when_quiet, when_asked],
        "from the start of the server process to the first good answer of its ready URL, which is polled every 20 ms";
    NATIVE_BYTES = "native_bytes", "Resident memory outside the Java heap", "bytes", Lower [when_asked],
        "resident set size less the resident part of the Java heap at the end of a window";
    CLASS_METADATA_BYTES = "class_metadata_bytes", "Resident class metadata", "bytes", Lower [when_asked],
        "metaspace, compressed class space, class-data archive and what hangs off class loaders, from a snapshot of \
        every resident byte at the end of a window";
    JIT_CODE_BYTES = "jit_code_bytes", "Resident JIT-compiled code", "bytes", Lower [when_asked],
        "code cache and what compiled methods keep outside it, from a snapshot of every resident byte at the end of a window";
    JVM_WORK_BYTES = "jvm_work_bytes", "Resident JVM internal memory", "bytes", Lower [when_asked],
        "what the JVM and the JDK's libraries keep for their own work, from a snapshot of every resident byte at the end of a \
        window";
    NATIVE_LIBRARIES_BYTES = "native_libraries_bytes", "Resident memory of native libraries", "bytes", Lower [when_asked],
        "what libraries that are not the JDK's allocate, from a snapshot of every resident byte at the end of a window";
    BUFFERS_BYTES = "buffers_bytes", "Resident direct and mapped buffers", "bytes", Lower [when_asked],
        "native memory that Java objects own, from a snapshot of every resident byte at the end of a window";
    FREED_RESIDENT_BYTES = "freed_resident_bytes", "Memory retained by malloc", "bytes", Lower [when_asked],
        "given to free() and kept by the allocator, from a snapshot of every resident byte at the end of a window";
    APPLICATION_USER_MS_PER_REQUEST = "application_user_ms_per_request", "Application threads, user time per request", "ms", Lower [when_quiet, when_asked],
        "user time of the application's threads, carriers and pollers of virtual threads included, between two readings at the start and \
        the end of a window, divided by the requests completed meanwhile; user and kernel are the kernel's samples";
    APPLICATION_KERNEL_MS_PER_REQUEST = "application_kernel_ms_per_request", "Application threads, kernel time per request", "ms", Lower [when_quiet, when_asked],
        "kernel time of the same threads, likewise";
    COLLECTOR_USER_MS_PER_REQUEST = "collector_user_ms_per_request", "Garbage collector, user time per request", "ms", Lower [when_quiet, when_asked],
        "user time of the collector's threads in a window, for each request; where collections run on the VM thread (Serial) it is among the others'";
    COLLECTOR_KERNEL_MS_PER_REQUEST = "collector_kernel_ms_per_request", "Garbage collector, kernel time per request", "ms", Lower [when_quiet, when_asked],
        "kernel time of the same threads, likewise";
    COMPILER_USER_MS_PER_REQUEST = "compiler_user_ms_per_request", "JIT compilers, user time per request", "ms", Lower [when_quiet, when_asked],
        "user time of the compilers' threads in a window, for each request";
    COMPILER_KERNEL_MS_PER_REQUEST = "compiler_kernel_ms_per_request", "JIT compilers, kernel time per request", "ms", Lower [when_quiet, when_asked],
        "kernel time of the same threads, likewise";
    OTHER_USER_MS_PER_REQUEST = "other_user_ms_per_request", "Other threads, user time per request", "ms", Lower [when_quiet, when_asked],
        "user time of the VM's, the JDK's, agents' and unknown threads in a window, for each request";
    OTHER_KERNEL_MS_PER_REQUEST = "other_kernel_ms_per_request", "Other threads, kernel time per request", "ms", Lower [when_quiet, when_asked],
        "kernel time of the same threads, likewise";
    RUN_DELAY_MS_PER_REQUEST = "run_delay_ms_per_request", "Waiting for a processor per request", "ms", Lower [when_quiet, when_asked],
        "time for which the server's threads were ready to run and had no processor in a window, divided by the requests completed in it";
    VOLUNTARY_SWITCHES_PER_REQUEST = "voluntary_switches_per_request", "Voluntary switches per request", "switches", Lower [when_quiet, when_asked],
        "times that the server's threads gave their processor up to wait for something, for each request";
    FORCED_SWITCHES_PER_REQUEST = "forced_switches_per_request", "Forced switches per request", "switches", Lower [when_quiet, when_asked],
        "times that the kernel took the processor away from the server's threads, for each request";
    MINOR_FAULTS_PER_REQUEST = "minor_faults_per_request", "Minor page faults per request", "faults", Lower [when_asked],
        "pages that the kernel gave or mapped anew while a window was measured, by its count for the server \
        process, divided by the requests completed meanwhile";
    MAJOR_FAULTS_PER_REQUEST = "major_faults_per_request", "Major page faults per request", "faults", Lower [when_asked],
        "page faults that waited for a disk or for swap, likewise";
    COLLECTOR_CPU_PERCENT = "collector_cpu_percent", "Garbage collector's share of CPU time", "%", Lower [when_asked],
        "CPU time of the collector's threads in a window, as a share of that of all threads of the server; where collections run on the \
        VM thread (Serial) it is not known";
    EMULATED_USER_INSTRUCTIONS_PER_REQUEST = "emulated_user_instructions_per_request", "Emulated: user instructions per request", "instructions", Lower [when_asked],
        "instructions of the server's tasks between two marks in an emulated guest, divided by the requests that began and ended between them; a string instruction counts once";
    EMULATED_KERNEL_INSTRUCTIONS_PER_REQUEST = "emulated_kernel_instructions_per_request", "Emulated: kernel instructions per request", "instructions", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_LOADS_PER_REQUEST = "emulated_user_loads_per_request", "Emulated: user loads per request", "loads", Lower [when_asked],
        "accesses to memory that read, counted likewise; each element of a string instruction is one";
    EMULATED_KERNEL_LOADS_PER_REQUEST = "emulated_kernel_loads_per_request", "Emulated: kernel loads per request", "loads", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_STORES_PER_REQUEST = "emulated_user_stores_per_request", "Emulated: user stores per request", "stores", Lower [when_asked],
        "accesses to memory that write, counted likewise";
    EMULATED_KERNEL_STORES_PER_REQUEST = "emulated_kernel_stores_per_request", "Emulated: kernel stores per request", "stores", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_BRANCHES_PER_REQUEST = "emulated_user_branches_per_request", "Emulated: user branches per request", "branches", Lower [when_asked],
        "jumps, calls and returns, counted likewise";
    EMULATED_KERNEL_BRANCHES_PER_REQUEST = "emulated_kernel_branches_per_request", "Emulated: kernel branches per request", "branches", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_BRANCHES_TAKEN_PER_REQUEST = "emulated_user_branches_taken_per_request", "Emulated: user branches taken per request", "branches", Lower [when_asked],
        "branches that did not go on with the next instruction, counted likewise";
    EMULATED_KERNEL_BRANCHES_TAKEN_PER_REQUEST = "emulated_kernel_branches_taken_per_request", "Emulated: kernel branches taken per request", "branches", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_BRANCHES_MISPREDICTED_PER_REQUEST = "emulated_user_branches_mispredicted_per_request", "Emulated: user branches mispredicted per request", "branches", Lower [when_asked],
        "branches whose direction or target the stated model of a predictor foretold wrongly";
    EMULATED_KERNEL_BRANCHES_MISPREDICTED_PER_REQUEST = "emulated_kernel_branches_mispredicted_per_request", "Emulated: kernel branches mispredicted per request", "branches", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_BTB_MISSES_PER_REQUEST = "emulated_user_btb_misses_per_request", "Emulated: user branches not in the BTB per request", "branches", Lower [when_asked],
        "branches that the stated model of a branch target buffer did not hold";
    EMULATED_KERNEL_BTB_MISSES_PER_REQUEST = "emulated_kernel_btb_misses_per_request", "Emulated: kernel branches not in the BTB per request", "branches", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_L1I_MISSES_PER_REQUEST = "emulated_user_l1i_misses_per_request", "Emulated: user L1 instruction cache misses per request", "misses", Lower [when_asked],
        "lines of code that a model of the stated cache did not hold";
    EMULATED_KERNEL_L1I_MISSES_PER_REQUEST = "emulated_kernel_l1i_misses_per_request", "Emulated: kernel L1 instruction cache misses per request", "misses", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_L1D_MISSES_PER_REQUEST = "emulated_user_l1d_misses_per_request", "Emulated: user L1 data cache misses per request", "misses", Lower [when_asked],
        "lines of data that a model of the stated cache did not hold";
    EMULATED_KERNEL_L1D_MISSES_PER_REQUEST = "emulated_kernel_l1d_misses_per_request", "Emulated: kernel L1 data cache misses per request", "misses", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_L2_MISSES_PER_REQUEST = "emulated_user_l2_misses_per_request", "Emulated: user L2 cache misses per request", "misses", Lower [when_asked],
        "lines of code and data that models of both stated caches did not hold";
    EMULATED_KERNEL_L2_MISSES_PER_REQUEST = "emulated_kernel_l2_misses_per_request", "Emulated: kernel L2 cache misses per request", "misses", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_ITLB_MISSES_PER_REQUEST = "emulated_user_itlb_misses_per_request", "Emulated: user instruction TLB misses per request", "misses", Lower [when_asked],
        "pages of code that a model of the stated TLB did not hold";
    EMULATED_KERNEL_ITLB_MISSES_PER_REQUEST = "emulated_kernel_itlb_misses_per_request", "Emulated: kernel instruction TLB misses per request", "misses", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_DTLB_MISSES_PER_REQUEST = "emulated_user_dtlb_misses_per_request", "Emulated: user data TLB misses per request", "misses", Lower [when_asked],
        "pages of data that a model of the stated TLB did not hold";
    EMULATED_KERNEL_DTLB_MISSES_PER_REQUEST = "emulated_kernel_dtlb_misses_per_request", "Emulated: kernel data TLB misses per request", "misses", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_SYSCALLS_PER_REQUEST = "emulated_syscalls_per_request", "Emulated: system calls per request", "calls", Lower [when_asked],
        "system calls of the server's tasks, counted by their instruction";
    EMULATED_CONTEXT_SWITCHES_PER_REQUEST = "emulated_context_switches_per_request", "Emulated: context switches per request", "switches", Lower [when_asked],
        "times that the kernel gave the processor of a server's task to another task";
    EMULATED_CLIENT_KERNEL_INSTRUCTIONS_PER_REQUEST = "emulated_client_kernel_instructions_per_request", "Emulated: kernel instructions of the load generator per request", "instructions", Lower [when_asked],
        "kernel instructions of the thread that makes the load: over loopback the sender is charged for what the receiver's kernel does";
    EMULATED_KERNEL_THREAD_INSTRUCTIONS_PER_REQUEST = "emulated_kernel_thread_instructions_per_request", "Emulated: instructions of kernel threads per request", "instructions", Lower [when_asked],
        "instructions of the kernel's own threads and of the idle task";
    EMULATED_USER_BRANCH_PERCENT = "emulated_user_branch_percent", "Emulated: user instructions that are branches", "%", Lower [when_asked],
        "branches as a share of instructions";
    EMULATED_KERNEL_BRANCH_PERCENT = "emulated_kernel_branch_percent", "Emulated: kernel instructions that are branches", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_TAKEN_PERCENT = "emulated_user_taken_percent", "Emulated: user branches that are taken", "%", Lower [when_asked],
        "branches taken as a share of branches";
    EMULATED_KERNEL_TAKEN_PERCENT = "emulated_kernel_taken_percent", "Emulated: kernel branches that are taken", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_MISPREDICT_PERCENT = "emulated_user_mispredict_percent", "Emulated: user branches that are mispredicted", "%", Lower [when_asked],
        "branches mispredicted as a share of branches";
    EMULATED_KERNEL_MISPREDICT_PERCENT = "emulated_kernel_mispredict_percent", "Emulated: kernel branches that are mispredicted", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_BTB_MISS_PERCENT = "emulated_user_btb_miss_percent", "Emulated: user branches that the BTB lacks", "%", Lower [when_asked],
        "branches that the model of a branch target buffer did not hold, as a share of branches";
    EMULATED_KERNEL_BTB_MISS_PERCENT = "emulated_kernel_btb_miss_percent", "Emulated: kernel branches that the BTB lacks", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_L1I_MISS_PERCENT = "emulated_user_l1i_miss_percent", "Emulated: user L1 instruction cache miss ratio", "%", Lower [when_asked],
        "misses as a share of the lines that blocks of instructions requested";
    EMULATED_KERNEL_L1I_MISS_PERCENT = "emulated_kernel_l1i_miss_percent", "Emulated: kernel L1 instruction cache miss ratio", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_L1D_MISS_PERCENT = "emulated_user_l1d_miss_percent", "Emulated: user L1 data cache miss ratio", "%", Lower [when_asked],
        "misses as a share of the lines that loads and stores requested";
    EMULATED_KERNEL_L1D_MISS_PERCENT = "emulated_kernel_l1d_miss_percent", "Emulated: kernel L1 data cache miss ratio", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_L2_MISS_PERCENT = "emulated_user_l2_miss_percent", "Emulated: user L2 cache miss ratio", "%", Lower [when_asked],
        "misses as a share of the misses of both L1 caches";
    EMULATED_KERNEL_L2_MISS_PERCENT = "emulated_kernel_l2_miss_percent", "Emulated: kernel L2 cache miss ratio", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_ITLB_MISS_PERCENT = "emulated_user_itlb_miss_percent", "Emulated: user instruction TLB misses in instructions", "%", Lower [when_asked],
        "instruction TLB misses as a share of instructions";
    EMULATED_KERNEL_ITLB_MISS_PERCENT = "emulated_kernel_itlb_miss_percent", "Emulated: kernel instruction TLB misses in instructions", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    EMULATED_USER_DTLB_MISS_PERCENT = "emulated_user_dtlb_miss_percent", "Emulated: user data TLB misses in accesses", "%", Lower [when_asked],
        "data TLB misses as a share of loads and stores";
    EMULATED_KERNEL_DTLB_MISS_PERCENT = "emulated_kernel_dtlb_miss_percent", "Emulated: kernel data TLB misses in accesses", "%", Lower [when_asked],
        "of the same tasks in kernel mode, likewise";
    ALL_CPU_MS_PER_REQUEST = "all_cpu_ms_per_request", "CPU time per request, all processes", "ms", Lower [when_quiet, when_asked],
        "user and system time of the server and its auxiliary processes in a window (observer processes), divided by the requests \
        completed meanwhile";
    ALL_KERNEL_MS_PER_REQUEST = "all_kernel_ms_per_request", "Kernel time per request, all processes", "ms", Lower [when_quiet, when_asked],
        "the part of that CPU time that the kernel's samples find in the kernel (observer processes)";
    ALL_MINOR_FAULTS_PER_REQUEST = "all_minor_faults_per_request", "Minor page faults per request, all processes", "faults", Lower [when_asked],
        "pages that the kernel gave or mapped anew in a window for the server and its auxiliary processes (observer processes), divided by the \
        requests completed meanwhile";
    ALL_PSS_BYTES = "all_pss_bytes", "Proportional set size, all processes", "bytes", Lower [when_asked],
        "resident memory of the server and its auxiliary processes at the end of a window, in which a page that they share counts once \
        (observer processes)";
    ALL_GARBAGE_KIB_PER_REQUEST = "all_garbage_kib_per_request", "Garbage per request, all JVMs", "KiB", Lower [of_program, when_asked],
        "bytes freed by the collections of the server and all auxiliary JVMs, each divided by the requests of the whole load completed \
        between its own collections, added up (GC logs)";
    ALL_GC_PAUSE_MS_PER_S = "all_gc_pause_ms_per_s", "Time stopped for collection, all JVMs", "ms/s", Lower [when_quiet, when_asked],
        "sum of the collection pauses of the server and all auxiliary JVMs in a window, divided by its length (GC logs)";
    ALL_GC_CPU_PERCENT = "all_gc_cpu_percent", "Collection pauses' share of CPU time, all JVMs", "%", Lower [when_quiet, when_asked],
        "CPU time in the collection pauses of all JVMs as their GC logs give it, in steps of 10 ms, as a share of these JVMs' CPU time in \
        the window (observer processes); concurrent phases are not in it";
    SYSTEM_CALLS_PER_REQUEST = "system_calls_per_request", "System calls per request", "calls", Lower [when_asked],
        "system calls of the server's threads in a window, each counted by a program in the kernel (observer kernel), divided by the requests \
        completed in it";
    FUTEX_WAITS_PER_REQUEST = "futex_waits_per_request", "Waits for locks per request", "waits", Lower [when_quiet, when_asked],
        "times that a thread of the server gave its processor up in a futex call (observer kernel), for each request; threads that have \
        nothing to do wait in it, too";
    NETWORK_KERNEL_MS_PER_REQUEST = "network_kernel_ms_per_request", "Network calls, CPU time per request", "ms", Lower [when_quiet, when_asked],
        "CPU time in calls that send, receive, open and close connections, each timed by a program in the kernel (observer kernel), for each \
        request; what they lead to in soft interrupts is not in it";
    FUTEX_KERNEL_MS_PER_REQUEST = "futex_kernel_ms_per_request", "Locks in the kernel, CPU time per request", "ms", Lower [when_quiet, when_asked],
        "CPU time in futex calls, likewise";
    POLLING_KERNEL_MS_PER_REQUEST = "polling_kernel_ms_per_request", "Epoll and poll, CPU time per request", "ms", Lower [when_quiet, when_asked],
        "CPU time in epoll, poll, select and eventfd calls, likewise";
    SOFTIRQ_MS_PER_REQUEST = "softirq_ms_per_request", "Soft interrupts per request", "ms", Lower [when_quiet, when_asked],
        "CPU time of soft interrupts that ran while a thread of the server was on the processor, whoever they were for (observer kernel), for \
        each request";
    GENERATOR_CPU_MS_PER_REQUEST = "generator_cpu_ms_per_request", "Load generator's CPU time per request", "ms", Lower [when_quiet, when_asked],
        "CPU time of the load generator's threads in this process, over the requests completed; over loopback whoever sends is charged with \
        what the kernel does to receive, so part of the server's receiving is here, and part of the generator's with the server";
}

metrics! {
    /// What a benchmark can give, in the order in which reports list it; `/` and the benchmark's name complete the identifier.
    PER_BENCHMARK:
    NS_PER_OP = "ns_per_op", "Time per operation", "ns/op", Lower [when_quiet, when_asked],
        "mean over the iterations of a launch that the benchmark program's own results list";
    CPU_NS_PER_OP = "cpu_ns_per_op", "CPU time per operation", "ns/op", Lower [when_quiet, when_asked],
        "CPU time of the measuring threads in an iteration, divided by the operations in it; mean over the \
        iterations that the benchmark program's own results list";
    ALLOCATED_BYTES_PER_OP = "allocated_bytes_per_op", "Allocated per operation", "B/op", Lower [of_program, when_asked],
        "the JVM's count of allocated bytes for each operation, from the benchmark program's own results";
    LIVE_BYTES = "live_bytes", "Live heap", "bytes", Lower [when_asked],
        "Java heap that the benchmark's data takes after a full collection, as the benchmark program counts it";
    BUSIEST_SOFTIRQ_PERCENT = "busiest_softirq_percent", "Busiest processor's share in soft interrupts", "%", Lower [when_quiet, when_asked],
        "the largest share of a processor's time that went into soft interrupts, from /proc/stat, as the benchmark program counts it";
}

metrics! {
    /// What each process of a trial gives, in the order in which reports list it; `/` and its role complete the identifier.
    PER_PROCESS:
    PROCESS_CPU_MS_PER_REQUEST = "process_cpu_ms_per_request", "CPU time per request", "ms", Lower [when_quiet, when_asked],
        "user and system time of the role's processes in a window (observer processes), divided by the requests of the whole load completed \
        meanwhile";
    PROCESS_KERNEL_MS_PER_REQUEST = "process_kernel_ms_per_request", "Kernel time per request", "ms", Lower [when_quiet, when_asked],
        "the part of the role's CPU time that the kernel's samples find in the kernel (observer processes), for each request of the whole load";
    PROCESS_MINOR_FAULTS_PER_REQUEST = "process_minor_faults_per_request", "Minor page faults per request", "faults", Lower [when_asked],
        "pages that the kernel gave or mapped anew for the role's processes (observer processes), for each request of the whole load";
    PROCESS_COLLECTOR_CPU_PERCENT = "process_collector_cpu_percent", "Garbage collector's share of CPU time", "%", Lower [when_asked],
        "CPU time of the threads with names of a collector's in the role's JVMs in a window (observer processes), as a share of the role's; \
        Serial has no such thread";
    PROCESS_PSS_BYTES = "process_pss_bytes", "Proportional set size", "bytes", Lower [when_asked],
        "resident memory of the role's processes at the end of a window, of a page that several processes share its part (observer processes)";
    PROCESS_GARBAGE_KIB_PER_REQUEST = "process_garbage_kib_per_request", "Garbage per request", "KiB", Lower [of_program, when_asked],
        "bytes freed by the collections of the role's JVMs, each divided by the requests of the whole load completed between its own \
        collections, added up (GC logs)";
    PROCESS_GC_PAUSE_MS_PER_S = "process_gc_pause_ms_per_s", "Time stopped for collection", "ms/s", Lower [when_quiet, when_asked],
        "sum of the collection pauses of the role's JVMs in a window, divided by its length (GC logs)";
    PROCESS_GC_CPU_PERCENT = "process_gc_cpu_percent", "Collection pauses' share of CPU time", "%", Lower [when_quiet, when_asked],
        "CPU time in the collection pauses of the role's JVMs as their GC logs give it, in steps of 10 ms, as a share of the role's CPU time \
        in the window (observer processes); concurrent phases are not in it";
}

impl Metric {
    const fn new(
        id: &'static str,
        title: &'static str,
        unit: &'static str,
        better: Better,
        source: &'static str,
    ) -> Metric {
        Metric {
            id: Cow::Borrowed(id),
            title: Cow::Borrowed(title),
            unit,
            better,
            source,
            needs_quiet_machine: false,
            start_percent_max: None,
            on_request: false,
        }
    }

    const fn when_quiet(mut self) -> Metric {
        self.needs_quiet_machine = true;
        self
    }

    const fn of_program(mut self) -> Metric {
        self.start_percent_max = Some(ALLOCATION_START_PERCENT_MAX);
        self
    }

    const fn when_asked(mut self) -> Metric {
        self.on_request = true;
        self
    }

    /// The metric with this identifier: one of [`METRICS`], one of [`PER_BENCHMARK`] with a benchmark's name, one of [`PER_PROCESS`] with a
    /// role, or that of a limit.
    pub fn by_id(id: &str) -> Option<Metric> {
        if let Some(limit_ms) = limit_of(id) {
            return Some(Metric::rate_at_limit(limit_ms));
        }
        if let Some((kind, name)) = id.split_once('/') {
            return Metric::of_benchmark(kind, name).or_else(|| Metric::of_process(kind, name));
        }
        METRICS.iter().find(|m| m.id == id).cloned()
    }

    /// Whether it is counted in an emulated guest, and nowhere else.
    pub fn is_emulated(&self) -> bool {
        self.id.starts_with("emulated_")
    }

    /// Whether it is a rate that a search for a capacity gives, and nothing else does.
    pub fn is_of_capacity(&self) -> bool {
        self.id == CRITICAL_RATE_PER_S || self.id == MAX_RATE_PER_S || limit_of(&self.id).is_some()
    }

    /// The highest rate that keeps one limit of the response time.
    pub fn rate_at_limit(limit_ms: f64) -> Metric {
        Metric {
            id: Cow::Owned(format!("{RATE_AT}{limit_ms}{RATE_AT_UNIT}")),
            title: Cow::Owned(format!("Rate within {limit_ms} ms")),
            unit: "requests/s",
            better: Better::Higher,
            source: "highest rate of Poisson arrivals at which the study's percentile of the response time keeps the limit",
            needs_quiet_machine: true,
            start_percent_max: None,
            on_request: true,
        }
    }

    /// A metric of one benchmark; `kind` is the identifier of one of [`PER_BENCHMARK`].
    pub fn of_benchmark(kind: &str, benchmark: &str) -> Option<Metric> {
        let kind = PER_BENCHMARK.iter().find(|m| m.id == kind)?;
        Some(Metric {
            id: Cow::Owned(format!("{}/{benchmark}", kind.id)),
            title: Cow::Owned(format!("{} in {benchmark}", kind.title)),
            ..kind.clone()
        })
    }

    /// A metric of one process; `kind` is the identifier of one of [`PER_PROCESS`].
    pub fn of_process(kind: &str, role: &str) -> Option<Metric> {
        let kind = PER_PROCESS.iter().find(|m| m.id == kind)?;
        Some(Metric {
            id: Cow::Owned(format!("{}/{role}", kind.id)),
            title: Cow::Owned(format!("{}: {role}", kind.title)),
            ..kind.clone()
        })
    }

    /// [`METRICS`], and behind them those of benchmarks, processes and limits that occur among the identifiers, in the order of reports.
    pub fn all_with<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<Metric> {
        let made = ids.into_iter().filter(|id| id.contains('/') || limit_of(id).is_some());
        let (mut of_names, mut of_limits): (Vec<&str>, Vec<&str>) = made.partition(|id| id.contains('/'));
        of_limits.sort_unstable_by(|a, b| limit_of(a).partial_cmp(&limit_of(b)).unwrap_or(Ordering::Equal));
        of_limits.dedup();
        let kinds = || PER_BENCHMARK.iter().chain(PER_PROCESS);
        let place = |id: &str| kinds().position(|m| id.split('/').next() == Some(&*m.id));
        of_names.sort_unstable_by(|a, b| place(a).cmp(&place(b)).then_with(|| by_numbers(a, b)));
        of_names.dedup();
        let made = of_names.into_iter().chain(of_limits);
        METRICS.iter().cloned().chain(made.filter_map(Metric::by_id)).collect()
    }
}

/// Around a limit in the identifier of its metric.
const RATE_AT: &str = "rate_at_";
const RATE_AT_UNIT: &str = "_ms_per_s";

/// The limit in the identifier of a metric, milliseconds. Written as the identifier of that limit is, and not otherwise.
fn limit_of(id: &str) -> Option<f64> {
    let text = id.strip_prefix(RATE_AT)?.strip_suffix(RATE_AT_UNIT)?;
    let limit_ms: f64 = text.parse().ok()?;
    (limit_ms.is_finite() && limit_ms > 0.0 && limit_ms.to_string() == text).then_some(limit_ms)
}

/// The order of texts in which 8192 comes before 262144.
fn by_numbers(a: &str, b: &str) -> Ordering {
    fn next<'t>(rest: &mut &'t str) -> Option<&'t str> {
        let is_digit = rest.chars().next()?.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (run, left) = rest.split_at(end);
        *rest = left;
        Some(run)
    }
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        let (run_a, run_b) = (next(&mut rest_a), next(&mut rest_b));
        let number = |run: Option<&str>| run?.parse::<u64>().ok();
        let order = match (number(run_a), number(run_b)) {
            (Some(a), Some(b)) => a.cmp(&b).then_with(|| run_a.cmp(&run_b)),
            _ => run_a.cmp(&run_b),
        };
        if order != Ordering::Equal || run_a.is_none() {
            return order;
        }
    }
}
