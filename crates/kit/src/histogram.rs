//! Histograms of lengths of time, several on one logarithmic axis.

use crate::axes::{LABEL_SIZE, Plot, logarithmic};
use crate::letters::text_width;
use crate::number::{count, significant, tick};
use crate::scale::{Scale, ticks_from_zero};
use crate::svg::Svg;
use std::collections::BTreeMap;

/// Bars to a factor of ten.
const BINS: f64 = 10.0;
const WIDTH: f64 = 400.0;
const PLOT: Plot = Plot { left: 52.0, right: WIDTH - 16.0, top: 26.0, bottom: 150.0 };
/// Lengths beyond these ends, ms, are drawn there.
const LENGTHS: (f64, f64) = (1e-3, 9.9e5);

/// Lengths of one kind.
pub struct DurationsOfKind {
    /// The things that have these lengths.
    pub name: String,
    /// Upper edge of each class, ms, and how many are in it.
    pub numbers: Vec<(f64, u64)>,
    /// The same in words, for those who do not see them.
    pub words: String,
}

/// How many lengths lie in each bar, by the bar's number: it reaches from 10^(n/10) to 10^((n+1)/10) ms.
fn bars(numbers: &[(f64, u64)]) -> BTreeMap<i32, u64> {
    let mut bars: BTreeMap<i32, u64> = BTreeMap::new();
    for (upper_ms, number) in numbers {
        if upper_ms.is_finite() && *upper_ms >= 0.0 {
            let length = upper_ms.clamp(LENGTHS.0, LENGTHS.1);
            // An edge belongs to the bar below it.
            let bar = (BINS * length.log10() - 1e-6).floor() as i32;
            let sum = bars.entry(bar).or_default();
            *sum = sum.saturating_add(*number);
        }
    }
    bars
}

fn edge(bar: i32) -> f64 {
    10f64.powf(f64::from(bar) / BINS)
}

/// A panel for each kind, at most `kinds_max`: its name and the drawing. Kinds without a length are left out.
pub fn panels(kinds: impl Iterator<Item = DurationsOfKind>, kinds_max: usize) -> Vec<(String, String)> {
    let with_bars = kinds.map(|of| (bars(&of.numbers), of)).filter(|(bars, _)| !bars.is_empty());
    let drawn: Vec<(BTreeMap<i32, u64>, DurationsOfKind)> = with_bars.take(kinds_max).collect();
    let all = drawn.iter().flat_map(|(bars, _)| bars.keys().copied());
    let (Some(low), Some(high)) = (all.clone().min(), all.max()) else { return Vec::new() };
    let x = logarithmic((edge(low), edge(high + 1)), (PLOT.left, PLOT.right));
    let panel = |(index, (bars, of)): (usize, &(BTreeMap<i32, u64>, DurationsOfKind))| {
        (of.name.clone(), histogram(of, bars, &x, &format!("lengths-{index}")))
    };
    drawn.iter().enumerate().map(panel).collect()
}

fn histogram(
    of: &DurationsOfKind,
    bars: &BTreeMap<i32, u64>,
    (x, ticks): &(Scale, Vec<f64>),
    id: &str,
) -> String {
    let mut svg = Svg::new(WIDTH, PLOT.bottom + 40.0);
    let highest = bars.values().copied().max().unwrap_or(0) as f64;
    // Half a pause is none.
    let heights: Vec<f64> = ticks_from_zero(highest, 3).into_iter().filter(|t| t.fract() == 0.0).collect();
    let y =
        Scale::linear((0.0, heights.last().copied().unwrap_or(1.0).max(highest)), (PLOT.bottom, PLOT.top));
    PLOT.y_axis(&mut svg, &y, &heights, "how many");
    for (bar, number) in bars {
        let (from, to) = (x.at(edge(*bar)), x.at(edge(*bar + 1)));
        let tip =
            format!("{} to {} ms: {}", significant(edge(*bar)), significant(edge(*bar + 1)), count(*number));
        let top = y.at(*number as f64).min(PLOT.bottom - 1.0);
        svg.rect((from + 0.5, top), ((to - from - 1.0).max(1.0), PLOT.bottom - top), "s0 bar", &tip);
    }
    let fits = |mark: &(f64, String)| mark.0 + text_width(&mark.1, LABEL_SIZE) / 2.0 <= WIDTH;
    // At most eight of the ticks.
    let thinned = ticks.iter().step_by(ticks.len().div_ceil(8).max(1));
    let marks: Vec<(f64, String)> = thinned.map(|t| (x.at(*t), tick(*t))).filter(fits).collect();
    PLOT.x_axis(&mut svg, &marks, "length (ms)");
    svg.finish(id, &format!("Lengths of {}", of.name), &of.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_fall_into_bars_of_a_tenth_of_a_factor_of_ten() {
        let numbers = [(1.0, 2), (1.2, 3), (10.0, 1), (f64::NAN, 9), (0.0, 4)];
        let bars: Vec<(i32, u64)> = bars(&numbers).into_iter().collect();
        assert_eq!(bars, [(-31, 4), (-1, 2), (0, 3), (9, 1)]);
        assert!((edge(10) - 10.0).abs() < 1e-9);
    }
}
