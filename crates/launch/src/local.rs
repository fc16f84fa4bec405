//! Processes of this machine, under a lease.

use crate::change::Change;
use crate::engine::{Ended, Engine, Ready, Signal, Start};
use crate::http;
use crate::process::LocalProcess;
use crate::runtime_folder::{Lease, clean_up, make_private, runtime_folder};
use crate::treatment::undo_left_over;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a URL may take to answer whether its process is ready; servers that start accept before they answer.
const READY_ANSWER: Duration = Duration::from_millis(500);

/// Processes of this machine, under a lease: processes that outlive this program are stopped by the next one that takes a lease.
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
        cleaned.extend(undo_left_over::<Change>(&folder));
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
            Signal::Kill => process.strike(),
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

    fn all_pids(&self, process: &LocalProcess) -> Vec<u32> {
        process.all_pids()
    }

    fn finish(&self, process: &mut LocalProcess, timeout: Duration) -> Vec<String> {
        process.finish(timeout)
    }
}
