//! A snapshot in sentences.

use super::tree::{self, AreaNode};
use assay_kit::number::{bytes, count, duration, less, percent, signed_bytes};
use assay_kit::text::{clean, to_the_second};
use assay_model::{AllocatorFacts, Area, MemoryCopy, MemoryEntry, MemoryReport, OwnersLeftOut, PageKinds};

/// What a snapshot that follows no pointers leaves open.
pub const A_QUICK_SAMPLE: &str =
    "This is a quick sample: --depth owners follows pointers and names nearly all of it.";

/// What people call the process: the main class or jar of a JVM, else the program.
pub fn name(report: &MemoryReport) -> String {
    clean(report.main.as_deref().unwrap_or(&report.program))
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

/// Less that is mapped a second time is not worth a word: libraries have pages that two of their mappings share.
const MAPPED_AGAIN_BYTES_MIN: u64 = 1 << 20;
const MAPPED_AGAIN_DIVISOR: u64 = 100;

/// RSS against the Java heap, the question that brings people here.
pub fn headline(report: &MemoryReport, heap_bytes: u64) -> String {
    let rss = report.rss_bytes;
    let memory = report.bytes_of_memory();
    if mapped(rss, memory).is_some() {
        return headline_of_memory(report, heap_bytes, memory);
    }
    if heap_bytes == 0 {
        return format!("{} resident (RSS){}", bytes(rss), unusual_pages(report));
    }
    let limit = report.jvm.as_ref().and_then(|j| j.heap_bytes_max);
    let limit = limit.map_or_else(String::new, |max| format!(", limit {}", bytes(max)));
    let beyond = rss.saturating_sub(heap_bytes);
    format!(
        "{} resident (RSS): {} Java heap{limit}, {} ({}) outside the Java heap{}",
        bytes(rss),
        bytes(heap_bytes),
        bytes(beyond),
        percent(beyond, rss),
        unusual_pages(report)
    )
}

/// The same of a process that maps a part of its memory several times: what it takes is not what the RSS counts.
fn headline_of_memory(report: &MemoryReport, heap_rss_bytes: u64, memory: u64) -> String {
    let counts = format!("RSS counts {}", bytes(report.rss_bytes));
    let is_heap = |entry: &&MemoryEntry| Area::of_path(&entry.path) == Some(Area::JavaHeap);
    let heap = report.entries.iter().filter(is_heap);
    let heap = heap.fold(0u64, |sum, entry| sum.saturating_add(entry.bytes_of_memory()));
    if heap == 0 {
        let again = bytes(report.rss_bytes - memory);
        return format!(
            "{} of memory, {counts}, including {again} mapped a second time{}",
            bytes(memory),
            unusual_pages(report)
        );
    }
    let times = mapped(heap_rss_bytes, heap).map_or_else(String::new, |times| format!(", {times}"));
    let limit = report.jvm.as_ref().and_then(|j| j.heap_bytes_max);
    let limit = limit.map_or_else(String::new, |max| format!(", limit {}", bytes(max)));
    let beyond = memory.saturating_sub(heap);
    format!(
        "{} of memory: {} Java heap{times}{limit}, {} ({}) outside the Java heap, {counts}{}",
        bytes(memory),
        bytes(heap),
        bytes(beyond),
        percent(beyond, memory),
        unusual_pages(report)
    )
}

/// How often memory is mapped that the kernel counts as so many resident bytes; absent where nearly all of it is mapped once.
pub fn mapped(resident_bytes: u64, memory_bytes: u64) -> Option<String> {
    let least = MAPPED_AGAIN_BYTES_MIN.max(resident_bytes / MAPPED_AGAIN_DIVISOR);
    if resident_bytes.saturating_sub(memory_bytes) < least {
        return None;
    }
    let is_times = |times: u64| {
        let whole = memory_bytes.saturating_mul(times);
        whole.abs_diff(resident_bytes) <= whole / MAPPED_AGAIN_DIVISOR
    };
    let times = [(2, "twice"), (3, "three times")].into_iter().find(|(times, _)| is_times(*times));
    Some(format!("mapped {}", times.map_or("several times", |(_, words)| words)))
}

/// From this part of the RSS on, a tenth, a kind of page that is not memory of the process alone belongs to the answer.
const UNUSUAL_DIVISOR: u64 = 10;

/// What of the RSS is not usual memory, as further parts of the headline.
fn unusual_pages(report: &MemoryReport) -> String {
    let Some(pages) = PageKinds::of(&report.entries) else { return String::new() };
    let kinds = [
        (pages.droppable_bytes, "are pages of files, which the kernel can drop"),
        (pages.shared_bytes, "are views of shared memory"),
        (pages.huge_bytes.unwrap_or(0), "are in huge pages"),
    ];
    let is_large = |of: &u64| *of != 0 && report.rss_bytes / UNUSUAL_DIVISOR <= *of;
    let large = kinds.into_iter().filter(|(of, _)| is_large(of));
    large.map(|(of, what)| format!("; {} ({}) {what}", bytes(of), percent(of, report.rss_bytes))).collect()
}

/// The RSS by the kind of its pages, in a sentence; absent in snapshots of earlier versions.
pub fn pages(report: &MemoryReport) -> Option<String> {
    let PageKinds { private_bytes, shared_bytes, droppable_bytes, huge_bytes } =
        PageKinds::of(&report.entries)?;
    let huge = match huge_bytes {
        Some(huge) => format!("{} of all are in huge pages", bytes(huge)),
        None => "the kernel does not report huge pages".to_owned(),
    };
    Some(format!(
        "By kind of page: {} private memory of the process, {} views of shared memory, {} pages of files that \
            the kernel can drop, {huge}.",
        bytes(private_bytes),
        bytes(shared_bytes),
        bytes(droppable_bytes)
    ))
}

/// The kinds of pages of a part, the largest first, in a word or two: `private`, `droppable + private`, `private, huge`.
pub fn kinds_of_pages(pages: PageKinds) -> String {
    let mut kinds = [
        (pages.private_bytes, "private"),
        (pages.shared_bytes, "shared"),
        (pages.droppable_bytes, "droppable"),
    ];
    kinds.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let all = kinds.iter().fold(0u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
    let names: Vec<&str> = kinds.iter().filter(|(bytes, _)| *bytes != 0).map(|(_, name)| *name).collect();
    let is_huge = pages.huge_bytes.is_some_and(|huge| huge != 0 && all / 2 <= huge);
    format!("{}{}", names.join(" + "), if is_huge { ", huge" } else { "" })
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
        return format!("Total equals RSS: {}, difference 0 B, {scan}", bytes(report.rss_bytes));
    }
    format!(
        "Total {}, RSS {}, difference {}, {scan}",
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

/// What the bytes of an area are. A quick snapshot does not look for owners: to say that there are none would be wrong.
pub fn explanation(area: Area, report: &MemoryReport) -> &'static str {
    match area {
        Area::MallocHeap if !report.has_owners() => "in use; owners were not searched for",
        Area::NativeAnonymous if !report.has_owners() => "pointers to it were not searched for",
        _ => area.explanation(),
    }
}

/// How much has no known owner, of both kinds, also where there is none of a kind; and how much is inferred.
pub fn unknown(areas: &[AreaNode], report: &MemoryReport) -> String {
    let part = |area: Area| format!("{} {}", bytes(tree::area_bytes(areas, area)), area.title());
    format!(
        "Unknown: {}, {} of RSS ({}, {}). {} of RSS is inferred.",
        bytes(report.unknown_bytes),
        percent(report.unknown_bytes, report.rss_bytes),
        part(Area::MallocHeap),
        part(Area::NativeAnonymous),
        percent(report.inferred_bytes, report.rss_bytes)
    )
}

/// Why a snapshot says less than it could, and the command that says the rest.
pub fn owners_left_out(left_out: &OwnersLeftOut) -> String {
    format!(
        "Depth structures: malloc's blocks in use are not split by owner. The Java heap has {} of resident \
            objects. Reading them all takes about {} of CPU time (by default, at most {} are read): {}",
        bytes(left_out.heap_resident_bytes),
        duration(left_out.heap_read_cpu_ns),
        bytes(left_out.heap_read_bytes_max),
        clean(&left_out.command)
    )
}

/// What the stacks of all threads that were read hold.
pub fn threads(report: &MemoryReport) -> String {
    let sum = report.threads.iter().fold(0u64, |sum, thread| sum.saturating_add(thread.stack_resident_bytes));
    let all = report.outside_rss.threads.map_or_else(String::new, |all| format!(" of {}", count(all)));
    format!("The stacks of {}{all} threads hold {}.", count(report.threads.len() as u64), bytes(sum))
}

/// Name and version of an allocator.
pub fn allocator_name(allocator: &AllocatorFacts) -> String {
    let version = allocator.version.as_ref().map_or_else(String::new, |v| format!(" {}", clean(v)));
    format!("{}{version}", allocator.name)
}

/// What the allocator holds, in a sentence.
pub fn allocator(allocator: &AllocatorFacts) -> String {
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
