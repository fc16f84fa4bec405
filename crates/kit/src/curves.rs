//! Curves of response times on a logarithmic axis, named at their right ends, over limits as broken lines.

use crate::axes::{EndLabel, Plot};
use crate::number::tick;
use crate::scale::Scale;
use crate::svg::{Anchor, Svg};

/// Room of a name above and below its base line.
const ABOVE_BASE: f64 = 11.0;
const BELOW_BASE: f64 = 3.0;

/// A curve.
pub struct Curve {
    /// Its name.
    pub label: String,
    /// Number of its colour, marker and dash.
    pub look: usize,
    /// Its points: where, and the time in ms. A single one does not make a line.
    pub points: Vec<(f64, f64)>,
    /// Marks: where, the time in ms, and what a pointer shows.
    pub marks: Vec<(f64, f64, String)>,
    /// Radius of its marks.
    pub radius: f64,
    /// What it says for those who do not see it.
    pub words: String,
}

/// The frame of curves.
pub struct Frame<'a> {
    /// Left edge of the rectangle.
    pub left: f64,
    /// Its lower edge.
    pub bottom: f64,
    /// Width of the picture.
    pub width: f64,
    /// Room for names at the right.
    pub names_width: f64,
    /// Where the lower axis, which starts at zero, ends.
    pub end: f64,
    /// What the lower axis shows.
    pub title: &'a str,
    /// What the left one shows.
    pub y_title: &'a str,
    /// Times that are drawn, ms.
    pub times: Vec<f64>,
    /// Limits of the time, ms.
    pub limits: &'a [f64],
}

/// The picture; `ticks` places the labels of the lower axis.
pub fn draw(
    frame: &Frame,
    ticks: impl Fn(&Scale) -> Vec<(f64, String)>,
    curves: &[Curve],
    (id, title): (&str, &str),
) -> String {
    let right = frame.width - frame.names_width.max(18.0);
    let plot = Plot { left: frame.left, right, top: 32.0, bottom: frame.bottom };
    let mut svg = Svg::new(frame.width, frame.bottom + 44.0);
    let (y, lines) = plot.y_logarithmic_with_ticks(&mut svg, frame.times.iter().copied(), frame.y_title);
    let x = Scale::linear((0.0, frame.end), (plot.left, plot.right));
    plot.x_axis(&mut svg, &ticks(&x), frame.title);
    let grid: Vec<f64> = lines.into_iter().map(|ms| y.at(ms)).collect();
    draw_limits(&mut svg, frame.limits, &plot, &y, &grid);
    let mut names = Vec::new();
    for curve in curves {
        let look = curve.look;
        let path: Vec<(f64, f64)> = curve.points.iter().map(|(at, ms)| (x.at(*at), y.at(*ms))).collect();
        if path.len() > 1 {
            svg.polyline(&path, &format!("s{look} ln d{look}"), &curve.label);
        }
        for (at, ms, tip) in &curve.marks {
            svg.marker(look, (x.at(*at), y.at(*ms)), curve.radius, &format!("s{look} mk"), tip);
        }
        if let Some(at) = path.last() {
            names.push(EndLabel { at: *at, look, label: curve.label.clone() });
        }
    }
    plot.end_labels(&mut svg, &names, frame.names_width);
    let words: Vec<&str> = curves.iter().map(|c| &*c.words).collect();
    svg.finish(id, title, &words.join(". "))
}

/// Each limit as a line with its name, where names have room: on it, or below it where a line of the grid would go through the name.
fn draw_limits(svg: &mut Svg, limits: &[f64], plot: &Plot, y: &Scale, grid: &[f64]) {
    let is_crossed =
        |base: f64| grid.iter().any(|line| (base - ABOVE_BASE..base + BELOW_BASE).contains(line));
    let mut last = f64::INFINITY;
    for limit_ms in limits {
        let at = y.at(*limit_ms);
        svg.line((plot.left, at), (plot.right, at), "step");
        let (on, below) = (at - 4.0, at + 13.0);
        let base = if is_crossed(on) && !is_crossed(below) { below } else { on };
        if last - base >= 15.0 {
            svg.text((plot.left + 4.0, base), Anchor::Start, "lab", &format!("{} ms", tick(*limit_ms)));
            last = base;
        }
    }
}
