//! How far the clock of another host is from ours.

/// Where the clock of an injector stands when the controller's stands at 0, as estimated from round trips.
///
/// A request leaves at `t0` and its answer is here at `t1` by our clock, and the other clock was read in between. It
/// then stood at the reading at some instant of `[t0, t1]`, and no assumption about the two ways is needed: the offset is
/// `reading - (t0 + t1) / 2`, off by half of the round trip at most (Cristian, Probabilistic clock synchronization,
/// 1989). The fastest of several trips is the most exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// Their clock less ours, nanoseconds.
    pub offset_ns: i64,
    /// The true offset is at most this far from it, nanoseconds.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// From one round trip.
    pub fn from_trip(left_ns: u64, reading_ns: u64, back_ns: u64) -> ClockOffset {
        let trip_ns = back_ns.saturating_sub(left_ns);
        let middle_ns = left_ns.saturating_add(trip_ns / 2);
        ClockOffset {
            offset_ns: (i128::from(reading_ns) - i128::from(middle_ns))
                .clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64,
            // A trip of an odd number of nanoseconds has its middle between two.
            uncertainty_ns: trip_ns.div_ceil(2),
        }
    }

    /// The more exact one.
    #[must_use]
    pub fn or_better(self, other: ClockOffset) -> ClockOffset {
        if other.uncertainty_ns < self.uncertainty_ns { other } else { self }
    }

    /// The offset over a period, from those at its ends: the clocks drift apart, and the offset lies between the two.
    #[must_use]
    pub fn over(self, later: ClockOffset) -> ClockOffset {
        let ends = |one: ClockOffset| {
            let (middle, half) = (i128::from(one.offset_ns), i128::from(one.uncertainty_ns));
            (middle - half, middle + half)
        };
        let ((low, high), (later_low, later_high)) = (ends(self), ends(later));
        let (low, high) = (low.min(later_low), high.max(later_high));
        let middle = (low + high).div_euclid(2);
        ClockOffset {
            offset_ns: middle.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64,
            uncertainty_ns: u64::try_from(high - middle).unwrap_or(u64::MAX),
        }
    }

    /// An instant of our clock, by theirs.
    pub fn theirs(self, ours_ns: u64) -> u64 {
        ours_ns.saturating_add_signed(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The oracle knows the true offset; the two ways of a trip take any time each.
        #[test]
        fn the_true_offset_is_within_the_uncertainty(
            offset in -1_000_000_000_000_i64..1_000_000_000_000,
            left in 2_000_000_000_000_u64..3_000_000_000_000,
            there in 0..50_000_000_u64,
            back in 0..50_000_000_u64,
        ) {
            let reading = (left + there).checked_add_signed(offset).expect("in range");
            let found = ClockOffset::from_trip(left, reading, left + there + back);
            prop_assert!(found.offset_ns.abs_diff(offset) <= found.uncertainty_ns, "{found:?}");
            prop_assert_eq!(found.uncertainty_ns, (there + back).div_ceil(2));
        }

        #[test]
        fn over_a_stretch_all_offsets_between_the_ends_are_within_the_uncertainty(
            first in -1_000_i64..1_000, first_half in 0..100_u64,
            last in -1_000_i64..1_000, last_half in 0..100_u64,
        ) {
            let a = ClockOffset { offset_ns: first, uncertainty_ns: first_half };
            let b = ClockOffset { offset_ns: last, uncertainty_ns: last_half };
            let over = a.over(b);
            for end in [first - first_half as i64, first + first_half as i64, last - last_half as i64, last + last_half as i64] {
                prop_assert!(over.offset_ns.abs_diff(end) <= over.uncertainty_ns, "{over:?} {end}");
            }
        }

        #[test]
        fn no_reading_is_too_strange(left: u64, reading: u64, back: u64) {
            let one = ClockOffset::from_trip(left, reading, back);
            one.over(ClockOffset::from_trip(back, left, reading)).theirs(reading);
        }
    }

    #[test]
    fn the_fastest_trip_counts() {
        let slow = ClockOffset::from_trip(0, 900, 1_000);
        let fast = ClockOffset::from_trip(2_000, 2_405, 2_010);
        assert_eq!(fast, ClockOffset { offset_ns: 400, uncertainty_ns: 5 });
        assert_eq!(slow.or_better(fast), fast);
        assert_eq!(fast.or_better(slow), fast);
        assert_eq!(fast.theirs(10), 410);
    }
}
