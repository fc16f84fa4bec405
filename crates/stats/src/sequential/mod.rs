//! Comparisons that are looked at while pairs are added: intervals that hold at every number of pairs at once, the difference that a
//! number of pairs can show, and recurrence.
//!
//! **The method** is a group-sequential test with an error that is spent look by look (K. K. G. Lan, D. L. DeMets, Discrete sequential
//! boundaries for clinical trials, Biometrika 70, 1983), with Student's quantiles at the levels of the normal distribution (S. J. Pocock,
//! Biometrika 64, 1977; C. Jennison, B. W. Turnbull, Group Sequential Methods, 2000, chapter 4). It assumes pairs that are independent,
//! with a mean logarithm of the ratio that stays the same.
//!
//! **Why this one.** Pairs are few and dear, so the width at 3 to 40 pairs decides. As a multiple of Student's interval of a number of pairs
//! that was fixed beforehand:
//!
//! | pairs | 3 | 4 | 5 | 6 | 8 | 12 | 20 | 40 |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | this one | 2.69 | 1.90 | 1.69 | 1.61 | 1.55 | 1.54 | 1.60 | 1.73 |
//! | confidence sequence of the t-mixture (Wang and Ramdas, 2024), variance 10 | 3.07 | 2.05 | 1.95 | 1.91 | 1.87 | 1.84 | 1.82 | 1.83 |
//! | the same, variance 1 | none | none | 3.04 | 2.12 | 1.80 | 1.67 | 1.64 | 1.64 |
//! | 5 % in equal parts for 38 looks | 6.40 | 3.70 | 2.89 | 2.52 | 2.18 | 1.94 | 1.80 | 1.71 |
//!
//! The t-mixture needs no error to be spent by a plan, and pays for looks that are never taken: within 40 pairs it uses half of its error.
//!
//! **Measured** (`tests/sequential.rs`): who looks after each of 40 pairs of equal sides, and stops at the first interval without 1, does so
//! in 4.8 % of comparisons with normal noise, in 5.2 % where processes start into two levels, in 3.6 % with heavy tails (Student's t, 3
//! degrees of freedom), and in 4.5 to 5.1 % with heavy tails, two levels and drift together. That fresh pairs show it again, on the same
//! side, happens in 0.04 to 0.16 %.

mod looks;
mod recurrence;
mod student;

pub use looks::Looks;
pub use recurrence::{Side, recurs, side_of};

use crate::interval::{StatsError, TAIL};
use crate::paired::{PairedComparison, log_ratios};
use crate::quantile::mean;
use assay_model::Estimate;
use looks::{Look, looks};

/// The error of an interval of 95 %.
pub const ERROR: f64 = 2.0 * TAIL;

/// More pairs than anybody measures.
pub const PAIRS_MAX: usize = 10_000;

/// The ratio of the pairs whose logarithms are given, in the order in which they were measured, with an interval that holds at every number
/// of pairs at once with the error, 0 to 1: whoever looks after each pair, and stops when it suits, keeps the error. None with fewer than 3
/// pairs, or where a logarithm is not finite.
pub fn interval(log_ratios: &[f64], error: f64) -> Option<Estimate> {
    Looks::up_to(log_ratios.len(), error).interval(log_ratios)
}

impl Looks {
    /// The same for many comparisons, with no more pairs than there are looks for.
    pub fn interval(&self, log_ratios: &[f64]) -> Option<Estimate> {
        let Estimate { estimate, low, high } = self.mean(log_ratios)?;
        Some(Estimate { estimate: estimate.exp(), low: low.map(f64::exp), high: high.map(f64::exp) })
    }

    /// The mean of values of any kind, in the order in which they were measured, with such an interval.
    pub fn mean(&self, values: &[f64]) -> Option<Estimate> {
        let look = self.last_at(values.len())?;
        let counted = &values[..look.pairs];
        let estimate = mean(counted).filter(|middle| middle.is_finite())?;
        let half = look.half_width(deviation(counted)?);
        Some(Estimate { estimate, low: Some(estimate - half), high: Some(estimate + half) })
    }

    /// Compares `(variant, baseline)` of each block, with such an interval.
    ///
    /// # Errors
    /// No pairs, or a value that is not positive and finite.
    pub fn compare(&self, pairs: &[(f64, f64)]) -> Result<PairedComparison, StatsError> {
        let logs = log_ratios(pairs)?;
        let alone = |middle: f64| Estimate { estimate: middle.exp(), low: None, high: None };
        let ratio = self.interval(&logs).or_else(|| mean(&logs).map(alone)).ok_or(StatsError::NoBlocks)?;
        Ok(PairedComparison::of(ratio, pairs.len()))
    }

    /// As [`smallest_difference`].
    pub fn smallest_difference(&self, deviation_of_log: f64, pairs: usize) -> f64 {
        self.last_at(pairs).map_or(f64::INFINITY, |last| (last.shown() * deviation_of_log).exp())
    }
}

impl Look {
    /// Half the width of the interval of the mean of values of that standard deviation.
    fn half_width(&self, deviation: f64) -> f64 {
        self.quantile * deviation / (self.pairs as f64).sqrt()
    }

    /// The mean that most comparisons show up to this look, for a standard deviation of 1.
    fn shown(&self) -> f64 {
        // The distribution of Student's t around another mean, by its usual normal approximation.
        let degrees = (self.pairs - 1) as f64;
        let spread = (1.0 + self.quantile.powi(2) / (2.0 * degrees)).sqrt();
        let middle = self.quantile * (1.0 - 1.0 / (4.0 * degrees));
        (middle + score_at_last(self.pairs) * spread) / (self.pairs as f64).sqrt()
    }
}

/// The normal score of the share of comparisons that the last look alone must show, so that 80 % are shown by any look: fitted to virtual
/// comparisons of 4 to 40 pairs.
fn score_at_last(pairs: usize) -> f64 {
    (0.92 - 0.115 * (pairs as f64).ln()).max(0.3)
}

/// Standard deviation of logarithms of ratios; none with fewer than 2.
pub fn deviation(log_ratios: &[f64]) -> Option<f64> {
    let middle = mean(log_ratios).filter(|_| 1 < log_ratios.len())?;
    let squares: f64 = log_ratios.iter().map(|log| (log - middle).powi(2)).sum();
    Some((squares / (log_ratios.len() - 1) as f64).sqrt())
}

/// The ratio, 1 or more, that 80 % of comparisons with so many pairs show, if they look after each and the logarithms of the pairs' ratios
/// have this standard deviation. Infinite with fewer than 3 pairs.
pub fn smallest_difference(deviation_of_log: f64, pairs: usize) -> f64 {
    Looks::up_to(pairs, ERROR).smallest_difference(deviation_of_log, pairs)
}

/// The fewest pairs with which 80 % of comparisons show such a ratio to the limit that they are held against; 1.05 and 1 / 1.05 are alike.
/// None where [`PAIRS_MAX`] would not do.
pub fn pairs_needed(deviation_of_log: f64, difference: f64) -> Option<usize> {
    let wanted = difference.ln().abs();
    let mut looks = looks(ERROR).take_while(|look| look.pairs <= PAIRS_MAX);
    looks.find(|look| 0.0 < wanted && look.shown() * deviation_of_log <= wanted).map(|look| look.pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Verdict;

    #[test]
    fn the_interval_is_wider_than_student_s_and_swaps_with_the_sides() {
        let logs = [0.11, 0.09, 0.12, 0.08, 0.10, 0.13];
        let found = interval(&logs, 0.05).expect("six pairs");
        let (low, high) = found.ends().expect("an interval");
        // Student's is 0.105 -+ 2.5706 x 0.01871 / sqrt 6.
        let half = (high / low).ln() / 2.0;
        assert!((1.4..1.8).contains(&(half / 0.019_63)), "{half}");
        let swapped = interval(&logs.map(|log| -log), 0.05).expect("six pairs");
        assert!((swapped.estimate * found.estimate - 1.0).abs() < 1e-12);
        assert!((swapped.low.expect("an end") * high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_pairs_or_a_ratio_of_nothing_have_no_interval() {
        assert_eq!(interval(&[0.1, 0.1], 0.05), None);
        assert_eq!(interval(&[0.1, f64::NEG_INFINITY, 0.1], 0.05), None);
        assert_eq!(interval(&[0.1, f64::NAN, 0.1], 0.05), None);
        let same = interval(&[0.0; 3], 0.05).expect("three pairs");
        assert_eq!(same.ends(), Some((1.0, 1.0)));
    }

    #[test]
    fn pairs_are_compared_from_the_first_on_and_by_an_interval_from_the_third_on() {
        let looks = Looks::up_to(4, ERROR);
        let pairs = [(1.10, 1.0), (11.1, 10.0), (1.09, 1.0), (2.2, 2.0)];
        let two = looks.compare(&pairs[..2]).expect("two pairs");
        assert_eq!((two.verdict, two.ratio.low, two.blocks), (Verdict::TooFewBlocks, None, 2));
        assert_eq!(looks.compare(&pairs).expect("four pairs").verdict, Verdict::Higher);
        assert!(looks.compare(&[(1.0, 0.0)]).is_err() && looks.compare(&[]).is_err());
    }

    #[test]
    fn the_pairs_needed_are_those_with_which_the_difference_is_the_smallest() {
        for difference in [1.02, 1.05, 1.3, 1.0 / 1.05] {
            let pairs = pairs_needed(0.05, difference).expect("fewer than 10,000");
            let wanted = f64::max(difference, 1.0 / difference);
            assert!(smallest_difference(0.05, pairs) <= wanted, "{difference}: {pairs}");
            assert!(pairs == 3 || wanted < smallest_difference(0.05, pairs - 1), "{difference}: {pairs}");
        }
        assert_eq!(pairs_needed(0.05, 1.0), None);
        assert_eq!(pairs_needed(0.5, 1.0001), None);
        assert_eq!(pairs_needed(0.0, 1.0001), Some(3));
        assert_eq!(smallest_difference(0.05, 2), f64::INFINITY);
    }
}
