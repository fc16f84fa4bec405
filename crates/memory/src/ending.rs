//! How a process that is recorded ends: whether the kernel killed it at its memory limit.
//!
//! The kernel says so to nobody but the parent, and a container's log has only an exit code. But it counts kills in the control group of the
//! victim (version 2: and in all groups above), and the count outlives the process. The groups are found while it runs, since afterwards
//! nobody says which they were.

use assay_linux::{Cgroups, LinuxError, ProcRoot, SysRoot};
use assay_model::{MemoryEnd, MemoryReport};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The control groups of a process, and what they counted while it ran.
#[derive(Debug)]
pub struct Ending {
    groups: Cgroups,
    counted: KillCounts,
}

/// What the groups count.
#[derive(Debug)]
pub struct KillCounts {
    /// Kills in each group, by its folder.
    kills: BTreeMap<PathBuf, u64>,
    /// How often the innermost ran into its limit.
    limit_hits: Option<u64>,
}

impl KillCounts {
    fn read(groups: &Cgroups) -> Result<KillCounts, LinuxError> {
        Ok(KillCounts { kills: groups.read_oom_kills()?, limit_hits: groups.read_limit_hits()? })
    }
}

impl Ending {
    /// Begins to watch.
    ///
    /// # Errors
    /// When the groups of the process cannot be read.
    pub fn watch(pid: u32) -> Result<Ending, LinuxError> {
        Ending::watch_at(&ProcRoot::default(), &SysRoot::default(), pid)
    }

    /// The same below other folders.
    ///
    /// # Errors
    /// As [`Ending::watch`].
    pub fn watch_at(proc: &ProcRoot, sys: &SysRoot, pid: u32) -> Result<Ending, LinuxError> {
        let groups = proc.read_cgroups(sys, Some(pid))?;
        let counted = KillCounts::read(&groups)?;
        Ok(Ending { groups, counted })
    }

    /// What is counted now, to be kept once it is known that the process outlived it. None where it cannot be read.
    pub fn count(&self) -> Option<KillCounts> {
        KillCounts::read(&self.groups).ok()
    }

    /// The process ran on after this count: only later kills can be of it.
    pub fn outlived(&mut self, counts: KillCounts) {
        self.counted = counts;
    }

    /// How it ended, after its last snapshot; noticed now.
    pub fn ended(&self, last: Option<&MemoryReport>) -> MemoryEnd {
        let group = last.and_then(|last| last.cgroup.as_ref());
        MemoryEnd {
            ended_at: jiff::Timestamp::now().to_string(),
            oom_kills: self.new_kills(),
            limit_hits: self.new_limit_hits(),
            limit_bytes: group.and_then(|group| group.limit_bytes),
            processes: group.and_then(|group| group.processes),
        }
    }

    fn new_limit_hits(&self) -> Option<u64> {
        let now = self.groups.read_limit_hits().ok()??;
        Some(now.saturating_sub(self.counted.limit_hits?))
    }

    /// Kills since the last count, in the innermost group that is still there: a container's own is often gone with it.
    fn new_kills(&self) -> Option<u64> {
        let now = self.groups.read_oom_kills().ok()?;
        let still_there = self.counted.kills.iter().filter(|(folder, _)| now.contains_key(*folder));
        let (folder, before) = still_there.max_by_key(|(folder, _)| folder.components().count())?;
        Some(now.get(folder)?.saturating_sub(*before))
    }
}
