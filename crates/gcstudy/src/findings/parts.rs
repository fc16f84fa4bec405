//! Rules on parts of pauses that an option or the program brings about.

use super::rule::{FELT, Found, LONG, Rule, Share, With, paused_percent};
use assay_model::{GcPart, GcReport, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] =
    &[&REFERENCE_PROCESSING_LONG, &ROOT_SCAN_LONG, &STRING_DEDUPLICATION_LONG];

/// What of the stopped time these explain: what a part takes alone, and all that it makes longer.
pub(super) static SHARES: &[Share] = &[
    (&REFERENCE_PROCESSING_LONG, |report| explains(report, GcPart::References)),
    (&ROOT_SCAN_LONG, |report| explains(report, GcPart::RootScan)),
    (&STRING_DEDUPLICATION_LONG, |report| explains(report, GcPart::StringDeduplication)),
];

/// A part that takes so much of all pauses stands above what only makes them longer.
const PART: Threshold = Threshold::percent("part", 30.0);
const LEAST_EXPLAINED: f64 = 0.6;

fn explains(report: &GcReport, part: GcPart) -> f64 {
    let share = share(report, part).filter(|share| PART.share() <= *share);
    share.map_or(0.0, |share| share.max(LEAST_EXPLAINED))
}

fn share(report: &GcReport, part: GcPart) -> Option<f64> {
    Some(report.pause_parts_ms.get(&part)? / report.pauses.total_ms.max(f64::MIN_POSITIVE))
}

/// That a part takes much of pauses that are felt, and how much that is.
fn takes_much(report: &GcReport, part: GcPart, what: &str) -> Option<String> {
    let is_felt = paused_percent(report).is_some_and(|percent| FELT.value <= percent)
        || report.pauses.max_ms.is_some_and(|ms| LONG.value <= ms);
    let share = share(report, part).filter(|share| is_felt && PART.share() <= *share)?;
    let ms = report.pause_parts_ms.get(&part)?;
    let all_ms = report.pauses.total_ms;
    Some(format!("{what} took {ms:.0} ms of {all_ms:.0} ms of pauses, {:.0} %", share.min(1.0) * 100.0))
}

static REFERENCE_PROCESSING_LONG: Rule = Rule {
    id: RuleId::of("reference-processing-long"),
    severity: Severity::Warning,
    thresholds: &[PART, FELT, LONG],
    evidence: "Time of reference processing in pauses, from {part} of all pauses on, if pauses take {felt} of \
        the time or more or one takes {long}. Logs with phases have it (`-Xlog:gc+phases=debug`, on JDK 8 \
        `-XX:+PrintGCDetails` with G1).",
    cause: "The program makes many weak, soft, final or phantom references: each is looked at in a pause.",
    fix: "Find which references there are so many of: `jcmd PID GC.class_histogram`.",
    alternatives: &[
        "Let all threads process them: `-XX:+ParallelRefProcEnabled` (on by default since JDK 17).",
        "Replace finalizers by `Cleaner` or `close`.",
    ],
    judge: references,
};

fn references(report: &GcReport) -> Option<Found> {
    let evidence = takes_much(report, GcPart::References, "references")?;
    let claim = "Pauses are spent on weak, soft, final and phantom references.";
    let found = REFERENCE_PROCESSING_LONG.finding(claim, evidence).at(report.pauses.max_at);
    let step = "Find which references there are so many of: jcmd PID GC.class_histogram lists Finalizer, WeakReference and the like";
    Some(
        found
            .change(step, "Pauses shrink by the time for references")
            .or("Let all threads process them: -XX:+ParallelRefProcEnabled (on by default since JDK 17)")
            .or("Replace finalizers by java.lang.ref.Cleaner"),
    )
}

static ROOT_SCAN_LONG: Rule = Rule {
    id: RuleId::of("root-scan-long"),
    severity: Severity::Warning,
    thresholds: &[PART, FELT, LONG],
    evidence: "Time of scanning roots in G1's pauses, from {part} of all pauses on. Made if pauses take \
        {felt} of the time or more or one takes {long}. Logs with phases have it (`-Xlog:gc+phases=debug`, \
        on JDK 8 `-XX:+PrintGCDetails`).",
    cause: "Many threads, or deep stacks: each frame is looked at in each pause. Less often many class loaders or JNI handles.",
    fix: "Look at how many threads there are and how deep they stand: `jcmd PID Thread.print`.",
    alternatives: &["Have fewer threads that wait: a pool with a limit, virtual threads."],
    judge: roots,
};

fn roots(report: &GcReport) -> Option<Found> {
    let evidence = takes_much(report, GcPart::RootScan, "the scan of roots")?;
    let claim = "Pauses are spent on finding references in the stacks of threads.";
    let found = ROOT_SCAN_LONG.finding(claim, evidence).at(report.pauses.max_at);
    let step = "Look at how many threads there are: jcmd PID Thread.print shows them with their stacks";
    Some(
        found
            .change(step, "Pauses shrink with the number of frames")
            .or("Have fewer threads that wait: a pool with a limit"),
    )
}

/// Part of the time in which a thread deduplicates that a program would notice: a fifth of a processor.
const BESIDE: Threshold = Threshold::percent("beside", 20.0);
/// How logs call its work, in JDK 8 and since.
const DEDUPLICATES: [&str; 2] = ["GC concurrent-string-deduplication", "Concurrent String Deduplication"];

static STRING_DEDUPLICATION_LONG: Rule = Rule {
    id: RuleId::of("string-deduplication-long"),
    severity: Severity::Warning,
    thresholds: &[PART, FELT, LONG, BESIDE],
    evidence: "Time of string deduplication in pauses, from {part} of all pauses on, if pauses take {felt} of \
        the time or more or one takes {long}. Or time in which the JVM's thread deduplicates concurrently, \
        from {beside} of the log on.",
    cause: "`-XX:+UseStringDeduplication` looks at strings in pauses, keeps a table of them, and compares each new one with it.",
    fix: "Leave `-XX:+UseStringDeduplication` out.",
    alternatives: &["Deduplicate where equal strings are made."],
    judge: strings,
};

/// How long the thread worked that deduplicates, where that is much of the log.
fn deduplicates_beside(report: &GcReport) -> Option<String> {
    let of_it = report.concurrent_by_phase.iter().filter(|row| DEDUPLICATES.contains(&row.name.as_str()));
    let s = of_it.map(|row| row.durations.total_ms).sum::<f64>() / 1e3;
    let span_s = report.span_s.filter(|span_s| BESIDE.share() * span_s <= s && 0.0 < s)?;
    Some(format!(
        "a thread deduplicated strings for {s:.1} s of {span_s:.1} s, {:.0} %",
        (s / span_s).min(1.0) * 100.0
    ))
}

fn strings(report: &GcReport) -> Option<Found> {
    let in_pauses = takes_much(report, GcPart::StringDeduplication, "string deduplication");
    let claim = match in_pauses {
        Some(_) => "Pauses are spent on the deduplication of strings.",
        None => "The JVM deduplicates strings for much of the time.",
    };
    let is_in_pauses = in_pauses.is_some();
    let found = STRING_DEDUPLICATION_LONG.finding(claim, in_pauses.or_else(|| deduplicates_beside(report))?);
    let (found, expected_effect) = if is_in_pauses {
        (found.at(report.pauses.max_at), "Pauses shrink by its time. Equal strings occupy memory again")
    } else {
        (found, "The processor time goes to the application. Equal strings occupy memory again")
    };
    Some(
        found
            .change("Leave -XX:+UseStringDeduplication out", expected_effect)
            .or("Deduplicate where equal strings are made"),
    )
}
