//! Finding processes, and telling one from a later one with the same number.

use crate::root::{optional, read_text};
use crate::{LinuxError, ProcRoot, ProcessStat};

/// Most entries of `/proc` that are looked at: the kernel's largest `pid_max` is 4 Mi.
const ENTRIES_MAX: usize = 5 << 20;

/// A process that cannot be mistaken for another one, within one boot: process numbers are used again, but not with
/// the same start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessIdentity {
    /// Process identifier.
    pub pid: u32,
    /// Start, ticks since boot.
    pub start_ticks: u64,
}

impl ProcRoot {
    /// Who has this number now.
    ///
    /// # Errors
    /// When there is no such process.
    pub fn identity_of(&self, pid: u32) -> Result<ProcessIdentity, LinuxError> {
        let stat = self.read_process_stat(pid)?;
        Ok(ProcessIdentity { pid, start_ticks: stat.start_ticks })
    }

    /// Whether that very process still runs; a zombie does not.
    ///
    /// # Errors
    /// When its `stat` cannot be read or understood, which says nothing about it.
    pub fn is_running(&self, identity: ProcessIdentity) -> Result<bool, LinuxError> {
        let stat = optional(self.read_process_stat(identity.pid))?;
        Ok(stat.is_some_and(|s| s.start_ticks == identity.start_ticks && !s.has_ended()))
    }

    /// All processes that can be seen, in the order of their numbers. Those that end meanwhile are left out.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn read_processes(&self) -> Result<Vec<ProcessStat>, LinuxError> {
        let entries = self.path().read_dir().map_err(|e| LinuxError::read(self.path(), e))?;
        let names = entries.take(ENTRIES_MAX).flatten().map(|entry| entry.file_name());
        let mut pids: Vec<u32> =
            names.filter_map(|name| name.to_str().and_then(|n| n.parse().ok())).collect();
        pids.sort_unstable();
        Ok(pids.into_iter().filter_map(|pid| self.read_process_stat(pid).ok()).collect())
    }

    /// The processes of a process group, zombies left out.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn read_group(&self, group_id: u32) -> Result<Vec<ProcessStat>, LinuxError> {
        let mut found = self.read_processes()?;
        found.retain(|p| p.group_id == i64::from(group_id) && !p.has_ended());
        Ok(found)
    }

    /// The processes of a session, zombies left out.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn read_session(&self, session_id: u32) -> Result<Vec<ProcessStat>, LinuxError> {
        let mut found = self.read_processes()?;
        found.retain(|p| p.session_id == i64::from(session_id) && !p.has_ended());
        Ok(found)
    }

    /// The identifier of this boot: a number of an earlier boot says nothing about today's processes.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read_boot_id(&self) -> Result<String, LinuxError> {
        Ok(read_text(&self.path().join("sys/kernel/random/boot_id"))?.trim().to_owned())
    }
}
