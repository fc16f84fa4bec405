//! Rules on safepoints.

use super::full::held_back;
use super::rule::{Found, LONG_ENOUGH, Rule, Share, With, of_stopped, places, span_of_shares};
use assay_model::{GcAnomaly, GcReport, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&TIME_TO_SAFEPOINT_LONG, &SAFEPOINTS_OTHER, &JNI_CRITICAL_SECTIONS];

/// What of the stopped time these explain.
pub(super) static SHARES: &[Share] = &[
    (&TIME_TO_SAFEPOINT_LONG, |report| of_stopped(report, report.time_to_safepoint.total_ms)),
    (&SAFEPOINTS_OTHER, |report| of_stopped(report, named_ms(report))),
    (&JNI_CRITICAL_SECTIONS, |report| of_stopped(report, held_back(report).map_or(0.0, |(_, ms, _)| ms))),
];

/// Findings that say how the application comes to stand still, and not why.
pub(super) static MECHANISMS: &[&Rule] = &[&TIME_TO_SAFEPOINT_LONG];

/// Reaching a safepoint takes microseconds; this is long.
const P99: Threshold = Threshold::ms("p99", 10.0);
/// Of fewer the 99th percentile is the longest, which a machine that was busy for a moment brings about.
const P99_OF: Threshold = Threshold::count("p99_of", 100);
const LONGEST: Threshold = Threshold::ms("longest", 100.0);
/// Of the span.
const REACHING: Threshold = Threshold::percent("reaching", 1.0);

static TIME_TO_SAFEPOINT_LONG: Rule = Rule {
    id: RuleId::of("time-to-safepoint-long"),
    severity: Severity::Warning,
    thresholds: &[P99, P99_OF, LONGEST, REACHING, LONG_ENOUGH],
    evidence: "Time to reach safepoints: 99th percentile (from {p99} on, of {p99_of} or more), longest (from \
        {longest} on), and sum (from {reaching} of the time on). The sum counts in a log of {long_enough} or \
        more. An error if percentile and sum are both large.",
    cause: "One thread is late, and all others wait for it: a long counted loop, a large array copy, a page fault on a mapped file.",
    fix: "Find the thread: `-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=50` names it.",
    alternatives: &["Look for long counted loops, large array copies and page faults on mapped files."],
    judge: reaching,
};

fn reaching(report: &GcReport) -> Option<Found> {
    let reach = &report.time_to_safepoint;
    let (p99_ms, max_ms) = (reach.p99_ms?, reach.max_ms?);
    let is_p99_long = P99_OF.whole() <= reach.count && P99.value <= p99_ms;
    let is_much = span_of_shares(report).is_some_and(|s| REACHING.share() * s * 1e3 <= reach.total_ms);
    if !is_p99_long && max_ms < LONGEST.value && !is_much {
        return None;
    }
    let severity = if is_p99_long && is_much { Severity::Error } else { Severity::Warning };
    let evidence = format!(
        "99th percentile {p99_ms:.2} ms, longest {max_ms:.1} ms, {:.1} ms in all over {} safepoints",
        reach.total_ms, reach.count
    );
    let claim = "Threads take long to reach safepoints, while all others wait for them.";
    let found = TIME_TO_SAFEPOINT_LONG.graded(severity, claim, evidence).at(reach.max_at);
    let found = found
        .change(
            "Find the thread: -XX:+SafepointTimeout -XX:SafepointTimeoutDelay=50 names it",
            "Safepoints shrink to the operations in them",
        )
        .or("Look for long counted loops, large array copies and page faults on mapped files: they delay threads most often");
    let on_j9 = "Find the thread: the element response-info names the last one";
    let often = "Look for large array copies and page faults: they delay threads most often";
    Some(found.on_j9(report, on_j9, &[often]).or_starved(report))
}

/// Of the span.
const OTHER: Threshold = Threshold::percent("other", 1.0);

/// The name of a safepoint whose operation the log does not say.
const UNNAMED: &str = "Safepoint";
/// Operations that are named.
const SHOWN: usize = 3;

static SAFEPOINTS_OTHER: Rule = Rule {
    id: RuleId::of("safepoints-other"),
    severity: Severity::Warning,
    thresholds: &[OTHER, LONG_ENOUGH],
    evidence: "Time at safepoints that are not collections, by operation, from {other} of the time on in a \
        log of {long_enough} or more. If `time-to-safepoint-long` is found, the time to reach them is left \
        out.",
    cause: "Thread dumps, heap histograms, deoptimization, biased locking.",
    fix: "Find the cause of the named operations. Before JDK 15, `-XX:-UseBiasedLocking`.",
    alternatives: &[
        "Let monitoring take fewer thread dumps and heap histograms.",
        "Look for code that changes: each change stops the application for deoptimization.",
        "Rule out that processors were not free: `assay host` on that machine shows CPU limits, swapping and other load.",
    ],
    judge: other,
};

fn other(report: &GcReport) -> Option<Found> {
    let span_ms = span_of_shares(report)? * 1e3;
    let others = || report.safepoints_by_operation.iter().filter(|row| !is_collection(&row.name));
    let by_operation_ms: f64 = others().map(|row| row.durations.total_ms).sum();
    // Rows without an operation (JDK 8 says only how long all threads stood still) hold the collections, too.
    let other_ms = report.other_safepoints_ms.map_or(by_operation_ms, |ms| ms.min(by_operation_ms));
    // The cost of a late thread belongs to its own rule, not to the operation: a cleanup of microseconds that 60 ms of waiting preceded was
    // once the fault of the cleanup.
    let late_ms = reaching(report).map_or(0.0, |_| report.time_to_safepoint.total_ms);
    if other_ms - late_ms < OTHER.share() * span_ms {
        return None;
    }
    let named = || others().filter(|row| row.name != UNNAMED);
    let rows: Vec<String> = named()
        .take(SHOWN)
        .map(|row| format!("{} x {} ({:.1} ms)", row.durations.count, row.name, row.durations.total_ms))
        .collect();
    let rows_said = if rows.is_empty() { "the log names no operations".to_owned() } else { rows.join(", ") };
    let evidence = format!("{other_ms:.0} ms of {span_ms:.0} ms: {rows_said}");
    let claim = "The application is stopped at non-GC safepoints.";
    let is_bias = named().take(SHOWN).any(|row| row.name.contains("Bias"));
    let found = SAFEPOINTS_OTHER.finding(claim, evidence);
    let found = found.at(named().next().and_then(|row| row.durations.max_at));
    let expected_effect = "Less time stopped. Costs nothing";
    if is_bias {
        let step = "Switch biased locking off: -XX:-UseBiasedLocking (it is off since JDK 15)";
        return Some(found.change(step, expected_effect));
    }
    let step = match named().next() {
        Some(row) => format!("Find out what asks for {}", row.name),
        None => "Let the log name the operations: -Xlog:safepoint (JDK 8: -XX:+PrintSafepointStatistics)"
            .to_owned(),
    };
    Some(
        found
            .change(step, expected_effect)
            .or("Let monitoring take fewer thread dumps and heap histograms")
            .or("Look for code that changes: each change stops the application for deoptimization")
            .or("Switch the cleanup of each second off: -XX:+UnlockDiagnosticVMOptions -XX:GuaranteedSafepointInterval=0")
            .or_starved(report),
    )
}

/// Time at safepoints with a named operation other than a collection. A named operation is a cause; a stop without a name is not.
fn named_ms(report: &GcReport) -> f64 {
    let named = |name: &str| !is_collection(name) && name != UNNAMED;
    let rows = report.safepoints_by_operation.iter().filter(|row| named(&row.name));
    let ms: f64 = rows.map(|row| row.durations.total_ms).sum();
    report.other_safepoints_ms.map_or(ms, |all_ms| ms.min(all_ms))
}

/// Whether a safepoint operation is one of a collector, by HotSpot's names.
fn is_collection(operation: &str) -> bool {
    const PARTS: [&str; 11] =
        ["Collect", "GC", "G1", "Gen", "Parallel", "Shenandoah", "Z", "X", "CMS", "CGC", "Mark"];
    operation != "GenericVMOperation" && PARTS.iter().any(|part| operation.starts_with(part))
        || operation.contains("Collect")
}

/// Of all pauses.
const HELD_BACK: Threshold = Threshold::percent("held_back", 5.0);
const PAUSES: Threshold = Threshold::count("pauses", 3);

static JNI_CRITICAL_SECTIONS: Rule = Rule {
    id: RuleId::of("jni-critical-sections"),
    severity: Severity::Warning,
    thresholds: &[PAUSES, HELD_BACK],
    evidence: "Pauses that wait for or follow JNI critical sections: {pauses} or more, from {held_back} of all on.",
    cause: "Native code holds an array in place (`GetPrimitiveArrayCritical`), and collections must wait.",
    fix: "Let the callers copy instead of holding the array.",
    alternatives: &["Use G1 of JDK 22, which pins regions."],
    judge: critical_sections,
};

fn critical_sections(report: &GcReport) -> Option<Found> {
    let (by_cause, total_ms, at) = held_back(report).unwrap_or((0, 0.0, None));
    let by_trouble = report.anomalies.get(&GcAnomaly::CriticalSection).copied().unwrap_or(0);
    let count = by_cause.max(by_trouble);
    if count < PAUSES.whole() || (count as f64) < HELD_BACK.share() * report.pauses.count as f64 {
        return None;
    }
    let mut at: Vec<(usize, u64)> = at.into_iter().collect();
    at.extend(places(report, "critical-section"));
    let evidence = format!(
        "{count} of {} pauses wait for or follow JNI critical sections ({total_ms:.1} ms)",
        report.pauses.count
    );
    let claim = "Native code in critical sections delays collections and triggers extra ones.";
    let found = JNI_CRITICAL_SECTIONS.finding(claim, evidence).at(at).change(
        "Find callers of GetPrimitiveArrayCritical (compression, cryptography, graphics) and let them copy",
        "Collections when they are due",
    );
    Some(found.or("Use G1 of JDK 22, which pins regions instead of waiting"))
}
