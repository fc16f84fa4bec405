//! The run directory: its file names, its events, and its content once read.

use crate::{GcEvent, HostFacts, MemorySample, Plan, Summary, Trial};
use serde::{Deserialize, Serialize};

/// Names of the files of a run directory. Only the study room reads and writes them.
pub mod file {
    /// The study as the user wrote it.
    pub const STUDY: &str = "study.toml";
    /// [`crate::Plan`]
    pub const PLAN: &str = "plan.json";
    /// [`crate::HostFacts`]
    pub const HOST: &str = "host.json";
    /// One [`crate::RunEvent`] a line.
    pub const EVENTS: &str = "events.ndjson";
    /// [`crate::Summary`]
    pub const SUMMARY: &str = "summary.json";
    /// The report.
    pub const REPORT: &str = "report.html";
    /// Folder of the trials.
    pub const TRIALS: &str = "trials";
    /// [`crate::Trial`], in a trial's folder; written last, so a folder without it is not a whole trial.
    pub const TRIAL: &str = "trial.json";
    /// What the server printed.
    pub const SERVER_LOG: &str = "server.log";
    /// The JVM's own GC log.
    pub const GC_LOG: &str = "gc.log";
    /// One [`crate::GcEvent`] a line, parsed from the GC log.
    pub const GC_EVENTS: &str = "gc.ndjson";
    /// Interval log of response times that HdrHistogram tools read.
    pub const LATENCY_LOG: &str = "latency.hlog";
    /// Interval log of service times.
    pub const SERVICE_LOG: &str = "service.hlog";
    /// One [`crate::MemorySample`] a line.
    pub const MEMORY: &str = "memory.ndjson";
}

/// Something that happened in a run. Progress on the terminal, `events.ndjson` and tests all listen to the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// Calendar time, RFC 3339.
    pub at: String,
    /// Seconds since the start of the run.
    pub elapsed_s: f64,
    /// Seconds that the rest should take.
    pub remaining_s: Option<f64>,
    /// What happened.
    #[serde(flatten)]
    pub kind: RunEventKind,
}

/// Kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are named by the glossary and carry their units")]
pub enum RunEventKind {
    /// The plan is fixed.
    RunStarted { trials: u32, windows: u32 },
    /// A run directory of an earlier start is continued.
    RunResumed { trials_done: u32 },
    /// A variant cannot be run here.
    VariantSkipped { variant: String, reason: String },
    /// A launch begins.
    TrialStarted { number: u32, variant: String, block: u32, attempt: u32 },
    /// The server answers.
    ServerReady { number: u32, after_ms: f64 },
    /// An observer cannot work.
    ObserverExcluded { number: u32, observer: String, reason: String },
    /// Warm-up goes on.
    WarmUpProgress { number: u32, elapsed_s: f64, cpu_ms_per_request: Option<f64> },
    /// Warm-up is over.
    WarmUpEnded { number: u32, steady: bool, duration_s: f64 },
    /// A window is measured.
    WindowStarted { number: u32, variant: String, block: u32 },
    /// A window is over.
    WindowEnded { number: u32, variant: String, block: u32, requests: u64, disturbed: Vec<String> },
    /// A launch is over.
    TrialEnded { number: u32, variant: String, ok: bool, detail: String },
    /// The run is over.
    RunEnded { ok: bool, detail: String },
}

/// A whole run directory, read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredRun {
    /// The study file's text.
    pub study_text: String,
    /// The plan.
    pub plan: Plan,
    /// Conditions.
    pub host: HostFacts,
    /// Trials in order, repeats included.
    pub trials: Vec<StoredTrial>,
    /// The result; absent when no trial was finished.
    pub summary: Option<Summary>,
}

/// One trial with its series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredTrial {
    /// `trial.json`
    pub trial: Trial,
    /// Collections, in order.
    pub gc_events: Vec<GcEvent>,
    /// Memory samples, in order.
    pub memory: Vec<MemorySample>,
}
