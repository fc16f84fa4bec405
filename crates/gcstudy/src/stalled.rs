//! Time in which at least one thread waited for memory: waits that overlap count once.

use crate::timeline::Span;
use std::collections::VecDeque;

/// Intervals that a wait may still be joined with. Waits come in the order of their ends, so that only the last few can overlap.
const OPEN_MAX: usize = 256;

/// The waits so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Stalled {
    /// Intervals that do not touch, in order.
    open: VecDeque<(u64, u64)>,
    /// Length of those before.
    closed_ns: u128,
}

impl Stalled {
    /// Takes a wait.
    pub fn add(&mut self, at: Span) {
        let (mut start_ns, mut end_ns) = (at.start_ns, at.end_ns);
        while let Some((earlier_start_ns, earlier_end_ns)) = self.open.back().copied()
            && start_ns <= earlier_end_ns
        {
            self.open.pop_back();
            start_ns = start_ns.min(earlier_start_ns);
            end_ns = end_ns.max(earlier_end_ns);
        }
        self.open.push_back((start_ns, end_ns));
        if OPEN_MAX < self.open.len() {
            self.closed_ns += self.open.pop_front().map_or(0, length_ns);
        }
    }

    /// All of it, milliseconds; `None` where no thread waited at a known time.
    pub fn total_ms(&self) -> Option<f64> {
        let ns = self.closed_ns + self.open.iter().copied().map(length_ns).sum::<u128>();
        (!self.open.is_empty()).then_some(ns as f64 / 1e6)
    }
}

fn length_ns((start_ns, end_ns): (u64, u64)) -> u128 {
    u128::from(end_ns.saturating_sub(start_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_instant_at_which_two_threads_wait_counts_once(
            waits in prop::collection::vec((0u64..400, 0u64..60), 1..80)
        ) {
            let mut waits: Vec<(u64, u64)> = waits.into_iter().map(|(end, length)| (end.saturating_sub(length), end)).collect();
            waits.sort_by_key(|(_, end)| *end);
            let mut stalled = Stalled::default();
            waits.iter().for_each(|(start_ns, end_ns)| stalled.add(Span { start_ns: *start_ns, end_ns: *end_ns, resolution_ns: 1 }));
            let covered = (0..400).filter(|at| waits.iter().any(|(start, end)| (*start..*end).contains(at))).count();
            prop_assert_eq!(stalled.total_ms(), Some(covered as f64 / 1e6));
        }
    }

    #[test]
    fn without_a_wait_nothing_is_said() {
        assert_eq!(Stalled::default().total_ms(), None);
    }
}
