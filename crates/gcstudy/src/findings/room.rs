//! Rules on the room in the heap.

use super::rule::{
    COLLECTIONS_FOR_LIMIT, EARLIER_CMS, EARLIER_MARKING, Found, MORE_RESERVE, Rule, With, collector,
    heap_limit, heap_max, is_pauseless, more_room, paused_percent, places, size,
};
use assay_model::{GcAnomaly, GcReport, GcTrend, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[
    &OUT_OF_MEMORY,
    &LIVE_SET_GROWS,
    &HEAP_TOO_SMALL,
    &HEAP_TOO_LARGE,
    &EVACUATION_FAILURE,
    &PROMOTION_FAILURE,
];

static OUT_OF_MEMORY: Rule = Rule {
    id: RuleId::of("out-of-memory"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "How often the log says so.",
    cause: "The heap, metaspace or direct memory was full, and a collection did not help.",
    fix: "Take a heap dump at the next time and see what is kept: `-XX:+HeapDumpOnOutOfMemoryError`.",
    alternatives: &["Give the heap more room, where it is needed (`-Xmx`)."],
    judge: out_of_memory,
};

fn out_of_memory(report: &GcReport) -> Option<Found> {
    let count = report.out_of_memory;
    let claim = "The JVM ran out of memory.";
    (count > 0).then(|| {
        let expected_effect = "What is kept without need is found; more room only helps if it is needed";
        let on_j9 = "See what is kept in the heap dump that J9 makes then: -Xdump:heap:events=systhrow";
        OUT_OF_MEMORY
            .finding(claim, format!("{count} times"))
            .at(places(report, "out-of-memory"))
            .change("Take a heap dump at the next time: -XX:+HeapDumpOnOutOfMemoryError", expected_effect)
            .or(more_room(report))
            .on_j9(report, on_j9, &[&more_room(report)])
    })
}

/// Until then a program may still be filling its caches.
const START: Threshold = Threshold::seconds("start", 1_800.0);

static LIVE_SET_GROWS: Rule = Rule {
    id: RuleId::of("live-set-grows"),
    severity: Severity::Error,
    thresholds: &[START],
    evidence: "Bytes that survive collections of the whole heap, first and last, and their growth in an hour with its interval.",
    cause: "A leak, or a cache without a limit; in a log of less than {start} a start looks the same, and the finding is a note.",
    fix: "Take two heap dumps some hours apart and compare the classes that grow.",
    alternatives: &[],
    judge: leak,
};

fn leak(report: &GcReport) -> Option<Found> {
    let live = report.live_set.as_ref().filter(|live| live.trend == GcTrend::Grows)?;
    // Watched for too short a time to have a slope, every program grows: it starts.
    live.slope_bytes_per_h.as_ref()?;
    let from = live.first_bytes.map_or(String::new(), |first| format!("from {} ", size(first as f64)));
    let mut evidence = format!("{} of {}: {from}to {}", live.basis, live.count, size(live.last_bytes as f64));
    if let Some((slope, low, high)) = live.slope_bytes_per_h.and_then(|s| Some((s.estimate, s.low?, s.high?)))
    {
        evidence += &format!("; {}/h ({} to {})", size(slope), size(low), size(high));
        let left = heap_max(report).map(|max| (max - live.last_bytes as f64) / slope);
        if let Some(hours) = left.filter(|hours| *hours > 0.0) {
            evidence += &format!("; at this pace the heap is full in {}", span(hours));
        }
    }
    let (severity, claim) = if report.span_s.is_some_and(|s| START.value <= s) {
        (Severity::Error, "The live set grows: a leak, or an unbounded cache.")
    } else {
        (Severity::Note, "The live set grows; in so short a log a start looks the same.")
    };
    Some(LIVE_SET_GROWS.graded(severity, claim, evidence).change(
        "Take two heap dumps some hours apart and compare the classes that grow",
        "Names what is kept; a larger heap only puts the end off",
    ))
}

fn span(hours: f64) -> String {
    if hours < 1.0 {
        format!("{:.0} min", hours * 60.0)
    } else if hours < 48.0 {
        format!("{hours:.1} h")
    } else {
        format!("{:.0} days", hours / 24.0)
    }
}

/// Live objects above this share of the largest heap leave too little to work in (jifa warns of 80 % of the old generation).
const LIVE_SHARE: Threshold = Threshold::percent("live_share", 70.0);

static HEAP_TOO_SMALL: Rule = Rule {
    id: RuleId::of("heap-too-small"),
    severity: Severity::Warning,
    thresholds: &[LIVE_SHARE, COLLECTIONS_FOR_LIMIT],
    evidence: "The live set as a share of the largest heap, from {live_share} on. A log without the JVM's settings shows the largest \
               heap after {collections} collections of all of it.",
    cause: "The heap is too small for its live set: collections are frequent and free little.",
    fix: "Set `-Xmx` to twice the live set at least.",
    alternatives: &["Keep fewer objects."],
    judge: too_small,
};

fn too_small(report: &GcReport) -> Option<Found> {
    let live = report.live_set.as_ref()?;
    let (max, at_most) = heap_limit(report)?;
    let share = live.last_bytes as f64 / max;
    if share < LIVE_SHARE.share() {
        return None;
    }
    let evidence = format!(
        "{} live {} (the last of {}) in a heap of {at_most} {}: {:.0} %; above {LIVE_SHARE} is little room",
        size(live.last_bytes as f64),
        live.basis,
        live.count,
        size(max),
        share * 100.0
    );
    let claim = "The heap is too small for the live set.";
    let wanted_m = live.last_bytes / (1 << 20) * 2 + 1;
    let expected_effect = "The time between collections grows with the free room: twice the room, half the collections; costs resident memory";
    let found = HEAP_TOO_SMALL.finding(claim, evidence);
    let found = found.change(format!("Set -Xmx{wanted_m}m at least (twice the live set)"), expected_effect);
    Some(found.or("Keep fewer objects: a heap dump shows what is kept"))
}

/// More than this many times what lives, with this little time in pauses, is more than is used.
const LIVE_TIMES: Threshold = Threshold::count("live_times", 8);
const PAUSED: Threshold = Threshold::percent("paused", 0.5);
/// Below this there is nothing to save.
const HEAP: Threshold = Threshold::bytes("heap", 1 << 30);
/// Of fewer collections nobody knows the live set.
const LIVE_SETS: Threshold = Threshold::count("live_sets", 3);

static HEAP_TOO_LARGE: Rule = Rule {
    id: RuleId::of("heap-too-large"),
    severity: Severity::Note,
    thresholds: &[LIVE_TIMES, PAUSED, HEAP, LIVE_SETS],
    evidence: "The live set, from {live_sets} collections on, and the largest heap, from {live_times} times as much on, with at most \
               {paused} of the time in pauses; heaps from {heap} on.",
    cause: "The heap was sized for more than the program keeps.",
    fix: "Try `-Xmx` of four times the live set and compare both logs with `assay gc diff`.",
    alternatives: &[],
    judge: too_large,
};

fn too_large(report: &GcReport) -> Option<Found> {
    let live = report
        .live_set
        .as_ref()
        .filter(|live| live.trend != GcTrend::Grows && LIVE_SETS.whole() <= live.count)?;
    let max = heap_max(report).filter(|max| HEAP.value <= *max)?;
    let paused_percent = paused_percent(report)?;
    let times = max / (live.max_bytes.max(1) as f64);
    if times < LIVE_TIMES.value || PAUSED.value < paused_percent {
        return None;
    }
    let evidence = format!(
        "at most {} live of {}, {times:.0} times as much; {paused_percent:.2} % of the time in pauses",
        size(live.max_bytes as f64),
        size(max)
    );
    let claim = "The heap is far larger than the live set needs.";
    let wanted_m = live.max_bytes / (1 << 20) * 4 + 1;
    Some(HEAP_TOO_LARGE.finding(claim, evidence).change(
        format!("Try -Xmx{wanted_m}m (four times the live set) and compare with `assay gc diff`"),
        "Less resident memory, and shorter references where the heap comes below a limit of their mode; more collections",
    ))
}

/// One may be the burst of a moment.
const FAILURES: Threshold = Threshold::count("failures", 2);

static EVACUATION_FAILURE: Rule = Rule {
    id: RuleId::of("evacuation-failure"),
    severity: Severity::Warning,
    thresholds: &[FAILURES],
    evidence: "Pauses with evacuation failure; an error from {failures} of them on.",
    cause: "G1 found no free region for survivors; such pauses are longer and may end in full collections.",
    fix: "Give the heap more room (`-Xmx`).",
    alternatives: &[
        "Keep more in reserve: `-XX:G1ReservePercent=20`.",
        "Begin marking earlier: a lower `-XX:InitiatingHeapOccupancyPercent`.",
    ],
    judge: evacuation,
};

fn evacuation(report: &GcReport) -> Option<Found> {
    let count = report.anomalies.get(&GcAnomaly::EvacuationFailure)?;
    let severity = if FAILURES.whole() <= *count { Severity::Error } else { Severity::Warning };
    let evidence = format!("{count} of {} pauses with evacuation failure", report.pauses.count);
    let claim =
        "G1 found no free region for survivors: such collections take longer and may end in full ones.";
    let found = EVACUATION_FAILURE.graded(severity, claim, evidence);
    let found = found.at(places(report, "evacuation-failure"));
    let found = found.change(more_room(report), "Survivors find room; costs resident memory");
    Some(found.or(MORE_RESERVE).or(EARLIER_MARKING))
}

static PROMOTION_FAILURE: Rule = Rule {
    id: RuleId::of("promotion-failure"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "Collections with promotion failure.",
    cause: "The old generation had no room for what young collections promote, or only in pieces (CMS).",
    fix: "Make the old generation larger (`-Xmx`).",
    alternatives: &["Leave it more of the heap: a smaller `-Xmn`.", "Let CMS begin earlier."],
    judge: promotion,
};

fn promotion(report: &GcReport) -> Option<Found> {
    let count = report.anomalies.get(&GcAnomaly::PromotionFailed)?;
    if is_pauseless(report) {
        return None;
    }
    let claim = "The old generation had no room for what young collections promote.";
    let evidence = format!("{count} collections with promotion failure");
    let found = PROMOTION_FAILURE
        .finding(claim, evidence)
        .at(places(report, "promotion-failed"))
        .change(
            "Make the old generation larger: raise -Xmx",
            "Young collections stay young ones; costs resident memory",
        )
        .or("Leave it more of the heap: lower -Xmn");
    let found = if collector(report) == Some("CMS") { found.or(EARLIER_CMS) } else { found };
    let on_j9 = "Make the tenured area larger: raise -Xmx";
    Some(found.on_j9(report, on_j9, &["Leave it more of the heap: lower -Xmn"]))
}
