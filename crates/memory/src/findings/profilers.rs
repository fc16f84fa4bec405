//! The commands that record who allocates native memory, for the steps of findings. Tracking of the JVM is none of them: it names what the JVM
//! itself allocates, and nothing of a library.

use assay_model::MemoryReport;

/// Records calls of malloc.
pub(super) fn of_malloc(report: &MemoryReport) -> String {
    let pid = report.pid;
    match report.jvm {
        Some(_) => format!("Record who allocates it: asprof -e nativemem -d 60 -f native.jfr {pid}"),
        None => format!("Record who allocates it: heaptrack --pid {pid}"),
    }
}

/// Records calls of mmap, which no profiler of malloc sees.
pub(super) fn of_mmap(report: &MemoryReport) -> String {
    format!("Record who maps it: perf record -e syscalls:sys_enter_mmap -g -p {}", report.pid)
}
