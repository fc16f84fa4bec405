//! The tables of what a study or workload starts: server or benchmark program, and auxiliary processes.

use assay_launch::StopSignal;
use assay_load::{LoadError, TlsOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// How the server is started, queried and stopped; or, with `url`, which running server is measured. Texts may hold `{java}`, `{jvm_options}`, `{port}`, `{server_dir}`,
/// `{cache}`, `{workload_dir}`, `{option.NAME}`, `{seed}`, and of each `[[process]]` `{NAME.port}`, `{NAME.password}` and
/// `{NAME.folder}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ServerTable {
    /// The command: a list of words, or a text that is split like a shell does (no shell is run).
    pub command: Option<CommandLine>,
    /// Instead of `command` and `ready_url`: address of a server that is already running, on this machine or another. Assay loads and
    /// observes it, and never starts, suspends or stops it.
    pub url: Option<String>,
    /// TLS of a server whose `url`, or `ready_url` where Assay starts it, begins with `https://`.
    pub tls: Option<TlsTable>,
    /// Load it over HTTP/2, with so many requests at once on a connection: agreed on over TLS (ALPN), else the server must be known to speak
    /// it. Default: HTTP/1.1.
    #[schemars(range(min = 1, max = 1000))]
    pub http2_streams: Option<u32>,
    /// The process of a server with `url`, if it is on this machine.
    #[schemars(range(min = 1))]
    pub pid: Option<u32>,
    /// Processes that belong to a server with `url`, with their children: their CPU time does not count as that of other processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub companions: Vec<u32>,
    /// The GC log of a server with `url`, so that slow requests can be attributed to pauses.
    pub gc_log: Option<String>,
    /// The server is ready when this URL answers with success. It is loaded at the same address: over TLS where that begins with `https://`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ready_url: String,
    /// How long that may take. Default: 120.
    #[schemars(range(min = 0.1, max = 3600))]
    pub ready_timeout_s: Option<f64>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Folder in which it is started. Default: that of the study file.
    pub directory: Option<String>,
    /// A folder that is copied to `{server_dir}` before each launch, so that all start from the same state.
    pub template: Option<String>,
    /// Asked after the measurement, and after each level of a sweep: any answer but success makes the trial invalid.
    pub audit_url: Option<String>,
    /// Asked by POST before each level of a sweep for its capacity: sets its data back to what it began with.
    pub reset_url: Option<String>,
    /// Asked at the end of a trial and stored: the server's own counts.
    pub stats_url: Option<String>,
    /// The signal that asks it to stop. Default: `TERM`.
    pub stop_signal: Option<StopSignal>,
    /// How long stopping may take before it is killed. Default: 30.
    #[schemars(range(min = 0.1, max = 3600))]
    pub stop_timeout_s: Option<f64>,
}

/// TLS of a server: files in PEM, with paths relative to the study file's folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlsTable {
    /// Certificates that are trusted. Default: those of the system.
    pub trust: Option<String>,
    /// The certificate that is shown to a server that wants one of its clients, with the chain to its authority.
    pub client_cert: Option<String>,
    /// Its private key.
    pub client_key: Option<String>,
    /// The name that the server's certificate must hold, sent to it (SNI). Default: the host of the URL.
    pub server_name: Option<String>,
    /// Connections resume the sessions of earlier ones. Default: true.
    pub resumption: Option<bool>,
    /// The server's certificate is checked. Default: true; without it its traffic may be read and changed by others on the way.
    pub verify: Option<bool>,
}

impl TlsTable {
    /// With the content of its files.
    pub(crate) fn options(&self, folder: &Path) -> Result<TlsOptions, LoadError> {
        let path = |file: &Option<String>| file.as_ref().map(|file| folder.join(file));
        let [trust, chain, key] = [&self.trust, &self.client_cert, &self.client_key].map(path);
        let usual = TlsOptions::default();
        let options = TlsOptions {
            server_name: self.server_name.clone(),
            resumption: self.resumption.unwrap_or(usual.resumption),
            verify: self.verify.unwrap_or(usual.verify),
            ..usual
        };
        options.with_files(trust.as_deref(), (chain.as_deref(), key.as_deref()))
    }
}

impl ServerTable {
    /// The addresses that are set, by key.
    pub(crate) fn urls(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let ready_url = Some(&self.ready_url).filter(|url| !url.is_empty());
        let all = [
            ("url", self.url.as_ref()),
            ("ready_url", ready_url),
            ("audit_url", self.audit_url.as_ref()),
            ("reset_url", self.reset_url.as_ref()),
            ("stats_url", self.stats_url.as_ref()),
        ];
        all.into_iter().filter_map(|(key, url)| Some((key, url?)))
    }
}

/// An auxiliary process: started before the server, ready before it starts, stopped after it. Texts may hold `{port}`,
/// `{password}` and `{folder}` of its own, `{NAME.port}` and so on of the others, of several the first, with `{NAME-2.port}` for the
/// second and `{NAME.ports}` for those of all, `{number}`, `{java}`, `{jvm_options}` (the variant's), `{cache}`, `{workload_dir}`,
/// `{option.NAME}` and `{seed}`. The server's texts may hold `{NAME.port}` and so on too. A process that is not started has no port: its
/// names are filled in with nothing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ProcessTable {
    /// Its name: letters, digits, - and _. Its output goes to `NAME.log` in the trial's folder.
    pub name: String,
    /// Options of the workload with which it is started. Default: always.
    #[serde(default)]
    pub when: BTreeMap<String, String>,
    /// How many are started. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub count: Option<u32>,
    /// How many in its place where an option of the workload has a word, by option and word; 0 starts none.
    #[serde(default)]
    pub count_when: BTreeMap<String, BTreeMap<String, u32>>,
    /// The command: a list of words, or a text that is split like a shell does (no shell is run).
    pub command: CommandLine,
    /// A command that is run before it, as the same user with the same variables, and must end with exit code 0.
    pub prepare: Option<CommandLine>,
    /// It is ready when this URL answers with success.
    pub ready_url: Option<String>,
    /// It is ready when this command ends with exit code 0. Without this and `ready_url` it is ready as soon as it runs.
    pub ready_command: Option<CommandLine>,
    /// How long that may take. Default: 120.
    #[schemars(range(min = 0.1, max = 3600))]
    pub ready_timeout_s: Option<f64>,
    /// Environment variables.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Folder in which it is started. Default: that of the study file; `{folder}` is its own, empty and private.
    pub directory: Option<String>,
    /// A folder that is copied to `{folder}` before each start.
    pub template: Option<String>,
    /// Folders in which its programs are searched before the path; `*` stands for a version, the newest comes first. They may hold
    /// `{cache}` and `{workload_dir}`.
    #[serde(default)]
    pub programs: Vec<String>,
    /// The command that installs its programs, for the message that they are missing.
    pub install: Option<String>,
    /// The signal that asks it to stop. Default: `TERM`.
    pub stop_signal: Option<StopSignal>,
    /// How long stopping may take before it is killed. Default: 30.
    #[schemars(range(min = 0.1, max = 3600))]
    pub stop_timeout_s: Option<f64>,
    /// As which user it runs. Default: `caller`.
    pub run_as: Option<RunAs>,
    /// Started when the server is ready, and stopped before it, as a proxy in front of it is. Default: false.
    #[serde(default)]
    pub after_server: bool,
    /// The load goes to its port instead of the server's, as to a proxy in front of it. All other requests, such as the audit, still
    /// go to the server. Default: false.
    #[serde(default)]
    pub takes_load: bool,
    /// These are further servers like the study's: `replicas` of the study makes this table.
    #[serde(skip)]
    pub is_replica: bool,
}

/// The role of further servers alike.
pub(crate) const REPLICA: &str = "replica";

impl ProcessTable {
    /// So many further servers like this one.
    pub(crate) fn replicas(server: &ServerTable, count: u32) -> ProcessTable {
        ProcessTable {
            name: REPLICA.to_owned(),
            when: BTreeMap::new(),
            count: Some(count),
            count_when: BTreeMap::new(),
            command: server.command.clone().unwrap_or(CommandLine::Words(Vec::new())),
            prepare: None,
            ready_url: Some(server.ready_url.clone()),
            ready_command: None,
            ready_timeout_s: server.ready_timeout_s,
            environment: server.environment.clone(),
            directory: server.directory.clone(),
            template: server.template.clone(),
            programs: Vec::new(),
            install: None,
            stop_signal: server.stop_signal,
            stop_timeout_s: server.stop_timeout_s,
            run_as: None,
            after_server: false,
            takes_load: false,
            is_replica: true,
        }
    }
}

/// Users of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunAs {
    /// The user who runs the study.
    Caller,
    /// `nobody` if root runs the study, otherwise the user who runs it; in a folder below `/tmp` that belongs to that user.
    Unprivileged,
}

/// A command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CommandLine {
    /// Split like a shell does.
    Text(String),
    /// Word by word.
    Words(Vec<String>),
}

impl CommandLine {
    /// Its words; quotes are resolved, and nothing else has a meaning.
    pub(crate) fn words(&self) -> Result<Vec<String>, String> {
        match self {
            CommandLine::Text(text) => {
                shell_words::split(text).map_err(|e| format!("the command cannot be split: {e}"))
            }
            CommandLine::Words(words) => Ok(words.clone()),
        }
    }
}

/// A program that measures itself, such as a JMH suite: started once for each trial, with the variant's JVM options, until
/// it ends. Texts may hold `{java}`, `{jvm_options}`, `{results}`, `{server_dir}`, `{cache}`, `{workload_dir}`,
/// `{option.NAME}` and `{seed}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct BenchmarkTable {
    /// The command: a list of words, or a text that is split like a shell does (no shell is run). It writes JMH's JSON to
    /// `{results}`, and gives `{jvm_options}` to the JVMs in which it measures:
    /// `java -jar benchmarks.jar "-jvmArgs={jvm_options}" -rf json -rff {results}`.
    pub command: CommandLine,
    /// How long a launch may take before it is stopped and counts as failed. Default: 600.
    #[schemars(range(min = 0.1, max = 86400))]
    pub timeout_s: Option<f64>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Folder in which it is started. Default: that of the study file.
    pub directory: Option<String>,
}
