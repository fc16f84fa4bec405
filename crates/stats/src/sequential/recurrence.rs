//! Whether a difference comes back in pairs that were measured for this question alone.

use super::{ERROR, interval};
use assay_model::Estimate;

/// Where an interval lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// All of it is below the limit.
    Below,
    /// All of it is above.
    Above,
}

/// The side of the limit on which all of an interval lies; none where it contains the limit, or has no ends.
pub fn side_of(ratio: &Estimate, limit: f64) -> Option<Side> {
    match ratio.ends() {
        Some((low, _)) if limit < low => Some(Side::Above),
        Some((_, high)) if high < limit => Some(Side::Below),
        _ => None,
    }
}

/// The side of the limit on which two sets of pairs lie, each alone; none where one of them does not exclude it, or they disagree.
/// `first` and `second` are logarithms of the pairs' ratios in order, and share no pair; `limit` is a ratio.
///
/// A comparison of equal sides that shows a difference by chance does so once in twenty; that another one shows it as well, on the same
/// side, happens once in eight hundred.
pub fn recurs(first: &[f64], second: &[f64], limit: f64) -> Option<Side> {
    let side = |logs| side_of(&interval(logs, ERROR)?, limit);
    side(first).filter(|found| side(second) == Some(*found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_both_sets_show_on_the_same_side_recurs() {
        let higher = [0.10, 0.11, 0.09, 0.10, 0.11];
        let lower = higher.map(|log| -log);
        let equal = [0.02, -0.01, 0.01, -0.02, 0.0];
        assert_eq!(recurs(&higher, &higher, 1.03), Some(Side::Above));
        assert_eq!(recurs(&lower, &lower, 1.0), Some(Side::Below));
        assert_eq!(recurs(&higher, &lower, 1.0), None);
        assert_eq!(recurs(&higher, &equal, 1.0), None);
        assert_eq!(recurs(&higher, &higher[..2], 1.0), None, "too few to say");
        assert_eq!(recurs(&higher, &higher, 1.1), None, "the limit is in the interval");
    }
}
