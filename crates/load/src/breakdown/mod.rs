//! What a load run keeps beside its totals: each operation's response times, failures, statuses and bytes; requests over time; the
//! slowest requests. All of it is counts, so that those of several generators add up exactly, in any order.

mod events;
mod intervals;
mod operation;
mod slowest;

pub(crate) use events::{After, EventsCame};
pub use intervals::Intervals;
pub use operation::OperationRecord;
pub(crate) use operation::error_counts;
pub use slowest::{Slow, Slowest};

use crate::error_kind::ErrorKind;
use crate::recorder::RequestTimes;
use serde::{Deserialize, Serialize};

/// Requests whose intended start lies in a run, by operation and over time. Recording one allocates nothing, but for the first answer of
/// each status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Breakdown {
    /// In the scenario's order. Requests that never became an operation are in none.
    pub operations: Vec<OperationRecord>,
    /// Over time.
    pub intervals: Intervals,
    /// Those with the longest response times.
    pub slowest: Slowest,
}

impl Breakdown {
    /// Of a run of so many operations in which nothing happened yet.
    pub fn new(operations: usize, length_ns: u64) -> Self {
        Breakdown {
            operations: (0..operations).map(|_| OperationRecord::empty()).collect(),
            intervals: Intervals::new(length_ns),
            slowest: Slowest::default(),
        }
    }

    /// A request of a run that begins at `start_ns` ended; `operation` is absent when it was never decided.
    pub fn ended(&mut self, operation: Option<usize>, start_ns: u64, times: &RequestTimes, is_right: bool) {
        let (after_ns, response_ns) = (times.intended_ns.saturating_sub(start_ns), times.response_ns());
        if let Some(of) = operation.and_then(|at| self.operations.get_mut(at)) {
            of.response.saturating_record(response_ns);
        }
        self.intervals.record(after_ns, response_ns, is_right);
        if self.slowest.would_keep(response_ns) {
            self.slowest.keep(Slow {
                response_ns,
                after_ns,
                service_ns: times.service_ns(),
                operation: operation.and_then(|at| u32::try_from(at).ok()),
                failed: !is_right,
            });
        }
    }

    /// An answer of an operation was whole; `error` says what is wrong with it.
    pub fn received(&mut self, operation: usize, status: u16, body_bytes: u64, error: Option<ErrorKind>) {
        self.operations[operation].received(status, body_bytes, error == Some(ErrorKind::Status));
    }

    /// Adds what another generator kept of the same run.
    pub fn add(&mut self, other: &Breakdown) {
        // Named one by one, so that what is added later cannot be forgotten here.
        let Breakdown { operations, intervals, slowest } = other;
        self.operations.iter_mut().zip(operations).for_each(|(sum, one)| sum.add(one));
        self.intervals.add(intervals);
        self.slowest.add(slowest);
    }

    /// Whether one generator can have kept this of a run of so many operations and requests. It comes from another process, which may be
    /// wrong.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn agree(&self, operations: usize, length_ns: u64, requests: u64) -> Result<(), &'static str> {
        if self.operations.len() != operations {
            return Err("figures of another number of operations");
        }
        if self.operations.iter().any(|of| !of.is_possible(requests)) {
            return Err("more requests of an operation than in all");
        }
        if !self.intervals.is_possible(length_ns, requests) {
            return Err("other intervals than those of the window");
        }
        self.slowest.is_possible(operations).then_some(()).ok_or("slowest requests of unknown operations")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    /// Intended start, response time, operation, whether it was right.
    type One = (u64, u64, Option<usize>, bool);

    fn of(requests: &[One]) -> Breakdown {
        let mut kept = Breakdown::new(2, 10 * S);
        for &(after_ns, response_ns, operation, is_right) in requests {
            let intended_ns = 7 + after_ns;
            let (sent_ns, done_ns) = (Some(intended_ns), intended_ns + response_ns);
            let times = RequestTimes { intended_ns, sendable_ns: intended_ns, sent_ns, done_ns };
            kept.ended(operation, 7, &times, is_right);
            if let Some(at) = operation {
                let (status, error) = if is_right { (200, None) } else { (503, Some(ErrorKind::Status)) };
                kept.received(at, status, 100, error);
            }
        }
        kept
    }

    fn requests() -> impl Strategy<Value = Vec<One>> {
        let one = (0..10 * S, 0..5 * S, prop::option::weighted(0.9, 0..2_usize), prop::bool::weighted(0.8));
        proptest::collection::vec(one, 0..200)
    }

    proptest! {
        #[test]
        fn what_is_divided_among_generators_adds_up_to_what_one_keeps(requests in requests(), at in 0..4_usize) {
            let mut sum = Breakdown::new(2, 10 * S);
            for number in 0..4 {
                let mine: Vec<One> = requests.iter().skip((number + at) % 4).step_by(4).copied().collect();
                sum.add(&of(&mine));
            }
            prop_assert_eq!(&sum, &of(&requests));
            prop_assert_eq!(sum.agree(2, 10 * S, requests.len() as u64), Ok(()));
            let text = serde_json::to_string(&sum).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<Breakdown>(&text).expect("the same"), sum);
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let kept = of(&[(0, S, Some(1), false), (S, 2 * S, None, false)]);
        assert_eq!(kept.agree(2, 10 * S, 2), Ok(()));
        assert!(kept.agree(3, 10 * S, 2).is_err() && kept.agree(2, 11 * S, 2).is_err());
        assert!(kept.agree(2, 10 * S, 1).is_err(), "fewer requests than in the intervals");
        let mut unknown = kept;
        unknown.slowest.keep(Slow {
            response_ns: S,
            after_ns: 0,
            service_ns: None,
            operation: Some(2),
            failed: true,
        });
        assert!(unknown.agree(2, 10 * S, 2).is_err());
    }
}
