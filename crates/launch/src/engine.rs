//! Where processes run. Everything above knows a process only by what this trait says of it.

use crate::launch::Launch;
use crate::spec::StopSignal;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to start.
#[derive(Debug, Clone)]
pub struct Start {
    /// With which command line, environment and folder.
    pub launch: Launch,
    /// File for what it prints.
    pub log: PathBuf,
    /// Folder of its own files, which goes when it has stopped.
    pub files: PathBuf,
    /// User and group to run as; absent for the caller's own.
    pub run_as: Option<(u32, u32)>,
    /// Folders of the control groups that it runs in, from its first instruction on.
    pub groups: Vec<PathBuf>,
}

/// How one sees that a process can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// As soon as it runs.
    Started,
    /// When it has ended, with exit code 0: it prepares something for another.
    Done,
    /// When this URL answers with success.
    Url(String),
    /// When this command, run as it is itself, ends with exit code 0.
    Command(Launch),
}

/// Purpose of a signal to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// An orderly end. It is sent once only, since many servers take a second one for impatience.
    Stop(StopSignal),
    /// To stand still, with all its processes: none executes an instruction until they are let go on.
    Hold,
    /// To go on.
    Continue,
    /// To end at once, with all that it started. It stays to be asked how it ended.
    Kill,
}

/// Starts processes somewhere and speaks with them.
pub trait Engine {
    /// A process that was started. Dropped, it ends with all that it started itself.
    type Process;

    /// Starts one; it need not be ready.
    ///
    /// # Errors
    /// Why it could not be started.
    fn start(&self, start: &Start) -> io::Result<Self::Process>;

    /// Asks whether it is ready, once. `Err` says why not: it has ended, or its answer was another.
    ///
    /// # Errors
    /// The reason, as a half sentence.
    fn ready(&self, process: &mut Self::Process, ready: &Ready) -> Result<(), String>;

    /// Sends it a signal.
    fn signal(&self, process: &mut Self::Process, signal: Signal);

    /// The folder of its files, as this program sees it.
    fn files<'a>(&self, process: &'a Self::Process) -> &'a Path;

    /// Number of the process that does the work; none if it is not one of this machine's.
    fn pid(&self, process: &Self::Process) -> Option<u32>;

    /// How it ended, in words, and its exit code, if it has ended.
    fn ended(&self, process: &mut Self::Process) -> Option<Ended>;

    /// The end of what it printed, as the end of a sentence that says what went wrong.
    fn last_words(&self, process: &mut Self::Process) -> String;

    /// Numbers of the processes that it consists of; none of another machine.
    fn all_pids(&self, process: &Self::Process) -> Vec<u32>;

    /// Waits until it has stopped, kills what is left after `timeout`. Returns what was not as it should be.
    fn finish(&self, process: &mut Self::Process, timeout: Duration) -> Vec<String>;
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// In words.
    pub how: String,
    /// Exit code; none if a signal ended it.
    pub code: Option<i32>,
}
