//! Settings that would lower the limit.

use super::bounds::{direct_limit, part_of};
use super::parts::MemoryPart;
use super::round_up;
use crate::findings::findings;
use crate::findings::weight::finding;
use crate::findings::words::{bytes, option_size};
use assay_model::{AdviceLine, Finding, MemoryReport, MemoryRule};

/// Less is not worth a setting.
const GAIN_BYTES_MIN: u64 = 16 << 20;
/// Headroom above the observed peak when a bound is lowered.
const ROOM_PERCENT: u64 = 150;
/// A heap that was never committed beyond this much of its limit is offered a lower one, with this much room.
const HEAP_ROOM_PERCENT: u64 = 125;
/// Below 240 MiB the JVM uses one code heap for all code, and a small one has to hold the JVM's own stubs as well.
const CODE_CACHE_BYTES_MIN: u64 = 32 << 20;
/// Findings whose gain does not lower the limit: a hard bound provides for those bytes, used or not.
const BOUNDED_ANYWAY: [MemoryRule; 3] =
    [MemoryRule::HeapFreeButResident, MemoryRule::HeapSizeFixed, MemoryRule::CodeCacheFragmented];

/// Settings with what they would bring, the biggest first.
pub(super) fn settings(
    snapshots: &[MemoryReport],
    now: &MemoryReport,
    lines: &[AdviceLine],
) -> Vec<Finding<MemoryRule>> {
    let mut settings: Vec<Finding<MemoryRule>> = findings(now);
    settings.retain(|finding| {
        finding.gain_bytes.is_some_and(|gain| gain != 0) && !BOUNDED_ANYWAY.contains(&finding.rule)
    });
    settings.extend(smaller_heap(snapshots, now));
    settings.extend(smaller_code_cache(snapshots, lines));
    settings.extend(smaller_direct(now, lines));
    Finding::sort(&mut settings);
    settings
}

fn setting(
    rule: MemoryRule,
    claim: String,
    evidence: String,
    setting: String,
    gain: u64,
) -> Option<Finding<MemoryRule>> {
    (GAIN_BYTES_MIN <= gain).then(|| finding(rule, claim, evidence, setting, Some(gain)))
}

/// What the snapshots did not see cannot be provided for.
const IF_SEEN: &str = "if the snapshots saw the highest load that it must handle";

fn line(lines: &[AdviceLine], part: MemoryPart) -> Option<&AdviceLine> {
    lines.iter().find(|line| line.name == part.title())
}

/// A heap whose collector never asked for nearly as much as it may have.
fn smaller_heap(snapshots: &[MemoryReport], now: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let max = now.jvm.as_ref()?.heap_bytes_max?;
    let committed =
        snapshots.iter().filter_map(|snapshot| snapshot.jvm.as_ref()?.heap_committed_bytes).max()?;
    let enough = part_of(committed, HEAP_ROOM_PERCENT);
    setting(
        MemoryRule::HeapLargerThanCommitted,
        "the heap may grow beyond what its collector has committed so far".to_owned(),
        format!(
            "MaxHeapSize {}, largest committed in {} snapshots {}",
            bytes(max),
            snapshots.len(),
            bytes(committed)
        ),
        format!("Set -Xmx{}, {IF_SEEN}", option_size(enough)),
        max.saturating_sub(round_up(enough)),
    )
}

/// A code cache whose reserve will never be needed.
fn smaller_code_cache(snapshots: &[MemoryReport], lines: &[AdviceLine]) -> Option<Finding<MemoryRule>> {
    let line = line(lines, MemoryPart::CodeCache)?;
    let reserve = snapshots.last()?.jvm.as_ref()?.code_cache_bytes_max?;
    let used = snapshots.iter().filter_map(|snapshot| snapshot.jvm.as_ref()?.code_cache_used_bytes).max()?;
    let seen = used.max(line.peak_bytes.unwrap_or(line.now_bytes));
    let enough = part_of(seen, ROOM_PERCENT).max(CODE_CACHE_BYTES_MIN);
    setting(
        MemoryRule::CodeCacheReserve,
        "the code cache reserves more than its code needs".to_owned(),
        format!("reserved {}, largest in use {}", bytes(reserve), bytes(seen)),
        format!("Set -XX:ReservedCodeCacheSize={}, {IF_SEEN}", option_size(enough)),
        line.bound_bytes.saturating_sub(round_up(enough)),
    )
}

/// A limit of direct buffers that is far above what they hold.
fn smaller_direct(now: &MemoryReport, lines: &[AdviceLine]) -> Option<Finding<MemoryRule>> {
    let line = line(lines, MemoryPart::Direct).filter(|line| line.is_hard)?;
    let limit = now.jvm.as_ref().and_then(direct_limit)?;
    let seen = line.peak_bytes.unwrap_or(line.now_bytes);
    let enough = part_of(seen, ROOM_PERCENT).max(GAIN_BYTES_MIN);
    setting(
        MemoryRule::DirectLimitAboveUse,
        "direct buffers may hold far more than they do".to_owned(),
        format!("MaxDirectMemorySize {}, largest resident {}", bytes(limit), bytes(seen)),
        format!("Set -XX:MaxDirectMemorySize={}, {IF_SEEN}", option_size(enough)),
        limit.saturating_sub(round_up(enough)),
    )
}
