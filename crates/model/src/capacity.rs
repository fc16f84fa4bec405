//! Capacity of a server inside response-time limits: the stored form of `assay capacity --json`.

use crate::closed::closed;
use crate::{Estimate, LatencySummary, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Capacity of one server, with all windows of load that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityReport {
    /// `assay.capacity/2`
    pub schema: String,
    /// How it was found.
    pub method: CapacityMethod,
    /// What was loaded, in words: the URL with its scenario, or the workload with its JVM.
    pub target: String,
    /// The percentile that the limits hold for, 0 to 100.
    pub percentile: f64,
    /// Names of the operations that the limits hold for; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_operations: Vec<String>,
    /// Highest rate that the server sustains; absent when that was not found, and `problems` says why.
    pub max_rate_per_s: Option<Estimate>,
    /// For each limit, upwards.
    pub limits: Vec<LimitRate>,
    /// Geometric mean of the rates at all limits; absent when one of them is.
    pub critical_rate_per_s: Option<Estimate>,
    /// Every window of load, in the order of time.
    pub windows: Vec<CapacityWindow>,
    /// For each limit, why requests took longer.
    pub blame: Vec<LimitBlame>,
    /// What was checked before the result was believed.
    pub checks: Vec<ValidityCheck>,
    /// False when a check failed: the figures should not be used, and `problems` says why.
    pub valid: bool,
    /// What was wrong or could not be read.
    pub problems: Vec<Problem>,
    /// Time that it all took, from the first request on, seconds.
    pub duration_s: f64,
    /// Seed of every random draw.
    pub seed: u64,
}

/// How a capacity was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityMethod {
    /// Windows where they tell most, until the intervals are narrow.
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
    /// Limits of the response time, milliseconds, upwards.
    pub limits_ms: Vec<f64>,
    /// Names of the operations that the limits hold for; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_operations: Vec<String>,
    /// About the longest time that the windows of one trial take, seconds.
    pub budget_s: f64,
    /// Connections at most.
    pub connections: u32,
    /// Requests under way or waiting at most.
    pub in_flight_max: u32,
}

/// The highest rate that keeps one limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitRate {
    /// The limit, milliseconds.
    pub limit_ms: f64,
    /// The rate, per second; absent when no rate that was tried keeps the limit, or every one does.
    pub rate_per_s: Option<Estimate>,
    /// Highest rate tried that kept it.
    pub last_success_per_s: Option<f64>,
    /// Lowest rate tried that did not.
    pub first_failure_per_s: Option<f64>,
}

/// One window of load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityWindow {
    /// What it was for.
    pub step: CapacityStep,
    /// Start, `CLOCK_MONOTONIC`.
    pub start_monotonic_ns: u64,
    /// Time without load before it and its settling, seconds.
    #[serde(default)]
    pub rest_s: f64,
    /// Time at the same rate before it, seconds.
    pub settle_s: f64,
    /// Its length, seconds.
    pub window_s: f64,
    /// Rate that was asked for, per second.
    pub asked_rate_per_s: f64,
    /// Requests that started, per second.
    pub sent_rate_per_s: f64,
    /// Right answers, per second.
    pub reached_rate_per_s: f64,
    /// Requests whose intended start lies in it.
    pub requests: u64,
    /// Of these, failed ones.
    pub errors: u64,
    /// Of these, for each limit: those that took longer or failed.
    pub misses: Vec<u64>,
    /// Shortest response time, milliseconds.
    pub response_ms_min: Option<f64>,
    /// 90th percentile of the response time, milliseconds.
    pub response_ms_p90: Option<f64>,
    /// The other percentiles.
    pub response_ms: LatencySummary,
    /// The percentile that the limits hold for, of the operations that they hold for, milliseconds.
    pub limited_ms: Option<f64>,
    /// How late the generator was, 99th percentile, milliseconds.
    pub send_lag_ms_p99: Option<f64>,
    /// CPU time of the generator as a share of one core.
    pub generator_cpu_share: Option<f64>,
    /// CPU time of the server for each right answer, milliseconds; absent where its process is not known.
    #[serde(default)]
    pub server_cpu_ms: Option<f64>,
    /// How fast the machine was just before.
    #[serde(default)]
    pub machine: Option<MachineSpeed>,
    /// Whether answers kept up with requests.
    pub is_sustained: bool,
    /// Why it does not count; empty when it does.
    pub left_out: Vec<String>,
}

/// How fast a machine was: what steps of work that is always the same took, mean over several looks and over the processors.
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

/// Why requests took longer than one limit. Windows in which the server was asked for more than it sustains are not in it:
/// there the queue explains everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitBlame {
    /// The limit, milliseconds.
    pub limit_ms: f64,
    /// Requests beyond it.
    pub misses: u64,
    /// What was going on while they waited, most first; one miss may have several causes.
    pub causes: Vec<BlamedCause>,
    /// Misses without any cause that was watched.
    pub unexplained: u64,
}

/// One cause of misses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlamedCause {
    /// What.
    pub cause: LateCause,
    /// Misses that would have kept the limit without the time that this took from them.
    pub misses: u64,
    /// Misses in whose time this happened at all. What happens all the time is in many of them by chance: compare `expected`.
    pub touched: u64,
    /// How many requests of as many, drawn from all, it would have touched by chance.
    pub expected: Option<f64>,
}

/// Something that was checked before a result was believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidityCheck {
    /// What was checked.
    pub check: Check,
    /// Absent when it could not be checked.
    pub passed: Option<bool>,
    /// What was found, with figures, units and the bound; or why it could not be checked.
    pub evidence: String,
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
        /// A level of a sweep.
        Level = "level",
    }
}

closed! {
    /// What may take time from a request.
    LateCause {
        /// The collector stopped the JVM.
        GcPause = "gc-pause",
        /// The JVM stopped its threads for something else.
        Safepoint = "safepoint",
        /// The server's threads were ready and waited for a processor.
        RunQueue = "run-queue",
        /// A CPU limit held the server.
        Throttling = "throttling",
        /// The hypervisor ran something else.
        Steal = "steal",
        /// The generator sent late.
        GeneratorLag = "generator-lag",
        /// All connections were busy with earlier requests.
        ConnectionWait = "connection-wait",
    }
}

closed! {
    /// What is checked before a window or a result is believed.
    Check {
        /// All that was asked for was measured.
        Complete = "complete",
        /// The server was in its steady state.
        WarmUp = "warm-up",
        /// Operations came as often as asked.
        Mix = "mix",
        /// Requests arrived as a Poisson process.
        Arrivals = "arrivals",
        /// Requests were sent at the rate that was asked for.
        SentRate = "sent-rate",
        /// The generator sent in time.
        GeneratorLag = "generator-lag",
        /// The generator had CPU time left.
        GeneratorCpu = "generator-cpu",
        /// The generator ran before others.
        GeneratorPriority = "generator-priority",
        /// There were connections enough.
        Connections = "connections",
        /// Few requests failed.
        Errors = "errors",
        /// Few requests had no answer.
        LostResponses = "lost-responses",
        /// Few windows were disturbed.
        Disturbance = "disturbance",
        /// Processors were there when they were needed, or not used by others.
        CpuPressure = "cpu-pressure",
        /// The hypervisor gave the processors.
        Steal = "steal",
        /// No CPU limit held the server or the generator.
        Throttled = "throttled",
        /// Nothing else was wrong with the load.
        Load = "load",
        /// The server was as fast at the end as at the beginning.
        Steadiness = "steadiness",
        /// The server was the same process all the time.
        Restart = "restart",
        /// Nobody set the clock.
        Clock = "clock",
        /// The server's own account of its data is right.
        Audit = "audit",
        /// The highest rate of a sweep was reached once more.
        Validation = "validation",
    }
}
