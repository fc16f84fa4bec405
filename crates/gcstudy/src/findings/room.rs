//! Rules on the room in the heap.

use super::rule::{
    COLLECTIONS_FOR_LIMIT, EARLIER_CMS, EARLIER_MARKING, Found, MORE_RESERVE, Rule, Share, With, collector,
    heap_limit, heap_max, is_pauseless, more_room, paused_percent, places, size,
};
use assay_model::{GcAnomaly, GcReport, GcSpace, GcTrend, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[
    &OUT_OF_MEMORY,
    &LIVE_SET_GROWS,
    &HEAP_TOO_SMALL,
    &HEAP_TOO_LARGE,
    &EVACUATION_FAILURE,
    &PROMOTION_FAILURE,
];

/// What of the stopped time these explain: a heap that is full makes every collection.
pub(super) static SHARES: &[Share] =
    &[(&LIVE_SET_GROWS, |_| 1.0), (&OUT_OF_MEMORY, |_| 0.95), (&HEAP_TOO_SMALL, |_| 0.9)];

/// Findings that say how the collector gets into trouble, and not why.
pub(super) static MECHANISMS: &[&Rule] = &[&EVACUATION_FAILURE, &PROMOTION_FAILURE];

static OUT_OF_MEMORY: Rule = Rule {
    id: RuleId::of("out-of-memory"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "How often the log reports it.",
    cause: "The heap, metaspace or direct memory was full, and a collection did not help.",
    fix: "Take a heap dump at the next time and see what is kept: `-XX:+HeapDumpOnOutOfMemoryError`.",
    alternatives: &["Give the heap more room, where it is needed (`-Xmx`)."],
    judge: out_of_memory,
};

fn out_of_memory(report: &GcReport) -> Option<Found> {
    let count = report.out_of_memory;
    let claim = "The JVM ran out of memory.";
    (count > 0).then(|| {
        let expected_effect =
            "Finds objects that are kept without need. More room only helps if they are needed";
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
/// A start does not take more of the heap; and what takes so much of it will soon be at its end.
const OF_HEAP: Threshold = Threshold::percent("of_heap", 50.0);
const NEARLY_ALL: Threshold = Threshold::percent("nearly_all", 80.0);

static LIVE_SET_GROWS: Rule = Rule {
    id: RuleId::of("live-set-grows"),
    severity: Severity::Error,
    thresholds: &[START, OF_HEAP, NEARLY_ALL],
    evidence: "Bytes that survive marks, mixed and full collections, first and last, how fast they grow, and when the heap was or will be \
               full.",
    cause: "A leak, or a cache without a limit. A start looks the same in a log of less than {start}, until \
        it has filled {nearly_all} of the heap. In such a log the finding is a warning from {of_heap} on, \
        and else a note.",
    fix: "Take two heap dumps some time apart and compare the classes that grow. More heap only delays the end.",
    alternatives: &[],
    judge: leak,
};

fn leak(report: &GcReport) -> Option<Found> {
    let live = report.live_set.as_ref().filter(|live| live.trend == GcTrend::Grows)?;
    let full_at_s = live.full_at_s.filter(|_| live.fills_bytes_per_s.is_some());
    let is_full = full_at_s.zip(report.span_s).is_some_and(|(full_at_s, span_s)| full_at_s <= span_s);
    let of_heap = heap_limit(report).map_or(0.0, |(max, _)| live.max_bytes as f64 / max);
    // Watched for too short a time to have a slope, every program grows: it starts.
    if live.slope_bytes_per_h.is_none() && !is_full && of_heap < OF_HEAP.share() {
        return None;
    }
    let from = live.first_bytes.map_or(String::new(), |first| format!("from {} ", size(first as f64)));
    let mut evidence = format!("{} of {}: {from}to {}", live.basis, live.count, size(live.max_bytes as f64));
    if let Some((slope, low, high)) = live.slope_bytes_per_h.and_then(|s| Some((s.estimate, s.low?, s.high?)))
    {
        evidence += &format!("; {}/h ({} to {})", size(slope), size(low), size(high));
    }
    if let Some((at_s, bytes_per_s)) = full_at_s.zip(live.fills_bytes_per_s) {
        let full = if is_full { "the heap was full" } else { "the heap is full" };
        evidence += &format!("; it fills at {}/s: {full} {}", size(bytes_per_s), when(report, at_s, is_full));
    }
    let (severity, claim) = if is_full {
        (Severity::Error, "The live set grows until the heap is full: a leak, or an unbounded cache.")
    } else if NEARLY_ALL.share() <= of_heap || report.span_s.is_some_and(|s| START.value <= s) {
        (Severity::Error, "The live set grows: a leak, or an unbounded cache.")
    } else if OF_HEAP.share() <= of_heap {
        (Severity::Warning, "The live set grows. In so short a log, a start looks the same.")
    } else {
        (Severity::Note, "The live set grows. In so short a log, a start looks the same.")
    };
    Some(LIVE_SET_GROWS.graded(severity, claim, evidence).change(
        "Take two heap dumps some time apart and compare the classes that grow",
        "Names the kept objects. More heap only delays the end",
    ))
}

/// When the heap was full, or how long it takes from the end of the log on.
fn when(report: &GcReport, at_s: f64, is_past: bool) -> String {
    let from_end_s = at_s - report.span_s.unwrap_or(0.0);
    if is_past {
        format!("{at_s:.0} s after the beginning")
    } else {
        format!("in {}", span(from_end_s.max(0.0) / 3_600.0))
    }
}

/// Whether the live set grows so that its size is that of a moment.
pub(super) fn grows(report: &GcReport) -> bool {
    report.live_set.as_ref().is_some_and(|live| live.trend == GcTrend::Grows)
}

fn span(hours: f64) -> String {
    if hours < 1.0 / 30.0 {
        format!("{:.0} s", hours * 3_600.0)
    } else if hours < 1.0 {
        format!("{:.0} min", hours * 60.0)
    } else if hours < 48.0 {
        format!("{hours:.1} h")
    } else {
        format!("{:.0} days", hours / 24.0)
    }
}

/// Live objects above this share of the largest heap leave too little to work in (jifa warns of 80 % of the old generation).
const LIVE_SHARE: Threshold = Threshold::percent("live_share", 70.0);

/// The same of an old generation that cannot take room from the young one; jifa's default.
const OLD_SHARE: Threshold = Threshold::percent("old_share", 80.0);

/// A heap of this share of its maximum has grown as far as it may: one survivor space is in no sum.
const WHOLE: Threshold = Threshold::percent("whole", 85.0);

static HEAP_TOO_SMALL: Rule = Rule {
    id: RuleId::of("heap-too-small"),
    severity: Severity::Warning,
    thresholds: &[LIVE_SHARE, OLD_SHARE, WHOLE, COLLECTIONS_FOR_LIMIT],
    evidence: "The live set as a share of the largest heap, from {live_share} on. For Serial, Parallel and \
        CMS also of the old generation, from {old_share} on in a heap that has grown to {whole} of its \
        maximum. A log without the JVM's settings shows the largest heap after {collections} collections of \
        all of it.",
    cause: "The heap is too small for its live set: collections are frequent and free little.",
    fix: "Set `-Xmx` to twice the live set at least. No size helps a live set that grows: then `live-set-grows` is found instead.",
    alternatives: &["Keep fewer objects."],
    judge: too_small,
};

fn too_small(report: &GcReport) -> Option<Found> {
    let live = report.live_set.as_ref().filter(|_| !grows(report))?;
    let bytes = live.level_bytes as f64;
    let full = live_share(report)?;
    if full.share < full.threshold.share() {
        return None;
    }
    let evidence = format!(
        "{} live {} (of {}) in {}: {:.0} %, above {} is little room",
        size(bytes),
        live.basis,
        live.count,
        full.of,
        full.share * 100.0,
        full.threshold
    );
    let claim = "The heap is too small for the live set.";
    let wanted_m = live.level_bytes / (1 << 20) * 2 + 1;
    let expected_effect = "The time between collections grows with the free room: twice the room, half the \
        collections. Costs resident memory";
    let found = HEAP_TOO_SMALL.finding(claim, evidence);
    let found = found.change(format!("Set -Xmx{wanted_m}m at least (twice the live set)"), expected_effect);
    Some(found.or("Keep fewer objects: a heap dump shows what is kept"))
}

/// How much of what it may take the live set takes.
pub(super) struct LiveShare {
    pub share: f64,
    /// From this share on there is too little room.
    pub threshold: Threshold,
    of: String,
}

/// The larger of the live set's share of the heap and, in collectors whose old generation ends somewhere, of that.
pub(super) fn live_share(report: &GcReport) -> Option<LiveShare> {
    let bytes = report.live_set.as_ref()?.level_bytes as f64;
    let (max, at_most) = heap_limit(report)?;
    let of_heap = LiveShare {
        share: bytes / max,
        threshold: LIVE_SHARE,
        of: format!("a heap of {at_most} {}", size(max)),
    };
    let is_divided = matches!(collector(report), Some("Serial" | "Parallel" | "CMS"));
    // A heap that may still grow gives its old generation more.
    let capacity = report.series.points.iter().filter_map(|point| point.capacity_bytes).max();
    let is_whole = capacity.is_some_and(|capacity| WHOLE.share() * max <= capacity as f64);
    let old = report.spaces.get(&GcSpace::Old).filter(|_| is_divided && is_whole);
    // A full old generation leaves live objects in the young one: then they take more than it.
    let old = old.and_then(|space| space.capacity_bytes_max).filter(|old| bytes <= *old as f64);
    let Some(old) = old.filter(|old| *old > 0) else {
        return Some(of_heap);
    };
    let of_old = LiveShare {
        share: bytes / old as f64,
        threshold: OLD_SHARE,
        of: format!("an old generation of {}", size(old as f64)),
    };
    let is_tighter = of_heap.share / LIVE_SHARE.share() < of_old.share / OLD_SHARE.share();
    Some(if is_tighter { of_old } else { of_heap })
}

/// More than this many times what lives, with this little time in pauses, is more than is used.
const LIVE_TIMES: Threshold = Threshold::count("live_times", 8);
const PAUSED: Threshold = Threshold::percent("paused", 0.5);
/// Below this there is nothing to save.
const HEAP: Threshold = Threshold::bytes("heap", 1 << 30);
/// Of fewer collections nobody knows the live set.
const LIVE_SETS: Threshold = Threshold::count("live_sets", 3);
/// In its first minutes a server has not loaded what it will keep.
const LEVELLED: Threshold = Threshold::seconds("levelled", 600.0);

static HEAP_TOO_LARGE: Rule = Rule {
    id: RuleId::of("heap-too-large"),
    severity: Severity::Note,
    thresholds: &[LIVE_TIMES, PAUSED, HEAP, LIVE_SETS, LEVELLED],
    evidence: "The live set of {live_sets} collections or more, a heap of at least {live_times} times its \
        size, and at most {paused} of the time in pauses. For heaps from {heap} on, in logs of {levelled} or \
        more in which the live set has levelled off.",
    cause: "The heap was sized for more than the program keeps.",
    fix: "Try `-Xmx` of four times the live set and compare both logs with `assay gc diff`.",
    alternatives: &[],
    judge: too_large,
};

fn too_large(report: &GcReport) -> Option<Found> {
    let live = report
        .live_set
        .as_ref()
        .filter(|live| live.trend == GcTrend::Flat && LIVE_SETS.whole() <= live.count)?;
    report.span_s.filter(|span_s| LEVELLED.value <= *span_s)?;
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
        "Less resident memory, and shorter references if the heap drops below a limit of their mode. Costs \
            more collections",
    ))
}

/// One may be the burst of a moment.
const FAILURES: Threshold = Threshold::count("failures", 2);

static EVACUATION_FAILURE: Rule = Rule {
    id: RuleId::of("evacuation-failure"),
    severity: Severity::Warning,
    thresholds: &[FAILURES],
    evidence: "Pauses with evacuation failure. An error from {failures} of them on.",
    cause: "G1 found no free region for survivors. Such pauses are longer and may end in full collections.",
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
    let found = found.change(more_room(report), "Survivors find room. Costs resident memory");
    Some(found.or(MORE_RESERVE).or(EARLIER_MARKING))
}

static PROMOTION_FAILURE: Rule = Rule {
    id: RuleId::of("promotion-failure"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "Collections with promotion failure.",
    cause: "The old generation had no room for promoted objects, or only in pieces (CMS).",
    fix: "Make the old generation larger (`-Xmx`).",
    alternatives: &["Leave it more of the heap: a smaller `-Xmn`.", "Let CMS begin earlier."],
    judge: promotion,
};

fn promotion(report: &GcReport) -> Option<Found> {
    let count = report.anomalies.get(&GcAnomaly::PromotionFailed)?;
    if is_pauseless(report) {
        return None;
    }
    let claim = "The old generation had no room for promoted objects.";
    let evidence = format!("{count} collections with promotion failure");
    let found = PROMOTION_FAILURE
        .finding(claim, evidence)
        .at(places(report, "promotion-failed"))
        .change(
            "Make the old generation larger: raise -Xmx",
            "Young collections stay young ones. Costs resident memory",
        )
        .or("Leave it more of the heap: lower -Xmn");
    let found = if collector(report) == Some("CMS") { found.or(EARLIER_CMS) } else { found };
    let on_j9 = "Make the tenured area larger: raise -Xmx";
    Some(found.on_j9(report, on_j9, &["Leave it more of the heap: lower -Xmn"]))
}
