//! Everything that Assay stores or exchanges between its rooms: plain values with serde, units in the
//! key names, one `schema` string per stored form. No I/O, no clock, no computation beyond trivial sums.
//!
//! Rules that hold for every type here:
//! - a value that could not be read is absent (`Option`, or no key in a map), never zero;
//! - times called `monotonic_ns` are readings of `CLOCK_MONOTONIC` of the machine that ran the study: the load
//!   generator, the JVM's log decorator `timenanos` and the observers all use it, so they join without skew;
//! - unknown keys are accepted when reading, so that a newer run can be read by an older program.

mod estimate;
mod gc;
mod host;
mod latency;
mod load;
mod memory;
mod metric;
mod mode;
mod plan;
mod problem;
mod run;
mod summary;
mod trial;

pub use estimate::Estimate;
pub use gc::{GcEvent, GcEventKind, GcLog, GcSummary, HeapRange, PausePercentiles, PauseSummary};
pub use host::{HostFacts, JvmFacts, Provenance};
pub use latency::{LatencyPoint, LatencySummary};
pub use load::{LoadResult, OperationCount};
pub use memory::{Area, AreaBytes, MemorySample};
pub use metric::{Better, METRICS, Metric};
pub use mode::{ModeRead, ReferenceMode};
pub use plan::{Design, Plan, PlannedTrial, Published, SkippedVariant, Variant};
pub use problem::{Finding, Problem};
pub use run::{RunEvent, RunEventKind, StoredRun, StoredTrial, file};
pub use summary::{Comparison, Summary, VariantSummary, Verdict};
pub use trial::{Audit, Disturbance, ExcludedObserver, Trial, TrialOutcome, WarmUp, WarmUpEnd, Window};

/// Names of the stored forms. The number rises when a key changes its meaning or goes away; a new key does not
/// raise it.
pub mod schema {
    /// `plan.json`
    pub const PLAN: &str = "assay.plan/1";
    /// `host.json`
    pub const HOST: &str = "assay.host/1";
    /// `trial.json`
    pub const TRIAL: &str = "assay.trial/1";
    /// `summary.json`
    pub const SUMMARY: &str = "assay.summary/1";
    /// `assay load --json`
    pub const LOAD: &str = "assay.load/1";
    /// `assay gc --json`
    pub const GC: &str = "assay.gc/1";
    /// A study file (`studies/*.toml`)
    pub const STUDY_FILE: &str = "assay.study/1";
    /// A workload file (`workloads/*/workload.toml`)
    pub const WORKLOAD_FILE: &str = "assay.workload/1";
    /// A scenario file
    pub const SCENARIO_FILE: &str = "assay.scenario/1";
}
