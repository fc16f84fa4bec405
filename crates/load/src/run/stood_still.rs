//! Whether the generator of a closed loop ran all the time.
//!
//! While it stands still, as after SIGSTOP or without a processor, answers wait in their sockets and nobody sends. In an open loop what
//! should have been sent shows that, as send lag. In a closed one nobody should have: a user is ready when its answer is read. So the
//! rounds of the loop are watched instead: it never sleeps for long, and a round that takes longer than that and any work says that it
//! stood still.

/// Longest sleep of a loop that is watched: a hundred rounds a second cost nothing.
const SLEEP_NS_MAX: u64 = 10_000_000;
/// What a round may take beyond that.
const WORK_NS_MAX: u64 = 10_000_000;

/// How long the generator stood still between two instants.
pub(super) struct StoodStill {
    /// Absent where nobody watches.
    last_ns: Option<u64>,
    from_ns: u64,
    to_ns: u64,
    sum_ns: u64,
}

impl StoodStill {
    /// Nothing by now; counts what lies between these instants.
    pub fn new(is_watched: bool, now_ns: u64, (from_ns, to_ns): (u64, u64)) -> StoodStill {
        StoodStill { last_ns: is_watched.then_some(now_ns), from_ns, to_ns, sum_ns: 0 }
    }

    /// A round of the loop begins.
    pub fn round(&mut self, now_ns: u64) {
        let Some(last_ns) = &mut self.last_ns else { return };
        let awake_ns = std::mem::replace(last_ns, now_ns).saturating_add(SLEEP_NS_MAX);
        if awake_ns.saturating_add(WORK_NS_MAX) < now_ns {
            let (from_ns, to_ns) = (awake_ns.max(self.from_ns), now_ns.min(self.to_ns));
            self.sum_ns = self.sum_ns.saturating_add(to_ns.saturating_sub(from_ns));
        }
    }

    /// Until when the loop may sleep that would sleep until `until_ns`.
    pub fn until_ns(&self, until_ns: u64) -> u64 {
        self.last_ns.map_or(until_ns, |last_ns| until_ns.min(last_ns.saturating_add(SLEEP_NS_MAX)))
    }

    /// How long it stood still, at least.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_a_round_takes_beyond_sleep_and_work_is_counted_where_it_lies_in_the_run() {
        let sum_ms = |rounds_ms: &[u64]| {
            let mut still = StoodStill::new(true, 0, (100 * MS, 1_000 * MS));
            rounds_ms.iter().for_each(|ms| still.round(ms * MS));
            still.sum_ns() / MS
        };
        assert_eq!(sum_ms(&[10, 30, 50, 70]), 0, "each as long as a sleep and some work");
        assert_eq!(sum_ms(&[90, 150]), 50, "from the start on");
        assert_eq!(sum_ms(&[120, 320, 330]), 20 + 190);
        assert_eq!(sum_ms(&[90, 2_000]), 900, "to the end");
        let mut open = StoodStill::new(false, 0, (0, 1_000 * MS));
        open.round(500 * MS);
        assert_eq!((open.sum_ns(), open.until_ns(7_000 * MS)), (0, 7_000 * MS));
        assert_eq!(StoodStill::new(true, 0, (0, 1)).until_ns(7_000 * MS), SLEEP_NS_MAX);
    }
}
