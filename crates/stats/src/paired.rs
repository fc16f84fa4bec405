//! Comparison of a variant with its baseline, paired by block.

use crate::interval::{Statistic, StatsError, estimate};
use assay_model::{Estimate, Verdict};

/// How a variant compares with its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedComparison {
    /// Geometric mean over the blocks of variant / baseline, with its 95 % interval.
    pub ratio: Estimate,
    /// Blocks compared.
    pub blocks: u32,
    /// The verdict of the interval: a difference is shown where it excludes 1.
    pub verdict: Verdict,
}

/// Compares `(variant, baseline)` of each block.
///
/// What the machine does to a whole block (clock speed, neighbours, time of day) hits both sides and cancels
/// in the ratio; what is left is noise within the block. Ratios are judged on the logarithmic scale, so that
/// swapping the two sides gives the reciprocal, and a doubling weighs as much as a halving. The interval is
/// Student's for 3 to 11 blocks and the expanded percentile bootstrap from 12 on (`interval.rs` says why).
///
/// Measured by `tests/coverage.rs` over 2,500 virtual studies for each cell, while the machine's speed walks
/// by 10 % from block to block. Share of the 95 % intervals that contain the true ratio, in % (luck of the
/// draw: 0.4):
///
/// | noise of a trial | 4 blocks | 6 | 8 | 12 |
/// | --- | --- | --- | --- | --- |
/// | normal, 5 % | 94.8 | 94.9 | 95.0 | 95.1 |
/// | log-normal, 5 % and 30 % | 94.9 | 95.0 | 94.9 | 95.0 |
/// | heavy-tailed (Student's t, 3 degrees of freedom), 5 % | 95.7 | 95.7 | 95.4 | 94.4 |
///
/// Two equal variants (A/A, 2 % noise) show a difference in 5.0 / 4.3 / 5.2 / 5.2 / 4.6 % of the studies with
/// 3 / 4 / 6 / 8 / 12 blocks. Where the speed also drifts from trial to trial within the blocks, in 0.1 to
/// 3.0 %: that drift hits both variants in turn and widens the interval. A true difference of 5 % at 2 %
/// noise is shown by 8 blocks in 98 % of the studies (93 % with drift within the blocks).
///
/// One comparison in twenty of equal variants shows a difference by design: who makes many has to expect
/// some.
///
/// # Errors
/// No pairs, or a value that is not positive and finite (a ratio needs both).
pub fn compare_paired(pairs: &[(f64, f64)], seed: u64) -> Result<PairedComparison, StatsError> {
    check(pairs)?;
    let ratios: Vec<f64> = pairs.iter().map(|(variant, baseline)| variant / baseline).collect();
    let ratio = estimate(&ratios, Statistic::GeometricMean, seed)?;
    Ok(PairedComparison::of(ratio, pairs.len()))
}

/// The logarithms of variant / baseline of each block.
///
/// # Errors
/// A value that is not positive and finite.
pub fn log_ratios(pairs: &[(f64, f64)]) -> Result<Vec<f64>, StatsError> {
    check(pairs)?;
    Ok(pairs.iter().map(|(variant, baseline)| (variant / baseline).ln()).collect())
}

fn check(pairs: &[(f64, f64)]) -> Result<(), StatsError> {
    for (index, (variant, baseline)) in pairs.iter().enumerate() {
        for value in [*variant, *baseline] {
            if !(value.is_finite() && value > 0.0) {
                return Err(StatsError::BadValue { block: index + 1, value, must_be: "positive and finite" });
            }
        }
    }
    Ok(())
}

impl PairedComparison {
    pub(crate) fn of(ratio: Estimate, blocks: usize) -> PairedComparison {
        let verdict = verdict_of(&ratio);
        PairedComparison { ratio, blocks: blocks.try_into().unwrap_or(u32::MAX), verdict }
    }
}

fn verdict_of(ratio: &Estimate) -> Verdict {
    match (ratio.low, ratio.high) {
        (Some(low), _) if low > 1.0 => Verdict::Higher,
        (_, Some(high)) if high < 1.0 => Verdict::Lower,
        (Some(_), Some(_)) => Verdict::NoDifferenceShown,
        _ => Verdict::TooFewBlocks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_clear_difference_is_shown_with_its_direction() {
        let slower = [(1.52, 1.0), (1.49, 1.0), (1.51, 1.0), (1.50, 1.0)];
        let got = compare_paired(&slower, 1).unwrap();
        assert_eq!((got.verdict, got.blocks), (Verdict::Higher, 4));
        let faster = slower.map(|(variant, baseline)| (baseline, variant));
        assert_eq!(compare_paired(&faster, 1).unwrap().verdict, Verdict::Lower);
    }

    #[test]
    fn a_difference_inside_the_noise_is_called_none() {
        let got = compare_paired(&[(1.1, 1.0), (0.9, 1.0), (1.05, 1.0), (0.97, 1.0)], 1).unwrap();
        assert_eq!(got.verdict, Verdict::NoDifferenceShown);
    }

    #[test]
    fn drift_that_hits_both_sides_of_a_block_alike_leaves_no_trace() {
        let drifting = [(2.0, 1.0), (20.0, 10.0), (0.02, 0.01)];
        let got = compare_paired(&drifting, 1).unwrap();
        assert!((got.ratio.low.unwrap() - 2.0).abs() < 1e-9 && (got.ratio.high.unwrap() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn two_blocks_are_too_few_however_large_the_difference() {
        let got = compare_paired(&[(9.0, 1.0), (9.1, 1.0)], 1).unwrap();
        assert_eq!(got.verdict, Verdict::TooFewBlocks);
        assert_eq!((got.ratio.low, got.ratio.high), (None, None));
    }

    #[test]
    fn a_zero_is_refused_because_it_has_no_ratio() {
        assert!(compare_paired(&[(1.0, 1.0), (1.0, 0.0)], 1).is_err());
        assert_eq!(compare_paired(&[], 1), Err(StatsError::NoBlocks));
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_estimate(
            pairs in prop::collection::vec((1e-6f64..1e6, 1e-6f64..1e6), 3..20), seed: u64,
        ) {
            let ratio = compare_paired(&pairs, seed).unwrap().ratio;
            prop_assert!(ratio.low.unwrap() <= ratio.estimate * (1.0 + 1e-12));
            prop_assert!(ratio.high.unwrap() >= ratio.estimate * (1.0 - 1e-12));
        }
    }
}
