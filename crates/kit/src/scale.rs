//! Axes: from values to positions, and the ticks between.

use std::ops::Range;

/// A mapping of values to positions, linear or logarithmic.
#[derive(Clone, Copy)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    /// Linear from `low` at position `from` to `high` at position `to`.
    pub fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Scale { low, high, from, to, logarithmic: false }
    }

    /// Logarithmic; both ends must be positive, and are lifted to be so.
    pub fn logarithmic((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let low = low.max(f64::MIN_POSITIVE);
        let high = if high > low { high } else { low * 2.0 };
        Scale { low, high, from, to, logarithmic: true }
    }

    /// The values at its ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Whether equal ratios are equal distances.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Position of a value; a value outside is drawn at the end.
    pub fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }
}

/// Round ticks from zero to at least `high`, about `wanted` of them. The last tick is the axis' end.
pub fn ticks_from_zero(high: f64, wanted: usize) -> Vec<f64> {
    if !(high.is_finite() && high > 0.0) {
        return vec![0.0, 1.0];
    }
    let raw = high / wanted.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let count = (high / step - 1e-9).ceil() as usize;
    (0..=count).map(|i| i as f64 * step).collect()
}

/// Ticks 1, 2, 5, 10, ... that enclose the range; only 1, 10, 100, ... when it spans more than three decades.
pub fn ticks_logarithmic(low: f64, high: f64) -> Vec<f64> {
    if !(low.is_finite() && high.is_finite() && low > 0.0 && high >= low) {
        return vec![1.0, 10.0];
    }
    let multiples: &[f64] = if high / low > 1000.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all: Vec<f64> =
        (first..=last).flat_map(|power| multiples.iter().map(move |m| m * 10f64.powi(power))).collect();
    let start = all.iter().rposition(|t| *t <= low * 1.0001).unwrap_or(0);
    let end = all.iter().position(|t| *t >= high * 0.9999).unwrap_or(all.len() - 1).max(start + 1);
    all[start..=end.min(all.len() - 1)].to_vec()
}

/// Moves label positions apart so that neighbours are at least `gap` apart inside `range`, moving each as little
/// as the order allows. Returns positions in the order of the input.
pub fn spread(wanted: &[f64], heights: &[f64], range: (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut placed = wanted.to_vec();
    let mut floor = range.0;
    for &i in &order {
        placed[i] = placed[i].max(floor + heights[i] / 2.0);
        floor = placed[i] + heights[i] / 2.0;
    }
    let mut ceiling = range.1;
    for &i in order.iter().rev() {
        placed[i] = placed[i].min(ceiling - heights[i] / 2.0);
        ceiling = placed[i] - heights[i] / 2.0;
    }
    placed
}

/// How many times their usual distance points in time have to be apart for nothing to be known between them.
const GAP_TIMES: f64 = 10.0;
/// And which share of the axis.
const GAP_SHARE: f64 = 0.05;

/// Points in time, upwards, as runs that a line may join: between two runs nothing is known for long.
pub fn runs(positions: &[f64]) -> Vec<Range<usize>> {
    let mut distances: Vec<f64> = positions.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_by(f64::total_cmp);
    broken(positions, distances.get(distances.len() / 2).copied().unwrap_or(0.0))
}

/// The same of points that come in clusters, whose usual distance is the mean.
pub fn runs_of_clusters(positions: &[f64]) -> Vec<Range<usize>> {
    let all = positions.last().zip(positions.first()).map_or(0.0, |(last, first)| last - first);
    broken(positions, all / positions.len().saturating_sub(1).max(1) as f64)
}

fn broken(positions: &[f64], usual: f64) -> Vec<Range<usize>> {
    let all = positions.last().zip(positions.first()).map_or(0.0, |(last, first)| last - first);
    let gap = (GAP_TIMES * usual).max(GAP_SHARE * all);
    let mut runs = Vec::new();
    let mut begin = 0;
    for at in 1..=positions.len() {
        if positions.get(at).is_none_or(|position| gap < position - positions[at - 1]) {
            runs.push(begin..at);
            begin = at;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_start_at_zero_and_reach_past_the_largest_value() {
        assert_eq!(ticks_from_zero(1.55, 4), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(ticks_from_zero(0.0, 4), [0.0, 1.0]);
        assert_eq!(ticks_from_zero(f64::NAN, 4), [0.0, 1.0]);
    }

    #[test]
    fn logarithmic_ticks_enclose_the_range() {
        assert_eq!(ticks_logarithmic(1.2, 82.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(ticks_logarithmic(3.0, 3.0), [2.0, 5.0]);
        assert_eq!(ticks_logarithmic(0.0, 3.0), [1.0, 10.0]);
    }

    #[test]
    fn a_logarithmic_scale_puts_equal_ratios_at_equal_distances() {
        let scale = Scale::logarithmic((1.0, 100.0), (0.0, 200.0));
        assert_eq!([1.0, 10.0, 100.0, 1e6, -3.0].map(|v| scale.at(v)), [0.0, 100.0, 200.0, 200.0, 0.0]);
    }

    #[test]
    fn labels_that_would_overlap_move_apart_and_stay_inside() {
        let placed = spread(&[10.0, 11.0, 99.0, 12.0], &[10.0; 4], (0.0, 100.0));
        assert_eq!(placed, [10.0, 20.0, 95.0, 30.0]);
    }

    #[test]
    fn points_far_apart_are_not_joined() {
        let ends = |positions: &[f64]| -> Vec<(usize, usize)> {
            runs(positions).into_iter().map(|run| (run.start, run.end)).collect()
        };
        assert_eq!(ends(&[]), []);
        assert_eq!(ends(&[3.0]), [(0, 1)]);
        let regular: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(ends(&regular), [(0, 100)]);
        let later = |at: &f64| if *at < 40.0 { *at } else { at + 210.0 };
        let with_a_gap: Vec<f64> = regular.iter().map(later).collect();
        assert_eq!(ends(&with_a_gap), [(0, 40), (40, 100)]);
        assert_eq!(ends(&[0.0, 1.0, 4.0, 5.0, 9.0]), [(0, 5)], "irregular is not a gap");
        let pairs: Vec<f64> = (0..10).flat_map(|at| [f64::from(at), f64::from(at) + 0.01]).collect();
        assert_eq!(ends(&pairs).len(), 10);
        assert_eq!(runs_of_clusters(&pairs).len(), 1);
    }
}
