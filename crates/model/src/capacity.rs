//! Capacity of a server inside response-time limits: the stored form of `assay capacity --json`.

use crate::{
    Estimate, LatencyLimit, LimitAttribution, Problem, SearchStep, SessionStartSummary, ValidityCheck, Window,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Capacity of one server, with all windows of load that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityReport {
    /// `assay.capacity/4`
    pub schema: String,
    /// How it was found.
    pub method: CapacityMethod,
    /// What was loaded, in words: the URL with its scenario, or the workload with its JVM.
    pub target: String,
    /// The scenario file, without values of secrets; absent where a URL alone was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The percentile that the limits hold for, 0 to 100.
    pub percentile: f64,
    /// Names of the operations that the limits hold for; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_operations: Vec<String>,
    /// Highest rate that the server sustains; absent when that was not found, and `problems` says why.
    pub max_rate_per_s: Option<Estimate>,
    /// For each limit: upwards, those of single operations behind the others.
    pub limits: Vec<LimitRate>,
    /// Geometric mean of the rates at all limits; absent when one of them is.
    pub critical_rate_per_s: Option<Estimate>,
    /// The rates that were found from below; absent where no windows contradict each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_below: Option<FromBelow>,
    /// The most users of its loads, each with a session of its own; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// How users began their sessions outside of the figures; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_starts: Option<SessionStartSummary>,
    /// Every window of load, in the order of time.
    pub windows: Vec<Window>,
    /// For each limit, why requests took longer.
    pub attribution: Vec<LimitAttribution>,
    /// What was checked before the result was believed.
    pub checks: Vec<ValidityCheck>,
    /// False when a check failed: the figures should not be used. Absent when it is not known whether they may be. `problems` says
    /// why.
    #[serde(default)]
    pub valid: Option<bool>,
    /// What was wrong or could not be read.
    pub problems: Vec<Problem>,
    /// Time that it all took, from the first request on, seconds.
    pub duration_s: f64,
    /// Seed of every random draw.
    pub seed: u64,
}

impl CapacityReport {
    /// Its windows, each with what the search wanted of it.
    pub fn steps(&self) -> impl Iterator<Item = (&Window, &SearchStep)> {
        self.windows.iter().filter_map(|window| Some((window, window.search.as_ref()?)))
    }
}

/// The same load was sustained at one time and missed by far at another: the server's behaviour depends on its history.
/// So the load was raised step by step from a low rate, after a pause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FromBelow {
    /// A rate that was kept, per second.
    pub kept_per_s: f64,
    /// A rate no higher than that, which was missed by far before or after it, per second.
    pub missed_per_s: f64,
    /// Highest rate that was sustained on the way up; absent when none was.
    pub max_rate_per_s: Option<f64>,
    /// For each limit, the highest rate on the way up that kept it.
    pub limits_per_s: Vec<Option<f64>>,
}

/// How a capacity was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityMethod {
    /// Windows at the most informative rates, until the intervals are narrow.
    Search,
    /// Level by level, after the published rules of SPECjbb2015.
    Sweep,
}

/// What the trials of a study search for, fixed before any starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedCapacity {
    /// How it is found.
    pub method: CapacityMethod,
    /// The percentile that the limits hold for, 0 to 100.
    pub percentile: f64,
    /// Limits of the response time, milliseconds, upwards; empty where only single operations have any.
    pub limits_ms: Vec<f64>,
    /// Limits of single operations, milliseconds, upwards, by the operation's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operation_limits_ms: BTreeMap<String, Vec<f64>>,
    /// Names of the operations that the limits hold for; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_operations: Vec<String>,
    /// About the longest time that the windows of one trial take, seconds.
    pub budget_s: f64,
    /// Connections at most.
    pub connections: u32,
    /// Users, where their number is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Requests under way or waiting at most; absent: 10,000, or as many as the connections carry at once where that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_max: Option<u32>,
    /// Threads that make the load together; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Whether windows count in which others used the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count_disturbed: bool,
}

impl PlannedCapacity {
    /// All limits: upwards, those of single operations behind the others.
    pub fn limits(&self) -> Vec<LatencyLimit> {
        let of_all = self.limits_ms.iter().map(|limit_ms| LatencyLimit::of_all(*limit_ms));
        let of_one = |(name, limits_ms): (&String, &Vec<f64>)| {
            let operation = Some(name.clone());
            let of = |limit_ms: &f64| LatencyLimit { limit_ms: *limit_ms, operation: operation.clone() };
            limits_ms.iter().map(of).collect::<Vec<_>>()
        };
        of_all.chain(self.operation_limits_ms.iter().flat_map(of_one)).collect()
    }
}

/// The highest rate that keeps one limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitRate {
    /// The limit, milliseconds.
    pub limit_ms: f64,
    /// The only operation that it holds for; absent: all, or `limited_operations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The rate, per second, of all requests; absent when no rate that was tried keeps the limit, or every one does.
    pub rate_per_s: Option<Estimate>,
    /// Highest rate tried that kept it.
    pub last_success_per_s: Option<f64>,
    /// Lowest rate tried that did not.
    pub first_failure_per_s: Option<f64>,
    /// The limit is kept up to the highest rate that the server sustains, which `rate_per_s` then is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limited_by_max: bool,
}

impl LimitRate {
    /// The limit itself.
    pub fn limit(&self) -> LatencyLimit {
        LatencyLimit { limit_ms: self.limit_ms, operation: self.operation.clone() }
    }
}
