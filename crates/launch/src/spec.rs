//! A process of a trial as it is asked for: everything but what only its start decides.

use rustix::process::Signal as Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// When a process is ready, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadyWhen {
    /// As soon as it runs.
    Started,
    /// When this URL answers with success.
    Url(String),
    /// When this command ends with exit code 0.
    Command(Vec<String>),
}

/// Signals that ask a process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum StopSignal {
    /// The usual one.
    #[default]
    Term,
    /// That of Ctrl-C.
    Int,
    /// That of a closed terminal.
    Hup,
}

impl StopSignal {
    pub(crate) fn number(self) -> Number {
        match self {
            StopSignal::Term => Number::TERM,
            StopSignal::Int => Number::INT,
            StopSignal::Hup => Number::HUP,
        }
    }
}

/// A process to be started once or more often. Texts may hold placeholders: of its own `{port}`, `{password}`, `{folder}` and
/// `{number}`; of the others `{ROLE.port}`, `{ROLE.password}` and `{ROLE.folder}`, of several those of the first, with `ROLE-2` for the
/// second and `{ROLE.ports}` for the ports of all.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// Its role in the trial; names its log, `ROLE.log`.
    pub role: String,
    /// Whether it is what the trial measures.
    pub is_server: bool,
    /// Whether it is another server like the one that the trial measures: its texts may hold `{server_dir}`, too.
    pub is_replica: bool,
    /// How many are started.
    pub count: u32,
    /// Words of its command.
    pub command: Vec<String>,
    /// A command that is run before it, as the same user in the same folder, and must end with exit code 0.
    pub prepare: Vec<String>,
    /// When it is ready.
    pub ready: ReadyWhen,
    /// How long that may take.
    pub ready_timeout: Duration,
    /// Variables.
    pub environment: BTreeMap<String, String>,
    /// Folder in which it starts. Default: the study's.
    pub directory: Option<String>,
    /// A folder that is copied to its own before it starts.
    pub template: Option<String>,
    /// Folders that are searched for its programs before the path is; `*` stands for a version, the newest first.
    pub programs: Vec<String>,
    /// How it is asked to stop.
    pub stop_signal: StopSignal,
    /// How long stopping may take before it is killed.
    pub stop_timeout: Duration,
    /// Whether it runs as a user without rights where we are root.
    pub is_unprivileged: bool,
    /// Home of its JVM, if it is one.
    pub jvm_home: Option<String>,
    /// JVM options of the variant, then those that observers need.
    pub jvm_options: Vec<String>,
    /// JVM options that each of several has for itself, the first one's first: such as the file of its log. They go behind the others, and
    /// only to its command.
    pub options_of_each: Vec<Vec<String>>,
    /// Folders of control groups that it runs in.
    pub groups: Vec<PathBuf>,
}

impl ProcessSpec {
    /// One that is started once, from the study's folder, with nothing of a variant.
    pub fn new(role: &str, command: Vec<String>, ready: ReadyWhen) -> ProcessSpec {
        ProcessSpec {
            role: role.to_owned(),
            is_server: false,
            is_replica: false,
            count: 1,
            command,
            prepare: Vec::new(),
            ready,
            ready_timeout: Duration::from_secs(120),
            environment: BTreeMap::new(),
            directory: None,
            template: None,
            programs: Vec::new(),
            stop_signal: StopSignal::Term,
            stop_timeout: Duration::from_secs(30),
            is_unprivileged: false,
            jvm_home: None,
            jvm_options: Vec::new(),
            options_of_each: Vec::new(),
            groups: Vec::new(),
        }
    }
}

/// The folders that the processes of a trial use.
#[derive(Debug, Clone, Copy)]
pub struct TrialFolders<'a> {
    /// The trial's folder, for logs and files.
    pub trial: &'a Path,
    /// The private folder in which runs leave word of what they did.
    pub runtime: &'a Path,
    /// Folder of the study file.
    pub base: &'a Path,
}
