//! The smallest share that was left in any interval of time, over the length of the interval on a logarithmic axis.

use crate::axes::Plot;
use crate::scale::Scale;
use crate::svg::Svg;

/// A point of the curve.
pub struct Point {
    /// Length of the interval; positive and finite.
    pub at: f64,
    /// The share, percent.
    pub percent: f64,
    /// The length in words.
    pub name: String,
    /// The share in words, without its sign.
    pub text: String,
}

/// The drawing in the width given; absent without a point.
pub fn draw(points: &[Point], width: f64, (id, title): (&str, &str)) -> Option<String> {
    let (first, last) = (points.first()?, points.last()?);
    let plot = Plot { left: 52.0, right: width - 30.0, top: 30.0, bottom: 210.0 };
    let mut svg = Svg::new(width, plot.bottom + 42.0);
    let x = Scale::logarithmic((first.at, last.at), (plot.left, plot.right));
    let y = Scale::linear((0.0, 100.0), (plot.bottom, plot.top));
    plot.y_axis(&mut svg, &y, &[0.0, 25.0, 50.0, 75.0, 100.0], "not stopped for the collector (%)");
    let step = points.len().div_ceil(if width < 600.0 { 5 } else { 12 });
    let marks: Vec<(f64, String)> =
        points.iter().rev().step_by(step).map(|p| (x.at(p.at), p.name.clone())).collect();
    plot.x_axis(&mut svg, &marks, "length of the window");
    let line: Vec<(f64, f64)> = points.iter().map(|p| (x.at(p.at), y.at(p.percent))).collect();
    if line.len() > 1 {
        svg.polyline(&line, "s2 ln", "smallest share");
    }
    for (point, at) in points.iter().zip(&line) {
        svg.marker(0, *at, 3.5, "s2 mk", &format!("any {}: at least {} %", point.name, point.text));
    }
    let words: Vec<String> = points.iter().map(|p| format!("{}: {} %", p.name, p.text)).collect();
    Some(svg.finish(id, title, &words.join(". ")))
}
