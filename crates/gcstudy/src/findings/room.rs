//! Rules on the room in the heap.

use super::rule::{
    EARLIER_CMS, EARLIER_MARKING, MORE_RESERVE, Rule, With, collector, heap_limit, heap_max, is_pauseless,
    more_room, paused_percent, places, size,
};
use assay_model::{Finding, GcAnomaly, GcReport, GcRule, GcTrend, Severity};

pub(super) const RULES: &[Rule] = &[out_of_memory, leak, too_small, too_large, evacuation, promotion];

fn out_of_memory(report: &GcReport) -> Option<Finding<GcRule>> {
    let count = report.out_of_memory;
    let claim = "The JVM ran out of memory.";
    (count > 0).then(|| {
        let expected_effect = "What is kept without need is found; more room only helps if it is needed";
        let on_j9 = "See what is kept in the heap dump that J9 makes then: -Xdump:heap:events=systhrow";
        Finding::measured(GcRule::OutOfMemory, Severity::Error, claim, format!("{count} times"))
            .at(places(report, "out-of-memory"))
            .change("Take a heap dump at the next time: -XX:+HeapDumpOnOutOfMemoryError", expected_effect)
            .or(more_room(report))
            .on_j9(report, on_j9, &[&more_room(report)])
    })
}

/// Until then a program may still be filling its caches, seconds.
const START_S_MAX: f64 = 1_800.0;

fn leak(report: &GcReport) -> Option<Finding<GcRule>> {
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
    let (severity, claim) = if report.span_s.is_some_and(|s| START_S_MAX <= s) {
        (Severity::Error, "The live set grows: a leak, or an unbounded cache.")
    } else {
        (Severity::Note, "The live set grows; in so short a log a start looks the same.")
    };
    Some(Finding::measured(GcRule::LiveSetGrows, severity, claim, evidence).change(
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
const LIVE_SHARE_MAX: f64 = 0.7;

fn too_small(report: &GcReport) -> Option<Finding<GcRule>> {
    let live = report.live_set.as_ref()?;
    let (max, at_most) = heap_limit(report)?;
    let share = live.last_bytes as f64 / max;
    if share < LIVE_SHARE_MAX {
        return None;
    }
    let evidence = format!(
        "{} live {} (the last of {}) in a heap of {at_most} {}: {:.0} %; above {:.0} % is little room",
        size(live.last_bytes as f64),
        live.basis,
        live.count,
        size(max),
        share * 100.0,
        LIVE_SHARE_MAX * 100.0
    );
    let claim = "The heap is too small for the live set.";
    let wanted_m = live.last_bytes / (1 << 20) * 2 + 1;
    let expected_effect = "The time between collections grows with the free room: twice the room, half the collections; costs resident memory";
    let found = Finding::measured(GcRule::HeapTooSmall, Severity::Warning, claim, evidence);
    let found = found.change(format!("Set -Xmx{wanted_m}m at least (twice the live set)"), expected_effect);
    Some(found.or("Keep fewer objects: a heap dump shows what is kept"))
}

/// More than this many times what lives, with this little time in pauses, is more than is used.
const LIVE_TIMES_MAX: f64 = 8.0;
const PAUSED_PERCENT_MAX: f64 = 0.5;
/// Below this there is nothing to save.
const HEAP_BYTES_MIN: f64 = 1_073_741_824.0;

fn too_large(report: &GcReport) -> Option<Finding<GcRule>> {
    let live = report.live_set.as_ref().filter(|live| live.trend != GcTrend::Grows && live.count >= 3)?;
    let max = heap_max(report).filter(|max| HEAP_BYTES_MIN <= *max)?;
    let paused_percent = paused_percent(report)?;
    let times = max / (live.max_bytes.max(1) as f64);
    if times < LIVE_TIMES_MAX || PAUSED_PERCENT_MAX < paused_percent {
        return None;
    }
    let evidence = format!(
        "at most {} live of {}, {times:.0} times as much; {paused_percent:.2} % of the time in pauses",
        size(live.max_bytes as f64),
        size(max)
    );
    let claim = "The heap is far larger than the live set needs.";
    let wanted_m = live.max_bytes / (1 << 20) * 4 + 1;
    Some(Finding::measured(GcRule::HeapTooLarge, Severity::Note, claim, evidence).change(
        format!("Try -Xmx{wanted_m}m (four times the live set) and compare with `assay gc diff`"),
        "Less resident memory, and shorter references where the heap comes below a limit of their mode; more collections",
    ))
}

fn evacuation(report: &GcReport) -> Option<Finding<GcRule>> {
    let count = report.anomalies.get(&GcAnomaly::EvacuationFailure)?;
    let severity = if *count > 1 { Severity::Error } else { Severity::Warning };
    let evidence = format!("{count} of {} pauses with evacuation failure", report.pauses.count);
    let claim =
        "G1 found no free region for survivors: such collections take longer and may end in full ones.";
    let found = Finding::measured(GcRule::EvacuationFailure, severity, claim, evidence);
    let found = found.at(places(report, "evacuation-failure"));
    let found = found.change(more_room(report), "Survivors find room; costs resident memory");
    Some(found.or(MORE_RESERVE).or(EARLIER_MARKING))
}

fn promotion(report: &GcReport) -> Option<Finding<GcRule>> {
    let count = report.anomalies.get(&GcAnomaly::PromotionFailed)?;
    if is_pauseless(report) {
        return None;
    }
    let claim = "The old generation had no room for what young collections promote.";
    let evidence = format!("{count} collections with promotion failure");
    let found = Finding::measured(GcRule::PromotionFailure, Severity::Error, claim, evidence)
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
