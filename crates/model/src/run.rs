//! The run directory: its file names, its events, and its content once read.

use crate::{
    CapacityReport, CapacityStep, GcRecord, GcReport, HostFacts, Hosts, MemoryReport, MemorySample, Outlook,
    Plan, Summary, Trial,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names of the files of a run directory. Only the study room reads and writes them.
pub mod file {
    /// The study as the user wrote it, without secrets.
    pub const STUDY: &str = "study.toml";
    /// [`crate::Plan`]
    pub const PLAN: &str = "plan.json";
    /// [`crate::HostFacts`]
    pub const HOST: &str = "host.json";
    /// One [`crate::RunEvent`] a line.
    pub const EVENTS: &str = "events.ndjson";
    /// [`crate::Hosts`], of a run that was merged.
    pub const HOSTS: &str = "hosts.json";
    /// [`crate::Summary`]
    pub const SUMMARY: &str = "summary.json";
    /// The report.
    pub const REPORT: &str = "report.html";
    /// Folder of what builds printed.
    pub const BUILDS: &str = "builds";
    /// Folder of the trials.
    pub const TRIALS: &str = "trials";
    /// [`crate::Trial`], in a trial's folder; written last, so a folder without it is not a whole trial.
    pub const TRIAL: &str = "trial.json";
    /// What the server printed.
    pub const SERVER_LOG: &str = "server.log";
    /// What a benchmark program wrote, in its own form (JMH's JSON).
    pub const BENCHMARK: &str = "benchmark.json";
    /// The JVM's own GC log. A benchmark program starts several JVMs: theirs are `gc-PID.log`; those of JVMs beside a server are
    /// `gc-ROLE.log` ([`gc_log_of`]).
    pub const GC_LOG: &str = "gc.log";
    /// One [`crate::GcEventsLine`] a line, the schema first: everything that the GC log says, as `assay gc --events` writes it.
    pub const GC_EVENTS: &str = "gc.ndjson";
    /// [`crate::GcReport`] of the whole GC log, from the start of the server to its end, with the findings and their evidence.
    pub const GC_REPORT: &str = "gc.json";
    /// Interval log of response times that HdrHistogram tools read.
    pub const LATENCY_LOG: &str = "latency.hlog";
    /// One [`crate::MemorySample`] a line.
    pub const MEMORY: &str = "memory.ndjson";
    /// [`crate::MemoryReport`]: one look at the server in full, after the last window of a trial.
    pub const MEMORY_REPORT: &str = "memory.json";
    /// [`crate::CapacityReport`]: what a trial that finds a capacity found, with every window of load.
    pub const CAPACITY: &str = "capacity.json";
    /// [`crate::AbReport`], beside the run of a comparison of two commands.
    pub const AB: &str = "ab.json";
    /// [`crate::JudgeReport`], beside the runs that judged flags.
    pub const JUDGE: &str = "judge.json";
    /// [`crate::FitReport`], beside the probes of a fit.
    pub const FIT: &str = "fit.json";

    /// The role of what a trial measures.
    pub const SERVER: &str = "server";

    /// Name of the GC log of a role's JVM: that of the server is [`GC_LOG`].
    pub fn gc_log_of(role: &str) -> String {
        if role == SERVER { GC_LOG.to_owned() } else { format!("gc-{role}.log") }
    }

    /// Name of the log that a process wrote which was started again later; of the first start it is 1.
    pub fn earlier_log(log: &str, start: u32) -> String {
        format!("{}.{start}.log", log.strip_suffix(".log").unwrap_or(log))
    }
}

/// Something that happened in a run. Progress on the terminal, `events.ndjson` and tests all listen to the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are named by the glossary and carry their units")]
pub enum RunEventKind {
    /// The plan is fixed.
    RunStarted { trials: u32, windows: u32 },
    /// A run directory of an earlier start is continued.
    RunResumed { trials_done: u32 },
    /// A variant cannot be run here.
    VariantSkipped { variant: String, reason: String },
    /// A clean copy of a commit or folder is made and built.
    BuildStarted { build: String, variants: Vec<String> },
    /// It can be used, or its variants are left out.
    BuildEnded { build: String, ok: bool, detail: String },
    /// A launch begins.
    TrialStarted { number: u32, variant: String, block: u32, attempt: u32 },
    /// The server answers.
    ServerReady { number: u32, after_ms: f64 },
    /// An observer cannot work.
    ObserverExcluded { number: u32, observer: String, reason: String },
    /// Warm-up goes on.
    WarmUpProgress {
        number: u32,
        /// Under a key of its own: `elapsed_s` is that of every event.
        #[serde(rename = "warm_up_s")]
        elapsed_s: f64,
        cpu_ms_per_request: Option<f64>,
    },
    /// Users begin their sessions, before any load.
    SessionsProgress {
        number: u32,
        /// So many have.
        begun: u64,
        users: u64,
        /// About how long the others take.
        left_s: f64,
    },
    /// Warm-up is over.
    WarmUpEnded { number: u32, steady: bool, duration_s: f64 },
    /// A window is measured.
    WindowStarted { number: u32, variant: String, block: u32 },
    /// The load of a window goes on.
    LoadProgress {
        number: u32,
        /// Since it began, settling included. Under a key of its own: `elapsed_s` is that of every event.
        load_s: f64,
        planned_s: f64,
        /// Absent of a closed load.
        offered_rate_per_s: Option<f64>,
        completed: u64,
        errors: u64,
        in_flight: u32,
        /// Of the response times so far; absent before the first.
        p50_ms: Option<f64>,
        p99_ms: Option<f64>,
    },
    /// A window is over.
    WindowEnded { number: u32, variant: String, block: u32, requests: u64, disturbed: Vec<String> },
    /// A fault that the study asks for was done.
    FaultBegan { number: u32, detail: String },
    /// It is over, or could not be done.
    FaultEnded { number: u32, detail: String, failed: bool },
    /// One window of load on the way to a capacity is over.
    CapacityWindowEnded {
        number: u32,
        step: CapacityStep,
        offered_rate_per_s: f64,
        achieved_rate_per_s: f64,
        limited_ms: Option<f64>,
        is_sustained: bool,
        left_out: Vec<String>,
    },
    /// What the run will probably be able to show, by the scatter of its blocks so far.
    Outlook(Outlook),
    /// A launch is over.
    TrialEnded { number: u32, variant: String, ok: bool, detail: String },
    /// The run is over.
    RunEnded { ok: bool, detail: String },
}

/// A whole run directory, read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredRun {
    /// The study file's text.
    pub study_text: String,
    /// The plan.
    pub plan: Plan,
    /// Conditions; of a merged run those of the first host.
    pub host: HostFacts,
    /// The hosts that made the blocks of a merged run; absent where one machine made all.
    pub hosts: Option<Hosts>,
    /// Trials in order, repeats included.
    pub trials: Vec<StoredTrial>,
    /// The result; absent when no trial was finished.
    pub summary: Option<Summary>,
}

impl StoredRun {
    /// Whether a value of the metric that decides counts for any variant; of benchmark programs, any of its kind.
    pub fn has_answer(&self) -> bool {
        self.answered().next().is_some()
    }

    /// The only variant with such a value, if the plan has several variants.
    pub fn answer_without_another(&self) -> Option<&str> {
        let mut answered = self.answered();
        let only = answered.next().filter(|_| 1 < self.plan.variants.len())?;
        answered.next().is_none().then_some(only)
    }

    /// Variants with a value of the primary metric.
    fn answered(&self) -> impl Iterator<Item = &str> {
        let metric = &self.plan.primary_metric;
        let is_of_it = move |id: &String| id == metric || id.split('/').next() == Some(metric);
        let variants = self.summary.iter().flat_map(|summary| &summary.variants);
        variants
            .filter(move |variant| variant.metrics.keys().any(is_of_it))
            .map(|variant| variant.name.as_str())
    }
}

/// What `assay gc` says of the log of a JVM beside the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessGc {
    /// Its role, with its number where the role has several.
    pub role: String,
    /// Of the whole log.
    pub report: GcReport,
}

/// One trial with its series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredTrial {
    /// `trial.json`
    pub trial: Trial,
    /// What the collector did, in order.
    pub gc_events: Vec<GcRecord>,
    /// What `assay gc` says of the whole GC log of this trial: `findings` with their evidence belong into the report of a study, by
    /// variant. Warm-up and the time between windows are in it, so its figures are not those of the windows. Absent where the JVM wrote
    /// no log.
    #[serde(default)]
    pub gc_report: Option<GcReport>,
    /// The same of the JVMs beside the server that wrote a log, in the order of their starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gc_beside: Vec<ProcessGc>,
    /// Memory samples, in order.
    pub memory: Vec<MemorySample>,
    /// The server's memory in full after its last window; absent where it was not read.
    #[serde(default)]
    pub memory_report: Option<MemoryReport>,
    /// The server's capacity; absent where none was searched for, or the trial did not get so far.
    #[serde(default)]
    pub capacity: Option<CapacityReport>,
}
