//! The figures beside the entries of a snapshot: those of kernel, control group and JVM, arenas, threads, flags.

use super::words;
use assay_kit::Table;
use assay_kit::number::{bytes, count, signed_bytes};
use assay_kit::text::clean;
use assay_model::{AllocatorFacts, ArenaFacts, CgroupMemory, MemoryReport};

/// Arenas or threads that are listed; the stored form has all.
const LISTED_MAX: usize = 120;

/// The subject of a figure, and the figure.
type Term = (String, String);

fn row(value: Option<u64>, what: &str) -> Option<Term> {
    Some((what.to_owned(), bytes(value?)))
}

/// The kernel's figures that are not in the RSS, or count it in another way.
pub fn kernel(report: &MemoryReport) -> Vec<Term> {
    let beside = &report.outside_rss;
    let threads = beside.threads.map_or_else(String::new, |n| format!(" of {} threads, computed", count(n)));
    let again = report.rss_bytes.saturating_sub(report.bytes_of_memory());
    let rows = [
        row(
            Some(again).filter(|b| *b > 0),
            "in the RSS a second time, since the process maps it at several addresses",
        ),
        row(beside.rss_peak_bytes, "largest RSS so far (VmHWM)"),
        row(beside.pss_bytes, "proportional set size (PSS): shared pages divided among those who share them"),
        row(beside.uss_bytes, "unique set size (USS): what ending the process would free"),
        row(beside.shared_bytes, "shared with other processes, in the RSS"),
        row(beside.page_tables_bytes, "page tables, not in the RSS"),
        row(beside.kernel_stacks_bytes, &format!("kernel stacks{threads}, not in the RSS")),
        row(beside.swap_bytes, "swapped out, not in the RSS"),
        row(beside.huge_pages_bytes, "in transparent huge pages, in the RSS"),
        row(beside.hugetlb_bytes, "in explicit huge pages, not in the RSS"),
        row(beside.locked_bytes.filter(|b| *b > 0), "locked in memory"),
    ];
    rows.into_iter().flatten().collect()
}

/// How the control group's figure comes about.
pub fn cgroup(group: &CgroupMemory) -> Vec<Term> {
    let limit = group.limit_bytes.map_or("no limit".to_owned(), |l| format!("limit {}", bytes(l)));
    let peak = group.peak_bytes.map_or_else(String::new, |p| format!(", largest so far {}", bytes(p)));
    let droppable = group.inactive_file_bytes;
    let droppable =
        droppable.map_or_else(String::new, |b| format!(", including {} of droppable pages", bytes(b)));
    let shared = group.shmem_bytes.filter(|b| *b > 0);
    let shared =
        shared.map_or_else(String::new, |b| format!(", including {} of shared memory and tmpfs", bytes(b)));
    let many = |n: u64| if n == 1 { "1 process".to_owned() } else { format!("{} processes", count(n)) };
    let processes = group.processes.map_or_else(|| "processes".to_owned(), many);
    let rows = [
        row(group.anonymous_bytes, "anonymous memory of its processes"),
        row(group.file_bytes, &format!("+ page cache of files{droppable}{shared}")),
        row(group.kernel_stacks_bytes, "+ kernel stacks"),
        row(group.page_tables_bytes, "+ page tables"),
        row(group.slab_bytes, "+ slab"),
        row(group.sockets_bytes, "+ socket buffers"),
        row(group.kernel_bytes, "kernel memory in all, where it is given as a sum"),
        group.unexplained_bytes.map(|b| ("+ not explained by these".to_owned(), signed_bytes(b))),
        row(group.current_bytes, &format!("= charged now; {limit}{peak}")),
        row(group.processes_rss_bytes, &format!("for comparison: total RSS of its {processes}")),
    ];
    rows.into_iter().flatten().collect()
}

/// The JVM's own figures, in the order in which people ask.
pub fn jvm(report: &MemoryReport) -> Vec<Term> {
    let Some(jvm) = &report.jvm else { return Vec::new() };
    let pair = |used: Option<u64>, max: Option<u64>, what: &str, limit: &str| {
        let used = used?;
        let max = max.map_or_else(String::new, |m| format!(", {limit} {}", bytes(m)));
        Some((format!("{what}{max}"), bytes(used)))
    };
    let counted = |n: Option<u64>, what: &str| Some((what.to_owned(), count(n?)));
    let rows = [
        pair(jvm.heap_used_bytes, jvm.heap_bytes_max, "Java heap in use", "MaxHeapSize"),
        pair(jvm.heap_committed_bytes, None, "Java heap committed", ""),
        pair(jvm.metaspace_used_bytes, jvm.metaspace_bytes_max, "metaspace in use", "MaxMetaspaceSize"),
        pair(
            jvm.code_cache_used_bytes,
            jvm.code_cache_bytes_max,
            "code cache in use",
            "ReservedCodeCacheSize",
        ),
        pair(jvm.direct_used_bytes, jvm.direct_bytes_max, "in direct buffers", "limit"),
        pair(jvm.thread_stack_bytes, None, "stack of a Java thread, reserved", ""),
        counted(jvm.java_threads, "Java threads"),
        counted(jvm.classes, "classes loaded"),
    ];
    rows.into_iter().flatten().collect()
}

/// Arenas of the allocator.
pub fn arenas(allocator: &AllocatorFacts) -> Table {
    let arenas = allocator.arenas.iter().take(LISTED_MAX);
    Table::of(format!("Arenas of {}", words::allocator_name(allocator)), arenas)
        .words("Arena", |a| arena_name(a))
        .figures("From the kernel", |a| bytes(a.system_bytes))
        .figures("In use", |a| bytes(a.used_bytes))
        .figures("Bins", |a| a.bins_bytes.map(bytes))
        .if_room()
        .figures("Fast bins", |a| a.fast_bins_bytes.map(bytes))
        .if_room()
        .figures("Thread caches", |a| a.thread_cache_bytes.map(bytes))
        .if_room()
        .figures("Top", |a| a.top_bytes.map(bytes))
        .if_room()
        .figures("Freed, resident", |a| a.freed_resident_bytes.map(bytes))
        .figures("A trim returns", |a| a.trim_gain_bytes.map(bytes))
        .table()
}

/// Number of an arena.
fn arena_name(arena: &ArenaFacts) -> String {
    format!("{}{}", arena.index, if arena.index == 0 { " (main)" } else { "" })
}

/// Threads by the size of their stacks.
pub fn threads(report: &MemoryReport) -> Table {
    Table::of("Stacks of threads, the biggest first", report.threads.iter().take(LISTED_MAX))
        .words("Thread", |thread| clean(&thread.name))
        .words("Kind", |thread| thread.kind.to_string())
        .figures("Tid", |thread| thread.tid.to_string())
        .figures("Resident", |thread| bytes(thread.stack_resident_bytes))
        .figures("Stale, below SP", |thread| thread.stack_stale_bytes.map(bytes))
        .figures("Reserved", |thread| thread.stack_bytes.map(bytes))
        .table()
}

/// Flags that matter to memory; absent where none is known.
pub fn flags(report: &MemoryReport) -> Option<Table> {
    Table::of("Flags of the JVM that matter to memory", &report.jvm.as_ref()?.flags)
        .words("Flag", |(name, _)| clean(name))
        .figures("Value", |(_, value)| clean(value))
        .table()
        .unless_empty()
}
