//! Growth that comes from huge pages: memory became resident though no more of it is in use.

use super::gather::Change;
use crate::findings::words::bytes;
use assay_model::{Area, Cause, MemoryReport};

/// A huge page of x86-64: less than one did not come or go.
const HUGE_PAGE_BYTES: u64 = 2 << 20;
/// A part of what grew has to lie in huge pages for them to be its cause.
const HUGE_PERCENT: u128 = 75;

/// By how much memory in huge pages grew; absent where it did not, or is not known.
pub(super) fn growth(before: &MemoryReport, after: &MemoryReport) -> Option<u64> {
    let (from, to) = (before.outside_rss.huge_pages_bytes?, after.outside_rss.huge_pages_bytes?);
    to.checked_sub(from).filter(|grown| HUGE_PAGE_BYTES <= *grown)
}

/// Takes the entries out of `changes` that grew without being used more, if huge pages explain them. Memory in no known
/// region is among them: a program that maps by itself and is given huge pages where it touches a few bytes of each.
pub(super) fn take(before: &MemoryReport, after: &MemoryReport, changes: &mut Vec<Change>) -> Option<Cause> {
    let huge = growth(before, after)?;
    let freed = freed_change(before, after);
    let is_slack = |change: &Change| {
        let grown = change.bytes();
        let used_more = match change.area() {
            Some(Area::FreedResident) => change.size_change.or(freed),
            // Nobody knows what is in use of it: that it lies in huge pages is the most that can be said.
            Some(Area::NativeAnonymous) => Some(change.size_change.unwrap_or(0)),
            _ if is_unused_by_name(&change.path) => Some(change.size_change.unwrap_or(0)),
            _ => change.size_change,
        };
        // Resident growth is at least twice the growth in use.
        0 < grown && used_more.is_some_and(|used| used.max(0).saturating_mul(2) <= grown)
    };
    let grown = changes
        .iter()
        .filter(|c| is_slack(c))
        .fold(0u64, |sum, c| sum.saturating_add(c.bytes().unsigned_abs()));
    if grown < HUGE_PAGE_BYTES || u128::from(huge) * 100 < u128::from(grown) * HUGE_PERCENT {
        return None;
    }
    let (slack, rest): (Vec<Change>, Vec<Change>) =
        std::mem::take(changes).into_iter().partition(|c| is_slack(c));
    *changes = rest;
    let mut areas: Vec<&str> = slack.iter().filter_map(|c| c.path.first()).map(String::as_str).collect();
    areas.sort_unstable();
    areas.dedup();
    let sum =
        |of: fn(&Change) -> u64| super::bounded(slack.iter().fold(0, |sum, c| of(c).saturating_add(sum)));
    Some(Cause {
        path: vec!["transparent huge pages".to_owned()],
        before_bytes: sum(|c| c.before_bytes),
        after_bytes: sum(|c| c.after_bytes),
        count_change: i64::try_from(huge / HUGE_PAGE_BYTES).ok(),
        source: slack.iter().map(|c| c.source).max()?,
        explanation: format!(
            "the kernel put huge pages where small ones were: {} more of them, and memory in {} became resident without being \
             used more. Next: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
            bytes(huge),
            areas.join(", ")
        ),
    })
}

/// Freed blocks in all, resident or not.
fn freed_change(before: &MemoryReport, after: &MemoryReport) -> Option<i64> {
    let freed = |snapshot: &MemoryReport| snapshot.allocator.as_ref()?.freed_bytes;
    Some(super::difference(freed(before)?, freed(after)?))
}

/// Memory that holds nothing, by what its entry is called.
fn is_unused_by_name(path: &[String]) -> bool {
    let unused = ["unused above top", "free but resident", "stale, below SP", "stale", "never used"];
    path.last().is_some_and(|last| unused.contains(&last.as_str()))
}

/// The part of huge pages in another cause's growth.
pub(super) fn remark(change: &Change, huge: Option<u64>) -> Option<String> {
    let grown = u64::try_from(change.bytes()).ok()?;
    let huge = huge.filter(|huge| *huge <= grown.saturating_mul(2) && grown <= huge.saturating_mul(2))?;
    Some(format!(
        ". Memory in huge pages grew by {} in that time, which makes whole pages of 2 MiB resident",
        bytes(huge)
    ))
}
