//! What grows, as a finding among others.

use crate::findings::words::bytes;
use assay_model::{Finding, GrowthKind, GrowthVerdict, MemoryReport, Rule, RuleId, Severity};

/// Growers that are named after the fastest.
const NAMED_MAX: usize = 3;
const HOUR_S: f64 = 3_600.0;

pub(crate) static MEMORY_GROWS: Rule<()> = Rule {
    id: RuleId::of("memory-grows"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "The growing part over the snapshots of a record (`assay memory PID --record FILE`), its first \
        and last size, its rate, and when it reaches the memory limit.",
    cause: "A leak, or something that is never bounded: a cache, a queue, a pool.",
    fix: "Bound what the holder keeps. A higher limit only delays the end.",
    alternatives: &["In the Java heap, compare the classes of two heap dumps."],
    judge: (),
};

/// The verdict of a record as a finding; `None` unless something grows.
pub fn growth_finding(verdict: &GrowthVerdict, last: &MemoryReport) -> Option<Finding<RuleId>> {
    let (first, others) = verdict.growing.split_first().filter(|_| verdict.kind == GrowthKind::Growing)?;
    let per_h = |per_s: f64| bytes((per_s * HOUR_S).max(0.0) as u64);
    let rate = &first.rate_bytes_per_s;
    let ends = rate.ends().map_or_else(String::new, |(low, high)| {
        format!(" (95 % interval {} to {})", per_h(low), per_h(high))
    });
    let name = first.path.join(": ");
    let mut evidence = format!(
        "{} at first, {} at last, over {} snapshots; {} per hour{ends}",
        bytes(first.before_bytes),
        bytes(first.after_bytes),
        verdict.snapshots,
        per_h(rate.estimate)
    );
    let room = last.cgroup.as_ref().and_then(|of| Some(of.limit_bytes?.saturating_sub(of.current_bytes?)));
    if let Some(room) = room.filter(|_| 0.0 < rate.estimate && last.end.is_none()) {
        let minutes = room as f64 / rate.estimate / 60.0;
        evidence += &format!("; the limit is reached in {minutes:.0} min at that rate");
    }
    let mut found = MEMORY_GROWS.finding(format!("{name} grows"), evidence);
    found.evidence.extend(Some(&first.explanation).filter(|text| !text.is_empty()).cloned());
    if !others.is_empty() {
        let others: Vec<String> = others.iter().take(NAMED_MAX).map(|of| of.path.join(": ")).collect();
        found.evidence.push(format!("besides: {}", others.join("; ")));
    }
    let holder = first.path.last().map_or("it", String::as_str);
    Some(
        found
            .of_resident(first.after_bytes)
            .to_do(format!("Find where the program adds to {holder} without a bound"))
            .or("Compare the classes of two heap dumps: jcmd PID GC.heap_dump FILE"),
    )
}
