//! `plan.json`: what a run will do, fixed before anything starts.

use crate::{
    Claim, Estimate, Feels, JvmFacts, Metric, PER_BENCHMARK, PlannedBudget, PlannedCapacity, PlannedDuet,
    PlannedFault, Provenance, RequestedMode, Verdict, metric,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How trials are laid out in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// A fresh process for each trial, in interleaved blocks (A B C, C A B, ...).
    Fresh,
    /// All variants up and warmed; measured in alternating short windows (A B C, C B A, ...), the others suspended.
    Resident,
    /// Pairs of fresh processes, one of each of two variants, at the same time: each side with its load generator on its half of the
    /// processors, the halves swapped in every window.
    Duet,
}

/// What a study launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A server, which is loaded.
    #[default]
    Server,
    /// A program that measures itself and writes its results, such as a JMH suite.
    Benchmark,
}

/// Processors whose caches, TLBs and branch prediction are modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmulatedProcessor {
    /// The Pentium III of Luo and John's study of VolanoMark.
    #[default]
    PentiumIii,
    /// Sizes as of Zen 4.
    Current,
    /// Arm Neoverse-N1, with LSE atomics; its guest is an AArch64 machine.
    NeoverseN1,
}

/// What is counted in a guest under full-system emulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedEmulation {
    /// What is modelled.
    pub processor: EmulatedProcessor,
    /// Load before counting, seconds of the guest's clock: of 1,000,000,000 instructions each, but for what the guest is idle.
    pub warm_up_s: f64,
    /// Load that is counted, likewise.
    pub window_s: f64,
    /// Requests before counting; `warm_up_s` is then the longest that they may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_requests: Option<u64>,
    /// Requests that are counted; `window_s` is then the longest that they may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_requests: Option<u64>,
    /// Memory of the guest on top of the largest heap and its files, MiB.
    pub memory_mib: u64,
    /// Further files of the guest, as the study names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// Emulated machines in which trials can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuestMachine {
    /// IBM POWER9, little-endian, with pages of 64 KiB.
    Power9,
    /// Arm Neoverse-N1, with LSE atomics.
    NeoverseN1,
    /// x86-64, with control groups of version 2.
    #[serde(rename = "x86-64")]
    X86_64,
}

impl GuestMachine {
    /// Its name in study files.
    pub fn name(self) -> &'static str {
        match self {
            GuestMachine::Power9 => "power9",
            GuestMachine::NeoverseN1 => "neoverse-n1",
            GuestMachine::X86_64 => "x86-64",
        }
    }

    /// What it is, for people.
    pub fn title(self) -> &'static str {
        match self {
            GuestMachine::Power9 => "POWER9",
            GuestMachine::NeoverseN1 => "Arm Neoverse-N1",
            GuestMachine::X86_64 => "x86-64",
        }
    }
}

/// The emulated machine in which the trials of a plan run. Bytes, counts and settings are exact there; times mean nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedGuest {
    /// The machine.
    pub machine: GuestMachine,
    /// Beginning of the version of its kernel; absent: the first that was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Virtual processors.
    pub processors: u32,
    /// Memory nodes, among which processors and memory are divided.
    pub nodes: u32,
    /// Memory beyond what its files take, MiB.
    pub memory_mib: u64,
}

impl PlannedGuest {
    /// In words.
    pub fn describe(&self) -> String {
        let of = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let nodes =
            if self.nodes == 1 { String::new() } else { format!(", {}", of(self.nodes, "memory node")) };
        format!(
            "emulated guest: {}, {}{nodes}; bytes, counts and settings are exact, times mean nothing",
            self.machine.title(),
            of(self.processors, "processor"),
        )
    }
}

/// How the trials of a plan measure: the one place that says so. It is stored in three keys, `subject`, `capacity` and `emulation`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "ProcedureKeys", into = "ProcedureKeys")]
pub enum PlannedProcedure {
    /// Windows of one load, on a server.
    #[default]
    Windows,
    /// A search for the capacity of a server.
    Capacity(PlannedCapacity),
    /// The whole launch of a program that measures itself.
    Benchmark,
    /// Counts of what a server executes in an emulated guest.
    Emulated(PlannedEmulation),
}

impl PlannedProcedure {
    /// What is searched for, where a trial finds a capacity.
    pub fn capacity(&self) -> Option<&PlannedCapacity> {
        match self {
            PlannedProcedure::Capacity(planned) => Some(planned),
            PlannedProcedure::Windows | PlannedProcedure::Benchmark | PlannedProcedure::Emulated(_) => None,
        }
    }

    /// The counts, where a trial is a guest under emulation.
    pub fn emulation(&self) -> Option<&PlannedEmulation> {
        if let PlannedProcedure::Emulated(planned) = self { Some(planned) } else { None }
    }

    /// Whether its windows are of one load, which is the same for all variants: then what a request takes can be compared.
    pub fn has_even_load(&self) -> bool {
        *self == PlannedProcedure::Windows
    }

    /// Whether a disturbed measurement takes another launch: a search takes a server that nothing has happened to, and a program that
    /// measures itself ends with that.
    pub fn measures_once(&self) -> bool {
        !self.has_even_load()
    }
}

/// The stored part of a procedure.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct ProcedureKeys {
    #[serde(default)]
    subject: Subject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    capacity: Option<PlannedCapacity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    emulation: Option<PlannedEmulation>,
}

impl From<ProcedureKeys> for PlannedProcedure {
    fn from(keys: ProcedureKeys) -> Self {
        match keys {
            ProcedureKeys { subject: Subject::Benchmark, .. } => PlannedProcedure::Benchmark,
            ProcedureKeys { emulation: Some(planned), .. } => PlannedProcedure::Emulated(planned),
            ProcedureKeys { capacity: Some(planned), .. } => PlannedProcedure::Capacity(planned),
            ProcedureKeys { .. } => PlannedProcedure::Windows,
        }
    }
}

impl From<PlannedProcedure> for ProcedureKeys {
    fn from(procedure: PlannedProcedure) -> Self {
        let none = ProcedureKeys { subject: Subject::Server, capacity: None, emulation: None };
        match procedure {
            PlannedProcedure::Windows => none,
            PlannedProcedure::Capacity(planned) => ProcedureKeys { capacity: Some(planned), ..none },
            PlannedProcedure::Benchmark => ProcedureKeys { subject: Subject::Benchmark, ..none },
            PlannedProcedure::Emulated(planned) => ProcedureKeys { emulation: Some(planned), ..none },
        }
    }
}

/// One combination of levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// Unique name, made of the level names, for example `64-bit/1g`.
    pub name: String,
    /// Level by factor.
    pub levels: BTreeMap<String, String>,
    /// Requested reference mode, where the study varies or fixes it.
    pub reference_mode: Option<RequestedMode>,
    /// Requested compact object headers.
    pub compact_headers: bool,
    /// Maximum heap, bytes, where the study sets it.
    pub max_heap_bytes: Option<u64>,
    /// The JVM, where the server is started by one.
    pub jvm: Option<JvmFacts>,
    /// JVM options in the order of the command line.
    pub jvm_options: Vec<String>,
    /// Names of environment variables that the study sets (values may be secret and are not stored).
    pub environment_names: Vec<String>,
    /// Options of the workload, for example `database = h2`.
    pub workload_options: BTreeMap<String, String>,
    /// The variant that this one is compared with; absent for a baseline.
    pub baseline: Option<String>,
    /// Changes to the machine, in the order in which they are made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub treatments: Vec<PlannedTreatment>,
    /// The clean copy that it is started in; absent where it is started from files as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<PlannedBuild>,
}

/// A clean copy of a commit or folder, which is built once before the first trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedBuild {
    /// The repository or folder that is copied.
    pub source: String,
    /// Id of the commit; absent for files as they were.
    pub commit: Option<String>,
    /// First line of the commit's message.
    pub subject: Option<String>,
    /// Words of the command that builds it; none where the copy is enough.
    pub command: Vec<String>,
    /// Made of all that went in: commit or contents of the files, command, and variables that builds look at. It names the copy.
    pub id: String,
}

/// A change to the machine that a variant asks for; taken back after its trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTreatment {
    /// What is changed: a file of the kernel, swap, or a control group of the server's own.
    pub setting: String,
    /// What it becomes.
    pub value: String,
    /// Whether it holds for the whole machine, and not for the server alone.
    pub is_global: bool,
}

/// A variant that cannot be run here, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedVariant {
    /// Its name.
    pub name: String,
    /// Level by factor.
    pub levels: BTreeMap<String, String>,
    /// Why, in plain words, with what would make it possible.
    pub reason: String,
}

/// One launch to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTrial {
    /// Number in the order of the run, from 1.
    pub number: u32,
    /// Name of the variant.
    pub variant: String,
    /// Block, from 1; in the resident design every trial is of block 1 and its windows carry the blocks.
    pub block: u32,
    /// Seed of every random draw of the trial.
    pub seed: u64,
}

/// What the simulated users do, and before which variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedScenario {
    /// The scenario file, without values of secrets.
    pub text: String,
    /// Names of the variants that are loaded by it.
    pub variants: Vec<String>,
}

/// What is sent to variants with the same load and scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedRequests {
    /// Names of the variants.
    pub variants: Vec<String>,
    /// Users that the load begins with, each with a session of its own. Absent where each rate of a search has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Whether there are never more.
    pub users_fixed: bool,
    /// Requests that begin the session of a user before any load, outside of the figures; of the kind of users with the most.
    pub requests_of_start: u32,
    /// Names of their operations, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_operations: Vec<String>,
    /// About the time in which all users begin their sessions at the pace of the scenario, seconds: a slow server takes longer. Absent
    /// where none does, and where their number is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_s: Option<f64>,
    /// Requests in each measured window, or in a load; absent where the server's answers decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_window: Option<f64>,
    /// By operation that is planned.
    pub operations: Vec<PlannedOperation>,
}

/// How often an operation is planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedOperation {
    /// Name in the scenario.
    pub name: String,
    /// Of the requests, 0 to 1.
    pub share: f64,
    /// Requests in each measured window; absent where the server's answers decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_window: Option<f64>,
}

/// The whole plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// `assay.plan/1`
    pub schema: String,
    /// Who made it.
    pub provenance: Provenance,
    /// Name of the study.
    pub study: String,
    /// The question, as the study file puts it.
    pub question: String,
    /// What the reader should know of the source of the question, for example a paper; may be empty.
    #[serde(default)]
    pub background: String,
    /// Workload's name, or `custom` for a command of the user's.
    pub workload: String,
    /// How its trials measure.
    #[serde(flatten)]
    pub procedure: PlannedProcedure,
    /// True for the short form (`--quick`).
    pub quick: bool,
    /// Design.
    pub design: Design,
    /// How its pairs run, in the duet design.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<PlannedDuet>,
    /// Seed from which all others come.
    pub seed: u64,
    /// Blocks; with a budget, never more than these.
    pub blocks: u32,
    /// Load, in words: `closed loop, 8 users`.
    pub load: String,
    /// Whether every variant is sent requests at a rate that the load sets: then the throughput says nothing of the server.
    #[serde(default)]
    pub load_sets_rate: bool,
    /// Warm-up rule, in words.
    pub warm_up: String,
    /// Length of a measured window, seconds; of a benchmark, what a launch was expected to take; of a capacity, its budget.
    pub window_s: f64,
    /// How often a disturbed trial or window may be repeated.
    pub repeats_max: u32,
    /// Factor names in the study's order, with their levels in order.
    pub factors: Vec<(String, Vec<String>)>,
    /// What sentences call levels of the first factor, by level; the others are called by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub called: BTreeMap<String, String>,
    /// The metric that decides, an identifier of [`crate::METRICS`]; of benchmarks one of [`crate::PER_BENCHMARK`], with the
    /// name of a benchmark if one of them decides.
    pub primary_metric: String,
    /// Variants to run, in the study's order.
    pub variants: Vec<Variant>,
    /// Variants that cannot be run here.
    pub skipped: Vec<SkippedVariant>,
    /// Scenarios that the load follows; none where the ready URL alone is requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<PlannedScenario>,
    /// What is sent, by the load and scenario of variants; none where a benchmark program loads itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<PlannedRequests>,
    /// Trials in order.
    pub trials: Vec<PlannedTrial>,
    /// How long the run should take, seconds; an estimate from the phases alone.
    pub expected_s: f64,
    /// Published values to compare with ours, from the study file.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Claims to judge, from the study file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// What happens to processes in every window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<PlannedFault>,
    /// Numbers of the blocks that this run makes, one part of a whole; empty where it makes all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<u32>,
    /// The emulated machine in which its trials run; absent where they run on the machine itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<PlannedGuest>,
    /// Where the run ends when it has decided what is asked, or its time is over; absent where all blocks are run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<PlannedBudget>,
}

impl Plan {
    /// The numbers of the blocks whose trials it has.
    pub fn block_numbers(&self) -> BTreeSet<u32> {
        self.trials.iter().map(|trial| trial.block).collect()
    }

    /// How many blocks this run makes: all of them, or those of its part.
    pub fn blocks_here(&self) -> u32 {
        if self.part.is_empty() { self.blocks } else { self.part.len() as u32 }
    }

    /// Whether a metric is what a run with a budget is to decide.
    pub fn is_asked(&self, metric: &str) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.asks(metric))
    }

    /// Whether a metric means something where its trials run: an emulated guest has no times.
    pub fn measures(&self, metric: &Metric) -> bool {
        self.guest.is_none() || metric.feels == Feels::Nothing
    }

    /// Whether the load sets a metric, so that there is nothing to compare.
    pub fn is_set_by_load(&self, metric: &str) -> bool {
        self.load_sets_rate && metric == metric::THROUGHPUT_PER_S
    }

    /// The metrics that its questions are about: the one that decides, and those of published values and claims. Those of a rate that the load sets
    /// are not among them.
    pub fn asked(&self) -> Vec<Metric> {
        let of_others =
            self.published.iter().map(|p| &p.metric).chain(self.claims.iter().map(|c| &c.about.metric));
        let mut ids: Vec<&String> = std::iter::once(&self.primary_metric).chain(of_others).collect();
        ids.sort_unstable();
        ids.dedup();
        let of_kind = |id: &str| PER_BENCHMARK.iter().find(|metric| metric.id == id).cloned();
        ids.into_iter().filter_map(|id| Metric::by_id(id).or_else(|| of_kind(id))).collect()
    }

    /// The interval of a metric, widened by what another start of the same variants may change; without end where that is unknown. In the
    /// resident design a variant is one server, and its interval is over the windows of that one.
    pub fn over_starts(&self, metric: &Metric, measured: &Estimate) -> Estimate {
        let ratio_max = match (self.design, metric.start_percent_max) {
            (Design::Fresh | Design::Duet, _) => 1.0,
            (Design::Resident, Some(percent)) => 1.0 + f64::from(percent) / 100.0,
            (Design::Resident, None) => f64::INFINITY,
        };
        let low = measured.low.map(|low| low / ratio_max);
        Estimate { low, high: measured.high.map(|high| high * ratio_max), ..*measured }
    }

    /// What is said of a comparison whose interval says `of_interval`.
    pub fn verdict(&self, metric: &Metric, ratio: &Estimate, of_interval: Verdict) -> Verdict {
        let excludes_1 =
            self.over_starts(metric, ratio).ends().is_some_and(|(low, high)| 1.0 < low || high < 1.0);
        if of_interval.is_shown() && !excludes_1 { Verdict::OneServerEach } else { of_interval }
    }
}

/// Published values, to be compared with ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Where they stand, for example `Figure 4, SLES 10.1 x86-64`.
    pub source: String,
    /// Metric identifier they correspond to.
    pub metric: String,
    /// Value by level of the first factor, relative to that source's own baseline (1 for the baseline).
    #[serde(default)]
    pub relative: BTreeMap<String, f64>,
    /// Absolute value by level, in the metric's unit, where the source gives it. Judged where it gives no ratios.
    #[serde(default)]
    pub absolute: BTreeMap<String, f64>,
    /// How far off a ratio may be, percent of the baseline, where a chart is read less exactly than the ratio is written. Default: half a unit of
    /// its last digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub within_percent: Option<f64>,
    /// Levels of the other factors that the values hold for, for example `heap = 1g`; empty when they hold for all.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
}
