//! Rules on pauses and their CPU time.

use super::rule::{
    LESS_ALLOCATION, PAUSED_PERCENT_FELT, Rule, STEPS_MIN, WHY_THREADS_WAIT, With, collector, is_j9,
    is_pauseless, more_room, paused_percent, waited,
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
        let expected_effect =
            "Collections become rarer in proportion to the free room; costs resident memory";
        return Some(
            found.at(report.pauses.max_at).change(more_room(report), expected_effect).or(LESS_ALLOCATION),
        );
    }
    let percent = report.application_percent.filter(is_low)?;
    let other_ms = report.other_safepoints_ms.unwrap_or(0.0);
    let evidence = format!(
        "it ran {percent:.1} % of {span_s:.1} s: {paused}, {:.1} s at other safepoints and until threads reached them; below \
         {THROUGHPUT_PERCENT_MIN} % is bad",
        other_ms / 1e3
    );
    let claim = "The application is stopped at safepoints too much of the time, mostly not for collections.";
    let found = Finding::measured(GcRule::ThroughputLow, Severity::Error, claim, evidence);
    let mut ways = [
        "Find the thread that reaches safepoints late: -XX:+SafepointTimeout -XX:SafepointTimeoutDelay=50 names it",
        "Find out what asks for the operations that stop the application: the table of safepoints names them",
    ];
    if report.time_to_safepoint.total_ms < other_ms / 2.0 {
        ways.reverse();
    }
    let found = found.at(report.time_to_safepoint.max_at);
    Some(found.change(ways[0], "The application runs while it is now stopped").or(ways[1]))
}

/// A pause that users notice, for collectors that stop the application to move objects, and for those that do not; jifa's defaults.
pub(super) const LONG_MS: f64 = 400.0;
const LONG_MS_PAUSELESS: f64 = 30.0;

const PAUSE_TARGET: &str = "Set -XX:MaxGCPauseMillis to your latency target";
const SHORTER_BY_G1: &str = "Shorter and more frequent pauses; costs some throughput";
const SHORTER: &str = "Shorter pauses; costs some throughput";

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
    let is_fixed = |flag: &&String| flag.starts_with("-Xmn");
    let fixed = report.jvms.last().and_then(|jvm| jvm.flags.iter().find(is_fixed));
    let found = match (collector(report), fixed) {
        (Some("Serial" | "Parallel" | "CMS"), _) => found
            .change(
                "Use G1, which works concurrently: -XX:+UseG1GC",
                "Pauses of tens of milliseconds; costs concurrent CPU time and some heap",
            )
            .or("Use ZGC for pauses below a millisecond: -XX:+UseZGC"),
        (Some("G1"), Some(fixed)) => found
            .change(
                format!("Leave {fixed} out, so that G1 can size the young generation for its pause target"),
                SHORTER_BY_G1,
            )
            .or(PAUSE_TARGET),
        (Some("G1"), None) => found.change(PAUSE_TARGET, SHORTER_BY_G1),
        (Some("gencon"), _) => found
            .change("Copy objects while the application runs: -Xgc:concurrentScavenge", SHORTER)
            .or("Use the policy for large heaps: -Xgcpolicy:balanced"),
        (Some("optthruput" | "optavgpause" | "balanced"), _) => found
            .change("Use the policy for short pauses: -Xgcpolicy:gencon -Xgc:concurrentScavenge", SHORTER),
        _ => found.change(
            "Look at the longest pauses: degenerated and full collections are long",
            "Pauses of this collector are short unless something gets in its way",
        ),
    };
    Some(found.or_starved(report))
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
    let expected_effect = "Twice the room halves their number, and more objects die before they are copied; costs resident memory";
    let found = Finding::measured(GcRule::YoungCollectionsFrequent, Severity::Warning, claim, evidence);
    Some(
        match collector(report) {
            Some("Serial" | "Parallel" | "CMS") => found
                .change("Make the young generation larger: raise -Xmn", expected_effect)
                .or(more_room(report)),
            _ => found.change(more_room(report), expected_effect),
        }
        .or(LESS_ALLOCATION),
    )
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

const IS_SWAPPED: &str = "See whether the heap is swapped out: VmSwap in /proc/PID/status";
const IS_COMPACTED: &str = "See whether the kernel puts huge pages together in pauses: defrag in /sys/kernel/mm/transparent_hugepage";

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
    let found = Finding::measured(GcRule::GcKernelTime, severity, claim, evidence).at(report.pauses.max_at);
    let is_touched =
        report.jvms.last().is_some_and(|jvm| jvm.flags.iter().any(|flag| flag == "-XX:+AlwaysPreTouch"));
    Some(if is_touched || is_j9(report) {
        found.change(IS_SWAPPED, "Pauses without waiting for a disk").or(IS_COMPACTED)
    } else {
        found
            .change(
                "Touch the heap at the start: -XX:+AlwaysPreTouch",
                "Pauses without page faults; costs a longer start, and the heap resident from then on",
            )
            .or(IS_SWAPPED)
            .or(IS_COMPACTED)
    })
}

const IS_THROTTLED: &str =
    "See whether a CPU limit stops the JVM: nr_throttled in cpu.stat of its control group";

fn waiting(report: &GcReport) -> Option<Finding<GcRule>> {
    let evidence = waited(report)?;
    let claim = "GC threads were descheduled during pauses: their CPU time is below wall time.";
    let severity = severity_of_slow_pauses(report)?.min(Severity::Warning);
    let found = Finding::measured(GcRule::GcThreadsWait, severity, claim, evidence).at(report.pauses.max_at);
    let found = found
        .change(WHY_THREADS_WAIT, "Pauses shrink to their CPU time")
        .or(IS_THROTTLED)
        .or("Write the log asynchronously, if its disk is slow: -Xlog:async");
    Some(found.on_j9(report, WHY_THREADS_WAIT, &[IS_THROTTLED]))
}
