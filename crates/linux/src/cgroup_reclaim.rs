//! What it costs a control group that its memory is short: pages that had to come back, and time for which its tasks waited.
//!
//! Formats: `Documentation/admin-guide/cgroup-v2.rst` (`memory.stat`, `memory.pressure`), `Documentation/admin-guide/cgroup-v1/memory.rst`.

use crate::cgroup::levels;
use crate::cgroup_memory::parse_stat;
use crate::pressure::parse_pressure;
use crate::root::{optional, read_text};
use crate::{CgroupVersion, Cgroups, LinuxError};

/// Counts since a group was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CgroupReclaim {
    /// Pages that had been taken away and were needed again (`workingset_refault*`, Linux 3.15 and later; of version 1 Linux 5.9).
    pub refaults: Option<u64>,
    /// Time for which some task waited for memory, microseconds; version 1 does not count it.
    pub stalled_us: Option<u64>,
}

impl Cgroups {
    /// Reads both counts of the process's own group; `None` without a memory controller, or where the group is gone.
    ///
    /// # Errors
    /// When a count that is there is not a number.
    pub fn read_reclaim(&self) -> Result<Option<CgroupReclaim>, LinuxError> {
        let Some((version, folder)) = levels(self.memory.as_ref()).next() else { return Ok(None) };
        let path = folder.join("memory.stat");
        let Some(text) = optional(read_text(&path))? else { return Ok(None) };
        let stat = parse_stat(&path, &text)?;
        let names = ["workingset_refault", "workingset_refault_anon", "workingset_refault_file"];
        let refaults = names.iter().filter_map(|name| stat.get(*name).copied()).reduce(u64::saturating_add);
        let stalled_us = match version {
            CgroupVersion::V1 => None,
            CgroupVersion::V2 => {
                let path = folder.join("memory.pressure");
                let text = optional(read_text(&path)).unwrap_or_default();
                text.map(|text| parse_pressure(&path, &text))
                    .transpose()?
                    .map(|pressure| pressure.some.total_us)
            }
        };
        Ok(Some(CgroupReclaim { refaults, stalled_us }))
    }
}
