//! What falls again and again over time, as a saw or, where that is too dense, as a band; and lengths as stems.

use crate::scale::Scale;
use crate::svg::{Svg, points_path};
use std::fmt::Write as _;

/// Falls that are drawn one by one; more are drawn as a band, one column for each unit of width.
const SINGLE_MAX: usize = 90;

/// A fall.
pub struct SawtoothDrop {
    /// When.
    pub at: f64,
    /// Number of the interval of time that it lies in: each has a line of its own.
    pub part: usize,
    /// The value before it.
    pub before: Option<f64>,
    /// The value after it.
    pub after: Option<f64>,
}

/// All of them, in order of time.
pub fn falls(svg: &mut Svg, falls: &[SawtoothDrop], x: &Scale, y: &Scale, look: usize) {
    for part in falls.chunk_by(|a, b| a.part == b.part) {
        if falls.len() <= SINGLE_MAX {
            saw(svg, part, x, y, look);
        } else {
            band(svg, part, x, y, look);
        }
    }
}

/// Before and after of each.
fn saw(svg: &mut Svg, falls: &[SawtoothDrop], x: &Scale, y: &Scale, look: usize) {
    let mut points = Vec::with_capacity(falls.len() * 2);
    for fall in falls {
        points.extend([fall.before, fall.after].iter().flatten().map(|v| (x.at(fall.at), y.at(*v))));
    }
    svg.polyline(&points, &format!("s{look} thin"), "heap in use");
}

/// The span from the lowest after to the highest before in each column.
fn band(svg: &mut Svg, falls: &[SawtoothDrop], x: &Scale, y: &Scale, look: usize) {
    let mut upper: Vec<(f64, f64)> = Vec::new();
    let mut lower: Vec<(f64, f64)> = Vec::new();
    for fall in falls {
        let (Some(before), Some(after)) = (fall.before, fall.after) else { continue };
        let column = (x.at(fall.at) / 2.0).round() * 2.0;
        let (top, bottom) = (y.at(before), y.at(after));
        match (upper.last_mut(), lower.last_mut()) {
            (Some(u), Some(l)) if u.0 == column => (u.1, l.1) = (u.1.min(top), l.1.max(bottom)),
            _ => {
                upper.push((column, top));
                lower.push((column, bottom));
            }
        }
    }
    svg.polyline(&lower, &format!("s{look} thin"), "");
    upper.extend(lower.into_iter().rev());
    svg.path(&format!("{}Z", points_path(&upper)), &format!("s{look} band"), "");
}

/// The longest of each column as a stem from `bottom` up; those that are marked (time, length, whether) have a mark with a
/// tip.
pub fn stems(
    svg: &mut Svg,
    stems: &[(f64, f64, bool)],
    (x, y): (&Scale, &Scale),
    bottom: f64,
    look: usize,
    tip: impl Fn(f64) -> String,
) {
    let mut columns: Vec<(f64, f64, bool)> = Vec::new();
    for (at, length, is_marked) in stems {
        let column = x.at(*at).round();
        match columns.last_mut() {
            Some(last) if last.0 == column => (last.1, last.2) = (last.1.max(*length), last.2 || *is_marked),
            _ => columns.push((column, *length, *is_marked)),
        }
    }
    let mut d = String::new();
    for (column, length, _) in &columns {
        let _ = write!(d, "M{column} {bottom}L{column} {:.1}", y.at(*length));
    }
    svg.path(&d, &format!("s{look} stem"), "");
    for (column, length, _) in columns.iter().filter(|c| c.2) {
        svg.marker(2, (*column, y.at(*length)), 3.0, &format!("s{look} mk"), &tip(*length));
    }
}
