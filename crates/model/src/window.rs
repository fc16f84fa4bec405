//! A measured interval of load: the one form in which trials and searches for a capacity store their windows.

use crate::closed::closed;
use crate::{
    Disturbance, DuetWindow, FaultRecord, Feels, LatencySummary, LimitAttribution, OperationCount, Problem,
    SwapSample, ValidityCheck, WindowStacks,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One measured interval of load. A trial's window of a search is all windows of load on the way to the capacity; that of a benchmark
/// program is its whole launch, without requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Block, from 1: windows of the same block are compared with each other. 0 where it is not known.
    pub block: u32,
    /// 1 for the first try, 2 for the first repeat after a disturbance, ...; 0 where it is not known.
    pub attempt: u32,
    /// Its place in its pair; absent in other designs than a duet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<DuetWindow>,
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
    /// Value by metric identifier ([`crate::METRICS`], [`crate::EMULATED`], [`crate::PER_BENCHMARK`]); a metric that could not be measured is not there, and
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
    /// Faults that the study injected into processes during it. Failed requests and long response times are to be expected then,
    /// so errors, another mix and another process of the server leave nothing out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRecord>,
    /// Swap over time; empty where it was not observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub swap: Vec<SwapSample>,
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
    pub cool_down_s: f64,
    /// Time at the same rate before it, seconds.
    pub settle_s: f64,
    /// Offered rate, per second.
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
    /// A step of arithmetic, CPU time in nanoseconds: one operation on each of eight chains side by side.
    #[serde(default)]
    pub arithmetic_ns: Option<f64>,
    /// A read from memory at an address that the read before gives, CPU time in nanoseconds.
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

    /// Whether its values of metrics that feel so much of others may be used.
    pub fn counts_for(&self, felt: Feels) -> bool {
        !self.disturbances.iter().any(|d| d.spoils(felt))
    }

    /// Whether these values will do where the block has none that counts.
    pub fn serves_for(&self, felt: Feels) -> bool {
        self.disturbances.iter().all(|d| d.leaves_usable(felt))
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
