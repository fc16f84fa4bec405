//! Many figures are compared at once: what is called a difference must hold for all of them together.

/// Chance that any figure of two equal logs is called different.
pub(super) const FALSE_ALARMS: f64 = 0.01;

/// Below which probability each of these is a difference, so that all hold together: Holm's procedure with weights (S. Holm, 1979). Takes
/// probability and weight of each. An interval of as much confidence excludes "equal" where the test shows a difference, and only there.
pub(super) fn levels(tests: &[(f64, f64)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..tests.len()).collect();
    let rank = |index: &usize| tests[*index].0 / tests[*index].1;
    order.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let mut left: f64 = tests.iter().map(|(_, weight)| weight).sum();
    let mut levels = vec![0.0; tests.len()];
    let mut has_stopped = false;
    for index in order {
        let (probability, weight) = tests[index];
        levels[index] = FALSE_ALARMS * weight / left;
        has_stopped |= levels[index] < probability;
        left -= if has_stopped { 0.0 } else { weight };
    }
    levels
}

/// Two-sided probability of a table at least as unlikely as this one (Fisher): `a` of `of_a` intervals of one log have something, `b` of
/// `of_b` of the other.
pub(super) fn fisher(a: usize, of_a: usize, b: usize, of_b: usize) -> f64 {
    let choose = |n: usize, k: usize| log_factorial(n) - log_factorial(k) - log_factorial(n - k);
    let with = a + b;
    let log_of = |a: usize| choose(of_a, a) + choose(of_b, with - a) - choose(of_a + of_b, with);
    let seen = log_of(a);
    let possible = with.saturating_sub(of_b)..=with.min(of_a);
    let sum: f64 = possible.map(log_of).filter(|log| *log <= seen + 1e-9).map(f64::exp).sum();
    sum.min(1.0)
}

fn log_factorial(n: usize) -> f64 {
    libm::lgamma(n as f64 + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fishers_probabilities_are_those_of_the_tea_tasting_lady() {
        assert!((fisher(4, 4, 0, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((fisher(3, 4, 1, 4) - 34.0 / 70.0).abs() < 1e-12);
        assert!((fisher(0, 32, 0, 32) - 1.0).abs() < 1e-12);
        assert!(fisher(0, 32, 32, 32) < 1e-15);
    }

    #[test]
    fn what_holds_must_hold_for_all_together() {
        let shown = |tests: &[(f64, f64)]| -> Vec<bool> {
            tests.iter().zip(levels(tests)).map(|((probability, _), level)| *probability <= level).collect()
        };
        // Equal weights: 0.004 <= 0.01 / 2 holds, and then 0.009 <= 0.01.
        assert_eq!(shown(&[(0.009, 1.0), (0.004, 1.0)]), [true, true]);
        assert_eq!(shown(&[(0.009, 1.0), (0.006, 1.0)]), [false, false]);
        assert_eq!(shown(&[(0.009, 9.0), (0.009, 1.0)]), [true, true]);
        assert_eq!(shown(&[(0.02, 9.0), (0.001, 1.0)]), [false, true]);
    }
}
