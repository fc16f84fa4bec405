//! The threads of a process that is being stopped.

use super::FreezeError;
use crate::fields::At;
use crate::ptrace::{self, TraceeState};
use crate::{LinuxError, ProcRoot, monotonic_ns};
use std::collections::BTreeMap;
use std::time::Duration;

/// Threads that are stopped; each is looked at many times.
const THREADS_MAX: usize = 100_000;
const PAUSE: Duration = Duration::from_micros(100);
/// Flags of `stat` of the kernel's own workers for a process (`PF_IO_WORKER`, `PF_USER_WORKER`).
const KERNEL_WORKER: u64 = 0x10 | 0x4000;

pub(super) struct Tracees<'a> {
    proc: &'a ProcRoot,
    pid: u32,
    began_ns: u64,
    deadline_ns: u64,
    /// Threads that this one traces, with their last known state.
    seen: BTreeMap<u32, TraceeState>,
}

impl<'a> Tracees<'a> {
    pub(super) fn new(proc: &'a ProcRoot, pid: u32, began_ns: u64, deadline_ns: u64) -> Self {
        Tracees { proc, pid, began_ns, deadline_ns, seen: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    /// Goes over the threads until none is new and none runs: only a thread that runs can start another.
    pub(super) fn stop(&mut self) -> Result<(), FreezeError> {
        loop {
            let are_new = self.seize_new()?;
            let running = self.look();
            if !are_new && running.is_none() && !self.seen.is_empty() {
                return Ok(());
            }
            if self.deadline_ns <= monotonic_ns() {
                return Err(self.too_slow(running));
            }
            if running.is_some() {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Tells every thread that is not known yet to stop; whether there were any.
    fn seize_new(&mut self) -> Result<bool, FreezeError> {
        let path = self.proc.file_of(self.pid, "task");
        let failed = |e| LinuxError::read_of(self.proc, self.pid, &path, e);
        let mut are_new = false;
        for entry in path.read_dir().map_err(failed)?.map_while(Result::ok).take(THREADS_MAX) {
            let Some(tid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if self.seen.contains_key(&tid) {
                continue;
            }
            match ptrace::seize(tid) {
                Ok(()) => {
                    // If it has ended by then, the next look shows it.
                    let _ = ptrace::interrupt(tid);
                    self.seen.insert(tid, TraceeState::Running);
                    are_new = true;
                }
                Err(e) if e.raw_os_error() == Some(libc::ESRCH) || self.need_not_stop(tid) => {}
                Err(e) => return Err(FreezeError::of_seize(self.proc, self.pid, tid, e)),
            }
            if self.deadline_ns <= monotonic_ns() {
                break;
            }
        }
        if self.seen.is_empty() {
            return Err(LinuxError::NoMemory { pid: self.pid }.into());
        }
        Ok(are_new)
    }

    /// Looks at all threads; gives one that runs still.
    fn look(&mut self) -> Option<u32> {
        let mut running = None;
        self.seen.retain(|tid, seen| {
            *seen = ptrace::look(*tid);
            if *seen == TraceeState::Running {
                running = Some(*tid);
                // Another program that this thread has become meanwhile has not heard of the interruption.
                return ptrace::interrupt(*tid).is_ok();
            }
            *seen != TraceeState::Gone
        });
        running
    }

    /// A thread that has ended, though others have not, and a worker of the kernel's own.
    fn need_not_stop(&self, tid: u32) -> bool {
        let Ok((path, text)) = self.proc.read_text_of(self.pid, &format!("task/{tid}/stat")) else {
            return true;
        };
        let Some((_, rest)) = text.rsplit_once(") ") else { return false };
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next().unwrap_or("");
        let flags = At { path: &path, line: 1 }.number::<u64>("flags", fields.nth(5)).unwrap_or(0);
        matches!(state, "Z" | "X" | "x") || flags & KERNEL_WORKER != 0
    }

    fn too_slow(&self, running: Option<u32>) -> FreezeError {
        let what = running.map_or_else(
            || format!("threads come faster than they are stopped ({} are)", self.seen.len()),
            |tid| {
                let stat =
                    self.proc.read_text_of(self.pid, &format!("task/{tid}/stat")).map(|(_, text)| text);
                let state = stat.ok().and_then(|text| text.rsplit_once(") ")?.1.chars().next());
                match state {
                    Some('D') => format!("thread {tid} waits inside the kernel and cannot be interrupted"),
                    _ => format!("thread {tid} runs still"),
                }
            },
        );
        let waited_ms = monotonic_ns().saturating_sub(self.began_ns) / 1_000_000;
        FreezeError::TooSlow { pid: self.pid, waited_ms, what }
    }

    /// Lets all threads go on. One that cannot be let go (it did not stop) is when the freezer's thread ends.
    pub(super) fn let_go(&mut self) {
        for tid in std::mem::take(&mut self.seen).into_keys() {
            if let TraceeState::Stopped { signal } = ptrace::look(tid) {
                let _ = ptrace::detach(tid, signal);
            }
        }
    }
}
