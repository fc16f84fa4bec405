//! A quotient of sums over windows: garbage per request, CPU time per request.

use crate::interval::{BLOCKS_FOR_BOOTSTRAP, BLOCKS_FOR_INTERVAL, StatsError, bootstrap, student_half_width};
use assay_model::Estimate;

/// Σ numerators / Σ denominators over the blocks, with its 95 % interval; one `(numerator, denominator)` a
/// block, for example bytes freed and requests completed.
///
/// Pooling weighs each block by its denominator, so that a short window counts for less; the mean of the
/// blocks' own quotients would not. Whole blocks are resampled, since numerator and denominator of a block go
/// together. From 12 blocks on the interval is the expanded percentile bootstrap; for 3 to 11 it is Student's
/// on the quotient's linearised residuals (numerator - quotient x denominator) / mean denominator (Cochran,
/// "Sampling Techniques", 1977, §6.3).
///
/// # Errors
/// No blocks; a numerator that is not finite or is negative; a denominator that is not positive and finite.
pub fn estimate_ratio(blocks: &[(f64, f64)], seed: u64) -> Result<Estimate, StatsError> {
    for (index, (numerator, denominator)) in blocks.iter().enumerate() {
        let block = index + 1;
        if !(numerator.is_finite() && *numerator >= 0.0) {
            return Err(StatsError::BadValue {
                block,
                value: *numerator,
                must_be: "zero or positive, and finite",
            });
        }
        if !(denominator.is_finite() && *denominator > 0.0) {
            return Err(StatsError::BadValue { block, value: *denominator, must_be: "positive and finite" });
        }
    }
    if blocks.is_empty() {
        return Err(StatsError::NoBlocks);
    }
    let quotient = |of: &mut dyn Iterator<Item = &(f64, f64)>| {
        let (numerators, denominators) = of.fold((0.0, 0.0), |sum, block| (sum.0 + block.0, sum.1 + block.1));
        numerators / denominators
    };
    let n = blocks.len();
    let estimate = quotient(&mut blocks.iter());
    let (low, high) = if n < BLOCKS_FOR_INTERVAL {
        (None, None)
    } else if n < BLOCKS_FOR_BOOTSTRAP {
        let denominator_mean = blocks.iter().map(|b| b.1).sum::<f64>() / n as f64;
        let residuals: Vec<f64> = blocks.iter().map(|b| (b.0 - estimate * b.1) / denominator_mean).collect();
        let half = student_half_width(&residuals, 0.0);
        (Some(estimate - half), Some(estimate + half))
    } else {
        bootstrap(n, seed, |drawn| quotient(&mut drawn.iter().map(|b| &blocks[*b])))
    };
    Ok(Estimate { estimate, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_window_counts_for_less() {
        let got = estimate_ratio(&[(100.0, 10.0), (2.0, 1.0)], 1).unwrap();
        assert!((got.estimate - 102.0 / 11.0).abs() < 1e-12);
        assert_eq!(got.low, None);
    }

    #[test]
    fn windows_of_the_same_quotient_leave_no_uncertainty() {
        for n in [3_u32, 11, 12, 20] {
            let blocks: Vec<_> = (1..=n).map(|i| (f64::from(i) * 156.0, f64::from(i))).collect();
            let got = estimate_ratio(&blocks, 1).unwrap();
            assert!((got.low.unwrap() - 156.0).abs() < 1e-9 && (got.high.unwrap() - 156.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_window_without_requests_is_refused() {
        assert!(estimate_ratio(&[(1.0, 0.0)], 1).is_err());
        assert!(estimate_ratio(&[(f64::INFINITY, 1.0)], 1).is_err());
        assert_eq!(estimate_ratio(&[], 1), Err(StatsError::NoBlocks));
    }
}
