//! How a quantity grows with another one.

/// Points that a power law needs: any two fit one.
pub const POINTS_MIN: usize = 3;

/// `y` grows as `x` to the power of `exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// 1: proportional; 0: constant; 2: four times as much at twice the `x`.
    pub exponent: f64,
    /// The largest factor between a point and the law, 1 or more. Where it is far from 1, one exponent does not describe the points.
    pub max_residual_ratio: f64,
}

/// The power law through points `(x, y)`: least squares of the logarithms, each point with the same weight.
///
/// `None` with fewer than [`POINTS_MIN`] different `x`, and where a number is not positive and finite.
pub fn power_law(points: &[(f64, f64)]) -> Option<PowerLaw> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    if logs.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let mut different: Vec<f64> = logs.iter().map(|(x, _)| *x).collect();
    different.sort_by(f64::total_cmp);
    different.dedup();
    if different.len() < POINTS_MIN {
        return None;
    }
    let n = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let of_x: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let of_both: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let exponent = of_both / of_x;
    let off = logs.iter().map(|(x, y)| (y - mean_y - exponent * (x - mean_x)).abs());
    Some(PowerLaw { exponent, max_residual_ratio: off.fold(0.0, f64::max).exp() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bend_shows_as_misfit() {
        let bent = power_law(&[(1.0, 1.0), (10.0, 1.0), (100.0, 10.0)]).expect("three points");
        assert!((bent.exponent - 0.5).abs() < 1e-12, "{bent:?}");
        // The line through the logarithms 0, 0, 1 is at -1/6, 1/3 and 5/6.
        assert!((bent.max_residual_ratio - 10f64.powf(1.0 / 3.0)).abs() < 1e-9, "{bent:?}");
    }

    #[test]
    fn what_has_no_power_law() {
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 2.0)]), None, "any two points fit");
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 2.0), (2.0, 3.0)]), None);
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 0.0), (4.0, 3.0)]), None, "0 has no logarithm");
        assert_eq!(power_law(&[(1.0, 1.0), (0.0, 2.0), (4.0, 3.0)]), None);
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, f64::NAN), (4.0, 3.0)]), None);
    }

    proptest! {
        #[test]
        fn a_known_law_is_found(exponent in -2.0..2.0f64, factor in 1e-3..1e6f64, xs in prop::collection::hash_set(1u32..20_000, 3..9)) {
            let points: Vec<(f64, f64)> =
                xs.iter().map(|x| (f64::from(*x), factor * f64::from(*x).powf(exponent))).collect();
            let found = power_law(&points).expect("three points");
            prop_assert!((found.exponent - exponent).abs() < 1e-6, "{found:?}");
            prop_assert!(found.max_residual_ratio < 1.0 + 1e-6, "{found:?}");
        }
    }
}
