//! Which process a snapshot is of: numbers are given again, and in a container every server has number 1.

use assay_model::MemoryReport;
use serde::Deserialize;
use std::fmt;

/// The identity of a process, as far as a snapshot has it: old snapshots lack the start time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Process {
    pid: u32,
    program: String,
    #[serde(default)]
    start_ticks: Option<u64>,
    #[serde(default)]
    boot_id: Option<String>,
}

impl Process {
    pub(crate) fn of(snapshot: &MemoryReport) -> Process {
        Process {
            pid: snapshot.pid,
            program: snapshot.program.clone(),
            start_ticks: snapshot.start_ticks,
            boot_id: snapshot.boot_id.clone(),
        }
    }

    /// Whether it is not the same process for sure.
    pub(crate) fn differs_from(&self, other: &Process) -> bool {
        let is_other_start = self.start_ticks.zip(other.start_ticks).is_some_and(|(a, b)| a != b);
        let boots = self.boot_id.as_ref().zip(other.boot_id.as_ref());
        !self.has_name_of(other) || is_other_start || boots.is_some_and(|(a, b)| a != b)
    }

    /// Whether both are called the same: where they differ all the same, it was started anew.
    pub(crate) fn has_name_of(&self, other: &Process) -> bool {
        self.pid == other.pid && self.program == other.program
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.program, self.pid)
    }
}
