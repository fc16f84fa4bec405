//! Comparison of two series of blocks that were not measured side by side.

use crate::interval::{BLOCKS_FOR_INTERVAL, StatsError, student_quantile};
use crate::paired::PairedComparison;
use assay_model::Estimate;

/// Compares the blocks of one run with those of another: geometric means, and Welch's interval of the difference of their logarithms
/// (B. L. Welch, The generalization of Student's problem when several different population variances are involved, Biometrika 34, 1947;
/// degrees of freedom rounded down).
///
/// What the machine did to one run and not to the other does not cancel, as it does in [`crate::compare_paired`]: the interval knows only
/// what varied within the runs.
///
/// # Errors
/// A run without blocks, or a value that is not positive and finite.
pub fn compare_unpaired(after: &[f64], before: &[f64]) -> Result<PairedComparison, StatsError> {
    let (after_log, before_log) = (Logs::of(after)?, Logs::of(before)?);
    let difference = after_log.mean - before_log.mean;
    let blocks = after.len().min(before.len());
    let half = (BLOCKS_FOR_INTERVAL <= blocks).then(|| half_width(&after_log, &before_log));
    let ratio = Estimate {
        estimate: difference.exp(),
        low: half.map(|half| (difference - half).exp()),
        high: half.map(|half| (difference + half).exp()),
    };
    Ok(PairedComparison::of(ratio, blocks))
}

struct Logs {
    mean: f64,
    /// Of the mean.
    variance: f64,
    degrees: f64,
}

impl Logs {
    fn of(values: &[f64]) -> Result<Logs, StatsError> {
        if values.is_empty() {
            return Err(StatsError::NoBlocks);
        }
        if let Some(at) = values.iter().position(|value| !(value.is_finite() && 0.0 < *value)) {
            return Err(StatsError::BadValue {
                block: at + 1,
                value: values[at],
                must_be: "positive and finite",
            });
        }
        let n = values.len() as f64;
        let mean = values.iter().map(|value| value.ln()).sum::<f64>() / n;
        let sum: f64 = values.iter().map(|value| (value.ln() - mean).powi(2)).sum();
        Ok(Logs { mean, variance: sum / (n - 1.0).max(1.0) / n, degrees: n - 1.0 })
    }
}

fn half_width(one: &Logs, other: &Logs) -> f64 {
    let variance = one.variance + other.variance;
    let degrees =
        variance.powi(2) / (one.variance.powi(2) / one.degrees + other.variance.powi(2) / other.degrees);
    // Two runs without any scatter have no degrees of freedom by the formula, and an interval without width.
    let degrees = if degrees.is_finite() { degrees.max(1.0) as usize } else { 1 };
    student_quantile(degrees) * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Verdict;
    use proptest::prelude::*;

    /// Worked out apart: variances of the means 0.00308 and 0.00116, 4.65 degrees of freedom, Student's t of 4 is 2.7764.
    #[test]
    fn the_interval_is_welch_s() {
        let found = compare_unpaired(&[10.0, 11.0, 12.0, 13.0], &[8.0, 8.5, 9.0]).expect("blocks");
        let (low, high) = found.ratio.ends().expect("an interval");
        let is = |found: f64, known: f64| (found - known).abs() < 1e-4;
        assert!(is(found.ratio.estimate, 1.34807) && is(low, 1.12262) && is(high, 1.61880), "{found:?}");
        assert_eq!(found.verdict, Verdict::Higher);
    }

    #[test]
    fn what_cannot_be_told() {
        assert_eq!(compare_unpaired(&[], &[1.0]), Err(StatsError::NoBlocks));
        assert!(compare_unpaired(&[1.0, 0.0], &[1.0]).is_err());
        let two = compare_unpaired(&[9.0, 9.1], &[1.0, 1.0, 1.0]).expect("blocks");
        assert_eq!((two.verdict, two.ratio.low, two.blocks), (Verdict::TooFewBlocks, None, 2));
        let same = compare_unpaired(&[1.0; 4], &[1.0; 4]).expect("blocks");
        assert_eq!((same.ratio.low, same.verdict), (Some(1.0), Verdict::NoDifferenceShown));
    }

    proptest! {
        #[test]
        fn swapping_the_runs_gives_the_reciprocal(
            after in prop::collection::vec(1e-3f64..1e3, 3..12), before in prop::collection::vec(1e-3f64..1e3, 3..12),
        ) {
            let one = compare_unpaired(&after, &before).expect("blocks").ratio;
            let other = compare_unpaired(&before, &after).expect("blocks").ratio;
            prop_assert!((one.estimate * other.estimate - 1.0).abs() < 1e-9);
            prop_assert!((one.low.expect("an end") * other.high.expect("an end") - 1.0).abs() < 1e-9);
        }
    }
}
