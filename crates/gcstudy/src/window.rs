//! Garbage and pauses of an interval of time.
//!
//! **Why the freed bytes are counted from collection to collection.** Let a window hold the collections 0 ..
//! n, with b(i) bytes in use before and a(i) after collection i. The application allocates between
//! collections only, so what it allocated from the end of collection 0 to the end of collection n is exactly
//!
//! ```text
//! A = Σ (b(i) - a(i-1))                                          i = 1 .. n
//! ```
//!
//! and what those collections freed is
//!
//! ```text
//! F = Σ (b(i) - a(i)) = A + a(0) - a(n)                          i = 1 .. n
//! ```
//!
//! Counting the first collection too would add garbage of before the window; ending at the window's edge
//! would miss what was allocated since the last one. So requests are counted from the end of the first
//! collection to the end of the last, and both quotients are exact, no matter where the window's edges lie
//! between collections.
//!
//! **G1's `Pause Remark` and `Pause Cleanup`** free whole empty regions now and then, and give their bytes in
//! whole MiB. They never begin or end the count; what one frees in between is added to F and to A = F + a(n) - a(0),
//! where it would otherwise be missing from b(i). So the count is exact as long as none of them frees anything, and
//! off by less than 1 MiB for each that does.
//!
//! **What a growing live set does.** F is smaller than A by a(n) - a(0): objects that stay, and with a
//! generational collector also those that died in the old generation, which no young collection frees. F is
//! the garbage that was collected, A is what the requests allocated; they differ by less the longer the
//! window, and `GcWindow` has both.

use crate::heap_balance::frees_unseen;
use assay_model::{GcAnomaly, GcRecord, GcRecordKind, GcScope};

/// Whether a record is a collection that begins and ends a count: one that collects while everything stands still, no stop of a
/// concurrent cycle.
pub(crate) fn is_collection(record: &GcRecord) -> bool {
    let collects = record.heap.after_bytes.is_some() && !record.anomalies.contains(&GcAnomaly::Degenerated);
    is_pause(record)
        && match record.scope {
            Some(GcScope::Full) => true,
            Some(GcScope::Young | GcScope::Mixed) => collects,
            _ => false,
        }
}

fn is_pause(record: &GcRecord) -> bool {
    record.kind == GcRecordKind::Pause && record.duration_ns.is_some()
}

/// Whether the windows of a trial need a record.
pub(crate) fn is_of_windows(record: &GcRecord) -> bool {
    is_pause(record) || frees_unseen(record)
}

/// The collections of a window after its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcWindow {
    /// End of the first collection in the window, on `CLOCK_MONOTONIC`: counting begins here.
    pub first_gc_end_ns: u64,
    /// End of the last collection in the window: counting ends here.
    pub last_gc_end_ns: u64,
    /// Collections counted: all in the window but the first, without the stops of concurrent cycles.
    pub collections: u64,
    /// Σ (before - after) of the collections counted and of the stops between them.
    pub freed_bytes: u64,
    /// Σ (before - after of the one before): allocated from the end of the first to the end of the last.
    pub allocated_bytes: u64,
    /// In use after the first collection.
    pub first_after_bytes: u64,
    /// In use after the last collection.
    pub last_after_bytes: u64,
    /// Σ of their pauses, stops of concurrent cycles included.
    pub pause_ns_total: u64,
}

/// The garbage of a window, counted over the collections that ended within `from_ns ..= to_ns`.
///
/// `None` when there are fewer than two, when a pause between them lacks its bytes or its time, or memory was freed and the log does not
/// say how much (an incomplete sum is not given), when times go backwards, or when the bytes contradict themselves (less than nothing freed
/// or allocated).
pub fn freed_between(records: &[GcRecord], from_ns: u64, to_ns: u64) -> Option<GcWindow> {
    let mut inside = Vec::new();
    for record in records.iter().filter(|record| is_of_windows(record)) {
        let end_ns = record.end.monotonic_ns?;
        if (from_ns..=to_ns).contains(&end_ns) {
            inside.push((end_ns, record));
        }
    }
    let is_collection = |(_, record): &(u64, &GcRecord)| is_collection(record);
    let first = inside.iter().position(is_collection)?;
    let last = inside.iter().rposition(is_collection)?;
    let counted = &inside[first..=last];
    let has_hole = counted.iter().any(|(_, record)| frees_unseen(record));
    if first == last || has_hole || !counted.is_sorted_by_key(|(end_ns, _)| *end_ns) {
        return None;
    }
    let (mut freed, mut pause_ns_total) = (0_i128, 0_u64);
    for (_, record) in &counted[1..] {
        freed += i128::from(record.heap.before_bytes?) - i128::from(record.heap.after_bytes?);
        pause_ns_total = pause_ns_total.checked_add(record.duration_ns?)?;
    }
    inside[first].1.heap.before_bytes?;
    let (first_after, last_after) = (inside[first].1.heap.after_bytes?, inside[last].1.heap.after_bytes?);
    let allocated = freed + i128::from(last_after) - i128::from(first_after);
    Some(GcWindow {
        first_gc_end_ns: inside[first].0,
        last_gc_end_ns: inside[last].0,
        collections: counted.iter().filter(|entry| is_collection(entry)).count() as u64 - 1,
        freed_bytes: freed.try_into().ok()?,
        allocated_bytes: allocated.try_into().ok()?,
        first_after_bytes: first_after,
        last_after_bytes: last_after,
        pause_ns_total,
    })
}

/// As [`freed_between`]; where the window holds fewer than two collections, the count begins at the last collection before it, unless
/// that ended before `not_before_ns`. That is as exact, where all requests since then are known.
pub fn freed_until(
    records: &[GcRecord],
    not_before_ns: Option<u64>,
    from_ns: u64,
    to_ns: u64,
) -> Option<GcWindow> {
    let earlier = || {
        let ends = records.iter().filter(|record| is_collection(record)).filter_map(|r| r.end.monotonic_ns);
        let last_before_ns = ends.filter(|end_ns| *end_ns < from_ns).max()?;
        let is_known = not_before_ns.is_some_and(|not_before_ns| not_before_ns <= last_before_ns);
        let window = freed_between(records, last_before_ns, to_ns).filter(|_| is_known)?;
        (from_ns <= window.last_gc_end_ns).then_some(window)
    };
    freed_between(records, from_ns, to_ns).or_else(earlier)
}

/// The pauses of a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PauseWindow {
    /// Pauses that overlap the window.
    pub pauses: u64,
    /// Time stopped within the window: of a pause that reaches over an edge only the part inside.
    pub stopped_ns: u64,
    /// Longest of these pauses, whole.
    pub pause_ns_max: Option<u64>,
    /// CPU time of those that end within the window, whole, as the log gives it: HotSpot in steps of 10 ms. Absent where one lacks it.
    pub cpu_ns: Option<u64>,
}

/// The pauses that overlap `from_ns .. to_ns`; `None` when one lacks its time.
pub fn pauses_between(records: &[GcRecord], from_ns: u64, to_ns: u64) -> Option<PauseWindow> {
    let mut window = PauseWindow { cpu_ns: Some(0), ..PauseWindow::default() };
    for record in records.iter().filter(|record| is_pause(record)) {
        let (end_ns, pause_ns) = (record.end.monotonic_ns?, record.duration_ns?);
        let start_ns = end_ns.saturating_sub(pause_ns);
        let inside_ns = end_ns.min(to_ns).saturating_sub(start_ns.max(from_ns));
        if inside_ns > 0 {
            window.pauses += 1;
            window.stopped_ns += inside_ns;
            window.pause_ns_max = window.pause_ns_max.max(Some(pause_ns));
        }
        if (from_ns..to_ns).contains(&end_ns) {
            let cpu_ns = record.cpu.as_ref().map(|cpu| cpu.user_ns.saturating_add(cpu.sys_ns));
            window.cpu_ns = window.cpu_ns.zip(cpu_ns).map(|(sum, of_one)| sum.saturating_add(of_one));
        }
    }
    Some(window)
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
