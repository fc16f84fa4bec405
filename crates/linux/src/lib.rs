//! Data of the Linux kernel about processes and the machine: `/proc`, `/sys` and control groups as typed values.
//!
//! Reading is split from parsing. `parse_*` functions are pure over text; `read_*` methods of [`ProcRoot`] and
//! [`SysRoot`] open the files below a root folder that is a parameter, so that a test (or a recorded machine) is a
//! folder that looks like `/proc`. Values are bytes, nanoseconds or the kernel's clock ticks, as their names say; what
//! a kernel may lack is an `Option`. Nothing here judges: limits and advice live in other crates.

mod access;
mod altered_memory;
mod bpf_settings;
mod cached_memory;
mod cgroup;
mod cgroup_cpu;
mod cgroup_memory;
mod cgroup_pids;
mod cgroup_reclaim;
mod container_limits;
mod copied_memory;
mod cpu_time;
mod error;
mod exit_records;
mod fields;
mod freeze;
mod kernel_symbols;
mod live_process;
mod machine;
mod machine_cpu;
mod mapped_file;
mod memory_source;
mod memory_status;
mod page_map;
mod page_out;
mod page_scan;
mod perf_settings;
mod pmap;
mod pressure;
mod process;
mod process_memory;
mod process_vm;
mod processes;
mod processors;
mod ptrace;
mod recording;
mod root;
mod smaps;
mod swap;
mod thread_call;
mod thread_counters;
mod threads;
mod variables;

pub use altered_memory::AlteredMemory;
pub use bpf_settings::BpfSettings;
pub use cached_memory::CachedMemory;
pub use cgroup::{
    CgroupLimits, CgroupMembership, CgroupThrottling, CgroupVersion, Cgroups, Mount, parse_cgroup,
    parse_mountinfo,
};
pub use cgroup_cpu::CgroupCpu;
pub use cgroup_pids::CgroupThreads;
pub use cgroup_reclaim::CgroupReclaim;
pub use copied_memory::{CopiedMemory, CopyRoom};
pub use cpu_time::{
    ProcessCpu, monotonic_ns, process_cpu, process_cpu_ns, thread_cpu_ns, ticks_per_s,
    timer_interrupts_per_s, wall_offset_ns,
};
pub use error::{Denial, LinuxError, ParseError};
pub use exit_records::{ExitListener, ExitRecord, ExitRecords};
pub use freeze::{Freeze, FreezeError, FreezeTimes};
pub use kernel_symbols::KernelSymbols;
pub use live_process::LiveProcess;
pub use machine::{CpuInfo, MemInfo, OsRelease, parse_cpuinfo, parse_meminfo, parse_os_release};
pub use machine_cpu::{CpuTicks, MachineCpu, parse_stat, parse_stat_of};
pub use memory_source::{BeforeMemory, MemorySource, ReadError, ThreadFacts, c_string};
pub use memory_status::{MemoryStatus, kernel_stack_bytes, parse_memory_status};
pub use page_map::{PageMap, PageRun};
pub use page_out::{PageOut, PagedOut};
pub use perf_settings::PerfSettings;
pub use pmap::{PmapTable, parse_pmap};
pub use pressure::{Pressure, PressureTotals, Resource, parse_pressure};
pub use process::{
    ProcessStat, ProcessStatus, Schedstat, parse_process_stat, parse_process_status, parse_schedstat,
};
pub use processes::{ProcessIdentity, ProcessTree, add_descendants};
pub use processors::{Halves, Processors};
pub use recording::{OpeningFiles, Recording, RecordingError};
pub use root::{ProcRoot, SysRoot};
pub use smaps::{Mapping, Smaps, SmapsRollup, parse_smaps, parse_smaps_rollup};
pub use swap::{Swap, SwapTraffic, parse_swap_traffic, parse_swaps};
pub use thread_call::{CallArgument, CallError, FunctionCall, FunctionCalled};
pub use thread_counters::{ThreadCounters, ThreadReadings};
pub use threads::own_thread_number;
pub use variables::EarlierBytes;

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the crate use the rest of it")]
#[path = "../tests/target/mod.rs"]
mod target;
