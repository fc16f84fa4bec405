//! How areas look, and the two marks that several charts make of them: a key, and a stack over time.

use super::axes::Plot;
use crate::scale::Scale;
use crate::svg::{Svg, points_path};
use assay_model::{Area, AreaBytes};
use std::fmt::Write as _;

/// Every area in the order of stacks. Its index is its look: class `f0`, `f1`, ... of `web/report.css`, a colour and a
/// pattern. The order is that of the model, so an area looks the same in every picture and every report.
pub const AREAS: [Area; Area::ALL.len()] = Area::ALL;

/// Class of an area's fill.
pub fn class(area: Area) -> String {
    let look = AREAS.iter().position(|a| *a == area).unwrap_or(AREAS.len() - 1);
    format!("f{look} area")
}

/// Key of the areas that occur: colour and pattern.
pub fn key(occurs: impl Fn(Area) -> bool) -> String {
    let mut out = String::from("<ul class=\"key\">");
    for area in AREAS.into_iter().filter(|a| occurs(*a)) {
        let _ = write!(
            out,
            "<li><svg aria-hidden=\"true\" width=\"16\" height=\"12\" viewBox=\"0 0 16 12\">\
             <path class=\"{}\" d=\"M0 0H16V12H0Z\"/></svg>{}</li>",
            class(area),
            area.title()
        );
    }
    out + "</ul>"
}

/// Resident bytes of an area in one look; zero only if other areas of the same scan are there, since an area that was
/// not seen is not listed.
pub fn bytes_of(areas: &[AreaBytes], area: Area) -> f64 {
    areas.iter().filter(|a| a.area == area).map(|a| a.resident_bytes as f64).sum()
}

/// Areas stacked over time: `looks` are positions on the `x` scale with the areas seen there.
pub fn stack(svg: &mut Svg, looks: &[(f64, &[AreaBytes])], x: &Scale, y: &Scale, divisor: f64) {
    let mut below = vec![0.0; looks.len()];
    for area in AREAS {
        let above: Vec<f64> =
            looks.iter().zip(&below).map(|((_, areas), b)| b + bytes_of(areas, area) / divisor).collect();
        if above == below {
            continue;
        }
        let edge = |values: &[f64]| -> Vec<(f64, f64)> {
            looks.iter().zip(values).map(|((at, _), v)| (x.at(*at), y.at(*v))).collect()
        };
        let mut outline = edge(&above);
        outline.extend(edge(&below).into_iter().rev());
        svg.path(&format!("{}Z", points_path(&outline)), &class(area), area.title());
        below = above;
    }
}

/// Numbers for `count` things spread over a list of `len`: every `step`-th, and the last.
pub fn thinned(len: usize, count_max: usize) -> impl Iterator<Item = usize> {
    let step = len.div_ceil(count_max.max(1)).max(1);
    (0..len).filter(move |i| i % step == 0 || i + 1 == len)
}

/// A plot of this size with room for axes.
pub const fn plot(width: f64, height: f64) -> Plot {
    Plot { left: 52.0, right: width - 8.0, top: 22.0, bottom: height - 42.0 }
}
