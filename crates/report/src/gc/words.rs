//! The sentences, names and figures of GC logs.

use assay_kit::document::Finding as FindingText;
pub use assay_kit::number::counted;
use assay_kit::number::{count, significant, size};
use assay_kit::quantity;
pub use assay_kit::quantity::{figure, figure_of, ms, percent, seconds, window};
use assay_kit::text::clean;
use assay_model::{
    Estimate, GcAnomaly, GcDurations, GcJvm, GcLiveSet, GcReconciliation, GcReport, GcScope, GcSource,
    GcSpace, GcTrend, GcVerdict,
};

/// Places that are named one after the other.
const PLACES_SHOWN: usize = 4;

/// Where J9 says so, by its own word.
const COMPRESSED_REFERENCES: &str = "compressed references";

/// Of a log without a single pause.
pub const NO_PAUSE: &str = "No pause for the collector was read";

/// A figure's identifier in words: `pause_p50_ms` is `pause p50 (ms)`. Sizes are written with their units.
pub fn spoken(metric: &str) -> String {
    let ends = [("_per_s", " per second"), ("_per_h", " per hour"), ("_per_request", " per request")];
    let of_end = |(end, per): &(&str, &'static str)| Some((metric.strip_suffix(end)?, *per));
    let (name, per) = ends.iter().find_map(of_end).unwrap_or((metric, ""));
    let (name, unit) = name.strip_suffix("_ms").map_or((name, ""), |name| (name, " (ms)"));
    let name = name.strip_suffix("_bytes").unwrap_or(name).replace('_', " ");
    clean(&format!("{name}{per}{unit}"))
}

/// File and line: `gc.log:5123`. Of a file in a folder the name alone, which the list of sources has in full.
pub fn place(report: &GcReport, (source, line): (usize, u64)) -> String {
    let name = report.sources.get(source).map_or("?", |s| s.name.as_str());
    let short = name.rsplit(['/', '!']).next().unwrap_or(name);
    format!("{}:{line}", clean(short))
}

/// The first few of these places.
pub fn places(report: &GcReport, at: &[(usize, u64)]) -> String {
    let shown: Vec<String> = at.iter().take(PLACES_SHOWN).map(|at| place(report, *at)).collect();
    let more = at.len().saturating_sub(PLACES_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A rate or size in bytes with its interval: `120 MiB/s (118 to 123)`.
pub fn bytes_with_interval(value: &Estimate, per: &str) -> String {
    quantity::bytes_with_interval(value.estimate, (value.low, value.high), per)
}

/// The first sentences: how much of the time the application ran, the longest pause, and what threads waited for memory.
pub fn headline(report: &GcReport) -> String {
    let pauses = &report.pauses;
    let waited = waited(report).map_or_else(String::new, |waited| format!(" {waited}"));
    if pauses.count == 0 {
        return format!("{NO_PAUSE}.{waited}");
    }
    let longest = pauses.max_ms.map_or_else(String::new, |max| {
        let at = pauses.max_at.map_or_else(String::new, |at| format!(" ({})", place(report, at)));
        format!(" The longest pause took {}{at}.", ms(max))
    });
    let stopped = format!("{} took {}", counted(pauses.count, "pause", "pauses"), ms(pauses.total_ms));
    let verdict = match (report.application_percent, report.throughput_percent, report.span_s) {
        (Some(ran), _, Some(span_s)) => {
            let other = report.other_safepoints_ms.map_or_else(String::new, ms);
            format!(
                "The application ran {} % of the time: {stopped} of {}, other safepoints and reaching them {other}.",
                percent(ran),
                seconds(span_s)
            )
        }
        (None, Some(throughput), Some(span_s)) => format!(
            "GC throughput {} %: {stopped} of {}. Other stops are not in the log.",
            percent(throughput),
            seconds(span_s)
        ),
        (_, None, Some(_)) if report.sources.iter().any(GcSource::has_long_collections_alone) => format!(
            "{stopped}. Servers log nothing about shorter ones, so these and the share of time are missing."
        ),
        (_, None, Some(_)) => format!("{stopped}. The log is too short for a share of the time."),
        (_, _, None) => format!("{stopped}. The log has no times to compare that with."),
    };
    format!("{verdict}{longest}{waited}")
}

/// How long threads waited for memory; absent where none did.
fn waited(report: &GcReport) -> Option<String> {
    let total_ms: f64 = report.stalls_by_phase.iter().map(|row| row.durations.total_ms).sum();
    let once =
        report.stalled_ms.map_or_else(String::new, |once| format!(", at least one of them for {}", ms(once)));
    (total_ms > 0.0).then(|| format!("Threads waited {} in all for memory{once}.", ms(total_ms)))
}

/// The JVM that wrote it, in pieces: version, collector, heap, mode, processors.
pub fn jvm(jvm: &GcJvm) -> Vec<String> {
    let mut pieces = Vec::new();
    pieces.push(
        jvm.version.as_ref().map_or("JVM of unknown version".to_owned(), |v| format!("JVM {}", clean(v))),
    );
    if let Some(collector) = &jvm.collector {
        let generations = match jvm.is_generational {
            Some(true) => ", with generations",
            Some(false) => ", without generations",
            None => "",
        };
        pieces.push(format!("{}{generations}", clean(collector)));
    }
    match (jvm.heap_bytes_initial.or(jvm.heap_bytes_min), jvm.heap_bytes_max) {
        (Some(from), Some(to)) if from == to => pieces.push(format!("heap {}", size(to))),
        (Some(from), Some(to)) => pieces.push(format!("heap {} to {}", size(from), size(to))),
        (None, Some(to)) => pieces.push(format!("heap up to {}", size(to))),
        (Some(from), None) => pieces.push(format!("heap from {}", size(from))),
        (None, None) => {}
    }
    if let Some(mode) = &jvm.mode {
        let compact = if mode.compact_headers == Some(true) { " with compact headers" } else { "" };
        pieces.push(format!("references {}{compact}", mode.mode.name()));
    } else if let Some(is_compressed) = jvm.settings.get(COMPRESSED_REFERENCES) {
        // J9 without the shift: the mode is not known, but this is.
        pieces.push(format!(
            "references {}",
            if is_compressed == "true" { "compressed" } else { "not compressed" }
        ));
    }
    if let Some(processors) = jvm.processors {
        pieces.push(counted(processors, "processor", "processors"));
    }
    if let Some(memory) = jvm.memory_bytes {
        pieces.push(format!("sees {}", size(memory)));
    }
    if let Some(region) = jvm.region_bytes {
        pieces.push(format!("regions of {}", size(region)));
    }
    match (jvm.parallel_workers, jvm.concurrent_workers) {
        (Some(parallel), Some(concurrent)) => {
            pieces.push(format!("workers {parallel}, concurrent {concurrent}"));
        }
        (Some(parallel), None) => pieces.push(format!("workers {parallel}")),
        (None, Some(concurrent)) => pieces.push(format!("concurrent workers {concurrent}")),
        (None, None) => {}
    }
    if let Some(pages) = &jvm.large_pages {
        pieces.push(format!("large pages {}", clean(pages)));
    }
    pieces
}

/// The input: files, bytes, lines, span.
pub fn subject(report: &GcReport) -> String {
    let bytes: u64 = report.sources.iter().fold(0, |sum, s| sum.saturating_add(s.bytes));
    let lines: u64 = report.sources.iter().fold(0, |sum, s| sum.saturating_add(s.lines));
    let files = counted(report.sources.len() as u64, "file", "files");
    let span = report.span_s.map_or_else(String::new, |s| format!(", over {}", seconds(s)));
    format!("{files}, {}, {}{span}", size(bytes), counted(lines, "line", "lines"))
}

/// Findings in their order, each with its places in the logs.
pub fn findings(report: &GcReport) -> Vec<FindingText> {
    assay_findings::told_of_logs(&report.findings, |at| places(report, at))
}

/// The part of the heap that a pause collects.
pub fn scope(scope: GcScope) -> &'static str {
    match scope {
        GcScope::Young => "young",
        GcScope::Mixed => "mixed",
        GcScope::Old => "old",
        GcScope::Full => "full",
        GcScope::Whole => "whole heap",
    }
}

/// A part of the heap.
pub fn space(space: GcSpace) -> &'static str {
    match space {
        GcSpace::Young => "young generation",
        GcSpace::Eden => "eden",
        GcSpace::Survivor => "survivors",
        GcSpace::Old => "old generation",
        GcSpace::Humongous => "humongous objects",
        GcSpace::Metaspace => "metaspace",
        GcSpace::ClassSpace => "class space",
    }
}

/// Names of the events that the collector should not have.
pub fn anomaly(anomaly: GcAnomaly) -> &'static str {
    match anomaly {
        GcAnomaly::EvacuationFailure => "evacuation failures",
        GcAnomaly::PromotionFailed => "failed promotions",
        GcAnomaly::ConcurrentModeFailure => "concurrent mode failures",
        GcAnomaly::Degenerated => "degenerated cycles",
        GcAnomaly::Aborted => "aborted cycles",
        GcAnomaly::CriticalSection => "waits for JNI critical sections",
        GcAnomaly::Other => "others",
    }
}

/// The verdict on a difference.
pub fn verdict(verdict: GcVerdict) -> &'static str {
    match verdict {
        GcVerdict::Higher => "▲ higher",
        GcVerdict::Lower => "▼ lower",
        GcVerdict::NoDifferenceShown => "≈ no difference shown",
        GcVerdict::InsufficientData => "? undecided, too little data",
    }
}

/// The live set and its trend in a sentence.
pub fn live_set(live: &GcLiveSet) -> String {
    let trend = match live.trend {
        GcTrend::Grows => "it grows",
        GcTrend::Flat => "over this log it hardly changes",
        GcTrend::Shrinks => "it shrinks",
        GcTrend::Unknown => "too little to say whether it grows",
    };
    let slope = live
        .slope_bytes_per_h
        .as_ref()
        .filter(|_| live.trend != GcTrend::Unknown)
        .map_or_else(String::new, |slope| format!(", {}", bytes_with_interval(slope, " an hour")));
    // Files of before that key have the last alone.
    let level = if live.level_bytes == 0 { live.last_bytes } else { live.level_bytes };
    let (level, max) = (size(level), size(live.max_bytes));
    format!("{level}, at most {max}, {} ({}), {trend}{slope}", clean(&live.basis), count(live.count))
}

/// Figures that are one line each: name and words. Figures that the log lacks are left out.
pub fn figures(report: &GcReport) -> Vec<(&'static str, String)> {
    let mut rows: Vec<(&'static str, String)> = Vec::new();
    let mut put = |name, words: Option<String>| rows.extend(words.map(|words| (name, words)));
    let all = report.allocated_bytes.map_or_else(String::new, |bytes| format!(", {} in all", size(bytes)));
    let rate = |rate: &Option<Estimate>| rate.as_ref().map(|r| bytes_with_interval(r, "/s"));
    put("allocated", rate(&report.allocated_bytes_per_s).map(|r| r + &all));
    put("promoted", promoted(report));
    put("freed", report.freed_bytes.map(size));
    let per_request = report.garbage_bytes_per_request.as_ref();
    put("garbage per request", per_request.map(|r| bytes_with_interval(r, "")));
    put("live set", report.live_set.as_ref().map(live_set));
    put("time to safepoint", spread(&report.time_to_safepoint));
    put("other safepoints", report.other_safepoints_ms.map(|t| format!("{} without a collection", ms(t))));
    put("CPU in pauses", report.cpu.as_ref().map(|sum| cpu(sum, "pause", "pauses")));
    let beside = report.concurrent_cpu.as_ref();
    put("concurrent CPU", beside.map(|sum| cpu(sum, "concurrent phase", "concurrent phases")));
    if report.out_of_memory > 0 {
        put("out of memory", Some(counted(report.out_of_memory, "time", "times")));
    }
    if !report.anomalies.is_empty() {
        let of = report.anomalies.iter().map(|(t, n)| format!("{} {}", count(*n), anomaly(*t)));
        put("GC anomalies", Some(of.collect::<Vec<_>>().join(", ")));
    }
    rows
}

/// The rate is over the intervals between collections that show it, which in a short log are few, and other ones than those of the
/// allocation rate: without an interval of confidence it is left out.
fn promoted(report: &GcReport) -> Option<String> {
    let rate = report.promoted_bytes_per_s.as_ref().filter(|rate| rate.low.is_some());
    let parts = [
        rate.map(|rate| bytes_with_interval(rate, "/s")),
        report
            .promoted_percent
            .map(|p| format!("{} % of the allocation between collections that show both", significant(p))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn cpu(cpu: &assay_model::GcCpuSum, one: &str, many: &str) -> String {
    let busy = (cpu.user_s + cpu.sys_s) / cpu.real_s;
    let busy =
        if busy.is_finite() { format!(": average parallelism {}", significant(busy)) } else { String::new() };
    format!(
        "{} s user, {} s system in {} s of {}{busy}",
        significant(cpu.user_s),
        significant(cpu.sys_s),
        significant(cpu.real_s),
        counted(cpu.count, one, many)
    )
}

/// Percentiles in a line; absent with none.
fn spread(of: &GcDurations) -> Option<String> {
    if of.count == 0 {
        return None;
    }
    let part = |name: &str, value: Option<f64>| value.map(|v| format!("{name} {}", ms(v)));
    let parts = [part("median", of.p50_ms), part("p99", of.p99_ms), part("longest", of.max_ms)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(format!("{} in {} stops", parts.join(", "), count(of.count)))
}

/// Whether what the log says of itself is what was read, but for rounding.
pub fn agrees(of: &GcReconciliation) -> bool {
    (of.logged - of.read).abs() <= of.rounding
}

/// How much was not understood.
pub fn not_understood(report: &GcReport) -> String {
    let lines: u64 = report.sources.iter().fold(0, |sum, s| sum.saturating_add(s.lines));
    match report.not_understood.lines {
        0 => format!("All {} were parsed.", counted(lines, "line", "lines")),
        unknown => {
            let were = if unknown == 1 { "was" } else { "were" };
            format!("{} of {} {were} not recognized.", count(unknown), counted(lines, "line", "lines"))
        }
    }
}
