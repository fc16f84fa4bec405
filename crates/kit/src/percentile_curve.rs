//! Curves of times by percentile, on an axis that gives each further nine the same room.

use crate::curves::{self, Curve, Frame};
use crate::number::significant;
use crate::scale::Scale;

/// Beyond this many nines a run of minutes has too few requests to say anything.
const NINES_MAX: f64 = 6.0;
/// Points of a curve that are drawn.
const POINTS_MAX: usize = 120;
/// Percentiles with a tick and a mark.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// A curve by percentile.
pub struct PercentileCurve {
    /// Its name.
    pub label: String,
    /// Number of its colour, marker and dash.
    pub look: usize,
    /// Percentile, from 0 to 100, and time in ms; upwards.
    points: Vec<(f64, f64)>,
}

impl PercentileCurve {
    /// A curve of the points that can be drawn on these axes, thinned; absent where none can.
    pub fn new(label: &str, look: usize, points: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let is_drawable = |(percentile, ms): &(f64, f64)| {
            *ms > 0.0
                && ms.is_finite()
                && (0.0..100.0).contains(percentile)
                && nines(*percentile) <= NINES_MAX
        };
        let all: Vec<(f64, f64)> = points.filter(is_drawable).collect();
        let step = all.len().div_ceil(POINTS_MAX).max(1);
        let last = all.len().saturating_sub(1);
        let thinned = all.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last);
        let points: Vec<(f64, f64)> = thinned.map(|(_, point)| *point).collect();
        (!points.is_empty()).then(|| PercentileCurve { label: label.to_owned(), look, points })
    }

    fn curve(&self) -> Curve {
        let mark = |percentile: f64| {
            let ms = at(self.points.iter().copied(), percentile)?;
            let tip = format!("{}: {} % within {} ms", self.label, percentile, significant(ms));
            Some((nines(percentile), ms, tip))
        };
        let last_ms = self.points.last().map_or(0.0, |(_, ms)| *ms);
        Curve {
            label: self.label.clone(),
            look: self.look,
            points: self.points.iter().map(|(percentile, ms)| (nines(*percentile), *ms)).collect(),
            marks: PERCENTILES.into_iter().filter_map(mark).collect(),
            radius: 3.5,
            words: format!("{}: up to {} ms", self.label, significant(last_ms)),
        }
    }
}

/// The picture, with so much room for names at the right.
pub fn draw(
    curves: &[PercentileCurve],
    (width, names_width): (f64, f64),
    (id, title): (&str, &str),
) -> String {
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let end = all().map(|(percentile, _)| nines(*percentile)).fold(1.0, f64::max);
    let drawn: Vec<Curve> = curves.iter().map(PercentileCurve::curve).collect();
    let frame = Frame {
        left: 48.0,
        bottom: 280.0,
        width,
        names_width,
        end,
        title: "percentile of requests (%)",
        y_title: "response time (ms)",
        times: all().map(|(_, ms)| *ms).collect(),
        limits: &[],
    };
    let ticks = |x: &Scale| {
        let within = PERCENTILES.iter().filter(|p| nines(**p) <= end + 0.01);
        within.map(|p| (x.at(nines(*p)), format!("{p}"))).collect()
    };
    curves::draw(&frame, ticks, &drawn, (id, title))
}

/// The time of the first of these points that reaches a percentile.
pub fn at(mut points: impl Iterator<Item = (f64, f64)>, percentile: f64) -> Option<f64> {
    points.find(|(of, _)| *of >= percentile - 1e-9).map(|(_, ms)| ms)
}

/// Number of nines: 90 % is 1, 99 % is 2.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).log10()
}
