//! Native memory that Java objects own.

use super::malloc::{GLIBC_TUNABLES, fixed_trim_limit};
use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, entries_at, flag, is_under, memory_of, option_size, percent, sum, under};
use crate::owners::{DIRECT_BUFFERS, NIO_THREAD_CACHE, NO_HOLDER, NO_HOLDER_SEEN, OPEN_JARS};
use assay_model::{Allocator, Area, Change, MemoryEntry, MemoryReport, RuleId, Severity, Threshold};
use std::collections::BTreeMap;

pub(super) static RULES: &[&Rule] =
    &[&NIO_THREAD_BUFFERS, &DIRECT_BUFFERS_WITHOUT_LIMIT, &ZIP_STREAMS_NOT_ENDED, &INFLATERS_OF_OPEN_JARS];

/// Below this share of RSS direct buffers are not what makes a process large.
const DIRECT: Threshold = Threshold::percent("direct", 10.0);
/// Buffers up to this size threads may keep: more than most reads and writes need.
const CACHED: Threshold = Threshold::bytes("cached", 256 << 10);
/// Streams that are open at a time in a busy server are tens; each Deflater has 260 KB, each Inflater 40 KB.
const ZIP_STREAMS: Threshold = Threshold::bytes("zip_streams", 16 << 20);
/// Holders that are named.
const HOLDERS_NAMED: usize = 3;

/// The path of direct buffers with this holder.
fn direct_of(holder: &str) -> [&str; 3] {
    [Area::Buffers.title(), DIRECT_BUFFERS, holder]
}

fn is_cached(path: &[String]) -> bool {
    is_under(path, &direct_of(NIO_THREAD_CACHE))
}

fn is_dead(path: &[String]) -> bool {
    is_under(path, &direct_of(NO_HOLDER)) || may_be_dead(path)
}

/// Dead, unless the program put them elsewhere while its heap was read.
fn may_be_dead(path: &[String]) -> bool {
    is_under(path, &direct_of(NO_HOLDER_SEEN))
}

static NIO_THREAD_BUFFERS: Rule = Rule {
    id: RuleId::of("nio-thread-buffers"),
    severity: Severity::Warning,
    thresholds: &[DIRECT, CACHED],
    evidence: "Direct buffers in the caches of threads, from {direct} of RSS on, of more than {cached} each on average.",
    cause: "A thread that reads or writes a channel through a heap buffer copies through a direct buffer of \
        the same size. It keeps that buffer until it ends. A limit for direct memory would fail reads, since \
        the buffers are live.",
    fix: "Set `-Djdk.nio.maxCachedBufferSize=262144`: a larger buffer is freed after use. With glibc's malloc, also set \
        `GLIBC_TUNABLES=glibc.malloc.trim_threshold=131072` in the environment: otherwise its arenas keep what was freed.",
    alternatives: &[
        "Read and write in smaller pieces.",
        "Use direct buffers in the program, which are not copied.",
    ],
    judge: Judge::of(nio_thread_buffers).about(is_cached),
};

/// Temporary buffers that threads keep.
fn nio_thread_buffers(report: &MemoryReport) -> Option<Found> {
    let cached = entries_at(report, is_cached);
    let held = memory_of(cached.iter().copied());
    if held < DIRECT.share_of(report.bytes_of_memory()) || !matters(report, held) {
        return None;
    }
    let sum = |of: fn(&MemoryEntry) -> Option<u64>| {
        cached.iter().try_fold(0u64, |sum, entry| Some(sum.saturating_add(of(entry)?)))
    };
    let (count, size) = (sum(|entry| entry.count)?, sum(|entry| entry.size_bytes)?);
    if size / count.max(1) <= CACHED.whole() {
        return None;
    }
    let found = finding(
        &NIO_THREAD_BUFFERS,
        format!(
            "threads keep {} of direct buffers from reading and writing through heap buffers",
            bytes(held)
        ),
        format!(
            "{count} buffers of {} on average in the caches of live threads ({NIO_THREAD_CACHE}), {} of RSS",
            bytes(size / count.max(1)),
            percent(held, report.rss_bytes)
        ),
        freed_after_use(report),
        Some(held),
    );
    Some(found.or("Read and write in smaller pieces").or("Use direct buffers in the program"))
}

/// The JVM frees larger buffers after use. With the limits that glibc raises for them, each arena would keep one: of 20 MiB in 16 arenas 17 %
/// came back. Held by: `buffers_that_are_not_cached_bring_what_was_promised`.
fn freed_after_use(report: &MemoryReport) -> Change {
    let option = format!("-Djdk.nio.maxCachedBufferSize={}", CACHED.whole());
    let is_glibc_s = report.allocator.as_ref().is_some_and(|of| of.name == Allocator::Glibc);
    let limit = fixed_trim_limit();
    let variables = [(GLIBC_TUNABLES, limit.as_str())];
    Change::to_set(&[&option], if is_glibc_s { &variables } else { &[] }, "")
}

static DIRECT_BUFFERS_WITHOUT_LIMIT: Rule = Rule {
    id: RuleId::of("direct-buffers-without-limit"),
    severity: Severity::Warning,
    thresholds: &[DIRECT],
    evidence: "Direct buffers that no object in the heap holds, from {direct} of RSS on, and the limit of direct memory, where none is \
        set. If the process was not stopped, a list that just grew may hold them.",
    cause: "Direct memory is freed when the buffer's object is collected, which a large heap does rarely.",
    fix: "Set `-XX:MaxDirectMemorySize`, which makes the JVM collect in time. It must hold all buffers that are live.",
    alternatives: &["Free them in the program, where the library that makes them can."],
    judge: Judge::of(direct_without_limit).about(is_dead),
};

/// Dead direct buffers, with no limit that would have them collected.
fn direct_without_limit(report: &MemoryReport) -> Option<Found> {
    let jvm = report.jvm.as_ref()?;
    let dead = sum(report, is_dead);
    let has_limit = flag(jvm, "MaxDirectMemorySize")? != 0;
    if has_limit || dead < DIRECT.share_of(report.bytes_of_memory()) || !matters(report, dead) {
        return None;
    }
    let direct = under(report, &[Area::Buffers.title(), DIRECT_BUFFERS]);
    let heap =
        jvm.heap_bytes_max.map_or(String::new(), |max| format!(", which is the heap's, {}", bytes(max)));
    // What all of them take now, and a quarter: live ones have room, and dead ones do not gather beyond it.
    let limit = option_size(direct.saturating_add(direct / 4));
    let is_unsure = 0 < sum(report, may_be_dead);
    let (perhaps, unless) = match is_unsure {
        true => (
            "perhaps ",
            "; the program ran on while its heap was read, and a list that just grew may hold them",
        ),
        false => ("", ""),
    };
    let found = finding(
        &DIRECT_BUFFERS_WITHOUT_LIMIT,
        format!(
            "direct buffers that {perhaps}no object holds take {}, and may grow as large as the heap",
            bytes(dead)
        ),
        format!(
            "{} of RSS, out of {} in direct buffers; their limit is not set, so the JVM's default holds{heap}{unless}",
            percent(dead, report.rss_bytes),
            bytes(direct)
        ),
        Change::to_set(
            &[&format!("-XX:MaxDirectMemorySize={limit}")],
            &[],
            ", which makes the JVM collect dead buffers in time",
        ),
        None,
    );
    let found = if is_unsure { found.or("Look again while the process is stopped: --freeze") } else { found };
    Some(found.or("Free them in the program, where the library that makes them can"))
}

static ZIP_STREAMS_NOT_ENDED: Rule = Rule {
    id: RuleId::of("zip-streams-not-ended"),
    severity: Severity::Warning,
    thresholds: &[ZIP_STREAMS],
    evidence: "Native memory of `Deflater` and `Inflater` objects (from {zip_streams} on), with the number of \
        blocks and their holders. The cache of open jars is not included.",
    cause: "The native part is freed by `end()`, or when the object is collected, which may be late.",
    fix: "Close the streams (try-with-resources).",
    alternatives: &["Call `end()` on each."],
    judge: Judge::of(zip_streams).about(is_stream),
};

fn is_stream(path: &[String]) -> bool {
    is_zip(path) && !is_of_jars(path)
}

/// Deflaters and inflaters that nobody ends.
fn zip_streams(report: &MemoryReport) -> Option<Found> {
    let streams = entries_at(report, is_stream);
    let held = memory_of(streams.iter().copied());
    if held < ZIP_STREAMS.whole() || !matters(report, held) {
        return None;
    }
    let mut kinds: Vec<&str> = streams.iter().filter_map(|entry| Some(entry.path.get(1)?.as_str())).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let found = finding(
        &ZIP_STREAMS_NOT_ENDED,
        format!("{} hold {} of native memory", kinds.join(" and "), bytes(held)),
        format!(
            "{}{}, {} of RSS{}; freed only when end() is called or the object is collected",
            bytes(held),
            blocks_of(&streams),
            percent(held, report.rss_bytes),
            holders_of(&streams)
        ),
        "Close the streams (try-with-resources)".to_owned(),
        Some(held),
    );
    Some(found.or("Call end() on each Deflater and Inflater"))
}

static INFLATERS_OF_OPEN_JARS: Rule = Rule {
    id: RuleId::of("inflaters-of-open-jars"),
    severity: Severity::Note,
    thresholds: &[ZIP_STREAMS],
    evidence: "Native memory of `Inflater` objects that open jars and other zip files keep for their next entries (from {zip_streams} on).",
    cause: "A `ZipFile` keeps each inflater that reading its entries needed, as many as were in use at a time, until it is closed.",
    fix: "Close jars that are no longer read, and class loaders that hold them (`URLClassLoader.close()`).",
    alternatives: &["Start with fewer jars: one of all classes."],
    judge: Judge::of(open_jars).about(is_kept_by_jars),
};

/// Inflaters that open jars keep: there is no stream to close.
fn open_jars(report: &MemoryReport) -> Option<Found> {
    let kept = entries_at(report, is_kept_by_jars);
    let held = memory_of(kept.iter().copied());
    if held < ZIP_STREAMS.whole() || !matters(report, held) {
        return None;
    }
    let found = finding(
        &INFLATERS_OF_OPEN_JARS,
        format!("open jars keep {} of inflaters for their next entries", bytes(held)),
        format!(
            "{}{}, {} of RSS, held by {OPEN_JARS}; freed when the jar is closed",
            bytes(held),
            blocks_of(&kept),
            percent(held, report.rss_bytes)
        ),
        "Close jars that are no longer read".to_owned(),
        None,
    );
    Some(found.or("Close class loaders that are no longer used: URLClassLoader.close()"))
}

fn is_kept_by_jars(path: &[String]) -> bool {
    is_zip(path) && is_of_jars(path)
}

/// Deflaters and inflaters, whoever keeps them.
fn is_zip(path: &[String]) -> bool {
    let is_zip = |part: &String| part.contains("Deflater") || part.contains("Inflater");
    Area::of_path(path) == Some(Area::Buffers) && path.get(1).is_some_and(is_zip)
}

fn is_of_jars(path: &[String]) -> bool {
    path.get(2).is_some_and(|holder| holder == OPEN_JARS)
}

fn blocks_of(entries: &[&MemoryEntry]) -> String {
    let count = entries.iter().try_fold(0u64, |sum, entry| Some(sum.saturating_add(entry.count?)));
    count.map_or(String::new(), |count| format!(" in {count} blocks"))
}

/// Who holds most of it, each once.
fn holders_of(entries: &[&MemoryEntry]) -> String {
    let mut by_holder: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in entries {
        if let Some(holder) = entry.path.get(2) {
            let held = by_holder.entry(holder).or_default();
            *held = held.saturating_add(entry.bytes_of_memory());
        }
    }
    let mut holders: Vec<(&str, u64)> = by_holder.into_iter().collect();
    holders.sort_by_key(|(_, held)| std::cmp::Reverse(*held));
    let named: Vec<String> =
        holders.iter().take(HOLDERS_NAMED).map(|(name, held)| format!("{name} {}", bytes(*held))).collect();
    let more = holders.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(", {more} more") };
    if named.is_empty() { String::new() } else { format!("; held by {}{more}", named.join(", ")) }
}
