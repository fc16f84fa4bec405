//! Stopping a process for an exact reading, for a bounded time, so that it always goes on.
//!
//! A thread of its own stops every thread of the process with `PTRACE_SEIZE` and `PTRACE_INTERRUPT`, and lets go when it
//! is asked to, at the deadline, or when it dies: the kernel releases the tracees of a dying tracer, whatever killed it.
//! `SIGSTOP`, the other way, is visible to the parent and stays when the sender dies.
//!
//! Folklore, each held by a test in `tests/freeze.rs`:
//! - Stops are only looked at (`WNOWAIT`) and never taken: a taken one loses the signal that was being delivered if the
//!   tracer dies, and a taken exit would be missing to the real parent.
//! - A thread that was about to get a signal stops for that instead; it gets the signal when it is let go.
//! - A process that was stopped by `SIGSTOP` before stays so afterwards.
//! - A stop wakes `epoll_wait` with `EINTR`, as every stop of any kind does (`signal(7)`); sleeps and futexes go on.
//! - The main thread may have ended before the others: a zombie cannot be stopped, and need not be. The same goes for
//!   the kernel's own workers of `io_uring`, which look like threads.
//!
//! Limitation: when all of Assay is stopped (`SIGSTOP`, Ctrl-Z), the thread that would let go is stopped too.

use crate::{ProcRoot, monotonic_ns};
pub use error::FreezeError;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tracees::Tracees;

mod error;
mod tracees;

/// How long a process was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreezeTimes {
    /// From the first thread that was asked to stop until all stood still.
    pub stopping_ns: u64,
    /// From the first thread that was asked to stop until all were let go.
    pub stopped_ns: u64,
    /// Threads that were stopped.
    pub threads: usize,
    /// Whether it was let go at the deadline, before it was asked to.
    pub is_cut_short: bool,
}

/// A process that stands still. It goes on when this is dropped, at the deadline, or when Assay ends, however it does.
#[derive(Debug)]
pub struct Freeze {
    /// Dropped to let go.
    release: Option<Sender<()>>,
    thread: Option<JoinHandle<FreezeTimes>>,
    is_frozen: Arc<AtomicBool>,
    stopping_ns: u64,
    threads: usize,
}

/// Report of the freezer when all threads stand still: how long that took, and how many they are.
type Started = Result<(u64, usize), FreezeError>;

impl Freeze {
    /// Stops all threads of a process; they are let go at most `limit` after the first was asked to stop.
    ///
    /// # Errors
    /// When it is traced by somebody else, belongs to somebody else, or does not stop in time. It goes on then.
    pub fn start(proc: &ProcRoot, pid: u32, limit: Duration) -> Result<Freeze, FreezeError> {
        if pid == std::process::id() {
            return Err(FreezeError::Own);
        }
        let (release, released) = channel();
        let (tell, started) = sync_channel(1);
        let is_frozen = Arc::new(AtomicBool::new(false));
        let (proc, flag) = (proc.clone(), Arc::clone(&is_frozen));
        let thread = std::thread::Builder::new()
            .name("assay-freeze".to_owned())
            .spawn(move || freeze(&proc, pid, limit, &tell, &released, &flag))
            .map_err(|source| FreezeError::System { pid, call: "cannot start a thread", source })?;
        let ended =
            || FreezeError::System { pid, call: "the freezer", source: io::Error::other("ended early") };
        let started = started.recv().unwrap_or_else(|_| Err(ended()));
        let (stopping_ns, threads) = match started {
            Ok(started) => started,
            Err(error) => {
                // The kernel lets go of what did not stop in time when the thread that traces it is gone, not before.
                let _ = thread.join();
                return Err(error);
            }
        };
        Ok(Freeze { release: Some(release), thread: Some(thread), is_frozen, stopping_ns, threads })
    }

    /// Whether it has stood still since the start. Ask after a reading: the deadline may have come before.
    pub fn is_still_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::SeqCst)
    }

    /// How long it took until all threads stood still.
    pub fn stopping_ns(&self) -> u64 {
        self.stopping_ns
    }

    /// Threads that were stopped.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Lets the process go on, and says how long it was stopped; `None` when that could not be learned.
    pub fn end(mut self) -> Option<FreezeTimes> {
        self.let_go()
    }

    fn let_go(&mut self) -> Option<FreezeTimes> {
        drop(self.release.take());
        self.thread.take()?.join().ok()
    }
}

impl Drop for Freeze {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// The life of the freezer's thread.
fn freeze(
    proc: &ProcRoot,
    pid: u32,
    limit: Duration,
    tell: &SyncSender<Started>,
    released: &Receiver<()>,
    is_frozen: &AtomicBool,
) -> FreezeTimes {
    let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    let began_ns = monotonic_ns();
    let mut tracees = Tracees::new(proc, pid, began_ns, began_ns.saturating_add(limit_ns));
    let stopped = tracees.stop();
    let stopping_ns = monotonic_ns().saturating_sub(began_ns);
    let threads = tracees.len();
    let mut is_cut_short = false;
    if stopped.is_ok() {
        is_frozen.store(true, Ordering::SeqCst);
    } else {
        tracees.let_go();
    }
    let is_stopped = stopped.is_ok();
    let is_told = tell.send(stopped.map(|()| (stopping_ns, threads))).is_ok();
    if is_stopped && is_told {
        let left_ns = limit_ns.saturating_sub(monotonic_ns().saturating_sub(began_ns));
        let waited = released.recv_timeout(Duration::from_nanos(left_ns));
        is_cut_short = waited == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
    }
    // First: nobody may believe that it stands still when the first thread runs.
    is_frozen.store(false, Ordering::SeqCst);
    tracees.let_go();
    FreezeTimes { stopping_ns, stopped_ns: monotonic_ns().saturating_sub(began_ns), threads, is_cut_short }
}
