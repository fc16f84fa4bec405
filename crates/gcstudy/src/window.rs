//! Garbage and pauses of a stretch of time.
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
//! whole MiB. They never begin or end the count; what one frees in between is added to F and to A, where it
//! would otherwise be missing from b(i). So the count is exact as long as none of them frees anything, and
//! off by less than 1 MiB for each that does.
//!
//! **What a growing live set does.** F is smaller than A by a(n) - a(0): objects that stay, and with a
//! generational collector also those that died in the old generation, which no young collection frees. F is
//! the garbage that was collected, A is what the requests allocated; they differ by less the longer the
//! window, and `GcWindow` has both.

use assay_model::{GcEvent, GcEventKind};

/// Bytes freed and allocated over collections in a row, both counted from the end of the first.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub freed: i128,
    pub allocated: i128,
    /// In use after the last collection, less what concurrent cycles freed since.
    in_use: Option<i128>,
}

impl Ledger {
    /// Enters the next collection; `None` when it lacks its bytes.
    pub fn enter(&mut self, event: &GcEvent) -> Option<()> {
        let (before, after) = (i128::from(event.before_bytes?), i128::from(event.after_bytes?));
        if event.kind == GcEventKind::ConcurrentStop {
            if let Some(in_use) = &mut self.in_use {
                *in_use -= before - after;
                self.freed += before - after;
            }
        } else if let Some(in_use) = self.in_use.replace(after) {
            self.freed += before - after;
            self.allocated += before - in_use;
        }
        Some(())
    }
}

/// The collections of a window after its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcWindow {
    /// End of the first collection in the window, on `CLOCK_MONOTONIC`: what is counted begins here.
    pub first_gc_end_ns: u64,
    /// End of the last collection in the window: what is counted ends here.
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
/// `None` when there are fewer than two, when one of them lacks its bytes or its time (a sum with a hole is
/// no sum), when times go backwards, or when the bytes contradict themselves (less than nothing freed or
/// allocated).
pub fn freed_between(events: &[GcEvent], from_ns: u64, to_ns: u64) -> Option<GcWindow> {
    let mut inside = Vec::new();
    for event in events {
        let end_ns = event.end_monotonic_ns?;
        if (from_ns..=to_ns).contains(&end_ns) {
            inside.push((end_ns, event));
        }
    }
    let is_collection = |(_, event): &(u64, &GcEvent)| event.kind != GcEventKind::ConcurrentStop;
    let first = inside.iter().position(is_collection)?;
    let last = inside.iter().rposition(is_collection)?;
    let counted = &inside[first..=last];
    if first == last || !counted.is_sorted_by_key(|(end_ns, _)| *end_ns) {
        return None;
    }
    let mut ledger = Ledger::default();
    let mut pause_ns_total = 0_u64;
    for (index, (_, event)) in counted.iter().enumerate() {
        ledger.enter(event)?;
        if index > 0 {
            pause_ns_total = pause_ns_total.checked_add(event.pause_ns)?;
        }
    }
    Some(GcWindow {
        first_gc_end_ns: inside[first].0,
        last_gc_end_ns: inside[last].0,
        collections: counted.iter().filter(|entry| is_collection(entry)).count() as u64 - 1,
        freed_bytes: ledger.freed.try_into().ok()?,
        allocated_bytes: ledger.allocated.try_into().ok()?,
        first_after_bytes: inside[first].1.after_bytes?,
        last_after_bytes: inside[last].1.after_bytes?,
        pause_ns_total,
    })
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
}

/// The pauses that overlap `from_ns .. to_ns`; `None` when an event lacks its time.
pub fn pauses_between(events: &[GcEvent], from_ns: u64, to_ns: u64) -> Option<PauseWindow> {
    let mut window = PauseWindow::default();
    for event in events {
        let end_ns = event.end_monotonic_ns?;
        let start_ns = end_ns.saturating_sub(event.pause_ns);
        let inside_ns = end_ns.min(to_ns).saturating_sub(start_ns.max(from_ns));
        if inside_ns > 0 {
            window.pauses += 1;
            window.stopped_ns += inside_ns;
            window.pause_ns_max = window.pause_ns_max.max(Some(event.pause_ns));
        }
    }
    Some(window)
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
