//! Slopes of all pairs: their median moves with no outlier, and ranks say how far chance moves it.

use crate::quantile::median;

/// A value at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendPoint {
    /// Pairs are taken within a group only; those of a group stand in a row.
    pub group: usize,
    /// Time, in the caller's unit.
    pub at: f64,
    /// The value.
    pub value: f64,
}

/// Slopes of all pairs within a group (P. K. Sen, 1968; by groups: R. M. Hirsch and others, 1982).
#[derive(Debug, Clone, PartialEq)]
pub struct PairSlopes {
    sorted: Vec<f64>,
    variance: f64,
}

impl PairSlopes {
    /// `None` when no two points of a group differ in time.
    pub fn of(points: &[TrendPoint]) -> Option<PairSlopes> {
        let mut sorted = Vec::new();
        let mut variance = 0.0;
        for group in points.chunk_by(|a, b| a.group == b.group) {
            variance += kendall_variance(group.len() as f64);
            for (index, earlier) in group.iter().enumerate() {
                let rest = group[index + 1..].iter().filter(|later| earlier.at < later.at);
                sorted.extend(rest.map(|later| (later.value - earlier.value) / (later.at - earlier.at)));
            }
        }
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then_some(PairSlopes { sorted, variance })
    }

    /// Pairs that were compared.
    pub fn pairs(&self) -> usize {
        self.sorted.len()
    }

    /// The median of all slopes.
    pub fn median(&self) -> f64 {
        median(&self.sorted).unwrap_or(f64::NAN)
    }

    /// Sen's interval, by the ranks of the slopes: so many standard deviations of Kendall's S to either side. Where neighbours resemble
    /// each other the variance of S is `inflation` times that of independent points.
    pub fn interval(&self, deviations: f64, inflation: f64) -> (f64, f64) {
        let pairs = self.sorted.len() as f64;
        let width = deviations * (self.variance * inflation).sqrt();
        let low_rank = ((pairs - width) / 2.0).floor().max(0.0) as usize;
        let high_rank = (((pairs + width) / 2.0).ceil() as usize).min(self.sorted.len() - 1);
        (self.sorted[low_rank.min(high_rank)], self.sorted[high_rank])
    }
}

/// Variance of Kendall's S of n points without trend.
fn kendall_variance(n: f64) -> f64 {
    n * (n - 1.0) * (2.0 * n + 5.0) / 18.0
}
