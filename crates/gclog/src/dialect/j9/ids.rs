//! Whether something is missing: J9 numbers what it writes, one after the other, from 1 in each JVM.

use crate::contract::{At, GcSink};
use assay_model::GcReconciliation;

/// Threads may write in another order than they took their numbers; an older number than this is of another JVM.
const LATE_MAX: u64 = 256;

/// Elements that J9 numbers, but for those of phases beside the application ([`is_numbered`]).
const NUMBERED: [&str; 23] = [
    "af-end",
    "af-start",
    "allocation-satisfied",
    "allocation-taxation",
    "allocation-unsatisfied",
    "cycle-continue",
    "cycle-end",
    "cycle-start",
    "exclusive-end",
    "exclusive-start",
    "gc-end",
    "gc-op",
    "gc-start",
    "heap-resize",
    "heartbeat",
    "initialized",
    "mem-info",
    "out-of-memory",
    "percolate-collect",
    "sys-end",
    "sys-start",
    "trigger-end",
    "trigger-start",
];

/// Whether the `id` of an element is its number in the log. That of another element may be a thread's, or anything else's.
pub(super) fn is_numbered(element: &str) -> bool {
    NUMBERED.contains(&element) || element.starts_with("concurrent-") || element.starts_with("synchgc-")
}

/// Numbers of one JVM.
#[derive(Debug, Default)]
pub(super) struct Ids {
    first: Option<u64>,
    last: u64,
    seen: u64,
    at: Option<At>,
}

impl Ids {
    /// Whether there was one.
    pub fn has_begun(&self) -> bool {
        self.first.is_some()
    }

    /// Whether the number can only be that of another JVM.
    pub fn is_of_another(&self, id: u64) -> bool {
        self.first.is_some() && id < self.last && (id == 1 || LATE_MAX < self.last - id)
    }

    /// Whether the number is the next one.
    pub fn is_next(&self, id: u64) -> bool {
        self.first.is_some() && self.last.checked_add(1) == Some(id)
    }

    /// Takes a number; a gap is reported at once.
    pub fn take(&mut self, id: u64, at: At, sink: &mut dyn GcSink) {
        self.seen += 1;
        self.at = Some(at);
        if self.first.is_none() {
            self.first = Some(id);
        } else if self.last.saturating_add(1) < id {
            let missing = id - self.last - 1;
            sink.problem(
                at.problem(format!(
                    "{missing} numbered elements are missing: after {} comes {id}",
                    self.last
                )),
            );
        }
        self.last = self.last.max(id);
    }

    /// Ends a JVM: what its numbers say, and what was read.
    pub fn finish(&mut self, what: &str, sink: &mut dyn GcSink) {
        if let (Some(first), Some(at)) = (self.first, self.at) {
            let said = (self.last - first).saturating_add(1);
            sink.reconciliation(GcReconciliation {
                what: what.to_owned(),
                logged: said as f64,
                read: self.seen as f64,
                rounding: 0.0,
                at: (at.source, at.line),
            });
        }
        *self = Ids::default();
    }
}
