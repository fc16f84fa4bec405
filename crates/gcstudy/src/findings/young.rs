//! Rules on the size of the young generation.

use super::often::one_every;
use super::rule::{
    FELT, Found, LONG_ENOUGH, Rule, Share, With, collector, heap_max, of_stopped, paused_percent, size,
    span_of_shares,
};
use assay_model::{GcReport, GcScope, GcSpace, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&YOUNG_GENERATION_SMALL];

/// What of the stopped time it explains: that of young collections, and what is promoted too early causes the others.
pub(super) static SHARES: &[Share] =
    &[(&YOUNG_GENERATION_SMALL, |report| of_stopped(report, report.pauses.total_ms) * 0.9)];

/// G1 makes the young generation 5 % of the heap or more, the others a third.
const OF_HEAP_G1: Threshold = Threshold::percent("of_heap_g1", 4.0);
const OF_HEAP: Threshold = Threshold::percent("of_heap", 10.0);
/// More live data than this needs the heap for itself.
const LIVE: Threshold = Threshold::percent("live", 50.0);
const COLLECTIONS: Threshold = Threshold::count("collections", 30);
const INTERVAL: Threshold = Threshold::ms("interval", 500.0);

static YOUNG_GENERATION_SMALL: Rule = Rule {
    id: RuleId::of("young-generation-small"),
    severity: Severity::Warning,
    thresholds: &[OF_HEAP_G1, OF_HEAP, LIVE, COLLECTIONS, INTERVAL, FELT, LONG_ENOUGH],
    evidence: "The largest size of eden and survivors, below {of_heap_g1} of the heap with G1, or {of_heap} \
        with Serial, Parallel and CMS. Live objects take less than {live} of the heap. The log has \
        {long_enough} or more, with {collections} young collections or more, less than {interval} apart, and \
        {felt} or more of the time in pauses.",
    cause: "`-Xmn` (`-XX:NewSize`, `-XX:MaxNewSize`) was set, for a smaller heap or by mistake: nothing has time to die before the next \
            collection.",
    fix: "Leave `-Xmn` out, so that the JVM sizes the young generation.",
    alternatives: &["Set `-Xmn` to a third of the heap (Serial, Parallel, CMS)."],
    judge: small,
};

fn small(report: &GcReport) -> Option<Found> {
    let limit = match collector(report)? {
        "G1" => OF_HEAP_G1,
        "Serial" | "Parallel" | "CMS" => OF_HEAP,
        _ => return None,
    };
    let max = heap_max(report)?;
    let young = young_bytes(report)?;
    let has_room = report.live_set.as_ref().is_none_or(|live| (live.level_bytes as f64) < LIVE.share() * max);
    let rows = report.pauses_by_phase.iter().filter(|row| row.scope == Some(GcScope::Young));
    let count: u64 = rows.map(|row| row.durations.count).sum();
    let interval_ms = span_of_shares(report)? * 1e3 / count.max(1) as f64;
    let is_frequent = COLLECTIONS.whole() <= count && interval_ms < INTERVAL.value;
    let is_felt = paused_percent(report).is_some_and(|percent| FELT.value <= percent);
    if limit.share() * max <= young || !has_room || !is_frequent || !is_felt {
        return None;
    }
    let is_set =
        |flag: &&String| ["-Xmn", "-XX:NewSize", "-XX:MaxNewSize"].iter().any(|name| flag.starts_with(name));
    let set = report.jvms.last().and_then(|jvm| jvm.flags.iter().find(is_set));
    let evidence = format!(
        "eden and survivors held {} at most, {:.1} % of a heap of {}; {count} young collections, {}{}",
        size(young),
        100.0 * young / max,
        size(max),
        one_every(interval_ms / 1e3),
        set.map_or(String::new(), |flag| format!("; {flag}"))
    );
    let claim = "The young generation is far smaller than the heap allows.";
    let step =
        "Leave -Xmn out (-XX:NewSize and -XX:MaxNewSize, too), so that the JVM sizes the young generation";
    let found = YOUNG_GENERATION_SMALL.finding(claim, evidence).change(
        step,
        "Fewer young collections, in proportion to the room. Objects die before they are copied",
    );
    let third_m = max / 3.0 / f64::from(1 << 20);
    Some(if limit == OF_HEAP {
        found.or(format!("Set -Xmn{third_m:.0}m, a third of the heap"))
    } else {
        found
    })
}

/// The most that the young generation held, bytes: as a whole, or by its parts.
fn young_bytes(report: &GcReport) -> Option<f64> {
    let most = |space: GcSpace| report.spaces.get(&space)?.max_bytes;
    let parts = || Some(most(GcSpace::Eden)? + most(GcSpace::Survivor).unwrap_or(0));
    most(GcSpace::Young).or_else(parts).filter(|bytes| *bytes > 0).map(|bytes| bytes as f64)
}
