//! A stretch of load that was measured: the one form in which trials and searches for a capacity store their windows.

use crate::closed::closed;
use crate::{
    Disturbance, FaultRecord, LatencySummary, LimitAttribution, Metric, OperationCount, Problem,
    ValidityCheck, WindowStacks, metric,
};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One measured stretch of load. A trial's window of a search is all windows of load on the way to the capacity; that of a benchmark
/// program is its whole launch, without requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Block, from 1: windows of the same block are compared with each other. 0 where it is not known: of a search that an earlier
    /// version stored.
    pub block: u32,
    /// 1 for the first try, 2 for the first repeat after a disturbance, ...; 0 where it is not known.
    pub attempt: u32,
    /// Start on `CLOCK_MONOTONIC`.
    pub start_monotonic_ns: u64,
    /// End on `CLOCK_MONOTONIC`.
    pub end_monotonic_ns: u64,
    /// Requests whose intended start lies in it.
    pub requests: u64,
    /// Right answers that came in it, whenever their requests were to start.
    pub completed: u64,
    /// Of the requests, failed ones.
    pub errors: u64,
    /// Value by metric identifier ([`crate::METRICS`], [`crate::PER_BENCHMARK`]); a metric that could not be measured is not there, and
    /// `problems` says why.
    pub metrics: BTreeMap<String, f64>,
    /// Response time, from the intended start.
    pub response_ms: LatencySummary,
    /// Service time, from the send.
    pub service_ms: LatencySummary,
    /// Lateness of the generator.
    pub send_lag_ms: LatencySummary,
    /// CPU time of the generator as a share of one core.
    #[serde(default)]
    pub generator_cpu_share: Option<f64>,
    /// Asked and measured mix.
    pub operations: Vec<OperationCount>,
    /// Why it is left out of the comparisons that this spoils, and of a search; empty when it counts for all.
    pub disturbances: Vec<Disturbance>,
    /// How fast the machine was just before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineSpeed>,
    /// Validity checks and their results. A failed check that is not also a disturbance is a property of the server, such as lost
    /// responses: the window still counts and is marked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<ValidityCheck>,
    /// What was done to processes in it because the study asks for it. Failed requests and long response times are to be expected then,
    /// so errors, another mix and another process of the server leave nothing out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRecord>,
    /// Why its slowest requests took long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<LimitAttribution>,
    /// What its server's threads ran; absent where it was not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacks: Option<WindowStacks>,
    /// What the search wanted of it; absent for a window of one load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchStep>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// What a search for a capacity wanted of a window, and how its limits fared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    /// What it was for.
    pub step: CapacityStep,
    /// Time without load before it and its settling, seconds.
    #[serde(default)]
    #[serde(alias = "rest_s")]
    pub cool_down_s: f64,
    /// Time at the same rate before it, seconds.
    pub settle_s: f64,
    /// Offered rate, per second.
    #[serde(alias = "asked_rate_per_s")]
    pub offered_rate_per_s: f64,
    /// Requests that started, per second.
    pub sent_rate_per_s: f64,
    /// Of the requests, for each limit: those that took longer or failed.
    pub misses: Vec<u64>,
    /// Shortest response time, milliseconds; absent, too, where requests were never sent since too many were in flight.
    pub response_ms_min: Option<f64>,
    /// 90th percentile of the response time, milliseconds.
    pub response_ms_p90: Option<f64>,
    /// The percentile that the limits hold for, of the operations that they hold for, milliseconds.
    pub limited_ms: Option<f64>,
    /// Whether answers kept up with requests.
    pub is_sustained: bool,
}

/// How fast a machine was: what steps of work that is always the same took, mean over several readings and over the processors.
/// Longer is slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineSpeed {
    /// A step of arithmetic, CPU time in nanoseconds: one operation on each of eight chains side by side. Absent in what earlier
    /// versions stored: their `compute_ns` was of one chain or of eight, and does not tell which.
    #[serde(default)]
    pub arithmetic_ns: Option<f64>,
    /// A read from memory at a place that the read before tells, CPU time in nanoseconds.
    pub memory_ns: f64,
}

closed! {
    /// What a window of load on the way to a capacity was for.
    CapacityStep {
        /// Between which rates the answer lies.
        Bracket = "bracket",
        /// Where it says most about the answer.
        Refine = "refine",
        /// At the answer: does it hold?
        Confirm = "confirm",
        /// Beyond what the server answers: how much comes back.
        Overload = "overload",
        /// On the way up from a low rate, after a rest: what does the server do that was not overloaded?
        Climb = "climb",
        /// A level of a sweep.
        Level = "level",
    }
}

impl Window {
    /// Its length, seconds.
    pub fn seconds(&self) -> f64 {
        self.end_monotonic_ns.saturating_sub(self.start_monotonic_ns) as f64 / 1e9
    }

    /// Right answers, per second; 0 for a window of no length.
    pub fn achieved_rate_per_s(&self) -> f64 {
        if self.end_monotonic_ns > self.start_monotonic_ns {
            self.completed as f64 / self.seconds()
        } else {
            0.0
        }
    }

    /// Whether it is used in every comparison, and in a search; a disturbed one may still count for bytes.
    pub fn counts(&self) -> bool {
        self.disturbances.is_empty()
    }

    /// Whether this window's value of the metric may be used.
    pub fn counts_for(&self, metric: &Metric) -> bool {
        !self.disturbances.iter().any(|d| d.spoils(metric))
    }

    /// Why it does not count, in words; empty when it does.
    pub fn left_out(&self) -> Vec<String> {
        self.disturbances.iter().map(|d| d.evidence.clone()).collect()
    }

    /// Checks that failed and disturb nothing: it counts, but this is to be known.
    pub fn marks(&self) -> impl Iterator<Item = &ValidityCheck> {
        let disturbs = |check: &ValidityCheck| self.disturbances.iter().any(|d| d.kind == check.check);
        self.checks.iter().filter(move |check| check.passed == Some(false) && !disturbs(check))
    }
}

/// Reads windows as this version or an earlier one stored them.
///
/// # Errors
/// Those of the deserializer.
pub(crate) fn of_any_version<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Window>, D::Error> {
    let stored = Vec::<Map<String, Value>>::deserialize(from)?;
    let windows = stored.into_iter().map(|window| {
        let window = match (window.contains_key("completed"), window.contains_key("step")) {
            (true, _) => Value::Object(window),
            (false, true) => of_first_searches(&Value::Object(window)),
            (false, false) => of_first_trials(window),
        };
        serde_json::from_value(window).map_err(D::Error::custom)
    });
    windows.collect()
}

/// A window before `assay.trial/3`: its `requests` were the right answers. Those that were to start in it are the operations', with
/// failed ones that became none; a search had none, and counted alike.
fn of_first_trials(mut window: Map<String, Value>) -> Value {
    let count = |of: &Value, key: &str| of[key].as_u64().unwrap_or(0);
    let Some(completed) = window.get("requests").cloned() else { return Value::Object(window) };
    let right = match window.get("operations").and_then(Value::as_array) {
        Some(all) if !all.is_empty() => {
            all.iter().map(|o| count(o, "requests").saturating_sub(count(o, "errors"))).sum()
        }
        _ => completed.as_u64().unwrap_or(0),
    };
    let errors = window.get("errors").and_then(Value::as_u64).unwrap_or(0);
    window.insert("requests".to_owned(), json!(right + errors));
    window.insert("completed".to_owned(), completed);
    Value::Object(window)
}

/// A window of a search before `assay.capacity/3`, which had a form of its own. What disturbed it was told to people alone.
fn of_first_searches(window: &Value) -> Value {
    let (start_ns, window_s) = (window["start_monotonic_ns"].as_u64(), window["window_s"].as_f64());
    let end_ns =
        start_ns.zip(window_s).map(|(start_ns, s)| start_ns.saturating_add((1e9 * s).round() as u64));
    let completed =
        window["reached_rate_per_s"].as_f64().zip(window_s).map(|(rate, s)| (rate * s).round() as u64);
    let metrics: Map<String, Value> = [
        (metric::THROUGHPUT_PER_S, &window["reached_rate_per_s"]),
        (metric::RESPONSE_P50_MS, &window["response_ms"]["p50"]),
        (metric::RESPONSE_P99_MS, &window["response_ms"]["p99"]),
        (metric::CPU_MS_PER_REQUEST, &window["server_cpu_ms"]),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_null())
    .map(|(id, value)| (id.to_owned(), value.clone()))
    .collect();
    let why = window["left_out"].as_array().into_iter().flatten();
    json!({
        "block": 0,
        "attempt": 0,
        "start_monotonic_ns": start_ns,
        "end_monotonic_ns": end_ns,
        "requests": window["requests"],
        "completed": completed,
        "errors": window["errors"],
        "metrics": metrics,
        "response_ms": window["response_ms"],
        "service_ms": {},
        "send_lag_ms": { "p99": window["send_lag_ms_p99"] },
        "generator_cpu_share": window["generator_cpu_share"],
        "operations": [],
        "disturbances": why.map(|why| json!({ "kind": "other", "evidence": why })).collect::<Vec<Value>>(),
        "machine": window["machine"],
        "search": window,
        "problems": [],
    })
}
