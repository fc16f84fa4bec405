//! The study file and the workload file, as they are written. Their JSON schema is generated from these types.

use crate::file::fault::FaultTable;
use crate::file::guest::GuestTable;
use crate::file::host::{GroupTable, HostTable};
use crate::file::page_out::PageOutTable;
use crate::file::program::{BenchmarkTable, CommandLine, ProcessTable, ServerTable};
use crate::file::units::{Seconds, Size};
use assay_load::{ArrivalLaw, Load};
use assay_measure::observers::Observe;
use assay_model::{CapacityMethod, Claim, Design, EmulatedProcessor, Published, RequestedMode, schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A study: a question, the server or benchmark program, what is varied, how it is loaded and measured.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, title = "Assay study file")]
pub struct Study {
    /// `assay.study/1`
    pub schema: String,
    /// Name, used for the run directory: letters, digits, - and _.
    pub name: String,
    /// The question that the study answers, for the head of the report.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// Background: where the question comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub background: String,
    /// Name of a folder in `workloads/`; instead of `[server]`.
    pub workload: Option<String>,
    /// A server of your own; instead of `workload`.
    pub server: Option<ServerTable>,
    /// A benchmark program of your own, such as a JMH jar; instead of `workload`.
    pub benchmark: Option<BenchmarkTable>,
    /// Auxiliary processes, in the order in which they are started; those of the workload come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub process: Vec<ProcessTable>,
    /// Faults that processes suffer in every window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<FaultTable>,
    /// So many servers alike, in one control group, with an equal share of the load each. The further ones are processes with the role
    /// `replica`. They have the options, variables and limits of the server, and an audit of their own. Metrics of the server's process are of
    /// the first one: observers `processes`, `group` and `swap` see all.
    #[schemars(range(min = 2, max = 16))]
    pub replicas: Option<u32>,
    /// Scenario file, in the folder of the study file; replaces the workload's. Without one, the ready URL is requested.
    pub scenario: Option<String>,
    /// Levels that every variant is compared with, the other factors held equal. Default: the first of each factor.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub baseline: BTreeMap<String, String>,
    /// The metric that decides. Default: `cpu_ms_per_request`; of capacities `critical_rate_per_s`; of benchmarks `ns_per_op`, which means all of them. One of
    /// several is named like `ns_per_op/PointerChase.follow(nodes=8192)`.
    pub primary_metric: Option<String>,
    /// Observers. Default: `["gc", "memory", "host", "latency"]`, of capacities `["gc", "memory", "host"]`, of benchmarks
    /// `["gc", "host"]`, to which `memory` or `areas` can be added: of the process that the command starts, by the last look before its end.
    pub observe: Option<Vec<Observe>>,
    /// Settings of all variants.
    #[serde(flatten)]
    pub settings: Settings,
    /// Seed of every random draw. Default: 1.
    pub seed: Option<u64>,
    /// The factors: what is varied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factor: Vec<Factor>,
    /// Combinations of levels that are not run: a level by factor; a factor that is not named means all its levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<BTreeMap<String, String>>,
    /// How trials are laid out.
    #[serde(default)]
    pub design: DesignTable,
    /// Each trial searches for the server's capacity instead of measuring windows of `[load]`: the highest rates within limits of the
    /// response time.
    pub capacity: Option<CapacityTable>,
    /// Instead of windows on this machine, each trial is a guest under full-system emulation. It counts instructions and what follows
    /// from them, never times.
    pub emulated: Option<EmulatedTable>,
    /// Trials run in emulated machines instead of on this one, for bytes, counts and settings: times mean nothing there.
    pub guest: Option<GuestTable>,
    /// When a window counts as disturbed.
    #[serde(default)]
    pub limits: LimitsTable,
    /// The short form, run with `--quick`: its keys replace those above.
    pub quick: Option<QuickTable>,
    /// Published values, compared with ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// Claims about the metrics, judged against the run and, within one source, against each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claim: Vec<Claim>,
    /// Study files in the folder of this one that answer other parts of the same question, with other servers or another design:
    /// run after this one, each into a run directory of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}

impl Study {
    /// A study of this name, with nothing else set.
    pub fn named(name: impl Into<String>) -> Study {
        Study { schema: schema::STUDY_FILE.to_owned(), name: name.into(), ..Study::default() }
    }

    /// Every load that it sets, with its place.
    pub(crate) fn loads(&self) -> Vec<(String, &LoadTable)> {
        let of_quick = self.quick.as_ref().and_then(|q| q.load.as_ref());
        let own = [("load".to_owned(), self.settings.load.as_ref()), ("quick.load".to_owned(), of_quick)];
        let of_levels = self.levels().map(|(place, l)| (format!("{place}.load"), l.settings.load.as_ref()));
        own.into_iter().chain(of_levels).filter_map(|(place, load)| Some((place, load?))).collect()
    }

    /// Whether any of its loads is made by several threads.
    pub(crate) fn has_threads(&self) -> bool {
        let of_quick = self.quick.as_ref().and_then(|q| q.capacity.as_ref());
        let searches = self.capacity.iter().chain(of_quick).map(|table| table.threads);
        let loads = self.loads().into_iter().map(|(_, load)| load.threads);
        // Each replica is loaded by a thread of its own.
        self.replicas.is_some() || searches.chain(loads).flatten().any(|threads| 1 < threads)
    }

    /// Every table of settings of the machine, with its place.
    pub(crate) fn hosts(&self) -> Vec<(String, &HostTable)> {
        let of_levels = self.levels().map(|(place, level)| (format!("{place}.host"), &level.settings));
        let all = std::iter::once(("host".to_owned(), &self.settings)).chain(of_levels);
        all.filter_map(|(place, settings)| Some((place, settings.host.as_ref()?))).collect()
    }

    /// Every table of limits of the server, with its place.
    pub(crate) fn groups(&self) -> Vec<(String, &GroupTable)> {
        self.levels()
            .filter_map(|(place, level)| Some((format!("{place}.limits"), level.limits.as_ref()?)))
            .collect()
    }

    /// Every level, with its place.
    fn levels(&self) -> impl Iterator<Item = (String, &Level)> {
        self.factor.iter().enumerate().flat_map(|(i, factor)| {
            factor.level.iter().enumerate().map(move |(j, level)| (format!("factor.{i}.level.{j}"), level))
        })
    }

    /// As a study file, without keys that have their default.
    ///
    /// # Errors
    /// A value that TOML cannot express, such as a number beyond 63 bits.
    pub fn to_toml(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|e| e.to_string())
    }
}

/// Settings that hold for all variants or for one level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// Turned into JVM options and a choice of JVM, and verified from the JVM's log.
    pub reference_mode: Option<RequestedMode>,
    /// Compact object headers (JDK 25 and later).
    pub compact_headers: Option<bool>,
    /// Initial and largest heap: `-Xms` and `-Xmx`.
    pub heap: Option<Size>,
    /// Feature release (`"17"`) or home folder of the JVM. Default: the `java` on the path.
    pub jvm: Option<String>,
    /// JVM options, in the order of the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvm_options: Vec<String>,
    /// Environment variables of the server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// A shared library that is loaded into the server before all others (`LD_PRELOAD`), for example another allocator:
    /// its file name or path. A variant whose library is missing is skipped.
    pub preload: Option<String>,
    /// Dead memory that Assay writes to swap again and again while the server runs, as `assay memory --page-out` does.
    pub page_out: Option<PageOutTable>,
    /// Options that the workload offers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workload_options: BTreeMap<String, String>,
    /// The load.
    pub load: Option<LoadTable>,
    /// Settings of the machine.
    pub host: Option<HostTable>,
    /// The command, in place of that of `[server]` or `[benchmark]`.
    pub command: Option<CommandLine>,
    /// Folder in which it is started, in place of that of `[server]` or `[benchmark]`.
    pub directory: Option<String>,
    /// A commit, branch or tag of the repository that `directory` lies in: the command is started in a clean copy of it.
    pub commit: Option<String>,
    /// A command that is run once before the first trial, in a clean copy of `commit`, or else of `directory` as it is, without what the
    /// repository ignores. It may hold `{build}`, the folder of the copy, in which it runs and in which `command` is started. A copy that was
    /// built before is used again.
    pub build: Option<CommandLine>,
    /// How long a build may take before it is stopped and its variants are left out. Default: 1800.
    #[schemars(range(min = 0.1, max = 86400))]
    pub build_timeout_s: Option<f64>,
}

/// Something that is varied.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its values, in the order of the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level: Vec<Level>,
    /// In place of `level`: each feature release of the JDK that is found on the machine, from this one on, is a level, named by its
    /// number. One that is named, as the baseline or in the short form, and is not found is skipped.
    #[schemars(range(min = 8, max = 999))]
    pub each_jdk_from: Option<u32>,
    /// In place of `level`: `"A..B"` makes a level of the commit A, with which the others are compared unless the study says otherwise, and of
    /// each one that follows it up to B, the oldest first, named by its short id; of merges the side that was merged into.
    pub commits: Option<String>,
}

/// One value of a factor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Level {
    /// Its name, which becomes part of the variant's.
    pub name: String,
    /// What the report's sentences call it, in the words of the question: "a JVM with 64-bit references" (of the first factor). Default: its name.
    pub called: Option<String>,
    /// The level of the same factor that this one is compared with, where that is not the study's baseline.
    pub baseline: Option<String>,
    /// Its settings.
    #[serde(flatten)]
    pub settings: Settings,
    /// Limits of the server.
    pub limits: Option<GroupTable>,
}

/// Users of a closed load, and connections of an open one, where the study names none.
pub(crate) const USERS: u32 = 8;
pub(crate) const CONNECTIONS: u32 = 64;

/// Kinds of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKind {
    /// Users who each send the next request once the last is answered: throughput at saturation.
    Closed,
    /// Requests at a rate, whether or not earlier ones are answered: response times.
    Open,
}

/// The load. Default: `closed`, 8 users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LoadTable {
    /// Closed or open.
    pub kind: LoadKind,
    /// Users, each with a session of its own. Of closed load: default 8. Of open load exactly so many, for one of whom an arrival waits
    /// that finds all busy; default: as many as the rate needs, and more when all are busy.
    #[schemars(range(min = 1, max = 100_000))]
    pub users: Option<u32>,
    /// Pause of a user of closed load between an answer and the next request. Default: none.
    pub think: Option<Seconds>,
    /// Rate of open load, requests per second.
    #[schemars(range(min = 0.001, max = 1_000_000))]
    pub rate_per_s: Option<f64>,
    /// Gaps between requests of open load. Default: `poisson`.
    pub arrivals: Option<ArrivalLaw>,
    /// Connections of open load. Default: 64.
    #[schemars(range(min = 1, max = 100_000))]
    pub connections: Option<u32>,
    /// Requests of open load that may be in flight or waiting; further ones fail. Default: 10,000, or as many as the connections carry
    /// at once where that is more.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub in_flight_max: Option<u32>,
    /// Threads that make the load together, each with its share of users, connections and rate, and a core of its own. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub threads: Option<u32>,
}

impl LoadTable {
    /// The load that it asks for.
    pub(crate) fn load(&self) -> Load {
        match self.kind {
            LoadKind::Closed => {
                Load::Closed { users: self.users.unwrap_or(USERS), think: self.think.map(Seconds::duration) }
            }
            LoadKind::Open => Load::Open {
                arrivals: self.arrivals.unwrap_or(ArrivalLaw::Poisson),
                rate_per_s: self.rate_per_s.unwrap_or(1.0),
            },
        }
    }

    /// Closed load of so many users.
    pub(crate) fn closed(users: u32) -> Self {
        LoadTable {
            kind: LoadKind::Closed,
            users: Some(users),
            think: None,
            rate_per_s: None,
            arrivals: None,
            connections: None,
            in_flight_max: None,
            threads: None,
        }
    }

    /// In words, for plan and report.
    pub(crate) fn describe(&self) -> String {
        let threads = self.threads.filter(|threads| 1 < *threads);
        let threads = threads.map_or_else(String::new, |threads| format!(", {threads} threads"));
        format!("{}{threads}", self.describe_law())
    }

    fn describe_law(&self) -> String {
        match self.kind {
            LoadKind::Closed => {
                let think = self.think.map(|t| format!(", {} s between an answer and the next request", t.0));
                format!("closed loop, {} users{}", self.users.unwrap_or(USERS), think.unwrap_or_default())
            }
            LoadKind::Open => {
                let law = match self.arrivals.unwrap_or(ArrivalLaw::Poisson) {
                    ArrivalLaw::Constant => "constant",
                    ArrivalLaw::Poisson => "Poisson",
                };
                let rate = self.rate_per_s.unwrap_or_default();
                let users = self.users.map(|users| format!(", {users} users")).unwrap_or_default();
                format!(
                    "open loop, {rate} requests/s, {law} arrivals, {} connections{users}",
                    self.connections.unwrap_or(CONNECTIONS)
                )
            }
        }
    }
}

/// Each trial searches for the highest rate that the server sustains, and for the highest at which a percentile of the
/// response time keeps each limit. Before it the server is warmed up by 8 users in closed loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CapacityTable {
    /// Default: `search`.
    pub method: Option<CapacityMethod>,
    /// Limits of the response time, ms, upwards. Default: 10, 25, 50, 75, 100; none where single operations have limits.
    pub limits_ms: Option<Vec<f64>>,
    /// Limits of single operations of the scenario, ms, upwards, by the operation's name: `{ checkout = [200] }`.
    pub operation_limits_ms: Option<BTreeMap<String, Vec<f64>>>,
    /// The percentile that must keep them. Default: 99.
    #[schemars(range(min = 50, max = 99.9))]
    pub percentile: Option<f64>,
    /// Operations of the scenario that the limits in `limits_ms` hold for, together. Default: all.
    pub limited_operations: Option<Vec<String>>,
    /// About the longest time of the windows of one trial. Default: `5m` for a search, `150m` for a sweep, as published; less
    /// shortens the phases of a sweep.
    pub budget: Option<Seconds>,
    /// Maximum connections. Waiting for a free one counts as response time. Default: 256.
    #[schemars(range(min = 1, max = 60_000))]
    pub connections: Option<u32>,
    /// Users, exactly so many, each with a session of its own. Default: as many as each rate needs, and more when all are busy.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub users: Option<u32>,
    /// Requests that may be in flight or waiting; further ones fail. Default: 10,000, or as many as the connections carry at once
    /// where that is more.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub in_flight_max: Option<u32>,
    /// Threads that make the load together, each with its share of users, connections and rate, and a core of its own. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub threads: Option<u32>,
    /// Include windows in which other processes used the machine: the only way to a figure where they always do. With such windows the
    /// capacity is not valid. Default: false.
    pub count_disturbed: Option<bool>,
}

/// How each trial is emulated: server and load generator run in a guest with one virtual processor, for which a second has
/// 1,000,000,000 instructions. `[load]` is the load; requests that begin in the window are counted whole. The guest has a kernel of its own,
/// so levels can set neither `host` nor `limits`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct EmulatedTable {
    /// The processor whose caches, TLBs and branch prediction are modelled. `neoverse-n1` is a guest of AArch64 with the JVM that
    /// `scripts/fetch-emulator aarch64` fetched; the others are of x86-64. Default: `pentium-iii`.
    pub processor: Option<EmulatedProcessor>,
    /// Load before counting, on the guest's clock. Default: `2s`; with `warm_up_requests` it is the longest that they may take, `1h`.
    pub warm_up: Option<Seconds>,
    /// Load that is counted, on the guest's clock. Default: `500ms`; with `window_requests` it is the longest that they may take, `1h`.
    pub window: Option<Seconds>,
    /// Requests of a closed load before counting, instead of a time; then the load rests for 3 s of the guest's clock while the JVM compiles.
    #[schemars(range(max = 10_000_000))]
    pub warm_up_requests: Option<u64>,
    /// Requests of a closed load that are counted, instead of a time.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub window_requests: Option<u64>,
    /// Memory of the guest on top of the largest heap (`heap`, or `-Xmx` in the command) and its files. Default: `512m`.
    pub memory: Option<Size>,
    /// Files and folders that the server needs and that neither its command nor its environment names; they have the same path in the
    /// guest. Relative paths begin at the study file's folder. Of a folder hidden files and keys (`.p12`, `.jks`, `.pem` and so on) are left out
    /// unless they are named themselves.
    pub files: Option<Vec<String>>,
}

/// How trials are laid out in time.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DesignTable {
    /// A process for each trial (`fresh`, the default); one server of each variant (`resident`): its alternating windows show
    /// differences in garbage beyond 5 %, and no others; or pairs of two variants' processes at the same time (`duet`), each with its
    /// load generator on half of the processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Design>,
    /// How often every variant is run, of a duet the number of pairs; fewer than 3 give no interval. Default: 8.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// Length of a measured window. Default: `30s`, of a duet `5s`. A benchmark program decides itself how long it measures: there it is what
    /// a launch takes, about, for the estimate of the run's length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Seconds>,
    /// Windows of a pair of a duet: an even number, since the sides swap their halves of the processors in every window. Default: 6.
    #[schemars(range(min = 2, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<u32>,
    /// How warm-up ends.
    #[serde(default)]
    pub warm_up: WarmUpTable,
    /// How often a disturbed window, or a launch that failed, may be repeated. Default: 2.
    #[schemars(range(min = 0, max = 100))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats_max: Option<u32>,
    /// No repeat begins after this time, and no block that would end after it, the first three excepted (an interval
    /// needs three). Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_max: Option<Seconds>,
}

/// Warm-up ends when the steady-state test passes, not before `min` and not after `cap`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WarmUpTable {
    /// Shortest warm-up. Default: `20s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Seconds>,
    /// Longest warm-up. Default: `120s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<Seconds>,
}

/// When a window is disturbed and excluded. Shares are from 0 to 1.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LimitsTable {
    /// CPU time of other processes, as a share of the machine. Default: 0.10.
    #[schemars(range(min = 0, max = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_cpu_share: Option<f64>,
    /// Time that the hypervisor took, as a share of the machine. Default: 0.03.
    #[schemars(range(min = 0, max = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// Time in which a CPU limit held the server, as a share. Default: 0. For a capacity: time in which a limit
    /// other than the server's own held the load generator. Default: 0.005.
    #[schemars(range(min = 0, max = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_share: Option<f64>,
    /// Failed requests, as a share of all. Default: 0.01.
    #[schemars(range(min = 0, max = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_share: Option<f64>,
}

/// The short form of a study.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct QuickTable {
    /// Replaces the keys of `[design]` that it names.
    #[serde(default)]
    pub design: DesignTable,
    /// Replaces `[load]`.
    pub load: Option<LoadTable>,
    /// Replaces the keys of `[capacity]` that it names.
    pub capacity: Option<CapacityTable>,
    /// Replaces the keys of `[emulated]` that it names.
    pub emulated: Option<EmulatedTable>,
    /// Levels that are run, by factor; of a factor that is not named, all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, Vec<String>>,
    /// Further combinations that are not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<BTreeMap<String, String>>,
    /// Options of the workload.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workload_options: BTreeMap<String, String>,
    /// JVM options, after those of the study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvm_options: Vec<String>,
}

/// The JSON schema of study files, as checked in at `docs/schemas/study.schema.json`.
pub fn study_schema() -> serde_json::Value {
    schemars::schema_for!(Study).to_value()
}
