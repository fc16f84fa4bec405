//! Latency in the forms that are stored: a few percentiles, and a curve for the picture.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The percentiles that every result gives, in milliseconds; absent when nothing was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p99_9: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
}

/// One point of a percentile curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyPoint {
    /// Share of the requests, from 0 to 100.
    pub percentile: f64,
    /// That share of the requests took at most this long, milliseconds.
    pub ms: f64,
}

/// Points of a percentile curve: `CURVE_POINTS` from 0 to 99.999 %, equally far apart in the number of nines.
const CURVE_POINTS: u32 = 60;
const CURVE_NINES: f64 = 5.0;

impl LatencyPoint {
    /// The percentile curve of so many requests, as far as their number carries: a percentile that less than one request lies above is
    /// left out. `ms_at` gives the response time at a quantile from 0 to 1.
    pub fn curve(requests: u64, ms_at: impl Fn(f64) -> f64) -> Vec<LatencyPoint> {
        (0..CURVE_POINTS)
            .map(|point| 10_f64.powf(-CURVE_NINES * f64::from(point) / f64::from(CURVE_POINTS - 1)))
            .take_while(|above| above * requests as f64 >= 1.0)
            .map(|above| LatencyPoint { percentile: 100.0 * (1.0 - above), ms: ms_at(1.0 - above) })
            .collect()
    }
}
