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
