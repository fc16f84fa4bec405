//! Where processes run. Everything above knows a process only by what this trait says of it.

use crate::Launch;
use crate::http;
use crate::process::LocalProcess;
use crate::runtime_folder::{Lease, clean_up, make_private, runtime_folder};
use crate::treatment::{FileSetting, undo_left_over};
use rustix::process::Signal as Number;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a URL may take to answer whether its process is ready; servers that start accept before they answer.
const READY_ANSWER: Duration = Duration::from_millis(500);

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

/// What a process is asked for by a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// An orderly end. It is sent once only, since many servers take a second one for impatience.
    Stop(StopSignal),
    /// To stand still, with all its processes: none executes an instruction until they are let go on.
    Hold,
    /// To go on.
    Continue,
}

/// Signals that ask a process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

/// Starts processes somewhere and speaks with them.
pub trait Engine {
    /// A process that was started. Dropped, it ends with all that it started itself.
    type Process;

    /// Starts one; it need not be ready.
    ///
    /// # Errors
    /// Why it could not be started.
    fn start(&self, start: &Start) -> io::Result<Self::Process>;

    /// Asks whether it is ready, once. `Err` says why not: it has ended, or what was seen of it instead.
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

    /// Numbers of the processes whose CPU time, with that of their children, is all that it uses; none of another machine.
    fn heads(&self, process: &Self::Process) -> Vec<u32>;

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

/// Processes of this machine, under a lease: what outlives this program is stopped by the next one that takes a lease.
#[derive(Debug)]
pub struct Local {
    folder: PathBuf,
    lease: RefCell<Lease>,
    cleaned: Vec<String>,
}

impl Local {
    /// Stops what runs that are gone have left, undoes what they changed, and takes a lease. Use it from the thread that
    /// lives as long as the run: processes die with the thread that started them.
    ///
    /// # Errors
    /// When the private folder in which runs leave word is not private, or cannot be written.
    pub fn begin() -> io::Result<Local> {
        Local::begin_in(runtime_folder())
    }

    /// The same with another private folder, which is made.
    pub(crate) fn begin_in(folder: PathBuf) -> io::Result<Local> {
        make_private(&folder)?;
        // Orphans of what we start become our children, so that they can be found and waited for.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let mut cleaned = clean_up(&folder);
        cleaned.extend(undo_left_over::<FileSetting>(&folder));
        let lease = Lease::take(&folder)?;
        Ok(Local { folder, lease: RefCell::new(lease), cleaned })
    }

    /// The private folder in which runs leave word of what they did.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What earlier runs had left, and what was done about it, in words.
    pub fn cleaned(&self) -> &[String] {
        &self.cleaned
    }
}

impl Engine for Local {
    type Process = LocalProcess;

    fn start(&self, start: &Start) -> io::Result<LocalProcess> {
        LocalProcess::start(start, &mut self.lease.borrow_mut())
    }

    fn ready(&self, process: &mut LocalProcess, ready: &Ready) -> Result<(), String> {
        let ended = process.ended();
        let answer = match (ready, ended) {
            (Ready::Done, Some(ended)) if ended.code == Some(0) => Ok(()),
            (_, Some(ended)) => Err(ended.how),
            (Ready::Done, None) => Err("is not done".to_owned()),
            (Ready::Started, None) => Ok(()),
            (Ready::Url(url), None) => match http::get(url, READY_ANSWER) {
                Ok(answer) if answer.is_good() => Ok(()),
                Ok(answer) => Err(format!("{url} gave status {}", answer.status)),
                Err(e) => Err(format!("{url} gave {e}")),
            },
            (Ready::Command(launch), None) => process.asks(launch),
        };
        if answer.is_ok() {
            process.find_main();
        }
        answer
    }

    fn signal(&self, process: &mut LocalProcess, signal: Signal) {
        match signal {
            Signal::Stop(signal) => process.ask_to_stop(signal.number()),
            Signal::Hold => process.hold(),
            Signal::Continue => process.resume(),
        }
    }

    fn files<'a>(&self, process: &'a LocalProcess) -> &'a Path {
        process.files()
    }

    fn pid(&self, process: &LocalProcess) -> Option<u32> {
        Some(process.main_pid())
    }

    fn ended(&self, process: &mut LocalProcess) -> Option<Ended> {
        process.ended()
    }

    fn last_words(&self, process: &mut LocalProcess) -> String {
        process.last_words()
    }

    fn heads(&self, process: &LocalProcess) -> Vec<u32> {
        process.heads()
    }

    fn finish(&self, process: &mut LocalProcess, timeout: Duration) -> Vec<String> {
        process.finish(timeout)
    }
}
