//! Everything that Assay stores or exchanges between its rooms: plain values with serde, units in the
//! key names, one `schema` string per stored form. No I/O, no clock, no computation beyond trivial sums.
//!
//! Rules that hold for every type here:
//! - a value that could not be read is absent (`Option`, or no key in a map), never zero;
//! - times called `monotonic_ns` are readings of `CLOCK_MONOTONIC` of the machine that ran the study: the load
//!   generator, the JVM's log decorator `timenanos` and the observers all use it, so they join without skew;
//! - unknown keys are accepted when reading, so that a newer run can be read by an older program.

mod capacity;
mod claim;
mod closed;
mod estimate;
mod gc;
mod heap;
mod host;
mod latency;
mod load;
mod memory;
pub mod metric;
mod mode;
mod plan;
mod problem;
mod run;
mod summary;
mod trial;

pub use capacity::{
    BlamedCause, CapacityMethod, CapacityReport, CapacityStep, CapacityWindow, Check, LateCause, LimitBlame,
    LimitRate, MachineSpeed, PlannedCapacity, ValidityCheck,
};
pub use claim::{Claim, ClaimCheck, ClaimVerdict, Contradiction, JudgedClaim, Statement};
pub use estimate::Estimate;
pub use gc::{
    Exposition, GC_FIGURES, GcComparison, GcCpu, GcCpuSum, GcDifference, GcDurations, GcEventsLine, GcFigure,
    GcFinding, GcHeading, GcInstant, GcJvm, GcLiveSet, GcMmu, GcPauseV1, GcPoint, GcReconciliation, GcRecord,
    GcRecordKind, GcReport, GcRow, GcScope, GcSeries, GcSeverity, GcSizes, GcSource, GcSpace, GcSpaceUse,
    GcTrend, GcTrouble, GcVerdict, HeapRange, NotUnderstood, StoredGcLine, StrangeShape, gc_figure,
};
pub use heap::{
    AddressRange, ClassLayout, ClassWeight, CrossOver, DumpModel, FieldPlace, GarbageInModel, HeapLayouts,
    HeapModel, HeapModes, HeapPrediction, LayoutPart, ModeAdvice, ModeCell, ModeCliff, ModeOfLog, ModelName,
    ModelWeight, WeightParts,
};
pub use host::{HostFacts, JvmFacts, Provenance};
pub use latency::{LatencyPoint, LatencySummary};
pub use load::{InjectorPart, LoadResult, LostInjector, OperationCount};
pub use memory::{
    Advice, AdviceLine, AllocatorFacts, Area, AreaBytes, ArenaFacts, BesideRss, Cause, CgroupMemory,
    JvmMemoryFacts, Leaf, LookDepth, MemoryChange, MemoryFinding, MemoryReport, MemorySample, MemoryTrim,
    OwnersLeftOut, RunningJvm, RunningJvms, ThreadMemory, Tier, TierBytes, UnknownPiece,
};
pub use metric::{Better, METRICS, Metric, PER_BENCHMARK};
pub use mode::{ModeRead, ReferenceMode};
pub use plan::{Design, Plan, PlannedProcedure, PlannedTrial, Published, SkippedVariant, Subject, Variant};
pub use problem::{Finding, Problem, Reason};
pub use run::{RunEvent, RunEventKind, StoredRun, StoredTrial, file};
pub use summary::{Comparison, Summary, VariantSummary, Verdict};
pub use trial::{
    Audit, Disturbance, ExcludedObserver, LaunchRecord, Trial, TrialOutcome, WarmUp, WarmUpEnd, Window,
};

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
    /// `assay capacity --json`
    pub const CAPACITY: &str = "assay.capacity/1";
    /// `assay gc --json`
    pub const GC: &str = "assay.gc/1";
    /// `assay gc diff --json`
    pub const GC_COMPARISON: &str = "assay.gc-comparison/1";
    /// First line of a trial's `gc.ndjson`
    pub const GC_EVENTS: &str = "assay.gc-events/2";
    /// `assay memory --json`
    pub const MEMORY: &str = "assay.memory/1";
    /// `assay memory advise --json`
    pub const MEMORY_ADVICE: &str = "assay.memory-advice/1";
    /// `assay memory diff --json`
    pub const MEMORY_CHANGE: &str = "assay.memory-change/1";
    /// First line of a file of `assay memory --record`
    pub const MEMORY_RECORD: &str = "assay.memory-record/1";
    /// `assay memory PID --trim --json`
    pub const MEMORY_TRIM: &str = "assay.memory-trim/1";
    /// `assay memory --json`
    pub const MEMORY_JVMS: &str = "assay.memory-jvms/1";
    /// `assay heap predict --json`
    pub const HEAP_PREDICTION: &str = "assay.heap-prediction/1";
    /// `assay heap layout --json`
    pub const HEAP_LAYOUT: &str = "assay.heap-layout/1";
    /// `assay heap modes --json`
    pub const HEAP_MODES: &str = "assay.heap-modes/1";
    /// A study file (`studies/*.toml`)
    pub const STUDY_FILE: &str = "assay.study/1";
    /// A workload file (`workloads/*/workload.toml`)
    pub const WORKLOAD_FILE: &str = "assay.workload/1";
    /// A scenario file
    pub const SCENARIO_FILE: &str = "assay.scenario/1";
}
