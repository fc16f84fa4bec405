//! The slowest requests of a run, one by one.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Requests that are kept.
const SLOWEST_MAX: usize = 20;

/// One of the slowest requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// From the intended start.
    pub response_ns: u64,
    /// Its intended start, from the beginning of the run.
    pub after_ns: u64,
    /// From the send; absent when it was never sent.
    pub service_ns: Option<u64>,
    /// Position of its operation in the scenario; absent when it was never decided.
    pub operation: Option<u32>,
    /// It failed.
    pub failed: bool,
}

impl Slow {
    /// The slowest first, of these the earliest; the rest only so that the order never depends on who saw which.
    fn order(&self) -> impl Ord + use<> {
        (Reverse(self.response_ns), self.after_ns, self.operation, self.service_ns, self.failed)
    }
}

/// The slowest requests, the slowest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slowest(Vec<Slow>);

impl Slowest {
    /// Whether a request of this response time may be among the slowest.
    pub fn would_keep(&self, response_ns: u64) -> bool {
        self.0.len() < SLOWEST_MAX || self.0.last().is_some_and(|last| last.response_ns <= response_ns)
    }

    /// Keeps a request while it is among the slowest.
    pub fn keep(&mut self, one: Slow) {
        self.0.reserve_exact(SLOWEST_MAX + 1 - self.0.len().min(SLOWEST_MAX));
        let at = self.0.partition_point(|kept| kept.order() <= one.order());
        self.0.insert(at, one);
        self.0.truncate(SLOWEST_MAX);
    }

    pub(super) fn add(&mut self, other: &Slowest) {
        other.0.iter().for_each(|one| self.keep(*one));
    }

    pub(super) fn is_possible(&self, operations: usize) -> bool {
        let is_known = |one: &Slow| one.operation.is_none_or(|at| (at as usize) < operations);
        self.0.len() <= SLOWEST_MAX && self.0.iter().all(is_known)
    }

    /// The slowest first.
    pub fn iter(&self) -> impl Iterator<Item = &Slow> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_are_kept_and_of_equals_the_earliest() {
        let mut slowest = Slowest::default();
        for after_ns in 0..1_000 {
            let response_ns = 100 + after_ns % 50;
            if slowest.would_keep(response_ns) {
                slowest.keep(Slow {
                    response_ns,
                    after_ns,
                    service_ns: None,
                    operation: None,
                    failed: false,
                });
            }
        }
        let kept: Vec<u64> = slowest.iter().map(|one| one.after_ns).collect();
        let wanted: Vec<u64> = (0..20).map(|n| 49 + 50 * n).collect();
        assert_eq!(kept, wanted);
    }
}
