//! Equal intervals of time, bounded in number: when there are too many, two become one and all are twice as long.

/// Their length at first, nanoseconds.
const FIRST_NS: u64 = 100_000_000;

/// Adds the content of another interval.
pub(super) trait Merge: Default + Clone {
    /// Takes what came after this one.
    fn merge(&mut self, later: &Self);
}

/// The content of each interval, at most `MAX` (an even number) of them.
#[derive(Debug, Clone)]
pub(super) struct Intervals<T, const MAX: usize> {
    length_ns: u64,
    items: Vec<T>,
}

impl<T, const MAX: usize> Default for Intervals<T, MAX> {
    fn default() -> Self {
        Intervals { length_ns: FIRST_NS, items: Vec::new() }
    }
}

impl<T: Merge, const MAX: usize> Intervals<T, MAX> {
    /// The interval that an instant lies in.
    pub fn at(&mut self, at_ns: u64) -> &mut T {
        while MAX as u64 <= at_ns / self.length_ns {
            self.double();
        }
        let index = (at_ns / self.length_ns) as usize;
        if self.items.len() <= index {
            self.items.resize(index + 1, T::default());
        }
        &mut self.items[index]
    }

    fn double(&mut self) {
        self.items = merged(&self.items, 2);
        self.length_ns = self.length_ns.saturating_mul(2);
    }

    /// Length of each, nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.length_ns
    }

    /// All from the beginning, empty ones too.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// In intervals of this length, which is a multiple of theirs.
    pub fn of_length(&self, length_ns: u64) -> Vec<T> {
        let group = usize::try_from(length_ns / self.length_ns).unwrap_or(usize::MAX);
        merged(&self.items, group.max(1))
    }
}

fn merged<T: Merge>(items: &[T], group: usize) -> Vec<T> {
    let join = |group: &[T]| {
        let mut joined = T::default();
        group.iter().for_each(|item| joined.merge(item));
        joined
    };
    items.chunks(group).map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Merge for u64 {
        fn merge(&mut self, later: &Self) {
            *self += later;
        }
    }

    proptest! {
        #[test]
        fn they_hold_what_a_count_over_all_instants_gives(instants in prop::collection::vec(0u64..1_000_000, 1..200)) {
            let mut intervals: Intervals<u64, 8> = Intervals { length_ns: 7, items: Vec::new() };
            instants.iter().for_each(|at| *intervals.at(*at) += 1);
            prop_assert!(intervals.items().len() <= 8);
            for (index, count) in intervals.items().iter().enumerate() {
                let of = |at: &&u64| **at / intervals.length_ns() == index as u64;
                prop_assert_eq!(*count, instants.iter().filter(of).count() as u64);
            }
        }
    }

    #[test]
    fn an_instant_at_the_end_of_time_is_no_reason_to_fail() {
        let mut intervals: Intervals<u64, 256> = Intervals { length_ns: 100, items: Vec::new() };
        *intervals.at(3) += 1;
        *intervals.at(u64::MAX) += 1;
        assert_eq!(intervals.items().iter().sum::<u64>(), 2);
        assert!(intervals.items().len() <= 256);
    }
}
