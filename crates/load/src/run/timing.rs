//! When a load begins, is recorded, ends and is drained.

use crate::law::Span;
use std::time::Duration;

/// How often progress is reported.
const PROGRESS_NS: u64 = 250_000_000;
/// How long a load that was stopped is drained.
const STOPPED_DRAIN_NS: u64 = 1_000_000_000;

/// The instants of a load on `CLOCK_MONOTONIC`; its end may move forward.
pub(super) struct Timing {
    begun_ns: u64,
    /// Recording begins.
    start_ns: u64,
    end_ns: u64,
    drain_end_ns: u64,
    next_progress_ns: u64,
    is_stopped: bool,
}

impl Timing {
    /// Draining takes up to the longest time limit of a request.
    pub fn new(span: Span, timeout_ns_max: u64) -> Timing {
        let Span { begun_ns, start_ns, end_ns } = span;
        Timing {
            begun_ns,
            start_ns,
            end_ns,
            drain_end_ns: end_ns.saturating_add(timeout_ns_max),
            next_progress_ns: begun_ns + PROGRESS_NS,
            is_stopped: false,
        }
    }

    pub fn begun_ns(&self) -> u64 {
        self.begun_ns
    }

    /// Whether a request with this intended start is recorded.
    pub fn is_recorded(&self, intended_ns: u64) -> bool {
        self.start_ns <= intended_ns
    }

    /// Whether an instant lies between the start of recording and the end.
    pub fn is_measured(&self, at_ns: u64) -> bool {
        (self.start_ns..self.end_ns).contains(&at_ns)
    }

    pub fn has_ended(&self, now_ns: u64) -> bool {
        self.end_ns <= now_ns
    }

    pub fn is_drained(&self, now_ns: u64) -> bool {
        self.drain_end_ns <= now_ns
    }

    /// Whether it was stopped before its planned end.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Time since the load began.
    pub fn elapsed(&self, now_ns: u64) -> Duration {
        Duration::from_nanos(now_ns.saturating_sub(self.begun_ns))
    }

    /// When the next of its instants comes.
    pub fn next_ns(&self, now_ns: u64) -> u64 {
        let end_ns = if self.has_ended(now_ns) { self.drain_end_ns } else { self.end_ns };
        end_ns.min(self.next_progress_ns)
    }

    /// Whether progress is due; the next report is due a period later.
    pub fn take_progress(&mut self, now_ns: u64) -> bool {
        let is_due = self.next_progress_ns <= now_ns;
        if is_due {
            self.next_progress_ns = now_ns + PROGRESS_NS;
        }
        is_due
    }

    /// Ends the load on request; returns the end. Absent where it was stopped before or is drained.
    pub fn stop(&mut self, now_ns: u64) -> Option<u64> {
        if self.is_stopped || self.is_drained(now_ns) {
            return None;
        }
        self.is_stopped = !self.has_ended(now_ns);
        self.end_ns = self.end_ns.min(now_ns);
        self.drain_end_ns = self.drain_end_ns.min(now_ns + STOPPED_DRAIN_NS);
        Some(self.end_ns)
    }

    /// Ends the load at the intended start of a request that cannot be sent, as if it had been planned so; returns the end, and the
    /// seconds that are recorded. Absent where it ends no later anyway.
    pub fn end_before(&mut self, intended_ns: u64, now_ns: u64) -> Option<(u64, f64)> {
        let end_ns = intended_ns.max(self.start_ns + 1);
        if self.end_ns <= end_ns {
            return None;
        }
        let drain_ns = self.drain_end_ns - self.end_ns;
        self.drain_end_ns = self.drain_end_ns.min(now_ns + drain_ns);
        self.end_ns = end_ns;
        Some((end_ns, (end_ns - self.start_ns) as f64 / 1e9))
    }
}
