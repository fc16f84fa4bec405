//! Layers stacked over an axis, and the fills that tell them apart.

use crate::scale::{Scale, runs};
use crate::svg::{Svg, points_path};

/// Class of a fill: `f0`, `f1`, ... of `web/report.css`, a colour and a pattern each.
pub fn fill_class(look: usize) -> String {
    format!("f{look} area")
}

/// One layer.
pub struct Layer {
    /// Its look, for [`fill_class`].
    pub look: usize,
    /// Its name.
    pub title: &'static str,
    /// Its height at each of the positions; a layer that is 0 everywhere is not drawn.
    pub heights: Vec<f64>,
}

/// Layers stacked over positions on the `x` scale, the first at the bottom; broken where nothing is known for long.
pub fn stack(svg: &mut Svg, positions: &[f64], layers: &[Layer], x: &Scale, y: &Scale) {
    let mut below = vec![0.0; positions.len()];
    for layer in layers {
        let above: Vec<f64> = layer.heights.iter().zip(&below).map(|(height, b)| b + height).collect();
        if above == below {
            continue;
        }
        for run in runs(positions) {
            let edge = |values: &[f64]| -> Vec<(f64, f64)> {
                run.clone().map(|i| (x.at(positions[i]), y.at(values[i]))).collect()
            };
            let mut outline = edge(&above);
            outline.extend(edge(&below).into_iter().rev());
            svg.path(&format!("{}Z", points_path(&outline)), &fill_class(layer.look), layer.title);
        }
        below = above;
    }
}

/// Numbers for `count_max` things spread over a list of `len`: every `step`-th, and the last.
pub fn thinned(len: usize, count_max: usize) -> impl Iterator<Item = usize> {
    let step = len.div_ceil(count_max.max(1)).max(1);
    (0..len).filter(move |i| i % step == 0 || i + 1 == len)
}
