//! Compiled code, the collector's tables, tracking and mapped files.

use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{
    bytes, ending, ends, entries_of, is_under, kinds_of_memory, of_area, option_size, percent, under,
};
use assay_model::{Area, Change, MemoryEntry, MemoryReport, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[
    &CODE_CACHE_FRAGMENTED,
    &CODE_CACHE_NEARLY_FULL,
    &GC_STRUCTURES_LARGE,
    &NATIVE_MEMORY_TRACKING,
    &MAPPED_FILES,
];

/// Free code in between is reused by later compilations; beyond this share of the cache it is not.
const FREE: Threshold = Threshold::percent("free", 25.0);
/// A code cache that is fuller than this stops or slows compilation.
const FULL: Threshold = Threshold::percent("full", 90.0);
/// G1's tables take 2 to 4 % of the heap; with large remembered sets more.
const TABLES: Threshold = Threshold::percent("tables", 10.0);
/// Of the heap, what Serial's card table and offset table take.
const SERIAL_SHARE: u64 = 256;
/// A heap up to this size is collected by one thread in pauses that most servers tolerate.
const SMALL_HEAP: Threshold = Threshold::bytes("small_heap", 1 << 30);
/// Mapped jars and other files are worth a word from this share of RSS on.
const MAPPED: Threshold = Threshold::percent("mapped", 5.0);

static CODE_CACHE_FRAGMENTED: Rule = Rule {
    id: RuleId::of("code-cache-fragmented"),
    severity: Severity::Warning,
    thresholds: &[FREE],
    evidence: "Free but resident code cache, from {free} of the area on.",
    cause: "Code was discarded, and later compilations do not fill the gaps.",
    fix: "Set `-XX:ReservedCodeCacheSize` to one and a half times the used code cache.",
    alternatives: &[],
    judge: Judge::of_bounded(code_cache_free).about(|path| ends(path, Area::JitCode, "free")),
};

/// Code cache that holds nothing and is resident.
fn code_cache_free(report: &MemoryReport) -> Option<Found> {
    let jvm = report.jvm.as_ref()?;
    let free = ending(report, Area::JitCode, "free");
    let all = of_area(report, Area::JitCode);
    if free < FREE.share_of(all) || !matters(report, free) {
        return None;
    }
    let used = jvm.code_cache_used_bytes?;
    let reserve = jvm.code_cache_bytes_max.map_or(String::new(), |max| format!(", reserved {}", bytes(max)));
    Some(finding(
        &CODE_CACHE_FRAGMENTED,
        format!("{} of the code cache holds no code", bytes(free)),
        format!(
            "free but resident {}, {} of the area; used {}{reserve}",
            bytes(free),
            percent(free, all),
            bytes(used)
        ),
        Change::to_set(
            &[&format!("-XX:ReservedCodeCacheSize={}", option_size(used.saturating_add(used / 2)))],
            &[],
            ", one and a half times the used code cache",
        ),
        Some(free),
    ))
}

static CODE_CACHE_NEARLY_FULL: Rule = Rule {
    id: RuleId::of("code-cache-nearly-full"),
    severity: Severity::Error,
    thresholds: &[FULL],
    evidence: "Used and reserved code cache. Made from {full} on.",
    cause: "There is more hot code than the cache holds: the JVM throws compiled code away, or stops compiling.",
    fix: "Set `-XX:ReservedCodeCacheSize` twice as large.",
    alternatives: &[],
    judge: Judge::of(code_cache_nearly_full),
};

/// Code cache with hardly any room.
fn code_cache_nearly_full(report: &MemoryReport) -> Option<Found> {
    let jvm = report.jvm.as_ref()?;
    let (used, max) = (jvm.code_cache_used_bytes?, jvm.code_cache_bytes_max.filter(|max| *max != 0)?);
    if used < FULL.share_of(max) {
        return None;
    }
    Some(finding(
        &CODE_CACHE_NEARLY_FULL,
        "the code cache is nearly full: the JVM will throw compiled code away or stop compiling".to_owned(),
        format!("used {} of {}, {}", bytes(used), bytes(max), percent(used, max)),
        Change::to_set(
            &[&format!("-XX:ReservedCodeCacheSize={}", option_size(max.saturating_mul(2)))],
            &[],
            ", twice as much",
        ),
        None,
    ))
}

static GC_STRUCTURES_LARGE: Rule = Rule {
    id: RuleId::of("gc-structures-large"),
    severity: Severity::Warning,
    thresholds: &[TABLES, SMALL_HEAP],
    evidence: "The collector's tables as a share of the committed heap (from {tables} on), and the largest of them.",
    cause: "Remembered sets, mark bitmaps and card tables grow with the heap and with references between regions.",
    fix: "For a heap up to {small_heap}, `-XX:+UseSerialGC`. With G1, larger regions \
        (`-XX:G1HeapRegionSize`). With other collectors, `-XX:+UseParallelGC` if its pauses are acceptable.",
    alternatives: &[],
    judge: Judge::of(gc_structures).about(|path| Area::of_path(path) == Some(Area::GcStructures)),
};

/// Tables of the collector that are large for the heap.
fn gc_structures(report: &MemoryReport) -> Option<Found> {
    let jvm = report.jvm.as_ref()?;
    let tables = of_area(report, Area::GcStructures);
    let committed = jvm.heap_committed_bytes.filter(|bytes| *bytes != 0)?;
    if tables < TABLES.share_of(committed) || !matters(report, tables) {
        return None;
    }
    let max = jvm.heap_bytes_max?;
    let serial = committed / SERIAL_SHARE;
    let collector = jvm.collector.as_deref()?;
    let (setting, gain) = match collector {
        "Serial" => return None,
        _ if max <= SMALL_HEAP.whole() => (
            Change::to_set(&["-XX:+UseSerialGC"], &[], ", which has smaller tables"),
            Some(tables.saturating_sub(serial)),
        ),
        "G1" => (
            "Set a larger -XX:G1HeapRegionSize (1m to 32m), which makes remembered sets smaller".into(),
            None,
        ),
        _ => (Change::to_set(&["-XX:+UseParallelGC"], &[], ", where its longer pauses are acceptable"), None),
    };
    let largest = entries_of(report, Area::GcStructures).max_by_key(|entry| entry.resident_bytes);
    let largest =
        largest.and_then(|entry| entry.path.get(1..).map(|below| (below.join(": "), entry.resident_bytes)));
    let largest = largest.map_or(String::new(), |(name, b)| format!("; most of it {name}, {}", bytes(b)));
    Some(finding(
        &GC_STRUCTURES_LARGE,
        format!("{collector}'s own tables take {}", bytes(tables)),
        format!("{} of the committed heap of {}{largest}", percent(tables, committed), bytes(committed)),
        setting,
        gain,
    ))
}

static NATIVE_MEMORY_TRACKING: Rule = Rule {
    id: RuleId::of("native-memory-tracking"),
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "The level of tracking, and the bytes of its headers and tables.",
    cause: "Tracking adds a header to each malloc block of the JVM.",
    fix: "Start without `-XX:NativeMemoryTracking`: Assay's areas do not need it.",
    alternatives: &[],
    judge: Judge::of(native_memory_tracking).about(is_tracking),
};

fn is_tracking(path: &[String]) -> bool {
    let tables = ["native memory tracking", "NMT"];
    ends(path, Area::AllocatorOverhead, "NMT headers")
        || tables.iter().any(|table| is_under(path, &[Area::JvmWork.title(), table]))
}

/// What tracking itself costs, where it is on. Nothing is said where it is off.
fn native_memory_tracking(report: &MemoryReport) -> Option<Found> {
    let level = report.jvm.as_ref()?.native_memory_tracking.as_deref().filter(|level| *level != "off")?;
    let headers = ending(report, Area::AllocatorOverhead, "NMT headers");
    let of = |entry| under(report, &[Area::JvmWork.title(), entry]);
    let tables = of("native memory tracking").saturating_add(of("NMT"));
    let gain = headers.saturating_add(tables);
    matters(report, gain).then(|| {
        finding(
            &NATIVE_MEMORY_TRACKING,
            format!("native memory tracking costs {}", bytes(gain)),
            format!("level {level}: headers of blocks {}, its own tables {}", bytes(headers), bytes(tables)),
            "Start without -XX:NativeMemoryTracking, which the areas do not need".to_owned(),
            Some(gain),
        )
    })
}

static MAPPED_FILES: Rule = Rule {
    id: RuleId::of("mapped-files"),
    severity: Severity::Note,
    thresholds: &[MAPPED],
    evidence: "The number of mapped files and their resident bytes, from {mapped} of RSS on.",
    cause: "Jars and other files are mapped. Their pages count as RSS, and the kernel can drop them at any time.",
    fix: "Count them half for a limit, as `assay memory advise` does.",
    alternatives: &[],
    judge: Judge::of(mapped_jars).about(is_mapped_file),
};

fn is_mapped_file(path: &[String]) -> bool {
    let kinds = ["mapped jars", "mapped files", "class files"];
    matches!(Area::of_path(path), Some(Area::Code | Area::Buffers))
        && path.get(1).is_some_and(|part| kinds.contains(&part.as_str()))
}

/// Pages that a program has written of a private mapping are memory of its own.
fn droppable(entry: &MemoryEntry) -> u64 {
    kinds_of_memory(entry).map_or(entry.bytes_of_memory(), |pages| pages.droppable_bytes)
}

/// Jars and other files that are mapped: part of RSS, but not memory that the process needs.
fn mapped_jars(report: &MemoryReport) -> Option<Found> {
    let entries = report.entries.iter().filter(|entry| is_mapped_file(&entry.path));
    let (number, mapped) =
        entries.fold((0, 0u64), |(n, sum), entry| (n + 1, sum.saturating_add(droppable(entry))));
    if mapped < MAPPED.share_of(report.bytes_of_memory()) || !matters(report, mapped) {
        return None;
    }
    let found = finding(
        &MAPPED_FILES,
        format!("{} of RSS are pages of files, which the kernel can drop at any time", bytes(mapped)),
        format!("{number} mapped files, {} of RSS", percent(mapped, report.rss_bytes)),
        "Count them half for a limit, as `assay memory advise` does".to_owned(),
        None,
    );
    Some(found.of_resident(mapped))
}
