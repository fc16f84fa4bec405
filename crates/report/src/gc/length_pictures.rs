//! How long pauses took: a histogram for each kind on one logarithmic axis, sums by cause, and what was left to the application.

use super::words;
use assay_kit::axes::{LABEL_SIZE, Plot};
use assay_kit::bar_list::{self, Bar};
use assay_kit::number::{count, significant, tick};
use assay_kit::scale::{Scale, ticks_from_zero, ticks_logarithmic};
use assay_kit::svg::{Svg, text_width};
use assay_model::{GcMmu, GcRow};
use std::collections::BTreeMap;

/// Bars to a factor of ten.
const BINS: f64 = 10.0;
/// Kinds that are drawn; the table has all.
pub const KINDS_DRAWN: usize = 6;
const CAUSES_DRAWN: usize = 8;
const WIDTH: f64 = 400.0;
/// Lengths beyond these ends, ms, are drawn there.
const LENGTHS: (f64, f64) = (1e-3, 9.9e5);

/// How many lengths lie in each bar, by the bar's number: it reaches from 10^(n/10) to 10^((n+1)/10) ms.
fn bars(row: &GcRow) -> BTreeMap<i32, u64> {
    let mut bars: BTreeMap<i32, u64> = BTreeMap::new();
    for (upper_ms, number) in &row.histogram {
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

/// A panel for each kind: its name and the drawing.
pub fn histograms(rows: &[GcRow]) -> Vec<(String, String)> {
    let drawn: Vec<(&GcRow, BTreeMap<i32, u64>)> =
        rows.iter().map(|row| (row, bars(row))).filter(|(_, b)| !b.is_empty()).take(KINDS_DRAWN).collect();
    let all = drawn.iter().flat_map(|(_, bars)| bars.keys().copied());
    let (Some(low), Some(high)) = (all.clone().min(), all.max()) else { return Vec::new() };
    let ticks = ticks_logarithmic(edge(low), edge(high + 1));
    let ends = (ticks.first().copied().unwrap_or(1.0), ticks.last().copied().unwrap_or(10.0));
    let panel = |(index, (row, bars)): (usize, &(&GcRow, BTreeMap<i32, u64>))| {
        (row.name.clone(), histogram(row, bars, (ends, &ticks), &format!("lengths-{index}")))
    };
    drawn.iter().enumerate().map(panel).collect()
}

fn histogram(
    row: &GcRow,
    bars: &BTreeMap<i32, u64>,
    (ends, ticks): ((f64, f64), &[f64]),
    id: &str,
) -> String {
    let plot = Plot { left: 52.0, right: WIDTH - 16.0, top: 26.0, bottom: 150.0 };
    let mut svg = Svg::new(WIDTH, plot.bottom + 40.0);
    let x = Scale::logarithmic(ends, (plot.left, plot.right));
    let highest = bars.values().copied().max().unwrap_or(0) as f64;
    // Half a pause is none.
    let heights: Vec<f64> = ticks_from_zero(highest, 3).into_iter().filter(|t| t.fract() == 0.0).collect();
    let y =
        Scale::linear((0.0, heights.last().copied().unwrap_or(1.0).max(highest)), (plot.bottom, plot.top));
    plot.y_axis(&mut svg, &y, &heights, "how many");
    for (bar, number) in bars {
        let (from, to) = (x.at(edge(*bar)), x.at(edge(*bar + 1)));
        let tip =
            format!("{} to {} ms: {}", significant(edge(*bar)), significant(edge(*bar + 1)), count(*number));
        let top = y.at(*number as f64).min(plot.bottom - 1.0);
        svg.rect((from + 0.5, top), ((to - from - 1.0).max(1.0), plot.bottom - top), "s0 bar", &tip);
    }
    let fits = |mark: &(f64, String)| mark.0 + text_width(&mark.1, LABEL_SIZE) / 2.0 <= WIDTH;
    let marks: Vec<(f64, String)> = thinned(ticks).map(|t| (x.at(t), tick(t))).filter(fits).collect();
    plot.x_axis(&mut svg, &marks, "length (ms)");
    let of = &row.durations;
    let part =
        |name: &str, v: Option<f64>| v.map_or_else(String::new, |v| format!(", {name} {}", words::ms(v)));
    let words = format!("{}{}{}", count(of.count), part("median", of.p50_ms), part("longest", of.max_ms));
    svg.finish(id, &format!("Lengths of {}", row.name), &words)
}

/// At most eight of the ticks.
fn thinned(ticks: &[f64]) -> impl Iterator<Item = f64> + '_ {
    ticks.iter().copied().step_by(ticks.len().div_ceil(8).max(1))
}

/// Sums by cause as bars.
pub fn causes(rows: &[GcRow], width: f64, id: &str) -> Option<String> {
    let bars: Vec<Bar> = rows
        .iter()
        .take(CAUSES_DRAWN)
        .map(|row| Bar {
            name: row.name.clone(),
            value: row.durations.total_ms,
            text: format!("{} in {}", words::ms(row.durations.total_ms), count(row.durations.count)),
            class: "s0 bar".to_owned(),
        })
        .collect();
    (!bars.is_empty()).then(|| bar_list::draw(&bars, width, id, "Time in pauses by cause"))
}

/// The smallest share of any stretch of time that was left to the application, by the length of the stretch.
pub fn mmu(points: &[GcMmu], width: f64, id: &str) -> Option<String> {
    let usable = |m: &&GcMmu| {
        m.window_ms.is_finite()
            && m.window_ms > 0.0
            && m.window_ms < 1e12
            && m.utilisation_percent.is_finite()
    };
    let points: Vec<&GcMmu> = points.iter().filter(usable).collect();
    let (first, last) = (points.first()?, points.last()?);
    let plot = Plot { left: 52.0, right: width - 30.0, top: 30.0, bottom: 210.0 };
    let mut svg = Svg::new(width, plot.bottom + 42.0);
    let x = Scale::logarithmic((first.window_ms, last.window_ms), (plot.left, plot.right));
    let y = Scale::linear((0.0, 100.0), (plot.bottom, plot.top));
    plot.y_axis(&mut svg, &y, &[0.0, 25.0, 50.0, 75.0, 100.0], "left to the application (%)");
    let step = points.len().div_ceil(if width < 600.0 { 5 } else { 12 });
    let marks: Vec<(f64, String)> =
        points.iter().rev().step_by(step).map(|m| (x.at(m.window_ms), words::window(m.window_ms))).collect();
    plot.x_axis(&mut svg, &marks, "length of the stretch");
    let at = |m: &&GcMmu| (x.at(m.window_ms), y.at(m.utilisation_percent));
    let line: Vec<(f64, f64)> = points.iter().map(at).collect();
    if line.len() > 1 {
        svg.polyline(&line, "s2 ln", "smallest share");
    }
    for (point, at) in points.iter().zip(&line) {
        let share = words::percent(point.utilisation_percent);
        svg.marker(
            0,
            *at,
            3.5,
            "s2 mk",
            &format!("any {}: at least {share} %", words::window(point.window_ms)),
        );
    }
    let words: Vec<String> = points
        .iter()
        .map(|m| format!("{}: {} %", words::window(m.window_ms), words::percent(m.utilisation_percent)))
        .collect();
    Some(svg.finish(id, "Smallest share left to the application", &words.join(". ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::GcDurations;

    #[test]
    fn lengths_fall_into_bars_of_a_tenth_of_a_factor_of_ten() {
        let histogram = vec![(1.0, 2), (1.2, 3), (10.0, 1), (f64::NAN, 9), (0.0, 4)];
        let row = GcRow { name: "x".into(), scope: None, durations: GcDurations::default(), histogram };
        let bars: Vec<(i32, u64)> = bars(&row).into_iter().collect();
        assert_eq!(bars, [(-31, 4), (-1, 2), (0, 3), (9, 1)]);
        assert!((edge(10) - 10.0).abs() < 1e-9);
    }
}
