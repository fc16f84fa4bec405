//! Everything that Assay stores or exchanges between its rooms: plain values with serde, units in the
//! key names, one `schema` string per stored form. No I/O, no clock, no computation beyond trivial sums.
//!
//! Rules that hold for every type here:
//! - a value that could not be read is absent (`Option`, or no key in a map), never zero;
//! - times called `monotonic_ns` are readings of `CLOCK_MONOTONIC` of the machine that ran the study: the load
//!   generator, the JVM's log decorator `timenanos` and the observers all use it, so they join without skew;
//! - unknown keys are accepted when reading, so that a newer run can be read by an older program.

mod ab;
mod bisect;
mod budget;
mod capacity;
mod certainty;
mod check;
mod claim;
mod closed;
mod container;
mod duet;
mod estimate;
mod fault;
mod finding;
mod fit;
mod flags;
mod gate;
mod gc;
mod heap;
mod host;
mod host_check;
mod hosts;
mod judge;
mod late;
mod latency;
mod latency_limit;
mod load;
mod memory;
pub mod metric;
mod mode;
mod plan;
mod problem;
mod ready_made;
mod rule;
mod run;
mod run_comparison;
pub mod schema;
mod severity;
mod study_rule;
mod summary;
mod swap;
mod time;
mod trial;
mod what_if;
mod why;
mod window;

pub use ab::{AbCounted, AbFigure, AbReport, AbSide, AbVerdict};
pub use bisect::{BisectCommit, BisectComparison, BisectReport, BisectVerdict};
pub use budget::{BlockSet, Decision, Outcome, Outlook, PlannedBudget};
pub use capacity::{CapacityMethod, CapacityReport, FromBelow, LimitRate, PlannedCapacity};
pub use certainty::Certainty;
pub use check::{Check, Disturbance, ValidityCheck};
pub use claim::{
    Claim, ClaimCheck, ClaimSubject, ClaimVerdict, Contradiction, Direction, JudgedClaim, Reading, Statement,
};
pub use container::{ContainerLimits, ContainerView, HeapSizedBy, JvmContainer};
pub use duet::{DuetWindow, HalvesOf, PlannedDuet};
pub use estimate::Estimate;
pub use fault::{FaultAction, FaultRecord, PlannedFault};
pub use finding::{Change, Finding, KnownFrom, Rank};
pub use fit::{
    FitBelow, FitFormula, FitFormulaName, FitLatency, FitLimits, FitOutcome, FitPercentile, FitProbe,
    FitPurpose, FitReport, FitResource, FitValue, FitVerdict, FittedHeap, FittedLimit, FittedOption,
};
pub use flags::{FlagsOfRelease, FlagsReport, OptionRemark, RemarkOnOption};
pub use gate::{GateCase, GateVerdict};
pub use gc::{
    Exposition, GC_FIGURES, GcAnomaly, GcClock, GcCollection, GcComparison, GcCpu, GcCpuSum, GcDifference,
    GcDurations, GcEventsLine, GcFigure, GcHeading, GcInstant, GcJvm, GcLiveSet, GcMmu, GcPart, GcPoint,
    GcReconciliation, GcRecord, GcRecordKind, GcReport, GcRow, GcScope, GcSeries, GcSizes, GcSource, GcSpace,
    GcSpaceUse, GcTrend, GcVerdict, HeapRange, NotUnderstood, UnrecognizedLines, gc_figure,
};
pub use heap::{
    AddressRange, ClassFootprint, ClassLayout, CrossOver, DumpModel, FieldPlace, FootprintParts,
    GarbageInModel, HeapLayouts, HeapModel, HeapModes, HeapPrediction, LayoutPart, ModeCell, ModeOfLog,
    ModeThreshold, ModelFootprint, ModelName,
};
pub use host::{HostFacts, JvmFacts, Provenance};
pub use host_check::{
    FileRead, FlagOrigin, HostComparison, HostFlag, HostGroup, HostJvm, HostProxy, HostReport, HostRule,
    HostRuling, HostSnapshot, HostVerdict, RulingChange, SettingChange,
};
pub use hosts::{AcrossHosts, HostOfRun, HostRatio, Hosts, HostsVerdict};
pub use judge::{
    FlagGroup, JudgeReport, JudgedFlag, JudgedPart, JudgedPartKind, NotMeasured, NotMeasuredReason,
};
pub use late::{AttributedCause, LateCause, LimitAttribution};
pub use latency::{LatencyPoint, LatencySummary};
pub use latency_limit::LatencyLimit;
pub use load::{
    ClosedByServer, DeliverySummary, ErrorCount, EventFigures, HandshakeSummary, InjectorPart, LoadErrorKind,
    LoadInterval, LoadResult, LostInjector, OperationCount, OperationFigures, Protocol, ProtocolSummary,
    RatePoint, SessionStartSummary, SlowestRequest, StatusCount,
};
pub use memory::{
    Advice, AdviceLine, Allocator, AllocatorFacts, Area, AreaBytes, ArenaFacts, Cause, CgroupMemory,
    ClassObjects, DeadMemory, FigureSource, Grower, GrowthGround, GrowthKind, GrowthVerdict, HeapHolder,
    HeapLive, HolderKind, JvmMemoryFacts, MemoryChange, MemoryCopy, MemoryEnd, MemoryEntry, MemoryPageOut,
    MemoryReport, MemorySample, MemoryTool, MemoryToolReport, MemoryTrim, OutsideRss, OwnersLeftOut,
    PageKinds, PagedOutPart, PieceKind, ReportedEntry, ReportedMemory, ResidentRange, RunningJvm,
    RunningJvms, SnapshotDepth, SourceBytes, ThreadKind, ThreadMemory, TrimCall, UnknownPiece,
};
pub use metric::{Better, EMULATED, Feels, METRICS, Metric, PER_BENCHMARK, PER_PROCESS};
pub use mode::{ModeRead, ReferenceMode, RequestedMode};
pub use plan::{
    Design, EmulatedProcessor, GuestMachine, Plan, PlannedBuild, PlannedEmulation, PlannedGuest,
    PlannedOperation, PlannedProcedure, PlannedRequests, PlannedScenario, PlannedTreatment, PlannedTrial,
    Published, SkippedVariant, Subject, Variant,
};
pub use problem::{Problem, Reason};
pub use ready_made::{ReadyMadeList, ReadyMadeScenario, ReadyMadeStudy};
pub use rule::{Explanation, Rule, RuleId, Threshold, ThresholdUnit};
pub use run::{ProcessGc, RunEvent, RunEventKind, StoredRun, StoredTrial, file};
pub use run_comparison::{Circumstance, CircumstanceOf, ComparedRun, RunChange, RunComparison};
pub use severity::Severity;
pub use study_rule::StudyRule;
pub use summary::{Comparison, Scaling, Summary, VariantSummary, Verdict};
pub use swap::{SwapSample, TrialPageOut};
pub use time::{
    CarrierCall, CarrierWaits, CgroupTime, ChangedPart, ChangedStack, ChangedStacks, CodePlace, DataAccesses,
    DataPlace, ExitRecordsTime, FaultPlace, FaultPlaces, FrameKind, HardwareCounters, HardwareEvent,
    HardwareFigure, JvmHeld, JvmsOfMachine, KernelActivity, LeftOutFigure, LineUser, MachineTime,
    ProcessTime, RecordedStack, RecordedStacks, RecordingOrigin, RoleTime, SampledFrame, SampledPart,
    SampledRole, SampledStack, SharedLine, StackSource, StackUnit, ThreadRole, ThreadTime, TimeChange,
    TimeFigure, TimeGroup, TimeJvm, TimeRecording, TimeReport, TimeSamples, TimeSource, TimeSubject,
    TimeSums, TimeTraced, TracedCall, TracedDelays, TracedPart, TracedRole, TracedSoftirq, WeightUnit,
    WindowStacks,
};
pub use trial::{
    Audit, ExcludedObserver, GroupEnd, LaunchRecord, TreatmentRecord, Trial, TrialOutcome, WarmUp, WarmUpEnd,
};
pub use what_if::{WhatIf, WhatIfVerdict};
pub use why::{CostOf, SilentReader, WhyCost, WhyFinding, WhyReader, WhyReport};
pub use window::{CapacityStep, MachineSpeed, SearchStep, Window};
