//! A number with its uncertainty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value and its 95 % confidence interval, in the unit that the key holding it names.
///
/// `low` and `high` are absent when the data do not allow an interval (one block only); the value then stands
/// alone and the report says so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The point estimate.
    pub estimate: f64,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval.
    pub high: Option<f64>,
}

impl Estimate {
    /// How sure the intervals are, in per cent: what `assay_stats` computes them for, and what texts say of them.
    pub const CONFIDENCE_PERCENT: f64 = 95.0;

    /// A value without error, such as a count: both ends of its interval are the value.
    pub fn exact(value: f64) -> Estimate {
        Estimate { estimate: value, low: Some(value), high: Some(value) }
    }

    /// Both ends of the interval; absent where there is none.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}
