//! Student's distribution at any level and for any whole number of degrees of freedom.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// Halvings of the angle that is searched: to the last bit.
const HALVINGS: u32 = 60;

/// The value that Student's t exceeds in absolute value with probability `level`.
pub(super) fn two_sided_quantile(level: f64, degrees: usize) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if level < 1.0 - within(middle, degrees) { low = middle } else { high = middle }
    }
    low.tan() * (degrees as f64).sqrt()
}

/// The probability that |t| is at most √degrees tan(angle): the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn within(angle: f64, degrees: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = if is_odd { (cosine, 0.0) } else { (1.0, 0.0) };
    let first = if is_odd { 1 } else { 0 };
    for power in (first..degrees.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
    }
    if is_odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::student_quantile;

    #[test]
    fn quantiles_agree_with_published_tables_and_with_the_other_formula() {
        for (level, degrees, want) in [
            (0.05, 1, 12.7062),
            (0.05, 2, 4.3027),
            (0.01, 3, 5.8409),
            (0.002, 4, 7.1732),
            (0.001, 10, 4.5869),
            (0.001, 30, 3.6460),
            (0.01, 120, 2.6174),
        ] {
            let got = two_sided_quantile(level, degrees);
            assert!((got - want).abs() < 1e-4, "{level} at {degrees}: {got}, not {want}");
        }
        for degrees in 1..200 {
            let (got, other) = (two_sided_quantile(0.05, degrees), student_quantile(degrees));
            assert!((got - other).abs() < 2e-4, "{degrees}: {got} and {other}");
        }
    }
}
