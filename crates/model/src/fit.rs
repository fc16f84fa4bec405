//! `assay fit`: the smallest container, or the smallest value of an option, that keeps a server's limits.

use crate::closed::closed;
use crate::{Estimate, JvmFacts, LatencySummary, Problem, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

closed! {
    /// What is fitted.
    FitResource {
        /// The memory limit of the container.
        Memory = "memory",
        /// Its CPU limit.
        Cpu = "cpu",
        /// The value of an option.
        Option = "option",
    }
}

closed! {
    /// What a probe is for.
    FitPurpose {
        /// Without limits: what the server needs, and whether it keeps its limits at all.
        Unlimited = "unlimited",
        /// Where it tells most about the smallest size.
        Search = "search",
        /// A size that held before, with a fresh process.
        Prove = "prove",
        /// Each value once in every block, for a comparison.
        Compare = "compare",
    }
}

closed! {
    /// What became of a server within its limits: the first that is so.
    FitVerdict {
        /// All limits were kept.
        Holds = "holds",
        /// The kernel's OOM killer ended it at the memory limit.
        Killed = "killed",
        /// The memory limit leaves no room for a heap that a JVM starts with; nothing was run.
        BelowMinimum = "below-minimum",
        /// It did not start, or ended by itself.
        Ended = "ended",
        /// Its own audit of its data failed.
        WrongData = "wrong-data",
        /// More requests failed than is allowed.
        Errors = "errors",
        /// It waited for memory longer than is allowed.
        Stalled = "stalled",
        /// The CPU limit held it longer than is allowed.
        Throttled = "throttled",
        /// A percentile of the response time is above its limit.
        TooSlow = "too-slow",
        /// Nothing was measured.
        NotMeasured = "not-measured",
    }
}

closed! {
    /// How a fit ended.
    FitOutcome {
        /// Found and proved.
        Found = "found",
        /// The time was over before.
        Undecided = "undecided",
        /// Not even without limits are the limits kept.
        NothingHolds = "nothing-holds",
        /// The user stopped it.
        Stopped = "stopped",
    }
}

closed! {
    /// Percentiles of the response time that limits hold for.
    FitPercentile {
        /// The median.
        P50 = "p50",
        /// The 95th percentile.
        P95 = "p95",
        /// The 99th percentile.
        P99 = "p99",
        /// The 99.9th percentile.
        P999 = "p99.9",
        /// The longest.
        Max = "max",
    }
}

impl FitPercentile {
    /// Its value, milliseconds; absent where nothing was recorded.
    pub fn of(self, summary: &LatencySummary) -> Option<f64> {
        match self {
            FitPercentile::P50 => summary.p50,
            FitPercentile::P95 => summary.p95,
            FitPercentile::P99 => summary.p99,
            FitPercentile::P999 => summary.p99_9,
            FitPercentile::Max => summary.max,
            FitPercentile::Other => None,
        }
    }
}

/// A limit of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitLatency {
    /// Which percentile.
    pub percentile: FitPercentile,
    /// How long it may be, milliseconds.
    pub limit_ms: f64,
}

/// `p99 at most 50 ms`.
impl fmt::Display for FitLatency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at most {} ms", self.percentile, self.limit_ms)
    }
}

/// What must hold within a window of load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitLimits {
    /// Limits of the response time.
    pub latency: Vec<FitLatency>,
    /// Failed requests, percent.
    pub errors_percent_max: f64,
    /// Time for which the server waited for memory, percent.
    pub stalled_percent_max: f64,
    /// Scheduling periods in which the CPU limit held the server, percent.
    pub throttled_percent_max: f64,
}

/// The smallest container, or the smallest value of an option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitReport {
    /// `assay.fit/1`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// The server's command, without what may be secret, or the name of a study or workload.
    pub server: String,
    /// Its JVM; absent where the command starts it by other means.
    pub jvm: Option<JvmFacts>,
    /// The load, in words; several where several scenarios were given.
    pub loads: Vec<String>,
    /// What must hold.
    pub limits: FitLimits,
    /// Length of a measured window, seconds.
    pub window_s: f64,
    /// How it ended.
    pub outcome: FitOutcome,
    /// The memory limit; absent where it was not searched for, or none holds.
    pub memory: Option<FittedLimit>,
    /// The CPU limit, in millicores; absent likewise.
    pub cpu: Option<FittedLimit>,
    /// The value of an option; absent where none was asked for.
    pub option: Option<FittedOption>,
    /// The heap within the memory limit; absent where it is not known.
    pub heap: Option<FittedHeap>,
    /// What common formulas would have set in its place.
    pub formulas: Vec<FitFormula>,
    /// All that was tried, in order.
    pub probes: Vec<FitProbe>,
    /// The time that was given, seconds.
    pub budget_s: f64,
    /// The time that it took, seconds.
    pub took_s: f64,
    /// Seed of every random draw.
    pub seed: u64,
    /// Folder of the runs, absolute.
    pub runs: String,
    /// What could not be read, and what the result does not cover.
    pub problems: Vec<Problem>,
}

/// The smallest limit that holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FittedLimit {
    /// The limit, in bytes or millicores, with the 95 % interval of the size at which 97 of 100 runs hold.
    pub limit: Estimate,
    /// Whether it was proved by fresh runs.
    pub is_proved: bool,
    /// Whether it is the smallest size that was to be tried: a smaller one may hold, too.
    pub is_smallest_tried: bool,
    /// Fresh runs at it that held.
    pub holds: u32,
    /// The largest smaller size that did not hold; absent where each held.
    pub below: Option<FitBelow>,
    /// Probes that it took.
    pub probes: u32,
    /// Of the memory limit, what the largest charge of the runs at it left, page cache not counted; absent where it was not read.
    pub margin_bytes: Option<u64>,
}

/// What goes wrong first below a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitBelow {
    /// The size, in bytes or millicores.
    pub size: f64,
    /// What became of the server.
    pub verdict: FitVerdict,
    /// The same with figures.
    pub detail: String,
}

/// A heap and what its limit holds beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FittedHeap {
    /// `-Xmx`.
    pub max_bytes: u64,
    /// Whether the command or the study sets it, so that it was not fitted.
    pub is_given: bool,
    /// Charged beside the heap at most, page cache not counted.
    pub beside_bytes: u64,
    /// Code and files in memory that other control groups are charged for here, since they used them first: a container on a machine of its
    /// own pays for them.
    pub charged_elsewhere_bytes: u64,
    /// What `assay memory advise` would allow for with this heap: each part at its bound, whether reached or not.
    pub advised_bytes: Option<u64>,
}

/// The smallest value of an option whose metric is near the best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FittedOption {
    /// The option, with `{}` in place of its value.
    pub option: String,
    /// The metric.
    pub metric: String,
    /// How far from the best it may be, percent.
    pub within_percent: f64,
    /// The smallest value that is shown to be near enough; absent where none is.
    pub value: Option<u64>,
    /// The value that is best.
    pub best: Option<u64>,
    /// Every value that was tried, the smallest first.
    pub values: Vec<FitValue>,
}

/// One value of an option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitValue {
    /// The value.
    pub value: u64,
    /// The metric, with its interval where there are enough blocks; absent where it did not run.
    pub metric: Option<Estimate>,
    /// Its ratio to the best value's, paired by block; above 1 is worse. Absent for the best one.
    pub ratio: Option<Estimate>,
    /// Blocks of the comparison.
    pub blocks: u32,
}

closed! {
    /// Formulas in use.
    FitFormulaName {
        /// A flat share of the limit for the heap.
        Flat80 = "flat-80-percent",
        /// The memory calculator of Java buildpacks.
        Buildpack = "buildpack-memory-calculator",
        /// Vertical Pod Autoscaler.
        Vpa = "vpa",
        /// Kruize.
        Kruize = "kruize",
        /// `assay memory advise`.
        Advise = "assay-memory-advise",
    }
}

/// What a formula would have set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitFormula {
    /// Which.
    pub name: FitFormulaName,
    /// Its arithmetic, with the figures of this server.
    pub arithmetic: String,
    /// The memory limit.
    pub memory_bytes: u64,
    /// The CPU limit, millicores; absent where it has none.
    pub cpu_millicores: Option<f64>,
    /// Bytes above the fitted limit; below 0 where it is smaller.
    pub above_bytes: i64,
    /// Whether the limit holds, by the search: absent where it lies within the interval.
    pub holds: Option<bool>,
}

/// One size that was tried.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitProbe {
    /// Number, from 1.
    pub number: u32,
    /// What was searched for.
    pub resource: FitResource,
    /// What it was for.
    pub purpose: FitPurpose,
    /// The memory limit; absent where there was none.
    pub memory_bytes: Option<u64>,
    /// The CPU limit, millicores; absent where there was none.
    pub cpu_millicores: Option<f64>,
    /// The heap that was set; absent where the server had its own.
    pub heap_bytes: Option<u64>,
    /// What became of it.
    pub verdict: FitVerdict,
    /// The same with figures.
    pub detail: String,
    /// Whether it counts: a limit that was missed while others used the machine says nothing.
    pub counts: bool,
    /// What disturbed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
    /// Response time; of several scenarios the slowest one's.
    pub response_ms: LatencySummary,
    /// CPU time per request, milliseconds.
    pub cpu_ms_per_request: Option<f64>,
    /// CPU time per time, millicores.
    pub cpu_used_millicores: Option<f64>,
    /// Requests, and failed ones.
    pub requests: u64,
    /// Of these.
    pub errors: u64,
    /// Time held by the CPU limit, percent.
    pub throttled_percent: Option<f64>,
    /// Time waiting for memory, percent.
    pub stalled_percent: Option<f64>,
    /// The largest charge, page cache included.
    pub peak_bytes: Option<u64>,
    /// The charge without what the kernel could drop, at the end of the window.
    pub needed_bytes: Option<u64>,
    /// Run directories, absolute: one for each scenario.
    pub runs: Vec<String>,
}
