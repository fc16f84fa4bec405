//! How long pauses took: a histogram for each kind on one logarithmic axis, sums by cause, and what was left to the application.

use super::words;
use assay_kit::axes::Plot;
use assay_kit::bar_list::{self, Bar};
use assay_kit::histogram::{self, Lengths};
use assay_kit::number::count;
use assay_kit::scale::Scale;
use assay_kit::svg::Svg;
use assay_model::{GcMmu, GcRow};

/// Kinds that are drawn; the table has all.
pub const KINDS_DRAWN: usize = 6;
const CAUSES_DRAWN: usize = 8;

/// A panel for each kind: its name and the drawing.
pub fn histograms(rows: &[GcRow]) -> Vec<(String, String)> {
    let lengths = |row: &GcRow| {
        let of = &row.durations;
        let part =
            |name: &str, v: Option<f64>| v.map_or_else(String::new, |v| format!(", {name} {}", words::ms(v)));
        let words = format!("{}{}{}", count(of.count), part("median", of.p50_ms), part("longest", of.max_ms));
        Lengths { name: row.name.clone(), numbers: row.histogram.clone(), words }
    };
    histogram::panels(rows.iter().map(lengths), KINDS_DRAWN)
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
