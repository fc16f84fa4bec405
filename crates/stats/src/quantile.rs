//! Point statistics: mean, geometric mean, quantile.

/// Arithmetic mean; `None` for an empty slice.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Geometric mean; `None` for an empty slice or a value that is not positive and finite.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if !values.iter().all(|v| v.is_finite() && *v > 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    mean(&logs).map(f64::exp)
}

/// Quantile of type 7 of Hyndman and Fan, "Sample quantiles in statistical packages" (1996): with the values
/// sorted as x(0) .. x(n-1) and h = p (n - 1), linear interpolation between x(floor h) and x(floor h + 1). It
/// is the default of R, NumPy and Julia.
///
/// `None` for an empty slice, a value that is not a number, or `p` outside 0 to 1.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| v.is_nan()) || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(quantile_of_sorted(&sorted, p))
}

/// Median, the type 7 quantile at one half.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Type 7 quantile of sorted, non-empty values.
pub(crate) fn quantile_of_sorted(sorted: &[f64], p: f64) -> f64 {
    let h = p * (sorted.len() - 1) as f64;
    let below = h.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[above]);
    // Equal ends are returned as they are: infinity minus infinity would be no number.
    if low == high { low } else { low + (h - below as f64) * (high - low) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_agree_with_the_default_of_r() {
        // R: quantile(c(15, 20, 35, 40, 50), c(.05, .3, .4, .5, 1))  ->  16 23 29 35 50 (19 = 15 + .8 * 5 at
        // .2)
        let values = [35.0, 20.0, 15.0, 50.0, 40.0];
        for (p, want) in [(0.05, 16.0), (0.2, 19.0), (0.3, 23.0), (0.4, 29.0), (0.5, 35.0), (1.0, 50.0)] {
            let got = quantile(&values, p).unwrap();
            assert!((got - want).abs() < 1e-12, "p {p}: {got}, not {want}");
        }
    }

    #[test]
    fn what_cannot_be_answered_is_absent() {
        assert_eq!(mean(&[]), None);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(quantile(&[1.0, f64::NAN], 0.5), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn geometric_mean_of_a_doubling_and_a_halving_is_one() {
        assert!((geometric_mean(&[2.0, 0.5]).unwrap() - 1.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn quantiles_rise_with_p_and_stay_inside(values in prop::collection::vec(-1e9f64..1e9, 1..40)) {
            let mut last = f64::NEG_INFINITY;
            for step in 0..=20 {
                let q = quantile(&values, f64::from(step) / 20.0).unwrap();
                prop_assert!(q >= last - 1e-6);
                last = q;
            }
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((last - largest).abs() < 1e-6);
        }
    }
}
