//! How much of the error each look at a growing number of pairs may use.

use super::student::two_sided_quantile;
use crate::interval::BLOCKS_FOR_INTERVAL;
use std::f64::consts::{PI, SQRT_2};

/// Up to so many pairs there is a look after each; then after each tenth more, and between two looks the interval of the last one stays.
const PAIRS_BY_ONE: usize = 50;
/// Of the error, so much is spent in all. Student's quantiles at the normal's levels spend a sixth more than the normal's at looks this
/// close to each other: 5.7 % instead of 4.8 % at 40 pairs, measured.
const SPENT: f64 = 0.85;
/// How late the error is spent. Half of it is spent with 6 pairs, and 96 % with 40; of what was tried, these intervals are the narrowest from
/// 3 to 40 pairs together.
const LATENESS: f64 = 10.0;
/// Cells of the half of the distribution, even for Simpson's rule; a cell is a third of the deviation of a step at most.
const CELLS: usize = 64;
/// Halvings when a boundary is searched: to a millionth of it.
const HALVINGS: u32 = 40;

/// Looks at the pairs of one comparison while they are measured, each with its quantile.
#[derive(Debug, Clone, PartialEq)]
pub struct Looks(Vec<Look>);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub pairs: usize,
    /// Student's t at the level of this look.
    pub quantile: f64,
}

impl Looks {
    /// The looks up to so many pairs that together have the error, 0 to 1.
    pub fn up_to(pairs: usize, error: f64) -> Looks {
        Looks(looks(error).take_while(|look| look.pairs <= pairs).collect())
    }

    /// The last look at so many pairs or fewer.
    pub(super) fn last_at(&self, pairs: usize) -> Option<Look> {
        self.0.iter().rev().find(|look| look.pairs <= pairs).copied()
    }
}

/// All looks that together have the error, from the first on.
pub(super) fn looks(error: f64) -> impl Iterator<Item = Look> {
    let mut walk = Walk::default();
    std::iter::successors(Some(BLOCKS_FOR_INTERVAL), |pairs| Some(next(*pairs))).map(move |pairs| {
        let level = walk.level_at(pairs, error * spent(pairs));
        Look { pairs, quantile: two_sided_quantile(level, pairs - 1) }
    })
}

fn next(pairs: usize) -> usize {
    if pairs < PAIRS_BY_ONE { pairs + 1 } else { pairs + pairs / 10 }
}

/// The share of the error that is spent when so many pairs were looked at.
fn spent(pairs: usize) -> f64 {
    let before = (BLOCKS_FOR_INTERVAL - 1) as f64;
    SPENT * (1.0 - (LATENESS / (pairs as f64 - before + LATENESS)).powi(2))
}

/// The distribution of a sum of standard normal values that has not crossed a boundary yet (Armitage, McPherson and Rowe, 1969).
#[derive(Default)]
struct Walk {
    pairs: usize,
    spent: f64,
    boundary: f64,
    /// Density at the ends of the cells, from 0 to the boundary; the other half is its image. Empty before the first look.
    density: Vec<f64>,
}

impl Walk {
    /// The two-sided level at which a look at so many pairs brings what is spent to `spent`.
    fn level_at(&mut self, pairs: usize, spent: f64) -> f64 {
        let to_spend = spent - self.spent;
        let (mut low, mut high) = (0.0, self.boundary + 10.0 * (pairs as f64).sqrt());
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if to_spend < self.beyond(middle, pairs) { low = middle } else { high = middle }
        }
        let density =
            (0..=CELLS).map(|cell| self.density_at(low * cell as f64 / CELLS as f64, pairs)).collect();
        *self = Walk { pairs, spent, boundary: low, density };
        beyond(low, (pairs as f64).sqrt())
    }

    /// The probability to lie beyond a boundary at so many pairs and to have crossed none before.
    fn beyond(&self, boundary: f64, pairs: usize) -> f64 {
        let deviation = ((pairs - self.pairs) as f64).sqrt();
        self.over_cells(
            |at| {
                f64::midpoint(2.0 * beyond(boundary - at, deviation), 2.0 * beyond(boundary + at, deviation))
            },
            || beyond(boundary, deviation),
        )
    }

    fn density_at(&self, sum: f64, pairs: usize) -> f64 {
        let deviation = ((pairs - self.pairs) as f64).sqrt();
        let normal = |x: f64| (-0.5 * (x / deviation).powi(2)).exp() / (deviation * (2.0 * PI).sqrt());
        self.over_cells(|at| normal(sum - at) + normal(sum + at), || normal(sum))
    }

    /// Simpson's sum of a function over half of the distribution, or its value at the start.
    fn over_cells(&self, value: impl Fn(f64) -> f64, at_start: impl Fn() -> f64) -> f64 {
        if self.density.is_empty() {
            return at_start();
        }
        let width = self.boundary / CELLS as f64;
        let weighted = |(cell, density): (usize, &f64)| {
            let weight = match cell {
                0 | CELLS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * density * value(cell as f64 * width)
        };
        self.density.iter().enumerate().map(weighted).sum::<f64>() * width / 3.0
    }
}

/// The probability that a normal value of that deviation lies beyond `distance` on either side; more than 1 where `distance` is negative.
fn beyond(distance: f64, deviation: f64) -> f64 {
    libm::erfc(distance / (deviation * SQRT_2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jennison and Turnbull, Group Sequential Methods (2000), Table 2.1: Pocock's test of five looks at an error of 5 % has the nominal
    /// level 0.0158 at each.
    #[test]
    fn levels_that_spend_what_pocock_s_test_spends_are_its_own() {
        let (mut walk, constant) = (Walk::default(), 2.413_f64);
        let mut crossed = 0.0;
        for look in 1..=5 {
            crossed += walk.beyond(constant * f64::from(look).sqrt(), look as usize);
            let level = walk.level_at(look as usize, crossed);
            assert!((level - 0.0158).abs() < 1e-4, "look {look}: {level}");
        }
        assert!((crossed - 0.05).abs() < 1e-4, "{crossed}");
    }

    #[test]
    fn looks_become_rare_and_no_more_than_the_error_is_spent() {
        let looks = Looks::up_to(1_000, 0.05);
        assert_eq!(looks.0.first().map(|look| look.pairs), Some(3));
        assert!(looks.0.len() < 90, "{}", looks.0.len());
        assert_eq!(looks.last_at(2), None);
        assert_eq!(looks.last_at(40).map(|look| look.pairs), Some(40));
        assert_eq!(looks.last_at(54).map(|look| look.pairs), Some(50));
        assert!(spent(3) < spent(4) && spent(1_000_000) <= SPENT);
    }

    #[test]
    fn the_quantiles_up_to_so_many_pairs_do_not_depend_on_how_many_follow() {
        let (few, many) = (Looks::up_to(12, 0.05), Looks::up_to(40, 0.05));
        assert_eq!(few.0[..], many.0[..few.0.len()]);
    }
}
