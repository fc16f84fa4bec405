//! The values of a duet: of each pair of processes one for each side, over the windows that both sides have.
//!
//! A window of one side is compared with the one of the other that ran at the same time, so a window that one side lost is
//! lost for both. The halves of the processors are not alike, so each side's value has both halves with the same weight.

use crate::measured::ByBlock;
use assay_model::{Feels, Metric, Trial, Window};
use std::collections::BTreeMap;

/// Values of a variant by metric and block: of the last attempt at a pair of which both sides count.
pub fn values_by_pair<'a, 'm>(
    variant: &str,
    trials: impl IntoIterator<Item = &'a Trial>,
    metrics: &'m [Metric],
) -> BTreeMap<&'m str, ByBlock> {
    let trials: Vec<&Trial> = trials.into_iter().filter(|trial| trial.counts()).collect();
    let mut values: BTreeMap<&str, ByBlock> = BTreeMap::new();
    for own in trials.iter().filter(|trial| trial.variant == variant) {
        let is_other = |other: &&&Trial| {
            other.variant != variant && (other.block, other.attempt) == (own.block, own.attempt)
        };
        // A run that was interrupted between the ends of both sides has the pair anew when it is resumed: the last one is whole.
        let Some(other) = trials.iter().rev().find(is_other) else { continue };
        for metric in metrics {
            if let Some(value) = value_of(metric, &own.windows, &other.windows) {
                values.entry(&*metric.id).or_default().insert(own.block, value);
            }
        }
    }
    values
}

/// Whether there is a window on each half that is good on both sides.
pub fn is_whole(is_good: impl Fn(&Window) -> bool, [own, other]: [&[Window]; 2]) -> bool {
    [1, 2].into_iter().all(|half| {
        windows_of_both(own, other)
            .any(|(own, other)| half_of(own) == Some(half) && is_good(own) && is_good(other))
    })
}

/// The mean over the windows that count on both sides; where either half has none, over those that will do.
fn value_of(metric: &Metric, own: &[Window], other: &[Window]) -> Option<f64> {
    let over = |is_good: fn(&Window, Feels) -> bool| {
        mean_over(own, other, |window| {
            window
                .metrics
                .get(&*metric.id)
                .copied()
                .filter(|value| value.is_finite() && is_good(window, metric.feels))
        })
    };
    over(Window::counts_for).or_else(|| over(Window::serves_for))
}

/// The mean over the windows of which both sides have a value, both halves with the same weight; absent where either half has none.
/// Geometric, as befits values whose quotient counts; of values with a zero among them arithmetic.
fn mean_over(own: &[Window], other: &[Window], of: impl Fn(&Window) -> Option<f64>) -> Option<f64> {
    let (mut by_half, mut has_zero) = (BTreeMap::<u32, Vec<f64>>::new(), false);
    for (own, other) in windows_of_both(own, other) {
        let (Some(half), Some(value), Some(beside)) = (half_of(own), of(own), of(other)) else { continue };
        has_zero |= value <= 0.0 || beside <= 0.0;
        by_half.entry(half).or_default().push(value);
    }
    let there = |value: f64| if has_zero { value } else { value.ln() };
    let back = |value: f64| if has_zero { value } else { value.exp() };
    let mean =
        |values: &Vec<f64>| values.iter().map(|value| there(*value)).sum::<f64>() / values.len() as f64;
    let (first, second) = (by_half.get(&1)?, by_half.get(&2)?);
    Some(back(f64::midpoint(mean(first), mean(second))))
}

fn half_of(window: &Window) -> Option<u32> {
    Some(window.duet?.half)
}

/// Windows that were measured at the same time.
fn windows_of_both<'w>(
    own: &'w [Window],
    other: &'w [Window],
) -> impl Iterator<Item = (&'w Window, &'w Window)> {
    own.iter().filter_map(move |own| {
        let number = own.duet?.number;
        Some((own, other.iter().find(|other| other.duet.is_some_and(|of| of.number == number))?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Check, Disturbance, DuetWindow, metric};

    const CPU: &str = metric::CPU_MS_PER_REQUEST;

    fn cpu() -> Metric {
        Metric::by_id(CPU).expect("a metric")
    }

    /// Windows of a side that begins on this half, numbered from 1, with these values; an absent one was lost.
    fn side(first_half: u32, values: &[Option<f64>]) -> Vec<Window> {
        let window = |(number, value): (u32, &Option<f64>)| {
            let half = if number % 2 == 1 { first_half } else { 3 - first_half };
            Some(Window {
                duet: Some(DuetWindow {
                    number,
                    half,
                    by_group: false,
                    foreign_cpu_share: None,
                    steal_share: None,
                }),
                metrics: BTreeMap::from([(CPU.to_owned(), (*value)?)]),
                ..Window::default()
            })
        };
        (1..).zip(values).filter_map(window).collect()
    }

    fn of(own: &[Option<f64>], other: &[Option<f64>]) -> Option<f64> {
        value_of(&cpu(), &side(1, own), &side(2, other))
    }

    fn is_about(found: Option<f64>, want: f64) -> bool {
        found.is_some_and(|found| (found / want - 1.0).abs() < 1e-12)
    }

    #[test]
    fn a_side_s_value_is_the_geometric_mean_over_its_windows() {
        assert!(is_about(of(&[Some(1.0), Some(4.0)], &[Some(9.0), Some(9.0)]), 2.0));
        // Halves of which one is twice as slow, and a machine that gets slower meanwhile: the quotient is that of the sides.
        let (own, other) =
            ([Some(1.0), Some(4.0), Some(3.0), Some(8.0)], [Some(3.0), Some(3.0), Some(9.0), Some(6.0)]);
        let quotient = of(&own, &other).zip(value_of(&cpu(), &side(2, &other), &side(1, &own)));
        assert!(is_about(quotient.map(|(own, other)| other / own), 1.5), "{quotient:?}");
    }

    #[test]
    fn a_window_that_one_side_lost_is_lost_for_both() {
        let (own, other) = ([Some(1.0), Some(1.0), Some(50.0)], [Some(2.0), Some(2.0), None]);
        assert!(is_about(of(&own, &other), 1.0));
        assert!(is_about(value_of(&cpu(), &side(2, &other), &side(1, &own)), 2.0));
        let mut disturbed = side(2, &[Some(2.0), Some(2.0), Some(7.0)]);
        disturbed[2].disturbances = vec![Disturbance { kind: Check::Errors, evidence: String::new() }];
        assert!(
            is_about(value_of(&cpu(), &side(1, &own), &disturbed), 1.0),
            "what spoils the one spoils both"
        );
    }

    #[test]
    fn both_halves_have_the_same_weight_and_none_may_lack() {
        // Twice on the fast half, once on the slow one.
        assert!(is_about(of(&[Some(1.0), Some(4.0), Some(1.0)], &[Some(1.0); 3]), 2.0));
        assert_eq!(
            of(&[Some(1.0), None, Some(1.0)], &[Some(1.0); 3]),
            None,
            "absent, not what one half says"
        );
        assert_eq!(of(&[], &[]), None);
    }

    #[test]
    fn zero_is_a_value() {
        assert_eq!(of(&[Some(0.0), Some(3.0)], &[Some(1.0), Some(1.0)]), Some(1.5));
        assert_eq!(
            of(&[Some(1.0), Some(4.0)], &[Some(0.0), Some(1.0)]),
            Some(2.5),
            "the same mean on both sides"
        );
    }

    #[test]
    fn a_pair_is_whole_with_a_good_window_on_each_half() {
        let whole = |own: &[Window], other: &[Window]| is_whole(Window::counts, [own, other]);
        let (own, mut other) = (side(1, &[Some(1.0); 3]), side(2, &[Some(1.0); 3]));
        assert!(whole(&own, &other));
        other[1].disturbances = vec![Disturbance { kind: Check::Errors, evidence: String::new() }];
        assert!(!whole(&own, &other));
    }

    /// Beside others' work CPU time is noisy, and still a figure.
    #[test]
    fn where_a_half_has_no_window_that_counts_one_that_will_do_is_used() {
        let (own, mut other) = (side(1, &[Some(1.0), Some(4.0), Some(9.0)]), side(2, &[Some(1.0); 3]));
        let disturbed = |kind| vec![Disturbance { kind, evidence: String::new() }];
        other[2].disturbances = disturbed(Check::CpuPressure);
        assert!(is_about(value_of(&cpu(), &own, &other), 2.0), "there is a better one on that half");
        other[0].disturbances = disturbed(Check::CpuPressure);
        let all = (3.0_f64 * 4.0).sqrt();
        assert!(is_about(value_of(&cpu(), &own, &other), all), "the geometric mean of 1 and 9, and 4");
        other[0].disturbances = disturbed(Check::Errors);
        other[2].disturbances = disturbed(Check::Errors);
        assert_eq!(value_of(&cpu(), &own, &other), None);
    }
}
