//! The metrics of emulated guests: what the emulator counts, most of it once for user mode and once for kernel mode.

use super::definition::{Better, Metric};

/// Makes [`EMULATED`] and a constant for each identifier. A row of `both` is two metrics, whose identifiers and titles differ in one word.
macro_rules! emulated {
    (both { $($user:ident, $kernel:ident = $id:literal, $title:literal, $unit:literal, $source:literal;)* }
     once { $($name:ident = $once_id:literal, $once_title:literal, $once_unit:literal, $once_source:literal;)* }
     both { $($user_share:ident, $kernel_share:ident = $share_id:literal, $share_title:literal, $share_unit:literal, $share_source:literal;)* }) => {
        /// All metrics of emulated guests, in the order in which reports list them.
        pub const EMULATED: &[Metric] = &[
            $(counted($user, concat!("Emulated: user ", $title), $unit, $source),
              in_kernel_mode($kernel, concat!("Emulated: kernel ", $title), $unit),)*
            $(counted($name, concat!("Emulated: ", $once_title), $once_unit, $once_source),)*
            $(counted($user_share, concat!("Emulated: user ", $share_title), $share_unit, $share_source),
              in_kernel_mode($kernel_share, concat!("Emulated: kernel ", $share_title), $share_unit),)*
        ];
        emulated! { names "emulated_user_" $($user = $id, $title;)* $($user_share = $share_id, $share_title;)* }
        emulated! { names "emulated_kernel_" $($kernel = $id, $title;)* $($kernel_share = $share_id, $share_title;)* }
        emulated! { names "emulated_" $($name = $once_id, $once_title;)* }
    };
    (names $prefix:literal $($name:ident = $id:literal, $title:literal;)*) => {
        $(#[doc = concat!("`", $prefix, $id, "`: ", $title)] pub const $name: &str = concat!($prefix, $id);)*
    };
}

const fn counted(id: &'static str, title: &'static str, unit: &'static str, source: &'static str) -> Metric {
    Metric::new(id, title, unit, Better::Lower, source).when_asked()
}

const fn in_kernel_mode(id: &'static str, title: &'static str, unit: &'static str) -> Metric {
    counted(id, title, unit, "of the same tasks in kernel mode, likewise")
}

emulated! {
    both {
        EMULATED_USER_INSTRUCTIONS_PER_REQUEST, EMULATED_KERNEL_INSTRUCTIONS_PER_REQUEST = "instructions_per_request", "instructions per request", "instructions",
            "instructions of the server's tasks between two marks in an emulated guest, divided by the \
                requests begun and ended between them. A string instruction counts once";
        EMULATED_USER_LOADS_PER_REQUEST, EMULATED_KERNEL_LOADS_PER_REQUEST = "loads_per_request", "loads per request", "loads",
            "read accesses to memory, counted likewise. Each element of a string instruction is one";
        EMULATED_USER_STORES_PER_REQUEST, EMULATED_KERNEL_STORES_PER_REQUEST = "stores_per_request", "stores per request", "stores",
            "write accesses to memory, counted likewise";
        EMULATED_USER_BRANCHES_PER_REQUEST, EMULATED_KERNEL_BRANCHES_PER_REQUEST = "branches_per_request", "branches per request", "branches",
            "jumps, calls and returns, counted likewise";
        EMULATED_USER_BRANCHES_TAKEN_PER_REQUEST, EMULATED_KERNEL_BRANCHES_TAKEN_PER_REQUEST = "branches_taken_per_request", "branches taken per request", "branches",
            "branches that did not go on with the next instruction, counted likewise";
        EMULATED_USER_BRANCHES_MISPREDICTED_PER_REQUEST, EMULATED_KERNEL_BRANCHES_MISPREDICTED_PER_REQUEST = "branches_mispredicted_per_request", "branches mispredicted per request", "branches",
            "branches whose direction or target the stated model of a predictor foretold wrongly";
        EMULATED_USER_BTB_MISSES_PER_REQUEST, EMULATED_KERNEL_BTB_MISSES_PER_REQUEST = "btb_misses_per_request", "branches not in the BTB per request", "branches",
            "branches that the stated model of a branch target buffer did not hold";
        EMULATED_USER_L1I_MISSES_PER_REQUEST, EMULATED_KERNEL_L1I_MISSES_PER_REQUEST = "l1i_misses_per_request", "L1 instruction cache misses per request", "misses",
            "lines of code that a model of the stated cache did not hold";
        EMULATED_USER_L1D_MISSES_PER_REQUEST, EMULATED_KERNEL_L1D_MISSES_PER_REQUEST = "l1d_misses_per_request", "L1 data cache misses per request", "misses",
            "lines of data that a model of the stated cache did not hold";
        EMULATED_USER_L2_MISSES_PER_REQUEST, EMULATED_KERNEL_L2_MISSES_PER_REQUEST = "l2_misses_per_request", "L2 cache misses per request", "misses",
            "lines of code and data that models of both stated caches did not hold";
        EMULATED_USER_ITLB_MISSES_PER_REQUEST, EMULATED_KERNEL_ITLB_MISSES_PER_REQUEST = "itlb_misses_per_request", "instruction TLB misses per request", "misses",
            "pages of code that a model of the stated TLB did not hold";
        EMULATED_USER_DTLB_MISSES_PER_REQUEST, EMULATED_KERNEL_DTLB_MISSES_PER_REQUEST = "dtlb_misses_per_request", "data TLB misses per request", "misses",
            "pages of data that a model of the stated TLB did not hold";
        EMULATED_USER_EXCLUSIVE_LOADS_PER_REQUEST, EMULATED_KERNEL_EXCLUSIVE_LOADS_PER_REQUEST = "exclusive_loads_per_request", "exclusive loads per request", "instructions",
            "instructions that load and watch a place in memory (LDXR of AArch64 and its forms), counted likewise. \
                An atomic operation without LSE takes one or more. Absent on processors that have none";
        EMULATED_USER_EXCLUSIVE_STORES_PER_REQUEST, EMULATED_KERNEL_EXCLUSIVE_STORES_PER_REQUEST = "exclusive_stores_per_request", "exclusive stores per request", "instructions",
            "instructions that store to a watched place (STXR of AArch64 and its forms), whether they stored or not, counted likewise";
        EMULATED_USER_ATOMIC_INSTRUCTIONS_PER_REQUEST, EMULATED_KERNEL_ATOMIC_INSTRUCTIONS_PER_REQUEST = "atomic_instructions_per_request", "atomic instructions per request", "instructions",
            "instructions that load, change and store a place in memory at once, counted likewise. On AArch64 those of LSE (LDADD, SWP, CAS), on \
                x86-64 those with LOCK, and exchanges";
    }
    once {
        EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST = "user_instructions_without_jit_per_request", "user instructions per request without JIT compilers", "instructions",
            "the server's user instructions without those of the JVM's compiler threads (recognized by name), whose work \
                fades as a server warms up";
        EMULATED_SYSCALLS_PER_REQUEST = "syscalls_per_request", "system calls per request", "calls",
            "system calls of the server's tasks, counted by their instruction";
        EMULATED_CONTEXT_SWITCHES_PER_REQUEST = "context_switches_per_request", "context switches per request", "switches",
            "times that the kernel gave the processor of a server's task to another task";
        EMULATED_CLIENT_KERNEL_INSTRUCTIONS_PER_REQUEST = "client_kernel_instructions_per_request", "kernel instructions of the load generator per request", "instructions",
            "kernel instructions of the thread that makes the load: over loopback the sender is charged for \
                the receiver's kernel work";
        EMULATED_KERNEL_THREAD_INSTRUCTIONS_PER_REQUEST = "kernel_thread_instructions_per_request", "instructions of kernel threads per request", "instructions",
            "instructions of the kernel's own threads and of the idle task";
    }
    both {
        EMULATED_USER_BRANCH_PERCENT, EMULATED_KERNEL_BRANCH_PERCENT = "branch_percent", "instructions that are branches", "%",
            "branches as a share of instructions";
        EMULATED_USER_TAKEN_PERCENT, EMULATED_KERNEL_TAKEN_PERCENT = "taken_percent", "branches that are taken", "%",
            "branches taken as a share of branches";
        EMULATED_USER_MISPREDICT_PERCENT, EMULATED_KERNEL_MISPREDICT_PERCENT = "mispredict_percent", "branches that are mispredicted", "%",
            "branches mispredicted as a share of branches";
        EMULATED_USER_BTB_MISS_PERCENT, EMULATED_KERNEL_BTB_MISS_PERCENT = "btb_miss_percent", "branches that the BTB lacks", "%",
            "branches that the model of a branch target buffer did not hold, as a share of branches";
        EMULATED_USER_L1I_MISS_PERCENT, EMULATED_KERNEL_L1I_MISS_PERCENT = "l1i_miss_percent", "L1 instruction cache miss ratio", "%",
            "misses as a share of the lines that blocks of instructions requested";
        EMULATED_USER_L1D_MISS_PERCENT, EMULATED_KERNEL_L1D_MISS_PERCENT = "l1d_miss_percent", "L1 data cache miss ratio", "%",
            "misses as a share of the lines that loads and stores requested";
        EMULATED_USER_L2_MISS_PERCENT, EMULATED_KERNEL_L2_MISS_PERCENT = "l2_miss_percent", "L2 cache miss ratio", "%",
            "misses as a share of the misses of both L1 caches";
        EMULATED_USER_ITLB_MISS_PERCENT, EMULATED_KERNEL_ITLB_MISS_PERCENT = "itlb_miss_percent", "instruction TLB misses in instructions", "%",
            "instruction TLB misses as a share of instructions";
        EMULATED_USER_DTLB_MISS_PERCENT, EMULATED_KERNEL_DTLB_MISS_PERCENT = "dtlb_miss_percent", "data TLB misses in accesses", "%",
            "data TLB misses as a share of loads and stores";
        EMULATED_USER_MODELLED_CYCLES_PER_INSTRUCTION, EMULATED_KERNEL_MODELLED_CYCLES_PER_INSTRUCTION = "modelled_cycles_per_instruction", "modelled cycles per instruction", "cycles",
            "modelled, not measured: half a cycle per instruction, and the processor's published penalties for each miss and \
                misprediction, without any overlap";
        EMULATED_USER_MODELLED_FETCH_STALLS_PER_INSTRUCTION, EMULATED_KERNEL_MODELLED_FETCH_STALLS_PER_INSTRUCTION = "modelled_fetch_stalls_per_instruction", "modelled fetch stalls per instruction", "cycles",
            "modelled, not measured: the penalties for misses of the L1 instruction cache and the instruction TLB";
        EMULATED_USER_MODELLED_DATA_STALLS_PER_INSTRUCTION, EMULATED_KERNEL_MODELLED_DATA_STALLS_PER_INSTRUCTION = "modelled_data_stalls_per_instruction", "modelled data stalls per instruction", "cycles",
            "modelled, not measured: the penalties for misses of the L1 data cache, the data TLB and the L2 cache";
    }
}
