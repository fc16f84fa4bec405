//! What the load generator reports of one stretch of load: the stored form of `assay load --json`.

use crate::{LatencySummary, Problem};
use serde::{Deserialize, Serialize};

/// Result of one stretch of load. Response time counts from the intended start, service time from the send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadResult {
    /// `assay.load/1`
    pub schema: String,
    /// Requests whose intended start lay in the stretch, failed ones included.
    pub requests: u64,
    /// Of these: refused, broken, over the bound, timed out or answered wrongly.
    pub errors: u64,
    /// The rate that was asked for, requests per second; absent in closed loop.
    pub asked_rate_per_s: Option<f64>,
    /// Requests answered per second of the stretch.
    pub reached_rate_per_s: f64,
    /// Response time percentiles.
    pub response_ms: LatencySummary,
    /// Service time percentiles.
    pub service_ms: LatencySummary,
    /// How late the generator itself was: from the moment a request could be sent to the send.
    pub send_lag_ms: LatencySummary,
    /// CPU time that the generator used, as a share of one core, 0 to 1 and more.
    pub generator_cpu_share: Option<f64>,
    /// Asked and measured mix, by operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationCount>,
    /// Seed of every random draw.
    pub seed: u64,
    /// False when the figures should not be used; `problems` says why.
    pub valid: bool,
    /// What was wrong, with samples of wrong answers.
    pub problems: Vec<Problem>,
}

/// How often an operation ran, beside how often it was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationCount {
    /// Name in the scenario.
    pub name: String,
    /// Share asked for, 0 to 1.
    pub asked_share: f64,
    /// Requests of this operation.
    pub requests: u64,
    /// Of these, failed ones.
    pub errors: u64,
}
