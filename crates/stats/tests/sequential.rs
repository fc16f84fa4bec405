//! Holds what is said of comparisons that are looked at while pairs are added: over thousands of virtual ones, whose truth is known.

use crate::virtual_study::{Noise, Shape};
use assay_stats::sequential::{
    ERROR, Looks, PAIRS_MAX, deviation, pairs_needed, recurs, side_of, smallest_difference,
};
use std::f64::consts::TAU;

const PAIRS: usize = 40;
const COMPARISONS: u32 = 10_000;

/// What is done to two equal sides. Deviations are of logarithms.
#[derive(Debug, Clone, Copy)]
struct Machine {
    shape: Shape,
    deviation: f64,
    /// A process starts into one of two levels, which are so far apart.
    levels_apart: f64,
    /// The speed of the machine swings by so much while the pairs are measured.
    drift: f64,
}

const QUIET: Machine = Machine { shape: Shape::LogNormal, deviation: 0.03, levels_apart: 0.0, drift: 0.0 };
const HEAVY_TAILED: Machine = Machine { shape: Shape::HeavyTailed, ..QUIET };
const TWO_LEVELS: Machine = Machine { levels_apart: 0.08, ..QUIET };
const ALL_AT_ONCE: Machine =
    Machine { shape: Shape::HeavyTailed, deviation: 0.03, levels_apart: 0.08, drift: 0.15 };

impl Machine {
    /// Logarithms of second / first side of pairs that are measured one side after the other, in turn; `begins` is the side that is measured
    /// first in the first pair.
    fn pairs(&self, noise: &mut Noise, begins: usize, pairs: usize) -> Vec<f64> {
        let phase = noise.uniform();
        let pair = |pair: usize| {
            let mut turn = |turn: usize| {
                let at = (2 * pair + turn) as f64 / (2 * pairs) as f64;
                let speed = self.drift * (TAU * (0.5 * at + phase)).sin();
                let level = if noise.uniform() < 0.5 { self.levels_apart } else { 0.0 };
                speed + level + noise.factor(self.shape, self.deviation).ln()
            };
            let (first, second) = (turn(0), turn(1));
            if (pair + begins).is_multiple_of(2) { second - first } else { first - second }
        };
        (0..pairs).map(pair).collect()
    }
}

/// The pairs up to the first look whose interval excludes the limit.
fn shown<'a>(looks: &Looks, logs: &'a [f64], limit: f64) -> Option<&'a [f64]> {
    let excludes =
        |pairs: &usize| looks.interval(&logs[..*pairs]).is_some_and(|ratio| side_of(&ratio, limit).is_some());
    (3..=logs.len()).find(excludes).map(|pairs| &logs[..pairs])
}

/// Shares of comparisons of equal sides that stop at a difference, and that show it again with as many fresh pairs as they like; and the
/// mean ratio over all pairs.
fn alarms(machine: Machine, begins: usize, comparisons: u32) -> (f64, f64, f64) {
    let (looks, mut noise) = (Looks::up_to(PAIRS, ERROR), Noise::seeded(49 + begins as u64));
    let (mut once, mut twice, mut sum) = (0, 0, 0.0);
    for _ in 0..comparisons {
        let logs = machine.pairs(&mut noise, begins, PAIRS);
        sum += logs.iter().sum::<f64>() / PAIRS as f64;
        let Some(first) = shown(&looks, &logs, 1.0) else { continue };
        once += 1;
        let fresh = machine.pairs(&mut noise, begins, PAIRS);
        twice +=
            u32::from(shown(&looks, &fresh, 1.0).is_some_and(|second| recurs(first, second, 1.0).is_some()));
    }
    let percent = |count: u32| 100.0 * f64::from(count) / f64::from(comparisons);
    let mean_ratio = (sum / f64::from(comparisons)).exp();
    println!(
        "{machine:?}, side {begins} begins: {:.2} %, again {:.2} %, ratio {mean_ratio:.4}",
        percent(once),
        percent(twice)
    );
    (percent(once), percent(twice), mean_ratio)
}

#[test]
fn equal_sides_on_a_bad_machine_show_a_difference_in_5_of_100_comparisons_and_again_in_fewer_than_1_of_200() {
    for begins in [0, 1] {
        let (once, twice, mean_ratio) = alarms(ALL_AT_ONCE, begins, COMPARISONS);
        assert!((4.0..=6.0).contains(&once), "{once} %");
        assert!(twice <= 0.5, "{twice} %");
        assert!((0.99..=1.01).contains(&mean_ratio), "{mean_ratio}");
    }
}

#[test]
fn of_normal_noise_no_more_is_shown_than_the_error_and_heavy_tails_show_less() {
    // Four standard errors of a share of 5 % over so many.
    const LUCK: f64 = 1.25;
    for machine in [QUIET, TWO_LEVELS] {
        let (once, _, _) = alarms(machine, 0, COMPARISONS / 2);
        assert!((5.0 - LUCK..=5.0 + LUCK).contains(&once), "{machine:?}: {once} %");
    }
    let (of_heavy, _, _) = alarms(HEAVY_TAILED, 0, COMPARISONS / 2);
    assert!((5.0 - 2.0 * LUCK..=5.0).contains(&of_heavy), "{of_heavy} %");
}

/// A promise is of a deviation that is known; of one measured with other pairs it is as good as that.
#[test]
fn the_smallest_difference_is_shown_by_80_of_100_comparisons_and_the_intervals_contain_it() {
    for pairs in [4, 8, 16, 40] {
        let (looks, mut noise) = (Looks::up_to(pairs, ERROR), Noise::seeded(pairs as u64));
        let deviation_of_log = 0.03 * 2f64.sqrt();
        let truth = smallest_difference(deviation_of_log, pairs);
        let (mut found, mut contained) = (0, 0);
        for _ in 0..COMPARISONS / 4 {
            let logs: Vec<f64> =
                QUIET.pairs(&mut noise, 0, pairs).iter().map(|log| log + truth.ln()).collect();
            found += u32::from(shown(&looks, &logs, 1.0).is_some());
            contained += u32::from(shown(&looks, &logs, truth).is_none());
        }
        let percent = |count: u32| 400.0 * f64::from(count) / f64::from(COMPARISONS);
        println!(
            "{pairs} pairs show {truth:.4}: {:.1} %, contained {:.1} %",
            percent(found),
            percent(contained)
        );
        assert!((77.0..=83.0).contains(&percent(found)), "{pairs} pairs: {} %", percent(found));
        assert!(percent(contained) >= 93.5, "{pairs} pairs: {} %", percent(contained));
    }
}

/// Twice the pairs and half the noise: what a user who plans by these figures relies on.
#[test]
fn a_smaller_difference_needs_more_pairs_and_a_quieter_machine_fewer() {
    let needed =
        |deviation_of_log, difference| pairs_needed(deviation_of_log, difference).unwrap_or(PAIRS_MAX);
    assert!(needed(0.05, 1.05) < needed(0.05, 1.02));
    assert!(needed(0.02, 1.02) < needed(0.05, 1.02));
    let measured = QUIET.pairs(&mut Noise::seeded(5), 0, 400);
    let spread = deviation(&measured).expect("400 pairs");
    assert!((spread / (0.03 * 2f64.sqrt()) - 1.0).abs() < 0.1, "{spread}");
}
