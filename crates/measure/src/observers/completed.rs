//! Completion times of requests in a load run with its settling.

use assay_load::{CompletionTimeline, Measured};

/// Requests that a load run completed: 4 KB for each second of load.
pub(super) struct Completed {
    end_ns: u64,
    settling: CompletionTimeline,
    within: CompletionTimeline,
    /// Answered after the end of the run, while it was drained: a few milliseconds later.
    while_draining: u64,
}

impl Completed {
    pub(super) fn of(measured: &Measured) -> Completed {
        Completed {
            end_ns: measured.end_monotonic_ns,
            settling: measured.settling.clone(),
            within: measured.completions.clone(),
            while_draining: measured.drained,
        }
    }

    pub(super) fn between(&self, from_ns: u64, to_ns: u64) -> f64 {
        let drained = if (from_ns..to_ns).contains(&self.end_ns) { self.while_draining } else { 0 };
        let of = |timeline: &CompletionTimeline| timeline.completed_between(from_ns, to_ns);
        of(&self.settling) + of(&self.within) + drained as f64
    }
}
