//! What stands beside the tree, as rows that terminal and page share: kernel's figures, control group, arenas, JVM.

use assay_kit::number::{bytes, count, duration, less, percent, signed_bytes};
use assay_kit::text::{clean, to_the_second};
use assay_kit::{Row, Table};
use assay_model::{
    Advice, AdviceLine, AllocatorFacts, Area, ArenaFacts, Certainty, CgroupMemory, MemoryCopy, MemoryReport,
    OwnersLeftOut,
};

/// Arenas that are listed; the rest is counted.
pub const ARENAS_SHOWN: usize = 12;

fn row(value: Option<u64>, what: &str) -> Option<Row> {
    Some(Row { value: bytes(value?), what: what.to_owned() })
}

/// The line that says that the entries add up, and what the difference is where they do not.
pub fn closure(report: &MemoryReport, sum: u64) -> String {
    let difference = less(sum, report.rss_bytes);
    let scan = match report.frozen_ns {
        Some(ns) => format!("the process was stopped for {}{}", duration(ns), copied(report.copy.as_ref())),
        None => format!(
            "RSS changed by {} during the scan of {}",
            signed_bytes(report.rss_change_during_scan_bytes),
            duration(report.scan_ns)
        ),
    };
    if difference == 0 {
        return format!("Total equals RSS: {}, difference 0 B; {scan}", bytes(report.rss_bytes));
    }
    format!(
        "Total {}, RSS {}, difference {}; {scan}",
        bytes(sum),
        bytes(report.rss_bytes),
        signed_bytes(difference)
    )
}

/// What was done while the process was stopped, and what later.
fn copied(copy: Option<&MemoryCopy>) -> String {
    let Some(copy) = copy else { return String::new() };
    let later = match copy.heap_read_later_bytes {
        0 => String::new(),
        objects => format!(
            "; {} of Java objects were read afterwards: the classes that hold native memory may be newer than the rest",
            bytes(objects)
        ),
    };
    format!(", in which {} were copied{later}", bytes(copy.copied_bytes))
}

/// What the bytes of a kind of unknown are. A quick snapshot looks for nobody's owner: to call memory ownerless would be wrong.
pub fn unknown_explanation(area: Area, report: &MemoryReport) -> &'static str {
    match area {
        Area::MallocHeap if !report.has_owners() => "in use; owners were not searched for",
        Area::NativeAnonymous if !report.has_owners() => "pointers to it were not searched for",
        _ => area.explanation(),
    }
}

/// Why a snapshot tells less than it could, and the command that tells the rest.
pub fn owners_left_out(left_out: &OwnersLeftOut) -> String {
    format!(
        "Depth structures: malloc's blocks in use are not split by owner. The Java heap has {} of objects resident, and \
         reading them all takes about {} of CPU time (left to Assay, at most {} are read): {}",
        bytes(left_out.heap_resident_bytes),
        duration(left_out.heap_read_cpu_ns),
        bytes(left_out.heap_read_bytes_max),
        clean(&left_out.command)
    )
}

/// What the process is: pid, program, JVM, collector.
pub fn subject(report: &MemoryReport) -> String {
    let mut parts = vec![format!("pid {}", report.pid)];
    if let Some(jvm) = &report.jvm {
        parts.extend(jvm.version.as_ref().map(|v| format!("JVM {}", clean(v))));
        parts.extend(jvm.collector.as_ref().map(|c| clean(c)));
        parts.extend(jvm.native_memory_tracking.as_ref().map(|n| format!("NMT {}", clean(n))));
    } else {
        parts.push("not a JVM that could be read".to_owned());
    }
    parts.push(to_the_second(&report.taken_at));
    parts.join(" · ")
}

/// RSS against the Java heap, the question that brings people here.
pub fn headline(report: &MemoryReport, heap_bytes: u64) -> String {
    let rss = report.rss_bytes;
    if heap_bytes == 0 {
        return format!("{} resident (RSS)", bytes(rss));
    }
    let limit = report.jvm.as_ref().and_then(|j| j.heap_bytes_max);
    let limit = limit.map_or_else(String::new, |max| format!(", limit {}", bytes(max)));
    let beyond = rss.saturating_sub(heap_bytes);
    format!(
        "{} resident (RSS): {} Java heap{limit}; {} ({}) are not Java heap",
        bytes(rss),
        bytes(heap_bytes),
        bytes(beyond),
        percent(beyond, rss)
    )
}

/// The kernel's figures that are not in the RSS, or count it in another way.
pub fn beside(report: &MemoryReport) -> Vec<Row> {
    let beside = &report.outside_rss;
    let threads = beside.threads.map_or_else(String::new, |n| format!(" of {} threads, computed", count(n)));
    let rows = [
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
pub fn cgroup(group: &CgroupMemory) -> Vec<Row> {
    let limit = group.limit_bytes.map_or("no limit".to_owned(), |l| format!("limit {}", bytes(l)));
    let peak = group.peak_bytes.map_or_else(String::new, |p| format!(", largest so far {}", bytes(p)));
    let droppable = group.inactive_file_bytes;
    let droppable =
        droppable.map_or_else(String::new, |b| format!(", of it {} that could be dropped", bytes(b)));
    let shared = group.shmem_bytes.filter(|b| *b > 0);
    let shared = shared.map_or_else(String::new, |b| format!(", of it {} shared memory and tmpfs", bytes(b)));
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
        group
            .unexplained_bytes
            .map(|b| Row { value: signed_bytes(b), what: "+ not explained by these".to_owned() }),
        row(group.current_bytes, &format!("= charged now; {limit}{peak}")),
        row(group.processes_rss_bytes, &format!("for comparison: total RSS of its {processes}")),
    ];
    rows.into_iter().flatten().collect()
}

/// Arenas of the allocator.
pub fn arenas(allocator: &AllocatorFacts) -> Table {
    let optional = |value: Option<u64>| value.map_or("not available".to_owned(), bytes);
    let arenas = allocator.arenas.iter().take(ARENAS_SHOWN);
    Table::of(format!("Arenas of {}", allocator_name(allocator)), arenas)
        .words("Arena", |a| arena_name(a))
        .figures("From the kernel", |a| bytes(a.system_bytes))
        .figures("In use", |a| bytes(a.used_bytes))
        .figures("Bins", |a| optional(a.bins_bytes))
        .figures("Fast bins", |a| optional(a.fast_bins_bytes))
        .figures("Thread caches", |a| optional(a.thread_cache_bytes))
        .figures("Top", |a| optional(a.top_bytes))
        .figures("Freed, resident", |a| optional(a.freed_resident_bytes))
        .figures("A trim returns", |a| optional(a.trim_gain_bytes))
        .table()
}

/// Number of an arena.
pub fn arena_name(arena: &ArenaFacts) -> String {
    format!("{}{}", arena.index, if arena.index == 0 { " (main)" } else { "" })
}

/// Name and version of an allocator.
pub fn allocator_name(allocator: &AllocatorFacts) -> String {
    let version = allocator.version.as_ref().map_or_else(String::new, |v| format!(" {}", clean(v)));
    format!("{}{version}", allocator.name)
}

/// What the allocator holds, in a sentence.
pub fn allocator_sentence(allocator: &AllocatorFacts) -> String {
    let mut parts = Vec::new();
    if let Some(used) = allocator.used_bytes {
        let blocks = allocator.used_blocks.map_or_else(String::new, |n| format!(" in {} blocks", count(n)));
        parts.push(format!("{} in use{blocks}", bytes(used)));
    }
    parts.extend(allocator.freed_bytes.map(|b| format!("{} freed and kept", bytes(b))));
    parts.extend(allocator.trim_gain_bytes.map(|b| format!("a trim gives back {}", bytes(b))));
    let arenas = allocator.arenas.len();
    if arenas > 0 {
        parts.push(format!("{arenas} arena{}", if arenas == 1 { "" } else { "s" }));
    }
    format!("{}: {}", allocator_name(allocator), parts.join(", "))
}

/// What the JVM says of itself, in the order in which people ask.
pub fn jvm(report: &MemoryReport) -> Vec<Row> {
    let Some(jvm) = &report.jvm else { return Vec::new() };
    let pair = |used: Option<u64>, max: Option<u64>, what: &str, limit: &str| {
        let used = used?;
        let max = max.map_or_else(String::new, |m| format!(", {limit} {}", bytes(m)));
        Some(Row { value: bytes(used), what: format!("{what}{max}") })
    };
    let counted = |n: Option<u64>, what: &str| Some(Row { value: count(n?), what: what.to_owned() });
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

/// The arithmetic of a limit.
pub fn advice(advice: &Advice) -> Table {
    let (now, bound) = advice_sums(advice);
    let rounded = format!("rounded up to a MiB: {}", bytes(advice.limit_bytes));
    let mut table = Table::of("How the limit is computed", &advice.lines)
        .words("Part", |line| clean(&line.name))
        .figures("Now", |line| bytes(line.now_bytes))
        .figures("Highest seen", |line| line.peak_bytes.map_or("-".to_owned(), bytes))
        .figures("Budgeted", |line| bytes(line.bound_bytes))
        .words("Where the bound comes from", |line| bound_from(line))
        .table();
    table.push_total(["Total".to_owned(), bytes(now), String::new(), bytes(bound), rounded]);
    table
}

/// Sums of what is there now and of the bounds, in bytes.
pub fn advice_sums(advice: &Advice) -> (u64, u64) {
    let add = |(now, bound): (u64, u64), l: &AdviceLine| {
        (now.saturating_add(l.now_bytes), bound.saturating_add(l.bound_bytes))
    };
    advice.lines.iter().fold((0, 0), add)
}

/// Where a bound comes from, and what it is.
pub fn bound_from(line: &AdviceLine) -> String {
    let kind = match line.certainty {
        Some(Certainty::Known) => "known, a bound of the JVM",
        Some(Certainty::Inferred) => "inferred",
        Some(Certainty::Unknown) => "no known bound: observed peak plus headroom",
        Some(Certainty::Other) | None if line.is_hard => "a bound of the JVM",
        Some(Certainty::Other) | None => "observed peak plus headroom",
    };
    format!("{}; {kind}", clean(&line.bound_from))
}

/// What the advice comes to.
pub fn advice_sentence(advice: &Advice) -> String {
    let current = match advice.current_limit_bytes {
        Some(limit) if limit < advice.limit_bytes => format!(
            "The limit in force, {}, is {} too small for that.",
            bytes(limit),
            bytes(advice.limit_bytes - limit)
        ),
        Some(limit) => format!(
            "The limit in force is {}: {} more than that.",
            bytes(limit),
            bytes(limit - advice.limit_bytes)
        ),
        None => "No limit is in force.".to_owned(),
    };
    let beyond = advice.direct_beyond_bytes;
    let but = if beyond.is_some() { ", direct buffers not included" } else { "" };
    let beyond = beyond.map_or_else(String::new, |beyond| {
        format!(
            "Direct buffers may take {} more than is budgeted, while no -XX:MaxDirectMemorySize is set. ",
            bytes(beyond)
        )
    });
    let sum = |of: fn(&AdviceLine) -> bool| {
        advice
            .lines
            .iter()
            .filter(|line| of(line))
            .fold(0u64, |sum, line| sum.saturating_add(line.bound_bytes))
    };
    let inferred = match sum(|line| line.certainty == Some(Certainty::Inferred)) {
        0 => String::new(),
        inferred => format!(", {} are inferred", bytes(inferred)),
    };
    format!(
        "This process needs a limit of {} in the worst case, every configured limit reached{but}; {} of it are bounds that the \
         JVM keeps{inferred}, the rest are observed peaks plus headroom. {beyond}Current use of the control group: {}. {current}",
        bytes(advice.limit_bytes),
        bytes(sum(|line| line.is_hard)),
        bytes(advice.now_bytes)
    )
}
