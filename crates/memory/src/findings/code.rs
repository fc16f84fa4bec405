//! Compiled code, the collector's tables, tracking and mapped files.

use super::weight::{finding, matters};
use super::words::{bytes, ending, entries_of, of_area, option_size, percent, under};
use assay_model::{Area, Finding, MemoryReport, MemoryRule};

/// Free code in between is reused by later compilations; beyond this share of the cache it is not.
const CODE_FREE_SHARE_MIN: u64 = 4;
/// A code cache that is fuller than this stops or slows compilation.
const CODE_FULL_PERCENT: u64 = 90;
/// G1's tables take 2 to 4 % of the heap; with large remembered sets more.
const GC_SHARE_MIN: u64 = 10;
/// Of the heap, what Serial's card table and offset table take.
const SERIAL_SHARE: u64 = 256;
/// A heap up to this size is collected by one thread in pauses that most servers tolerate.
const SMALL_HEAP_BYTES: u64 = 1 << 30;
/// Mapped jars and other files are worth a word from this share of RSS on.
const MAPPED_SHARE_MIN: u64 = 5;

/// Code cache that holds nothing and is resident.
pub(super) fn code_cache_free(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let jvm = report.jvm.as_ref()?;
    let free = ending(report, Area::JitCode, "free");
    let all = of_area(report, Area::JitCode);
    if free < all / CODE_FREE_SHARE_MIN || !matters(report, free) {
        return None;
    }
    let used = jvm.code_cache_used_bytes?;
    let reserve = jvm.code_cache_bytes_max.map_or(String::new(), |max| format!(", reserved {}", bytes(max)));
    Some(finding(
        MemoryRule::CodeCacheFragmented,
        format!("{} of the code cache holds no code", bytes(free)),
        format!(
            "free but resident {}, {} of the area; used {}{reserve}",
            bytes(free),
            percent(free, all),
            bytes(used)
        ),
        format!(
            "Set -XX:ReservedCodeCacheSize={}, room for what is used and half as much again",
            option_size(used.saturating_add(used / 2))
        ),
        Some(free),
    ))
}

/// Code cache with hardly any room.
pub(super) fn code_cache_nearly_full(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let jvm = report.jvm.as_ref()?;
    let (used, max) = (jvm.code_cache_used_bytes?, jvm.code_cache_bytes_max.filter(|max| *max != 0)?);
    if u128::from(used) * 100 < u128::from(max) * u128::from(CODE_FULL_PERCENT) {
        return None;
    }
    Some(finding(
        MemoryRule::CodeCacheNearlyFull,
        "the code cache is nearly full: the JVM will throw compiled code away or stop compiling".to_owned(),
        format!("used {} of {}, {}", bytes(used), bytes(max), percent(used, max)),
        format!("Set -XX:ReservedCodeCacheSize={}, twice as much", option_size(max.saturating_mul(2))),
        None,
    ))
}

/// Tables of the collector that are large for the heap.
pub(super) fn gc_structures(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let jvm = report.jvm.as_ref()?;
    let tables = of_area(report, Area::GcStructures);
    let committed = jvm.heap_committed_bytes.filter(|bytes| *bytes != 0)?;
    if tables < committed / GC_SHARE_MIN || !matters(report, tables) {
        return None;
    }
    let max = jvm.heap_bytes_max?;
    let serial = committed / SERIAL_SHARE;
    let collector = jvm.collector.as_deref()?;
    let (setting, gain) = match collector {
        "Serial" => return None,
        _ if max <= SMALL_HEAP_BYTES => {
            ("Set -XX:+UseSerialGC, which has smaller tables".to_owned(), Some(tables.saturating_sub(serial)))
        }
        "G1" => (
            "Set a larger -XX:G1HeapRegionSize (1m to 32m), which makes remembered sets smaller".to_owned(),
            None,
        ),
        _ => ("Set -XX:+UseParallelGC, where its longer pauses are acceptable".to_owned(), None),
    };
    let largest = entries_of(report, Area::GcStructures).max_by_key(|entry| entry.resident_bytes);
    let largest =
        largest.and_then(|entry| entry.path.get(1..).map(|below| (below.join(": "), entry.resident_bytes)));
    let largest = largest.map_or(String::new(), |(name, b)| format!("; most of it {name}, {}", bytes(b)));
    Some(finding(
        MemoryRule::GcStructuresLarge,
        format!("{collector}'s own tables take {}", bytes(tables)),
        format!("{} of the committed heap of {}{largest}", percent(tables, committed), bytes(committed)),
        setting,
        gain,
    ))
}

/// What tracking itself costs, where it is on. Nothing is said where it is off.
pub(super) fn native_memory_tracking(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let level = report.jvm.as_ref()?.native_memory_tracking.as_deref().filter(|level| *level != "off")?;
    let headers = ending(report, Area::AllocatorOverhead, "NMT headers");
    let of = |entry| under(report, &[Area::JvmWork.title(), entry]);
    let tables = of("native memory tracking").saturating_add(of("NMT"));
    let gain = headers.saturating_add(tables);
    matters(report, gain).then(|| {
        finding(
            MemoryRule::NativeMemoryTracking,
            format!("native memory tracking costs {}", bytes(gain)),
            format!("level {level}: headers of blocks {}, its own tables {}", bytes(headers), bytes(tables)),
            "Start without -XX:NativeMemoryTracking, which the areas do not need".to_owned(),
            Some(gain),
        )
    })
}

/// Jars and other files that are mapped: part of RSS, but not memory that the process needs.
pub(super) fn mapped_jars(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let is_mapped_file = |part: &str| matches!(part, "mapped jars" | "mapped files" | "class files");
    let in_code = entries_of(report, Area::Code).chain(entries_of(report, Area::Buffers));
    let entries = in_code.filter(|entry| entry.path.get(1).is_some_and(|part| is_mapped_file(part)));
    let (number, mapped) =
        entries.fold((0, 0u64), |(n, sum), entry| (n + 1, sum.saturating_add(entry.resident_bytes)));
    if mapped < report.rss_bytes / (100 / MAPPED_SHARE_MIN) || !matters(report, mapped) {
        return None;
    }
    Some(finding(
        MemoryRule::MappedFiles,
        format!("{} of RSS are pages of files, which the kernel can drop at any time", bytes(mapped)),
        format!("{number} mapped files, {} of RSS", percent(mapped, report.rss_bytes)),
        "Count them half for a limit, as `assay memory advise` does".to_owned(),
        None,
    ))
}
