//! Finding processes, and telling one from a later one with the same number.

use crate::root::{optional, read_text};
use crate::{LinuxError, ProcRoot, ProcessStat};
use std::collections::{BTreeMap, BTreeSet};

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

    /// All visible processes, in the order of their numbers. Those that end meanwhile are left out.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn read_processes(&self) -> Result<Vec<ProcessStat>, LinuxError> {
        Ok(self.read_pids()?.into_iter().filter_map(|pid| self.read_process_stat(pid).ok()).collect())
    }

    fn read_pids(&self) -> Result<BTreeSet<u32>, LinuxError> {
        let entries = self.path().read_dir().map_err(|e| LinuxError::read(self.path(), e))?;
        let names = entries.take(ENTRIES_MAX).flatten().map(|entry| entry.file_name());
        Ok(names.filter_map(|name| name.to_str()?.parse().ok()).collect())
    }

    /// The identifier of this boot: a number of an earlier boot says nothing about today's processes.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read_boot_id(&self) -> Result<String, LinuxError> {
        Ok(read_text(&self.path().join("sys/kernel/random/boot_id"))?.trim().to_owned())
    }
}

/// Adds, to processes by their numbers and starts, those of a list that descend from them.
pub fn add_descendants(known: &mut BTreeMap<u32, u64>, processes: &[ProcessStat]) {
    loop {
        let before = known.len();
        for process in processes {
            if u32::try_from(process.parent_pid).is_ok_and(|parent| known.contains_key(&parent)) {
                known.entry(process.pid).or_insert(process.start_ticks);
            }
        }
        if known.len() == before {
            break;
        }
    }
}

/// Some processes and all that descend from them, as they come and go. A process once found stays known when its parent ends; what a
/// parent started and left between two looks is not found.
#[derive(Debug, Clone, Default)]
pub struct ProcessTree {
    known: BTreeMap<u32, u64>,
    /// Numbers of processes that do not belong to it: of these nothing is read again.
    others: BTreeSet<u32>,
}

impl ProcessTree {
    /// That of these processes.
    pub fn of(roots: impl IntoIterator<Item = ProcessIdentity>) -> ProcessTree {
        let known = roots.into_iter().map(|root| (root.pid, root.start_ticks)).collect();
        ProcessTree { known, others: BTreeSet::new() }
    }

    /// Adds a process that belongs to it, too.
    pub fn add(&mut self, root: ProcessIdentity) {
        self.others.remove(&root.pid);
        self.known.insert(root.pid, root.start_ticks);
    }

    /// Those that there are now, each once; also those that have ended and were not waited for. Cost: a list of all processes, and
    /// one small file for each member and each process that is new on the machine.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn read(&mut self, proc: &ProcRoot) -> Result<Vec<ProcessStat>, LinuxError> {
        let pids = proc.read_pids()?;
        self.others.retain(|pid| pids.contains(pid));
        let wanted = pids.difference(&self.others);
        let mut read: Vec<ProcessStat> = wanted.filter_map(|pid| proc.read_process_stat(*pid).ok()).collect();
        // A process that reuses the number of one that ended is not a member.
        self.known.retain(|pid, start| read.iter().any(|p| p.pid == *pid && p.start_ticks == *start));
        add_descendants(&mut self.known, &read);
        read.retain(|process| {
            let is_member = self.known.contains_key(&process.pid);
            if !is_member {
                self.others.insert(process.pid);
            }
            is_member
        });
        Ok(read)
    }
}
