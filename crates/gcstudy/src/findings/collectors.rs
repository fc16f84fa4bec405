//! Rules on single collectors: what G1, CMS, Z and Shenandoah suffer from.

use super::rule::{
    EARLIER_CMS, FELT, Found, MORE_THREADS, Rule, Share, With, caused, collector, heap_max, more_room,
    of_stopped, paused_percent, places, size,
};
use assay_model::{GcAnomaly, GcReport, GcSpace, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[
    &HUMONGOUS_ALLOCATIONS,
    &DEGENERATED_CYCLES,
    &ALLOCATION_STALLS,
    &CONCURRENT_MODE_FAILURE,
    &PREMATURE_PROMOTION,
];

/// What of the stopped time these explain: stalls and failed cycles all of their own; what is promoted too early, a part.
pub(super) static SHARES: &[Share] = &[
    (&HUMONGOUS_ALLOCATIONS, |report| {
        let (count, ms, _) = caused(report, "G1 Humongous Allocation").unwrap_or_default();
        of_stopped(report, ms).max(count as f64 / report.pauses.count.max(1) as f64)
    }),
    (&ALLOCATION_STALLS, |report| of_stopped(report, report.stalled_ms.unwrap_or(0.0))),
    (&DEGENERATED_CYCLES, |report| of_stopped(report, pauses_called(report, "Pause Degenerated GC"))),
    (&CONCURRENT_MODE_FAILURE, |_| 0.6),
    (&PREMATURE_PROMOTION, |_| 0.5),
];

/// Findings that say how the collector gets into trouble, and not why.
pub(super) static MECHANISMS: &[&Rule] = &[&ALLOCATION_STALLS, &DEGENERATED_CYCLES, &CONCURRENT_MODE_FAILURE];

/// Sum of the pauses whose name begins so, milliseconds.
fn pauses_called(report: &GcReport, name: &str) -> f64 {
    let rows = report.pauses_by_phase.iter().filter(|row| row.name.starts_with(name));
    rows.map(|row| row.durations.total_ms).sum()
}

/// G1's largest region, bytes.
const REGION_BYTES_MAX: u64 = 32 << 20;
const REUSED_ARRAYS: &str = "Find the code that makes these large arrays and let it reuse them";
/// Humongous objects above this share of the heap; jifa's default.
const HUMONGOUS: Threshold = Threshold::percent("humongous", 50.0);
/// So many regions G1 needs to choose among; by default it makes 2,048.
const REGIONS: Threshold = Threshold::count("regions", 512);
/// One or two do not make a pattern.
const PAUSES: Threshold = Threshold::count("pauses", 3);

static HUMONGOUS_ALLOCATIONS: Rule = Rule {
    id: RuleId::of("humongous-allocations"),
    severity: Severity::Warning,
    thresholds: &[PAUSES, HUMONGOUS, REGIONS],
    evidence: "Pauses by humongous allocations ({pauses} or more), or the most bytes in humongous objects (above {humongous} of the \
               heap), and the size of a region.",
    cause: "An object of half a region or more takes whole regions, and triggers concurrent cycles.",
    fix: "Set a larger `-XX:G1HeapRegionSize`, where the heap has {regions} regions of that size.",
    alternatives: &["Reuse large arrays: the step in a smaller heap."],
    judge: humongous,
};

fn humongous(report: &GcReport) -> Option<Found> {
    if collector(report) != Some("G1") {
        return None;
    }
    let asked = caused(report, "G1 Humongous Allocation");
    let most = report.spaces.get(&GcSpace::Humongous).and_then(|space| space.max_bytes);
    let share = most.zip(heap_max(report)).map(|(most, max)| most as f64 / max);
    let is_large = share.is_some_and(|share| HUMONGOUS.share() < share);
    if asked.is_none_or(|(count, ..)| count < PAUSES.whole()) && !is_large {
        return None;
    }
    let mut evidence = Vec::new();
    if let Some((count, total_ms, _)) = asked {
        evidence.push(format!("{count} pauses by G1 Humongous Allocation, {total_ms:.1} ms in all"));
    }
    if let Some(most) = most {
        evidence.push(format!("humongous objects up to {}", size(most as f64)));
    }
    let region = report.jvms.last().and_then(|jvm| jvm.region_bytes);
    if let Some(region) = region.filter(|region| *region < REGION_BYTES_MAX) {
        evidence.push(format!("regions of {}: an object of half of that is humongous", size(region as f64)));
    }
    let claim = "Objects larger than half a region take whole regions and trigger concurrent cycles.";
    let found = HUMONGOUS_ALLOCATIONS.finding(claim, evidence.join("; "));
    let found = found.at(asked.and_then(|(.., at)| at));
    // A small heap has few regions: made larger, they leave young and old too few, and full collections follow.
    let has_regions =
        |region: u64| heap_max(report).is_none_or(|max| REGIONS.value * 2.0 * region as f64 <= max);
    Some(match region {
        Some(region) if region < REGION_BYTES_MAX && !has_regions(region) => {
            found.change(REUSED_ARRAYS, "Fewer objects take whole regions").or(more_room(report))
        }
        Some(region) if region < REGION_BYTES_MAX => found
            .change(
                format!(
                    "Set -XX:G1HeapRegionSize={}m, so that fewer objects reach half a region",
                    region >> 19
                ),
                "Such objects are collected young like any other. Larger regions make the heap's steps coarser",
            )
            .or(REUSED_ARRAYS),
        _ => found
            .change(REUSED_ARRAYS, "Fewer objects take whole regions, which cannot be larger than 32 MiB"),
    })
}

const EARLIER_SHENANDOAH: &str =
    "Let cycles begin earlier: raise -XX:ShenandoahMinFreeThreshold (10 % by default)";

const DEGENERATED: Threshold = Threshold::count("degenerated", 3);

static DEGENERATED_CYCLES: Rule = Rule {
    id: RuleId::of("degenerated-cycles"),
    severity: Severity::Warning,
    thresholds: &[DEGENERATED],
    evidence: "Degenerated cycles of all cycles. An error from {degenerated} of them on.",
    cause: "Shenandoah ran out of memory before a concurrent cycle ended, and finished it in a pause.",
    fix: "Give the heap more room (`-Xmx`).",
    alternatives: &[
        "Let cycles begin earlier: a higher `-XX:ShenandoahMinFreeThreshold`.",
        "Give them more threads: `-XX:ConcGCThreads`.",
    ],
    judge: degenerated,
};

fn degenerated(report: &GcReport) -> Option<Found> {
    let count = *report.anomalies.get(&GcAnomaly::Degenerated)?;
    let cycles: u64 = report.cycles_by_phase.iter().map(|row| row.durations.count).sum();
    let of = if cycles > 0 { format!(" of {cycles} cycles") } else { String::new() };
    let claim = "Shenandoah did not finish concurrent cycles in time and ended them in pauses.";
    let evidence = format!("{count} degenerated{of}");
    let severity = if DEGENERATED.whole() <= count { Severity::Error } else { Severity::Warning };
    let found = DEGENERATED_CYCLES.graded(severity, claim, evidence);
    let found = found
        .at(places(report, "degenerated"))
        .change(more_room(report), "Cycles end in time. Costs resident memory");
    Some(found.or(EARLIER_SHENANDOAH).or(MORE_THREADS).or_starved(report))
}

static ALLOCATION_STALLS: Rule = Rule {
    id: RuleId::of("allocation-stalls"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "Stalls, their total and longest time, by kind.",
    cause: "Threads waited for memory while the concurrent collector worked: pauses by another name.",
    fix: "Give the heap more room (`-Xmx`).",
    alternatives: &[
        "Let cycles begin earlier: a higher `-XX:ZAllocationSpikeTolerance`.",
        "Give them more threads: `-XX:ConcGCThreads`.",
    ],
    judge: stalls,
};

fn stalls(report: &GcReport) -> Option<Found> {
    let rows = &report.stalls_by_phase;
    let count: u64 = rows.iter().map(|row| row.durations.count).sum();
    if count == 0 {
        return None;
    }
    let total_ms: f64 = rows.iter().map(|row| row.durations.total_ms).sum();
    let longest_ms = rows.iter().filter_map(|row| row.durations.max_ms).fold(0.0, f64::max);
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let evidence =
        format!("{count} x {}: {total_ms:.1} ms in all, longest {longest_ms:.1} ms", names.join(", "));
    let claim =
        "Threads waited for memory while the collector worked (allocation stalls): pauses by another name.";
    let found = ALLOCATION_STALLS.finding(claim, evidence).at(places(report, "stall"));
    let found =
        found.change(more_room(report), "Memory is free before it is requested. Costs resident memory");
    let earlier = match collector(report) {
        Some("Shenandoah") => EARLIER_SHENANDOAH,
        _ => "Let cycles begin earlier: raise -XX:ZAllocationSpikeTolerance (2 by default)",
    };
    Some(found.or(earlier).or(MORE_THREADS).or_starved(report))
}

const COMPACTING: &str = "Use G1, which compacts: -XX:+UseG1GC (CMS ends with JDK 13)";

static CONCURRENT_MODE_FAILURE: Rule = Rule {
    id: RuleId::of("concurrent-mode-failure"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "Concurrent mode failures and promotion failures.",
    cause: "The old generation was full before CMS had finished, or is fragmented.",
    fix: "Let CMS begin earlier: `-XX:CMSInitiatingOccupancyFraction=60 -XX:+UseCMSInitiatingOccupancyOnly`.",
    alternatives: &["Use G1, which compacts: the step where the old generation is fragmented."],
    judge: concurrent_mode,
};

fn concurrent_mode(report: &GcReport) -> Option<Found> {
    let count = *report.anomalies.get(&GcAnomaly::ConcurrentModeFailure)?;
    let failed = report.anomalies.get(&GcAnomaly::PromotionFailed).copied().unwrap_or(0);
    let is_fragmented = failed > 0;
    let claim = if is_fragmented {
        "CMS was too late, and the old generation is fragmented: promotion failed although it was not full."
    } else {
        "CMS began too late: the old generation was full before it had finished."
    };
    let evidence = format!("{count} concurrent mode failures, {failed} promotion failures");
    let found = CONCURRENT_MODE_FAILURE.finding(claim, evidence);
    let found = found.at(places(report, "concurrent-mode-failure"));
    Some(if is_fragmented {
        found.change(COMPACTING, "An old generation without gaps. Costs some throughput").or(EARLIER_CMS)
    } else {
        found
            .change(EARLIER_CMS, "No single-threaded full collections. Costs more concurrent cycles")
            .or(COMPACTING)
    })
}

const FILLING_A_CACHE: &str = "Change nothing, if the program was filling a cache";
/// Of what is allocated, more than this promoted means that young objects are taken for old ones.
const PROMOTED: Threshold = Threshold::percent("promoted", 20.0);
/// At a slower pace promotion costs nothing that matters.
const PROMOTED_PER_S: Threshold = Threshold::bytes_per_s("promoted_per_s", 10 << 20);

static PREMATURE_PROMOTION: Rule = Rule {
    id: RuleId::of("premature-promotion"),
    severity: Severity::Warning,
    thresholds: &[PROMOTED, PROMOTED_PER_S, FELT],
    evidence: "The promoted share of the allocation (from {promoted} on) and its rate (from {promoted_per_s} \
        on), if pauses take {felt} of the time or more.",
    cause: "Young generation or survivor spaces are so small that objects are promoted before they die.",
    fix: "Make the young generation larger: `-Xmn`, with G1 `-XX:MaxGCPauseMillis`.",
    alternatives: &[
        "Make the survivor spaces larger: a lower `-XX:SurvivorRatio`.",
        "Change nothing, if the program was filling a cache.",
    ],
    judge: premature,
};

fn premature(report: &GcReport) -> Option<Found> {
    // Too few segments for an interval are not evidence.
    let rate = report.promoted_bytes_per_s.filter(|rate| rate.low.is_some())?;
    let (percent, promoted) = (report.promoted_percent?, rate.estimate);
    let is_felt = paused_percent(report).is_some_and(|percent| FELT.value <= percent);
    if percent < PROMOTED.value || promoted < PROMOTED_PER_S.value || !is_felt {
        return None;
    }
    let evidence = format!(
        "{percent:.0} % of the allocation between collections was promoted, {}/s; above {PROMOTED} is much",
        size(promoted)
    );
    let claim = "Much of the allocation reaches the old generation, where collecting it costs more.";
    let step = match collector(report) {
        Some("G1") => "Let G1 make the young generation larger: raise -XX:MaxGCPauseMillis",
        _ => "Make the young generation larger: raise -Xmn",
    };
    let expected_effect = "Objects die young, and old collections become rarer. Costs resident memory";
    let found = PREMATURE_PROMOTION
        .finding(claim, evidence)
        .change(step, expected_effect)
        .or("Make the survivor spaces larger: lower -XX:SurvivorRatio (8 by default)")
        .or(FILLING_A_CACHE);
    Some(found.on_j9(report, "Make the nursery larger: raise -Xmn", &[FILLING_A_CACHE]))
}
