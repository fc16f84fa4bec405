//! Whether something is missing: J9 numbers what it writes, one after the other, from 1 in each JVM.

use crate::contract::{At, GcSink};
use assay_model::GcReconciliation;

/// Threads may write in another order than they took their numbers; an older number than this is of another JVM.
const LATE_MAX: u64 = 256;

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
