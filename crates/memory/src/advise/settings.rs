//! Settings that would lower the limit.

use super::bounds::{direct_limit, part_of};
use super::parts::MemoryPart;
use super::round_up;
use crate::findings::rule::{Found, finding};
use crate::findings::that_lower_the_limit;
use crate::findings::words::{bytes, option_size};
use assay_model::{AdviceLine, Change, Explanation, MemoryReport, RuleId, Severity, Threshold};

/// Less is not worth a setting.
const GAIN: Threshold = Threshold::bytes("gain", 16 << 20);
/// Headroom above the observed peak when a bound is lowered.
const ROOM_PERCENT: u64 = 150;
/// A heap that was never committed beyond this much of its limit is offered a lower one, with this much room.
const HEAP_ROOM_PERCENT: u64 = 125;
/// Below 240 MiB the JVM uses one code heap for all code, and a small one has to hold the JVM's own stubs as well.
const CODE_CACHE_BYTES_MIN: u64 = 32 << 20;

/// What settings follow from: the snapshots, the last of them, and the lines of the limit.
struct Watched<'a> {
    snapshots: &'a [MemoryReport],
    now: &'a MemoryReport,
    lines: &'a [AdviceLine],
}

impl Watched<'_> {
    fn line(&self, part: MemoryPart) -> Option<&AdviceLine> {
        self.lines.iter().find(|line| line.name == part.title())
    }
}

/// A rule about the limit.
type Rule = assay_model::Rule<fn(&Watched<'_>) -> Option<Found>>;

/// Rules about the limit; those about the snapshot stand with the findings.
static RULES: &[&Rule] = &[&HEAP_LARGER_THAN_COMMITTED, &CODE_CACHE_RESERVE, &DIRECT_LIMIT_ABOVE_USE];

/// What each of these rules says in general.
pub(crate) fn rules() -> impl Iterator<Item = Explanation> {
    RULES.iter().map(|rule| rule.explained())
}

/// Settings with what they would bring, the biggest first.
pub(super) fn settings(snapshots: &[MemoryReport], now: &MemoryReport, lines: &[AdviceLine]) -> Vec<Found> {
    let watched = Watched { snapshots, now, lines };
    let mut settings = that_lower_the_limit(now);
    settings.retain(|finding| finding.gain_bytes.is_some_and(|gain| gain != 0));
    settings.extend(RULES.iter().filter_map(|rule| (rule.judge)(&watched)));
    Found::sort(&mut settings);
    settings
}

fn setting(rule: &Rule, claim: &str, evidence: String, option: &str, gain: u64) -> Option<Found> {
    (GAIN.whole() <= gain).then(|| {
        finding(rule, claim.to_owned(), evidence, Change::to_set(&[option], &[], IF_SEEN), Some(gain))
    })
}

/// What the snapshots did not show cannot be provided for.
const IF_SEEN: &str = ", if the snapshots saw the highest load that it must handle";

static HEAP_LARGER_THAN_COMMITTED: Rule = Rule {
    id: RuleId::of("heap-larger-than-committed"),
    severity: Severity::Warning,
    thresholds: &[GAIN],
    evidence: "`MaxHeapSize` and the largest committed heap in all samples. Made if a limit could be {gain} \
        lower or more.",
    cause: "The heap may grow beyond what its collector has committed so far: a limit must hold that, too.",
    fix: "Set a smaller `-Xmx`, where what was seen is all that the server needs.",
    alternatives: &[],
    judge: smaller_heap,
};

/// A heap whose collector never asked for nearly as much as it may have.
fn smaller_heap(watched: &Watched<'_>) -> Option<Found> {
    let max = watched.now.jvm.as_ref()?.heap_bytes_max?;
    let committed =
        watched.snapshots.iter().filter_map(|snapshot| snapshot.jvm.as_ref()?.heap_committed_bytes).max()?;
    let enough = part_of(committed, HEAP_ROOM_PERCENT);
    setting(
        &HEAP_LARGER_THAN_COMMITTED,
        "the heap may grow beyond what its collector has committed so far",
        format!(
            "MaxHeapSize {}, largest committed in {} snapshots {}",
            bytes(max),
            watched.snapshots.len(),
            bytes(committed)
        ),
        &format!("-Xmx{}", option_size(enough)),
        max.saturating_sub(round_up(enough)),
    )
}

static CODE_CACHE_RESERVE: Rule = Rule {
    id: RuleId::of("code-cache-reserve"),
    severity: Severity::Warning,
    thresholds: &[GAIN],
    evidence: "The reserve and the most code in use in all samples. Made if a limit could be {gain} lower or \
        more.",
    cause: "The limit of the container must hold the reserve, since code may fill it.",
    fix: "Set a smaller `-XX:ReservedCodeCacheSize`, where what was seen is all that the server needs.",
    alternatives: &[],
    judge: smaller_code_cache,
};

/// A code cache whose reserve will never be needed.
fn smaller_code_cache(watched: &Watched<'_>) -> Option<Found> {
    let line = watched.line(MemoryPart::CodeCache)?;
    let reserve = watched.snapshots.last()?.jvm.as_ref()?.code_cache_bytes_max?;
    let used =
        watched.snapshots.iter().filter_map(|snapshot| snapshot.jvm.as_ref()?.code_cache_used_bytes).max()?;
    let seen = used.max(line.peak_bytes.unwrap_or(line.now_bytes));
    let enough = part_of(seen, ROOM_PERCENT).max(CODE_CACHE_BYTES_MIN);
    setting(
        &CODE_CACHE_RESERVE,
        "the code cache reserves more than its code needs",
        format!("reserved {}, largest in use {}", bytes(reserve), bytes(seen)),
        &format!("-XX:ReservedCodeCacheSize={}", option_size(enough)),
        line.bound_bytes.saturating_sub(round_up(enough)),
    )
}

static DIRECT_LIMIT_ABOVE_USE: Rule = Rule {
    id: RuleId::of("direct-limit-above-use"),
    severity: Severity::Warning,
    thresholds: &[GAIN],
    evidence: "`MaxDirectMemorySize` and the largest resident direct memory in all samples. Made if a limit \
        could be {gain} lower or more.",
    cause: "The limit of the container must hold what direct buffers may take.",
    fix: "Set a smaller `-XX:MaxDirectMemorySize`, where what was seen is all that the server needs.",
    alternatives: &[],
    judge: smaller_direct,
};

/// A limit of direct buffers that is far above what they hold.
fn smaller_direct(watched: &Watched<'_>) -> Option<Found> {
    let line = watched.line(MemoryPart::Direct).filter(|line| line.is_hard)?;
    let limit = watched.now.jvm.as_ref().and_then(direct_limit)?;
    let seen = line.peak_bytes.unwrap_or(line.now_bytes);
    let enough = part_of(seen, ROOM_PERCENT).max(GAIN.whole());
    setting(
        &DIRECT_LIMIT_ABOVE_USE,
        "direct buffers may hold far more than they do",
        format!("MaxDirectMemorySize {}, largest resident {}", bytes(limit), bytes(seen)),
        &format!("-XX:MaxDirectMemorySize={}", option_size(enough)),
        limit.saturating_sub(round_up(enough)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_each_rule_name_its_thresholds() {
        let mistakes: Vec<String> = RULES.iter().flat_map(|rule| rule.mistakes()).collect();
        assert_eq!(mistakes, [""; 0]);
    }
}
