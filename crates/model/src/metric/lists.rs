//! The metrics of servers, benchmarks and processes.

use super::definition::{Better, Metric, metrics};

metrics! {
    /// All metrics of servers, in the order in which reports list them. Those of emulated guests are in [`EMULATED`](super::EMULATED).
    METRICS:
    GARBAGE_KIB_PER_REQUEST = "garbage_kib_per_request", "Garbage per request", "KiB", Lower [of_program],
        "bytes freed by the collections of a window after its first, per request completed from the first to \
            the last of them. GC log and load generator use the same clock. If a window has one collection \
            only, the count begins at the last one before it";
    ALLOCATED_KIB_PER_REQUEST = "allocated_kib_per_request", "Allocated per request", "KiB", Lower [of_program, when_asked],
        "allocation of the server's Java threads in a window, per completed request. The JVM's own count of \
            each thread is read at both ends (observer allocation)";
    CPU_MS_PER_REQUEST = "cpu_ms_per_request", "CPU time per request", "ms", Lower [of_cpu],
        "user and system time of the server process in a window, from the scheduler's own accounting, \
        divided by the requests completed in it";
    CPU_WITHOUT_JIT_MS_PER_REQUEST = "cpu_without_jit_ms_per_request", "CPU time per request without JIT compilers", "ms", Lower [of_cpu, when_asked],
        "the same without HotSpot's JIT compiler threads (recognized by name), whose work fades as a server warms up";
    THROUGHPUT_PER_S = "throughput_per_s", "Throughput", "requests/s", Higher [of_time],
        "requests answered correctly in a window, divided by its length";
    RESPONSE_P50_MS = "response_p50_ms", "Response time, median", "ms", Lower [of_time],
        "from the intended start to the last byte of the answer";
    RESPONSE_P99_MS = "response_p99_ms", "Response time, 99th percentile", "ms", Lower [of_time],
        "from the intended start to the last byte of the answer";
    GC_PAUSE_MS_PER_S = "gc_pause_ms_per_s", "Time stopped for collection", "ms/s", Lower [of_time],
        "sum of the collection pauses that the GC log gives for a window, divided by its length";
    CRITICAL_RATE_PER_S = "critical_rate_per_s", "Critical rate", "requests/s", Higher [of_time, when_asked],
        "geometric mean of the rates up to which a percentile of the response time keeps each of the study's limits";
    MAX_RATE_PER_S = "max_rate_per_s", "Highest sustained rate", "requests/s", Higher [of_time, when_asked],
        "highest rate of Poisson arrivals at which right answers keep up with requests, at any response time";
    RSS_BYTES = "rss_bytes", "Resident memory", "bytes", Lower,
        "the kernel's resident set size of the server process at the end of a window";
    START_TO_READY_MS = "start_to_ready_ms", "Start-up", "ms", Lower [of_time, when_asked],
        "from the start of the server process to the first good answer of its ready URL, which is polled every 20 ms";
    NATIVE_BYTES = "native_bytes", "Resident memory outside the Java heap", "bytes", Lower [when_asked],
        "resident set size less the resident part of the Java heap at the end of a window";
    CLASS_METADATA_BYTES = "class_metadata_bytes", "Resident class metadata", "bytes", Lower [when_asked],
        "metaspace, compressed class space, class-data archive and memory of class loaders, from a snapshot \
            of every resident byte at the end of a window";
    JIT_CODE_BYTES = "jit_code_bytes", "Resident JIT-compiled code", "bytes", Lower [when_asked],
        "code cache, and memory of compiled methods outside it, from a snapshot of every resident byte at the \
            end of a window";
    JVM_WORK_BYTES = "jvm_work_bytes", "Resident JVM internal memory", "bytes", Lower [when_asked],
        "what the JVM and the JDK's libraries keep for their own work, from a snapshot of every resident byte at the end of a \
        window";
    NATIVE_LIBRARIES_BYTES = "native_libraries_bytes", "Resident memory of native libraries", "bytes", Lower [when_asked],
        "what libraries that are not the JDK's allocate, from a snapshot of every resident byte at the end of a window";
    BUFFERS_BYTES = "buffers_bytes", "Resident direct and mapped buffers", "bytes", Lower [when_asked],
        "native memory that Java objects own, from a snapshot of every resident byte at the end of a window";
    STACKS_BYTES = "stacks_bytes", "Resident stacks", "bytes", Lower [when_asked],
        "stacks of all threads as far as they were touched, from a snapshot of every resident byte at the end of a window";
    FREED_RESIDENT_BYTES = "freed_resident_bytes", "Memory retained by malloc", "bytes", Lower [when_asked],
        "given to free() and kept by the allocator, from a snapshot of every resident byte at the end of a window";
    APPLICATION_USER_MS_PER_REQUEST = "application_user_ms_per_request", "Application threads, user time per request", "ms", Lower [of_cpu, when_asked],
        "user time of the application's threads in a window, per completed request. Carriers and pollers of \
            virtual threads are included. The split into user and kernel time comes from the kernel's samples";
    APPLICATION_KERNEL_MS_PER_REQUEST = "application_kernel_ms_per_request", "Application threads, kernel time per request", "ms", Lower [of_cpu, when_asked],
        "kernel time of the same threads, likewise";
    COLLECTOR_USER_MS_PER_REQUEST = "collector_user_ms_per_request", "Garbage collector, user time per request", "ms", Lower [of_cpu, when_asked],
        "user time of the collector's threads in a window, for each request. If collections run on the VM \
            thread (Serial), it counts for that thread's role";
    COLLECTOR_KERNEL_MS_PER_REQUEST = "collector_kernel_ms_per_request", "Garbage collector, kernel time per request", "ms", Lower [of_cpu, when_asked],
        "kernel time of the same threads, likewise";
    COMPILER_USER_MS_PER_REQUEST = "compiler_user_ms_per_request", "JIT compilers, user time per request", "ms", Lower [of_cpu, when_asked],
        "user time of the compilers' threads in a window, for each request";
    COMPILER_KERNEL_MS_PER_REQUEST = "compiler_kernel_ms_per_request", "JIT compilers, kernel time per request", "ms", Lower [of_cpu, when_asked],
        "kernel time of the same threads, likewise";
    OTHER_USER_MS_PER_REQUEST = "other_user_ms_per_request", "Other threads, user time per request", "ms", Lower [of_cpu, when_asked],
        "user time of the VM's, the JDK's, agents' and unknown threads in a window, for each request";
    OTHER_KERNEL_MS_PER_REQUEST = "other_kernel_ms_per_request", "Other threads, kernel time per request", "ms", Lower [of_cpu, when_asked],
        "kernel time of the same threads, likewise";
    RUN_DELAY_MS_PER_REQUEST = "run_delay_ms_per_request", "Waiting for a processor per request", "ms", Lower [of_time, when_asked],
        "time for which the server's threads were ready to run and had no processor in a window, divided by the requests completed in it";
    VOLUNTARY_SWITCHES_PER_REQUEST = "voluntary_switches_per_request", "Voluntary switches per request", "switches", Lower [of_time, when_asked],
        "times that the server's threads gave their processor up to wait for something, for each request";
    FORCED_SWITCHES_PER_REQUEST = "forced_switches_per_request", "Forced switches per request", "switches", Lower [of_time, when_asked],
        "times that the kernel took the processor away from the server's threads, for each request";
    MINOR_FAULTS_PER_REQUEST = "minor_faults_per_request", "Minor page faults per request", "faults", Lower [when_asked],
        "pages that the kernel provided or mapped during a window, by its count for the server process, per \
            completed request";
    MAJOR_FAULTS_PER_REQUEST = "major_faults_per_request", "Major page faults per request", "faults", Lower [when_asked],
        "page faults that waited for a disk or for swap, likewise";
    COLLECTOR_CPU_PERCENT = "collector_cpu_percent", "Garbage collector's share of CPU time", "%", Lower [of_cpu, when_asked],
        "CPU time of the collector's threads in a window, as a share of that of all threads of the server. It \
            is unknown if collections run on the VM thread (Serial)";
    ALL_CPU_MS_PER_REQUEST = "all_cpu_ms_per_request", "CPU time per request, all processes", "ms", Lower [of_cpu, when_asked],
        "user and system time of the server and its auxiliary processes in a window (observer processes), per \
            completed request";
    ALL_KERNEL_MS_PER_REQUEST = "all_kernel_ms_per_request", "Kernel time per request, all processes", "ms", Lower [of_cpu, when_asked],
        "the part of that CPU time that the kernel's samples find in the kernel (observer processes)";
    ALL_MINOR_FAULTS_PER_REQUEST = "all_minor_faults_per_request", "Minor page faults per request, all processes", "faults", Lower [when_asked],
        "pages that the kernel provided or mapped in a window for the server and its auxiliary processes \
            (observer processes), per completed request";
    ALL_PSS_BYTES = "all_pss_bytes", "Proportional set size, all processes", "bytes", Lower [when_asked],
        "resident memory of the server and its auxiliary processes at the end of a window (observer \
            processes). A page that they share counts once";
    ALL_GARBAGE_KIB_PER_REQUEST = "all_garbage_kib_per_request", "Garbage per request, all JVMs", "KiB", Lower [of_program, when_asked],
        "bytes freed by the collections of the server and all auxiliary JVMs, added up (GC logs). Each is per \
            request of the whole load completed between its own collections";
    ALL_GC_PAUSE_MS_PER_S = "all_gc_pause_ms_per_s", "Time stopped for collection, all JVMs", "ms/s", Lower [of_time, when_asked],
        "sum of the collection pauses of the server and all auxiliary JVMs in a window, divided by its length (GC logs)";
    ALL_GC_CPU_PERCENT = "all_gc_cpu_percent", "Collection pauses' share of CPU time, all JVMs", "%", Lower [of_cpu, when_asked],
        "CPU time in the collection pauses of all JVMs, as a share of their CPU time in the window (observer \
            processes). GC logs have it in steps of 10 ms. Concurrent phases are not included";
    SYSTEM_CALLS_PER_REQUEST = "system_calls_per_request", "System calls per request", "calls", Lower [when_asked],
        "system calls of the server's threads in a window, per request completed in it. A program in the \
            kernel counts each (observer kernel)";
    FUTEX_WAITS_PER_REQUEST = "futex_waits_per_request", "Waits for locks per request", "waits", Lower [of_time, when_asked],
        "times that a thread of the server gave its processor up in a futex call (observer kernel), for each \
            request. Idle threads wait in it, too";
    NETWORK_KERNEL_MS_PER_REQUEST = "network_kernel_ms_per_request", "Network calls, CPU time per request", "ms", Lower [of_cpu, when_asked],
        "CPU time in calls that send, receive, open and close connections, for each request. A program in the \
            kernel times each (observer kernel). The soft interrupts that they cause are not included";
    FUTEX_KERNEL_MS_PER_REQUEST = "futex_kernel_ms_per_request", "Locks in the kernel, CPU time per request", "ms", Lower [of_cpu, when_asked],
        "CPU time in futex calls, likewise";
    POLLING_KERNEL_MS_PER_REQUEST = "polling_kernel_ms_per_request", "Epoll and poll, CPU time per request", "ms", Lower [of_cpu, when_asked],
        "CPU time in epoll, poll, select and eventfd calls, likewise";
    SOFTIRQ_MS_PER_REQUEST = "softirq_ms_per_request", "Soft interrupts per request", "ms", Lower [of_time, when_asked],
        "CPU time of soft interrupts that ran while a thread of the server was on the processor, for any \
            process (observer kernel), for each request";
    GROUP_MEMORY_BYTES = "group_memory_bytes", "Memory charged to the control group", "bytes", Lower [when_asked],
        "memory charged to the server's control group at the end of a window: resident memory, page cache and the kernel's own (observer group)";
    THROTTLED_PERCENT = "throttled_percent", "Time held by the CPU limit", "%", Lower [of_time, when_asked],
        "scheduling periods of 100 ms in which the CPU limit held the server's control group, as a share of the window (observer group)";
    MEMORY_STALL_PERCENT = "memory_stall_percent", "Time waiting for memory", "%", Lower [of_time, when_asked],
        "time for which a task of the server's control group waited for memory (observer group), as a share of the window. In control groups of \
        version 1, a task of the machine";
    REFAULTS_PER_S = "refaults_per_s", "Pages needed again", "pages/s", Lower [of_time, when_asked],
        "pages that the kernel reclaimed from the server's control group and that were needed again (observer group)";
    SWAPPED_IN_PAGES_PER_S = "swapped_in_pages_per_s", "Pages swapped in", "pages/s", Lower [when_asked],
        "pages that the machine read back from swap in a window, divided by its length (observer swap). Compressed memory (zram) is swap, too";
    SWAPPED_OUT_PAGES_PER_S = "swapped_out_pages_per_s", "Pages swapped out", "pages/s", Lower [when_asked],
        "pages that the machine wrote to swap, likewise";
    SWAPPED_BYTES = "swapped_bytes", "Memory in swap", "bytes", Lower [when_asked],
        "memory of the server and its auxiliary processes in swap at the end of a window (observer swap). Absent if one has shared memory, as with ZGC";
    COLLECTOR_SWAP_FAULTS_PER_S = "collector_swap_faults_per_s", "Pages that collections waited for", "pages/s", Lower [when_asked],
        "major page faults of the collector's threads of all JVMs in a window, divided by its length (observer swap). With Serial \
            they are those of the VM thread, other operations of the VM included";
    GENERATOR_CPU_MS_PER_REQUEST = "generator_cpu_ms_per_request", "Load generator's CPU time per request", "ms", Lower [of_cpu, when_asked],
        "CPU time of the load generator's threads in this process, per completed request. Over loopback the \
            sender is charged for the kernel's work to receive. So part of the server's receiving is here, \
            and part of the generator's with the server";
}

metrics! {
    /// What a benchmark can give, in the order in which reports list it; `/` and the benchmark's name complete the identifier.
    PER_BENCHMARK:
    NS_PER_OP = "ns_per_op", "Time per operation", "ns/op", Lower [of_time, when_asked],
        "mean over the iterations of a launch that the benchmark program's own results list";
    CPU_NS_PER_OP = "cpu_ns_per_op", "CPU time per operation", "ns/op", Lower [of_cpu, when_asked],
        "CPU time of the measuring threads in an iteration, divided by its operations: the mean over the \
            iterations in the benchmark program's own results";
    ALLOCATED_BYTES_PER_OP = "allocated_bytes_per_op", "Allocated per operation", "B/op", Lower [of_program, when_asked],
        "the JVM's count of allocated bytes for each operation, from the benchmark program's own results";
    LIVE_BYTES = "live_bytes", "Live heap", "bytes", Lower [when_asked],
        "Java heap that the benchmark's data takes after a full collection, as the benchmark program counts it";
    BUSIEST_SOFTIRQ_PERCENT = "busiest_softirq_percent", "Busiest processor's share in soft interrupts", "%", Lower [of_time, when_asked],
        "the largest share of a processor's time that went into soft interrupts, from /proc/stat, as the benchmark program counts it";
}

metrics! {
    /// What each process of a trial gives, in the order in which reports list it; `/` and its role complete the identifier.
    PER_PROCESS:
    PROCESS_CPU_MS_PER_REQUEST = "process_cpu_ms_per_request", "CPU time per request", "ms", Lower [of_cpu, when_asked],
        "user and system time of the role's processes in a window (observer processes), per completed request \
            of the whole load";
    PROCESS_KERNEL_MS_PER_REQUEST = "process_kernel_ms_per_request", "Kernel time per request", "ms", Lower [of_cpu, when_asked],
        "the part of the role's CPU time that the kernel's samples find in the kernel (observer processes), for each request of the whole load";
    PROCESS_MINOR_FAULTS_PER_REQUEST = "process_minor_faults_per_request", "Minor page faults per request", "faults", Lower [when_asked],
        "pages that the kernel provided or mapped for the role's processes (observer processes), for each \
            request of the whole load";
    PROCESS_COLLECTOR_CPU_PERCENT = "process_collector_cpu_percent", "Garbage collector's share of CPU time", "%", Lower [of_cpu, when_asked],
        "CPU time of threads named as a collector's in the role's JVMs in a window (observer processes), as a \
            share of the role's. Serial has no such thread";
    PROCESS_PSS_BYTES = "process_pss_bytes", "Proportional set size", "bytes", Lower [when_asked],
        "resident memory of the role's processes at the end of a window, of a page that several processes share its part (observer processes)";
    PROCESS_GARBAGE_KIB_PER_REQUEST = "process_garbage_kib_per_request", "Garbage per request", "KiB", Lower [of_program, when_asked],
        "bytes freed by the collections of the role's JVMs, added up (GC logs). Each is per request of the \
            whole load completed between its own collections";
    PROCESS_GC_PAUSE_MS_PER_S = "process_gc_pause_ms_per_s", "Time stopped for collection", "ms/s", Lower [of_time, when_asked],
        "sum of the collection pauses of the role's JVMs in a window, divided by its length (GC logs)";
    PROCESS_GC_CPU_PERCENT = "process_gc_cpu_percent", "Collection pauses' share of CPU time", "%", Lower [of_cpu, when_asked],
        "CPU time in the collection pauses of the role's JVMs, as a share of the role's CPU time in the \
            window (observer processes). GC logs have it in steps of 10 ms. Concurrent phases are not \
            included";
}
