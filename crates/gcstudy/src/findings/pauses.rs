//! Rules on pauses and their CPU time.

use super::rule::{
    PAUSED_PERCENT_FELT, Rule, STEPS_MIN, With, collector, is_pauseless, paused_percent, waited,
};
use assay_model::{Finding, GcReport, GcRule, GcScope, Severity};

pub(super) const RULES: &[Rule] = &[throughput, long, often, kernel_time, waiting];

/// Below this the collector costs too much; jifa's default.
const THROUGHPUT_PERCENT_MIN: f64 = 90.0;
/// A shorter log is mostly the start of the JVM.
const SPAN_S_MIN: f64 = 10.0;

fn throughput(report: &GcReport) -> Option<Finding<GcRule>> {
    let span_s = report.span_s.filter(|s| SPAN_S_MIN <= *s)?;
    let is_low = |percent: &f64| *percent < THROUGHPUT_PERCENT_MIN;
    let paused = format!("{:.1} s of pauses", report.pauses.total_ms / 1e3);
    if let Some(percent) = report.throughput_percent.filter(is_low) {
        let evidence = format!(
            "GC throughput {percent:.1} %: {paused} in {span_s:.1} s; below {THROUGHPUT_PERCENT_MIN} % is bad"
        );
        let claim = "The application is stopped for collections too much of the time.";
        let found = Finding::measured(GcRule::ThroughputLow, Severity::Error, claim, evidence);
        return Some(found.at(report.pauses.max_at).change(
            "Give the heap more room (-Xmx), or find what allocates most",
            "Collections become rarer in proportion to the free room; costs resident memory",
        ));
    }
    let percent = report.application_percent.filter(is_low)?;
    let evidence = format!(
        "it ran {percent:.1} % of {span_s:.1} s: {paused}, {:.1} s at other safepoints and until threads reached them; below \
         {THROUGHPUT_PERCENT_MIN} % is bad",
        report.other_safepoints_ms.unwrap_or(0.0) / 1e3
    );
    let claim = "The application is stopped at safepoints too much of the time, mostly not for collections.";
    let found = Finding::measured(GcRule::ThroughputLow, Severity::Error, claim, evidence);
    Some(found.at(report.time_to_safepoint.max_at).change(
        "See which threads take long to reach safepoints, and which operations other than collections stop the application",
        "The application runs while it is now stopped",
    ))
}

/// A pause that users notice, for collectors that stop the application to move objects, and for those that do not; jifa's defaults.
pub(super) const LONG_MS: f64 = 400.0;
const LONG_MS_PAUSELESS: f64 = 30.0;

fn long(report: &GcReport) -> Option<Finding<GcRule>> {
    let limit_ms = if is_pauseless(report) { LONG_MS_PAUSELESS } else { LONG_MS };
    let max_ms = report.pauses.max_ms.filter(|ms| limit_ms < *ms)?;
    let p99_ms = report.pauses.p99_ms?;
    let severity = if limit_ms < p99_ms { Severity::Error } else { Severity::Warning };
    let evidence =
        format!("longest pause {max_ms:.1} ms, 99th percentile {p99_ms:.1} ms; long is above {limit_ms} ms");
    let found =
        Finding::measured(GcRule::PausesLong, severity, "Pauses are long for this collector.", evidence);
    let found = found.at(report.pauses.max_at);
    let advice = match collector(report) {
        Some("Serial" | "Parallel" | "CMS") => (
            "Use a concurrent collector: G1 with -XX:MaxGCPauseMillis, or Z for the shortest pauses",
            "Pauses of tens of milliseconds (G1) or below one (Z); costs concurrent CPU time and some heap",
        ),
        Some("G1") => (
            "Set -XX:MaxGCPauseMillis to your latency target, and do not fix the young generation (-Xmn)",
            "Shorter and more frequent pauses; costs some throughput",
        ),
        Some("gencon" | "optthruput" | "optavgpause" | "balanced") => (
            "Try another policy: -Xgcpolicy:balanced for large heaps, -Xgcpolicy:gencon with -Xgc:concurrentScavenge for short pauses",
            "Shorter pauses; costs some throughput",
        ),
        _ => (
            "Look at the longest: whether it is a degenerated or full collection, or waited for threads or for memory",
            "Pauses of this collector are short unless one of these gets in its way",
        ),
    };
    Some(found.change(advice.0, advice.1).or_starved(report))
}

/// Young collections that follow each other faster leave objects no time to die; jifa's default.
const YOUNG_INTERVAL_S_MIN: f64 = 1.0;

fn often(report: &GcReport) -> Option<Finding<GcRule>> {
    let span_s = report.span_s.filter(|s| SPAN_S_MIN <= *s)?;
    let young = report.pauses_by_phase.iter().filter(|row| row.scope == Some(GcScope::Young));
    let count: u64 = young.map(|row| row.durations.count).sum();
    let interval_s = span_s / count as f64;
    let paused_percent = paused_percent(report)?;
    if is_pauseless(report)
        || count < 10
        || YOUNG_INTERVAL_S_MIN <= interval_s
        || paused_percent < PAUSED_PERCENT_FELT
    {
        return None;
    }
    let evidence = format!(
        "{count} young collections in {span_s:.0} s, one every {interval_s:.2} s; {paused_percent:.1} % of the time in pauses"
    );
    let claim = "Young collections are too frequent.";
    Some(Finding::measured(GcRule::YoungCollectionsFrequent, Severity::Warning, claim, evidence).change(
        "Make the young generation larger (-Xmx; -Xmn for Serial and Parallel), or allocate less",
        "Twice the room halves their number, and more objects die before they are copied; costs resident memory",
    ))
}

/// How much it matters that pauses take longer than the work in them: not at all where they take little of the time.
fn severity_of_slow_pauses(report: &GcReport) -> Option<Severity> {
    let is_short = report.pauses.max_ms.is_some_and(|ms| ms < LONG_MS);
    match paused_percent(report)? {
        percent if percent < PAUSED_PERCENT_FELT && is_short => None,
        percent if percent < 100.0 - THROUGHPUT_PERCENT_MIN => Some(Severity::Warning),
        _ => Some(Severity::Error),
    }
}

fn kernel_time(report: &GcReport) -> Option<Finding<GcRule>> {
    let cpu = report.cpu.filter(|cpu| STEPS_MIN * cpu.resolution_s <= cpu.sys_s && cpu.user_s < cpu.sys_s)?;
    let severity = severity_of_slow_pauses(report)?;
    let evidence = format!(
        "{:.2} s in the kernel, {:.2} s in user mode, in {} pauses (counted in steps of {} ms)",
        cpu.sys_s,
        cpu.user_s,
        cpu.count,
        cpu.resolution_s * 1e3
    );
    let claim = "Collections spend more CPU time in the kernel than on the heap.";
    let found = Finding::measured(GcRule::GcKernelTime, severity, claim, evidence).at(report.pauses.max_at).change(
        "Check whether the heap is swapped (VmSwap in /proc/PID/status), whether transparent huge pages are compacted (defrag), and \
         touch the heap at the start with -XX:+AlwaysPreTouch",
        "Pauses without page faults; costs a longer start, and the heap resident from then on",
    );
    Some(found.on_j9(
        report,
        "Check whether the heap is swapped (VmSwap in /proc/PID/status), and whether transparent huge pages are compacted (defrag)",
    ))
}

fn waiting(report: &GcReport) -> Option<Finding<GcRule>> {
    let evidence = waited(report)?;
    let claim = "GC threads were descheduled during pauses: their CPU time is below wall time.";
    let severity = severity_of_slow_pauses(report)?.min(Severity::Warning);
    let found = Finding::measured(GcRule::GcThreadsWait, severity, claim, evidence).at(report.pauses.max_at).change(
        "Check for throttling by a CPU limit (nr_throttled in cpu.stat), for other processes on these processors, for swapping, and for a \
         log on a slow disk (-Xlog:async)",
        "Pauses shrink to their CPU time",
    );
    Some(found.on_j9(
        report,
        "Check for throttling by a CPU limit (nr_throttled in cpu.stat), for other processes on these processors, and for swapping",
    ))
}
