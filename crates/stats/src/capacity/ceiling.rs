//! The highest rate that a server sustains: where the rate of answers leaves the rate that was asked for.
//!
//! Below it ln answered = ln asked; above it answers stay, or fall with what is asked: ln answered = c - fall (ln asked - c). The
//! break c and the fall are unknown, and so is the noise: their posterior, with the noise integrated out (Student's t), stands
//! on a grid. Windows below the break count too: they say that it is not lower.

use super::WindowResult;
use crate::interval::TAIL;
use crate::quantile::median;

/// How steeply answers fall beyond the maximum.
const FALLS: [f64; 12] = [-0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.7, 1.1, 1.8];
const CEILINGS: usize = 81;
const PASSES: usize = 4;
/// Windows beyond so many times the maximum say little about it: answers may fall otherwise there.
const FAR: f64 = 1.4;
/// Noise that no server is below: with it a few equal windows do not look exact.
const NOISE: f64 = 0.004;

/// What is known of the highest sustained rate; as logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ceiling {
    /// Middle of the posterior.
    pub median: f64,
    /// The interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
}

impl Ceiling {
    /// Logarithm and standard error.
    pub(super) fn bound(&self) -> (f64, f64) {
        (self.median, ((self.high - self.low) / 4.0).max(0.002))
    }
}

/// Whether far fewer answers came than requests were sent: more than any pause at the end of a window explains.
pub(super) fn is_overload(window: &WindowResult) -> bool {
    (window.answers as f64) < 0.9 * window.requests as f64
}

/// The posterior; `None` when answers kept up with all that was tried, or with nothing.
pub(super) fn ceiling<'a>(windows: impl Iterator<Item = &'a WindowResult>) -> Option<Ceiling> {
    let answered = |window: &WindowResult| window.answers as f64 / window.window_s;
    let windows: Vec<&WindowResult> = windows.filter(|window| 0 < window.answers).collect();
    let lost: Vec<f64> =
        windows.iter().filter(|window| is_overload(window)).map(|window| answered(window)).collect();
    let mut middle = median(&lost)?.ln();
    let mut found = None;
    for _ in 0..4 {
        let near = |window: &&&WindowResult| (window.rate_per_s.ln() - middle).abs() < FAR.ln();
        let mut chosen: Vec<&WindowResult> = windows.iter().filter(near).copied().collect();
        if chosen.len() < 3 {
            chosen = windows.clone();
        }
        let points: Vec<[f64; 3]> = chosen
            .iter()
            .map(|window| [window.rate_per_s.ln(), answered(window).ln(), window.window_s])
            .collect();
        let ceiling = posterior(&points);
        let moved = (ceiling.median - middle).abs();
        middle = ceiling.median;
        found = Some(ceiling);
        if moved < 0.01 {
            break;
        }
    }
    found
}

/// Points: ln asked, ln answered, length.
fn posterior(points: &[[f64; 3]]) -> Ceiling {
    let ends = points.iter().flat_map(|point| &point[..2]);
    let mut from = ends.clone().copied().fold(f64::INFINITY, f64::min) - 0.1;
    let mut to = ends.copied().fold(f64::NEG_INFINITY, f64::max) + 0.1;
    let mut mass = [0.0; CEILINGS];
    let mut step = 0.0;
    for pass in 0..PASSES {
        step = (to - from) / (CEILINGS - 1) as f64;
        mass = masses(points, from, step);
        if pass + 1 < PASSES {
            let first = mass.iter().position(|part| 1e-5 < *part).unwrap_or(0);
            let last = mass.iter().rposition(|part| 1e-5 < *part).unwrap_or(CEILINGS - 1);
            (from, to) = (from + step * (first as f64 - 1.0), from + step * (last as f64 + 1.0));
        }
    }
    let quantile = |p: f64| {
        let mut below = 0.0;
        for (index, part) in mass.iter().enumerate() {
            if p <= below + part {
                return from + (index as f64 + (p - below) / part - 0.5) * step;
            }
            below += part;
        }
        to
    };
    let middle = quantile(0.5);
    Ceiling { median: middle, low: quantile(TAIL).min(middle), high: quantile(1.0 - TAIL).max(middle) }
}

fn masses(points: &[[f64; 3]], from: f64, step: f64) -> [f64; CEILINGS] {
    let mean_length = points.iter().map(|point| point[2]).sum::<f64>() / points.len() as f64;
    let degrees = points.len() as f64;
    let mut ln_mass = [[0.0; FALLS.len()]; CEILINGS];
    for (index, row) in ln_mass.iter_mut().enumerate() {
        let ceiling = from + index as f64 * step;
        for (fall, cell) in FALLS.iter().zip(row) {
            let residual = |[asked, answered, length]: &[f64; 3]| {
                let expected = asked.min(ceiling - fall * (asked - ceiling));
                (answered - expected).powi(2) * length / mean_length
            };
            let squares = points.iter().map(residual).sum::<f64>() + 2.0 * NOISE * NOISE;
            *cell = -0.5 * degrees * squares.ln();
        }
    }
    let highest = ln_mass.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut mass = ln_mass.map(|row| row.iter().map(|value| (value - highest).exp()).sum::<f64>());
    let sum: f64 = mass.iter().sum();
    mass.iter_mut().for_each(|part| *part /= sum);
    mass
}
