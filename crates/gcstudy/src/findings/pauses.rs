//! Rules on pauses and their CPU time.

use super::often::one_every;
use super::rule::{
    FELT, Found, LESS_ALLOCATION, LONG, Rule, STEPS, Share, WHY_THREADS_WAIT, WORKED, With, collector, is_j9,
    is_pauseless, of_stopped, paused_percent, room_first, waited,
};
use assay_model::{GcReport, GcScope, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] =
    &[&THROUGHPUT_LOW, &PAUSES_LONG, &YOUNG_COLLECTIONS_FREQUENT, &GC_KERNEL_TIME, &GC_THREADS_WAIT];

/// What of the stopped time these explain. A wait makes whatever the collector does longer: what makes it do more stands before it.
pub(super) static SHARES: &[Share] = &[
    (&GC_THREADS_WAIT, |report| {
        let waited = report.cpu.map_or(0.0, |cpu| 1.0 - (cpu.user_s + cpu.sys_s) / cpu.real_s);
        of_stopped(report, waited.min(WAIT_MAX) * report.pauses.total_ms)
    }),
    (&GC_KERNEL_TIME, |report| report.cpu.map_or(0.0, |cpu| cpu.sys_s / (cpu.user_s + cpu.sys_s))),
];

/// Above guesses, such as promotion, and below what the log shows to trigger collections.
const WAIT_MAX: f64 = 0.55;

/// Findings that say that the collector is in trouble, and not why.
pub(super) static SYMPTOMS: &[&Rule] = &[&THROUGHPUT_LOW, &PAUSES_LONG, &YOUNG_COLLECTIONS_FREQUENT];

/// Below this the collector costs too much; jifa's default.
const THROUGHPUT: Threshold = Threshold::percent("throughput", 90.0);
/// A shorter log is mostly the start of the JVM.
const SPAN: Threshold = Threshold::seconds("span", 10.0);

static THROUGHPUT_LOW: Rule = Rule {
    id: RuleId::of("throughput-low"),
    severity: Severity::Error,
    thresholds: &[THROUGHPUT, SPAN],
    evidence: "GC throughput below {throughput}, or the application running less than {throughput} of the time, in a log of {span} or \
               more.",
    cause: "Collections, or other safepoints, stop the application too much of the time.",
    fix: "Give the heap more room (`-Xmx`) if live objects fill it. For other safepoints, find the cause of \
        their operations.",
    alternatives: &[
        "Allocate less: the step where the heap has room.",
        "Find the threads that reach safepoints late.",
    ],
    judge: throughput,
};

fn throughput(report: &GcReport) -> Option<Found> {
    let span_s = report.span_s.filter(|s| SPAN.value <= *s)?;
    let is_low = |percent: &f64| *percent < THROUGHPUT.value;
    let paused = format!("{:.1} s of pauses", report.pauses.total_ms / 1e3);
    if let Some(percent) = report.throughput_percent.filter(is_low) {
        let evidence =
            format!("GC throughput {percent:.1} %: {paused} in {span_s:.1} s, below {THROUGHPUT} is bad");
        let claim = "The application is stopped for collections too much of the time.";
        let found = THROUGHPUT_LOW.finding(claim, evidence);
        let expected_effect =
            "Collections become rarer in proportion to the free room. Costs resident memory";
        let found = found.at(report.pauses.max_at);
        return Some(found.steps(room_first(report, LESS_ALLOCATION), expected_effect));
    }
    let percent = report.application_percent.filter(is_low)?;
    let other_ms = report.other_safepoints_ms.unwrap_or(0.0);
    let evidence = format!(
        "it ran {percent:.1} % of {span_s:.1} s: {paused}, {:.1} s at other safepoints and until threads reached them; below \
         {THROUGHPUT} is bad",
        other_ms / 1e3
    );
    let claim = "The application is stopped at safepoints too much of the time, mostly not for collections.";
    let found = THROUGHPUT_LOW.finding(claim, evidence);
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

/// A pause that users notice, of a collector that does not stop the application to move objects; jifa's default.
const LONG_PAUSELESS: Threshold = Threshold::ms("long_concurrent", 30.0);

const PAUSE_TARGET: &str = "Set -XX:MaxGCPauseMillis to your latency target";
const SHORTER_BY_G1: &str = "Shorter and more frequent pauses. Costs some throughput";
const SHORTER: &str = "Shorter pauses. Costs some throughput";

static PAUSES_LONG: Rule = Rule {
    id: RuleId::of("pauses-long"),
    severity: Severity::Warning,
    thresholds: &[LONG, LONG_PAUSELESS],
    evidence: "The longest pause and the 99th percentile. Long is above {long}, and above {long_concurrent} \
        for ZGC and Shenandoah. An error if the 99th percentile is long.",
    cause: "The collector stops the application for work that grows with the heap, or threads waited for \
        processors, memory or each other.",
    fix: "Use a concurrent collector. With G1, set `-XX:MaxGCPauseMillis`.",
    alternatives: &["Leave `-Xmn` out, so that G1 can size the young generation."],
    judge: long,
};

fn long(report: &GcReport) -> Option<Found> {
    let limit = if is_pauseless(report) { LONG_PAUSELESS } else { LONG };
    let max_ms = report.pauses.max_ms.filter(|ms| limit.value < *ms)?;
    let p99_ms = report.pauses.p99_ms?;
    let severity = if limit.value < p99_ms { Severity::Error } else { Severity::Warning };
    let longest = report.pauses_by_phase.iter().find(|row| row.durations.max_ms == Some(max_ms));
    let kind = longest.map_or_else(String::new, |row| format!(" ({})", row.name));
    let mut evidence =
        format!("longest pause {max_ms:.1} ms{kind}, 99th percentile {p99_ms:.1} ms; long is above {limit}");
    let busy = busy_threads(report);
    if let Some(threads) = busy {
        evidence += &format!("; {threads:.1} processors worked in pauses");
    }
    let found = PAUSES_LONG.graded(severity, "Pauses are long for this collector.", evidence);
    let found = found.at(report.pauses.max_at);
    let is_fixed = |flag: &&String| flag.starts_with("-Xmn");
    let fixed = report.jvms.last().and_then(|jvm| jvm.flags.iter().find(is_fixed));
    let found = match (collector(report), fixed) {
        (Some("Serial" | "Parallel" | "CMS"), _) => found
            .change(
                "Use G1, which works concurrently: -XX:+UseG1GC",
                "Pauses of tens of milliseconds. Costs concurrent CPU time and some heap",
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
        (Some("Z" | "Shenandoah"), _) => found.change(
            "Look at the longest pauses: degenerated and full collections are long",
            "Pauses of this collector are short unless something gets in its way",
        ),
        _ if busy.is_some_and(|threads| 1.0 <= threads) => found.change(
            "Find out what the collector's threads work on: profile them in such a pause (perf record -g -p PID)",
            "Shorter pauses: threads do not wait, they work",
        ),
        _ => found.change(
            "Find out what happens in the longest pauses: log more (-Xlog:gc*, JDK 8: -XX:+PrintGCDetails)",
            "Names what to change",
        ),
    };
    Some(found.or_starved(report))
}

/// Processors that worked in pauses, on average, where the log has enough CPU time to tell.
fn busy_threads(report: &GcReport) -> Option<f64> {
    let cpu = report.cpu.filter(|cpu| STEPS.value * cpu.resolution_s <= cpu.real_s)?;
    Some((cpu.user_s + cpu.sys_s) / cpu.real_s)
}

/// Young collections that follow each other faster leave objects no time to die; jifa's default.
const YOUNG_INTERVAL: Threshold = Threshold::seconds("interval", 1.0);
const YOUNG: Threshold = Threshold::count("young", 10);

static YOUNG_COLLECTIONS_FREQUENT: Rule = Rule {
    id: RuleId::of("young-collections-frequent"),
    severity: Severity::Warning,
    thresholds: &[YOUNG, YOUNG_INTERVAL, FELT, SPAN],
    evidence: "Young collections ({young} or more) less than {interval} apart, with {felt} or more of the time in pauses, in a log of \
               {span} or more.",
    cause: "The young generation is small for the allocation rate.",
    fix: "Give the heap more room (`-Xmx`) if live objects fill it. With Serial and Parallel, a larger young \
        generation (`-Xmn`).",
    alternatives: &["Allocate less."],
    judge: often,
};

fn often(report: &GcReport) -> Option<Found> {
    let span_s = report.span_s.filter(|s| SPAN.value <= *s)?;
    let young = report.pauses_by_phase.iter().filter(|row| row.scope == Some(GcScope::Young));
    let count: u64 = young.map(|row| row.durations.count).sum();
    let interval_s = span_s / count as f64;
    let paused_percent = paused_percent(report)?;
    if is_pauseless(report)
        || count < YOUNG.whole()
        || YOUNG_INTERVAL.value <= interval_s
        || paused_percent < FELT.value
    {
        return None;
    }
    let evidence = format!(
        "{count} young collections in {span_s:.0} s, {}, {paused_percent:.1} % of the time in pauses",
        one_every(interval_s)
    );
    let claim = "Young collections are too frequent.";
    let expected_effect = "Twice the room halves their number, and more objects die before they are copied. \
        Costs resident memory";
    let found = YOUNG_COLLECTIONS_FREQUENT.finding(claim, evidence);
    let mut steps = room_first(report, LESS_ALLOCATION);
    if matches!(collector(report), Some("Serial" | "Parallel" | "CMS")) {
        steps.insert(0, "Make the young generation larger: raise -Xmn".to_owned());
    }
    Some(found.steps(steps, expected_effect))
}

/// How much it matters that pauses take longer than the work in them: not at all where they take little of the time.
fn severity_of_slow_pauses(report: &GcReport) -> Option<Severity> {
    let is_short = report.pauses.max_ms.is_some_and(|ms| ms < LONG.value);
    match paused_percent(report)? {
        percent if percent < FELT.value && is_short => None,
        percent if percent < 100.0 - THROUGHPUT.value => Some(Severity::Warning),
        _ => Some(Severity::Error),
    }
}

const IS_SWAPPED: &str = "See whether the heap is swapped out: VmSwap in /proc/PID/status";
const IS_COMPACTED: &str = "See whether the kernel puts huge pages together in pauses: defrag in /sys/kernel/mm/transparent_hugepage";

static GC_KERNEL_TIME: Rule = Rule {
    id: RuleId::of("gc-kernel-time"),
    severity: Severity::Warning,
    thresholds: &[STEPS, FELT, LONG, THROUGHPUT],
    evidence: "CPU time of collections in the kernel and in user mode. Made if the kernel has more, of \
        {steps} clock steps or more, and pauses take {felt} of the time or {long} at once. An error if GC \
        throughput is {throughput} or less.",
    cause: "Page faults of memory that is touched for the first time, swapping, or compaction for transparent huge pages.",
    fix: "Touch the heap at the start: `-XX:+AlwaysPreTouch`.",
    alternatives: &[
        "Keep the heap out of swap.",
        "Set `defrag` of transparent huge pages to another word than `always`.",
    ],
    judge: kernel_time,
};

fn kernel_time(report: &GcReport) -> Option<Found> {
    let cpu =
        report.cpu.filter(|cpu| STEPS.value * cpu.resolution_s <= cpu.sys_s && cpu.user_s < cpu.sys_s)?;
    let severity = severity_of_slow_pauses(report)?;
    let evidence = format!(
        "{:.2} s in the kernel, {:.2} s in user mode, in {} pauses (counted in steps of {} ms)",
        cpu.sys_s,
        cpu.user_s,
        cpu.count,
        cpu.resolution_s * 1e3
    );
    let claim = "Collections spend more CPU time in the kernel than on the heap.";
    let found = GC_KERNEL_TIME.graded(severity, claim, evidence).at(report.pauses.max_at);
    let is_touched =
        report.jvms.last().is_some_and(|jvm| jvm.flags.iter().any(|flag| flag == "-XX:+AlwaysPreTouch"));
    Some(if is_touched || is_j9(report) {
        found.change(IS_SWAPPED, "Pauses without waiting for a disk").or(IS_COMPACTED)
    } else {
        found
            .change(
                "Touch the heap at the start: -XX:+AlwaysPreTouch",
                "Pauses without page faults. Costs a longer start, and the heap is resident from then on",
            )
            .or(IS_SWAPPED)
            .or(IS_COMPACTED)
    })
}

const IS_THROTTLED: &str =
    "See whether a CPU limit stops the JVM: nr_throttled in cpu.stat of its control group";

static GC_THREADS_WAIT: Rule = Rule {
    id: RuleId::of("gc-threads-wait"),
    severity: Severity::Warning,
    thresholds: &[WORKED, STEPS, FELT, LONG],
    evidence: "Time in pauses, of {steps} clock steps or more, and CPU time of collector threads in them, \
        less than {worked} of it. Made if pauses take {felt} of the time or {long} at once.",
    cause: "GC threads were descheduled during pauses: a CPU limit, other processes, swapping, or a log on a slow disk.",
    fix: "Find out why threads wait for processors: `assay host`.",
    alternatives: &[
        "Look at `nr_throttled` in `cpu.stat` of the JVM's control group.",
        "Write the log asynchronously: `-Xlog:async`.",
    ],
    judge: waiting,
};

fn waiting(report: &GcReport) -> Option<Found> {
    let evidence = waited(report)?;
    let claim = "GC threads were descheduled during pauses: their CPU time is below wall time.";
    let severity = severity_of_slow_pauses(report)?.min(Severity::Warning);
    let found = GC_THREADS_WAIT.graded(severity, claim, evidence).at(report.pauses.max_at);
    let found = found
        .change(WHY_THREADS_WAIT, "Pauses shrink to their CPU time")
        .or(IS_THROTTLED)
        .or("Write the log asynchronously, if its disk is slow: -Xlog:async");
    Some(found.on_j9(report, WHY_THREADS_WAIT, &[IS_THROTTLED]))
}
