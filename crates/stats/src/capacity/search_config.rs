//! Settings of a search.

use assay_model::LatencyLimit;

/// What is searched for, and how long that may take.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchConfig {
    /// Limits of the response time.
    pub limits: Vec<LatencyLimit>,
    /// Share of requests that may take longer: 0.01 for the 99th percentile.
    pub miss_share: f64,
    /// Where to begin, per second.
    pub first_rate_per_s: f64,
    /// Shortest window, seconds.
    pub window_s_min: f64,
    /// Longest window, seconds: for low rates, and where requests beyond a limit come in large clumps.
    pub window_s_max: f64,
    /// Time in all, seconds.
    pub budget_s: f64,
    /// Half of an interval's width, as a share of the rate, at which a rate is known well enough.
    pub half_width_share: f64,
}

impl SearchConfig {
    /// p99 at 10, 25, 50, 75 and 100 ms, within 5 % in five minutes.
    pub fn new(first_rate_per_s: f64) -> Self {
        SearchConfig {
            limits: [10.0, 25.0, 50.0, 75.0, 100.0].map(LatencyLimit::of_all).to_vec(),
            miss_share: 0.01,
            first_rate_per_s,
            window_s_min: 4.0,
            window_s_max: 12.0,
            budget_s: 300.0,
            half_width_share: 0.05,
        }
    }
}
