//! All processes of one start: what the process that was started has started in its turn, wherever it went.
//!
//! A start script may leave its server behind in a session of its own, and a daemon gives up its parent. So a process
//! belongs to the family if it is in the group of the first one, descends from one that is known, or has the token in its
//! environment. Some overwrite their environment to show a title (PostgreSQL), so a process once found stays known.
//! Orphans become children of this program (`PR_SET_CHILD_SUBREAPER`), which waits for them: none stays a zombie.

use assay_linux::{ProcRoot, ProcessIdentity, ProcessStat, add_descendants};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, waitpid,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

/// Name of the variable by which processes are known that left the group of the first one.
pub const TOKEN_VARIABLE: &str = "ASSAY_LEASE";
/// Largest environment that is searched for the token.
const ENVIRONMENT_BYTES_MAX: u64 = 4 << 20;
/// How often killed processes are looked for again.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The processes of one start.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// The one that was started; none if its number may be another's by now.
    leader: Option<u32>,
    token: String,
    /// Number and start of every process that was found, the leader's included.
    known: BTreeMap<u32, u64>,
}

impl Family {
    /// That of a process which was just started, or is known to be the same still.
    pub fn of(leader: ProcessIdentity, token: &str) -> Family {
        let known = BTreeMap::from([(leader.pid, leader.start_ticks)]);
        Family { leader: Some(leader.pid), token: token.to_owned(), known }
    }

    /// That of a process which has gone.
    pub fn without_leader(token: &str) -> Family {
        Family { leader: None, token: token.to_owned(), known: BTreeMap::new() }
    }

    /// The live processes, from the oldest on. Reads the environment of every process that may be read.
    pub fn members(&mut self) -> Vec<ProcessStat> {
        let mut all = ProcRoot::default().read_processes().unwrap_or_default();
        all.sort_by_key(|p| p.start_ticks);
        // A process that reuses the number of one that ended does not belong to it.
        self.known.retain(|pid, start| all.iter().any(|p| p.pid == *pid && p.start_ticks == *start));
        add_descendants(&mut self.known, &all);
        for p in &all {
            let in_group = || self.leader.is_some_and(|leader| p.group_id == i64::from(leader));
            if !self.known.contains_key(&p.pid) && (in_group() || has_token(p.pid, &self.token)) {
                self.known.insert(p.pid, p.start_ticks);
            }
        }
        add_descendants(&mut self.known, &all);
        all.retain(|p| self.known.contains_key(&p.pid));
        let own = i64::from(std::process::id());
        for orphan in all.iter().filter(|p| p.has_ended() && p.parent_pid == own) {
            if Some(orphan.pid) != self.leader
                && let Some(pid) = number(orphan.pid)
            {
                // It became our child when its parent ended, and nobody else waits for it.
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
        all.retain(|p| !p.has_ended());
        all
    }

    /// Sends a signal to each, but for those to be left alone.
    pub fn signal(&mut self, signal: Signal, but: impl Fn(&ProcessStat) -> bool) {
        for p in self.members().iter().filter(|p| !but(p)) {
            send(p.pid, p.start_ticks, signal);
        }
    }

    /// Sends a signal to those whose parent is none of the family, but for those of a group, who were sent it before.
    pub fn signal_orphans(&mut self, signal: Signal, group: u32) {
        let members = self.members();
        let is_member = |pid: i64| members.iter().any(|p| i64::from(p.pid) == pid);
        let orphans = members.iter().filter(|p| !is_member(p.parent_pid) && p.group_id != i64::from(group));
        orphans.for_each(|p| {
            send(p.pid, p.start_ticks, signal);
        });
    }

    /// Kills all of them, and waits until they are gone, at most so long. Says how many there were.
    pub fn kill(&mut self, limit: Duration) -> usize {
        let (begun, mut killed) = (Instant::now(), BTreeSet::new());
        loop {
            let members = self.members();
            killed.extend(members.iter().filter(|p| send(p.pid, p.start_ticks, Signal::KILL)).map(|p| p.pid));
            if members.is_empty() || limit <= begun.elapsed() {
                return killed.len();
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Sends a signal to that very process, and to none that got its number later.
fn send(pid: u32, start_ticks: u64, signal: Signal) -> bool {
    let Some(number) = number(pid) else { return false };
    let is_same = || ProcRoot::default().identity_of(pid).is_ok_and(|now| now.start_ticks == start_ticks);
    match pidfd_open(number, PidfdFlags::empty()) {
        Ok(handle) => is_same() && pidfd_send_signal(handle, signal).is_ok(),
        // Before Linux 5.3.
        Err(rustix::io::Errno::NOSYS) => is_same() && kill_process(number, signal).is_ok(),
        Err(_) => false,
    }
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn has_token(pid: u32, token: &str) -> bool {
    let Ok(file) = File::open(format!("/proc/{pid}/environ")) else { return false };
    let mut environment = Vec::new();
    let wanted = format!("{TOKEN_VARIABLE}={token}");
    let read = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment);
    read.is_ok() && environment.split(|b| *b == 0).any(|entry| entry == wanted.as_bytes())
}
