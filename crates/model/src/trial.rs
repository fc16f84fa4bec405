//! `trial.json`: one launch of one variant, with its measured windows.

use crate::{
    JvmFacts, LatencyPoint, ModeRead, Problem, Provenance, SessionStartSummary, TrialPageOut, Window,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One launch of one variant: start, ready, warm-up, measure, drain, stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// `assay.trial/4`
    pub schema: String,
    /// Who made it.
    pub provenance: Provenance,
    /// Number in the run, from 1; the folder is `trials/NN-variant`.
    pub number: u32,
    /// Name of the variant.
    pub variant: String,
    /// Block of the launch.
    pub block: u32,
    /// 1 for the first try, 2 for the first repeat after a disturbance, ...
    pub attempt: u32,
    /// Seed of every random draw.
    pub seed: u64,
    /// Changes to the machine, in the order in which they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub treatments: Vec<TreatmentRecord>,
    /// Command line with secrets redacted.
    pub command: Vec<String>,
    /// Everything that was started, in order, the server among it.
    #[serde(default)]
    pub processes: Vec<LaunchRecord>,
    /// The JVM.
    pub jvm: Option<JvmFacts>,
    /// Reference mode that the JVM really chose; absent when its log could not be read.
    pub mode: Option<ModeRead>,
    /// Collector in the JVM's words.
    pub collector: Option<String>,
    /// Start of the process in calendar time, RFC 3339.
    pub started_at: String,
    /// The same on `CLOCK_MONOTONIC`, on which windows lie; absent in trials of versions before it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_monotonic_ns: Option<u64>,
    /// From the start of the process to the first good answer of the ready URL.
    pub start_to_ready_ms: Option<f64>,
    /// The most users of its loads, each with a session of its own; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// How users began their sessions outside of the figures, from before the warm-up to the last window; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_starts: Option<SessionStartSummary>,
    /// How warm-up went; absent when the trial did not get so far.
    pub warm_up: Option<WarmUp>,
    /// Measured windows: one in the fresh design, one a block in the resident design. A benchmark's is its whole launch, without
    /// requests; that of a capacity is all windows of load on the way to it.
    pub windows: Vec<Window>,
    /// Percentile curve of response time over all windows that count; of a search for a capacity, over its windows at the highest
    /// rate that was sustained.
    pub response_curve: Vec<LatencyPoint>,
    /// What the server said of itself at the end.
    pub audit: Option<Audit>,
    /// How it ended.
    pub outcome: TrialOutcome,
    /// What became of the server's own control group; absent where it had none with limited memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupEnd>,
    /// Dead memory that was paged out of its processes while it ran, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_outs: Vec<TrialPageOut>,
    /// Observers that could not work, with the reason.
    pub excluded_observers: Vec<ExcludedObserver>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl Trial {
    /// Whether any of its windows may be used in a comparison.
    pub fn counts(&self) -> bool {
        self.outcome == TrialOutcome::Completed && self.audit.as_ref().is_none_or(|a| a.passed)
    }
}

/// A change to the machine that was made for a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreatmentRecord {
    /// What was changed: a file of the kernel, swap, or a control group of the server's own.
    pub setting: String,
    /// What it was; absent where there was nothing.
    pub before: Option<String>,
    /// What was requested.
    pub requested: String,
    /// What was read back before the server started.
    pub found: Option<String>,
    /// Whether it was taken back, and read back as it was before.
    pub undone: bool,
}

/// A control group with limited memory, when all its processes have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupEnd {
    /// Its limit.
    pub limit_bytes: u64,
    /// Processes in it that the kernel's OOM killer ended; absent where the kernel does not count them (before 4.13).
    pub oom_kills: Option<u64>,
    /// The largest charge; absent where the kernel does not keep it (version 2 before 5.19).
    pub peak_bytes: Option<u64>,
}

/// With what a process of a trial was started, secrets redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchRecord {
    /// Its role in the trial: `server`, or the name of its `[[process]]` table.
    pub role: String,
    /// Command line.
    pub command: Vec<String>,
    /// Variables that were added to those of Assay's own environment, or replaced them.
    pub environment: BTreeMap<String, String>,
    /// Folder in which it was started.
    pub directory: String,
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TrialOutcome {
    /// All windows were measured and the server was stopped.
    Completed,
    /// It could not be finished.
    Failed {
        /// What happened, with the end of the server's log where that helps.
        reason: String,
    },
    /// The user stopped the run.
    Interrupted,
}

/// How warm-up ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// The rule, in words.
    pub rule: String,
    /// What ended it.
    pub ended_by: WarmUpEnd,
    /// How long it took, seconds.
    pub duration_s: f64,
    /// Requests served in it.
    pub requests: u64,
    /// CPU milliseconds per request by slice, the series that the rule judged.
    pub cpu_ms_per_request: Vec<f64>,
}

/// What ended warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpEnd {
    /// The steady-state test passed.
    Steady,
    /// The cap came first: later windows may still be drifting, and the report says so.
    Cap,
}

/// The server's own account of its data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Whether every invariant holds.
    pub passed: bool,
    /// The server's answer, shortened.
    pub detail: String,
}

/// An observer that could not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExcludedObserver {
    /// Its name.
    pub name: String,
    /// Why, and what would make it work.
    pub reason: String,
}
