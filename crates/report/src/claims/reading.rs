//! What a stated change means as a ratio, new by old, and how far rounding lets it be off.

use super::grammar::{Stated, Turn};
use assay_model::Better;

/// Share of a rough figure that it may be off: "about 30 %" is right for 27 to 33.
const ROUGH_SHARE: f64 = 0.1;
/// Rounding of the arithmetic itself.
const EPSILON: f64 = 1e-9;

/// One way to understand a claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// New by old.
    pub ratio: f64,
    /// What is written as this claim: half of one in the last digit to both sides.
    pub exact: (f64, f64),
    /// One in the last digit to both sides, or more where the claim is a rough one.
    pub wide: (f64, f64),
}

impl Reading {
    fn of(stated: &Stated, ratio: impl Fn(f64) -> f64) -> Self {
        let (value, step) = (stated.quantity.value, stated.quantity.step);
        let rough = if stated.is_rough { ROUGH_SHARE * value } else { 0.0 };
        let range = |off: f64| {
            // No factor goes below nothing, however rough it is.
            let (a, b) = (ratio((value - off).max(value / 100.0)), ratio(value + off));
            (a.min(b) - EPSILON, a.max(b) + EPSILON)
        };
        Reading { ratio: ratio(value), exact: range(step / 2.0), wide: range(step.max(rough)) }
    }
}

/// Whether a value lies in a range.
pub fn holds((low, high): (f64, f64), value: f64) -> bool {
    low <= value && value <= high
}

/// Every way to understand a claim; one, unless its words leave open which way a change goes. `better` is the direction of what
/// it is about, where that is known.
pub fn readings(stated: &Stated, better: Option<Better>) -> Vec<Reading> {
    let is_factor = stated.quantity.is_factor;
    let up = Reading::of(stated, |v| if is_factor { v } else { 1.0 + v / 100.0 });
    let down = Reading::of(stated, |v| if is_factor { 1.0 / v } else { 1.0 - v / 100.0 });
    // A third faster may be a rate of 1.33, or the time of that rate.
    let shorter = Reading::of(stated, |v| if is_factor { 1.0 / v } else { 1.0 / (1.0 + v / 100.0) });
    let all = match (stated.turn, better) {
        (Turn::Up | Turn::Factor, _) => vec![up],
        (Turn::Down, _) => vec![down],
        (Turn::Better, Some(Better::Higher)) | (Turn::Worse, Some(Better::Lower)) => vec![up],
        (Turn::Better, Some(Better::Lower)) | (Turn::Worse, Some(Better::Higher)) => vec![down],
        (Turn::Better | Turn::Worse, None) => vec![up, down],
        (Turn::Faster, Some(Better::Higher)) | (Turn::Slower, Some(Better::Lower)) => vec![up],
        (Turn::Faster, Some(Better::Lower)) | (Turn::Slower, Some(Better::Higher)) => vec![down, shorter],
        (Turn::Faster | Turn::Slower, None) => vec![up, down, shorter],
    };
    all.into_iter().filter(|r| r.ratio.is_finite() && r.ratio > 0.0).collect()
}
