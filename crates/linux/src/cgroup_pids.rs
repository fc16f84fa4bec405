//! How many threads a control group may have: `pids.max`, the same file in both versions.

use crate::cgroup::levels;
use crate::fields::At;
use crate::root::{optional, read_text};
use crate::{Cgroups, LinuxError};

/// Threads of a control group: of the level, among it and those above, that is nearest to its limit; of the group itself where none is
/// limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CgroupThreads {
    /// Threads and processes.
    pub threads: u64,
    /// Most that it may have; absent means no limit.
    pub threads_max: Option<u64>,
}

impl Cgroups {
    /// Reads the level that is nearest to its limit; `None` where no controller counts.
    ///
    /// # Errors
    /// When a count that is there cannot be read or is not a number.
    pub fn read_threads(&self) -> Result<Option<CgroupThreads>, LinuxError> {
        let mut nearest: Option<CgroupThreads> = None;
        for (_, folder) in levels(self.pids.as_ref()) {
            let number = |name: &str| -> Result<Option<u64>, LinuxError> {
                let path = folder.join(name);
                let text = optional(read_text(&path))?.map(|text| text.trim().to_owned());
                let text = text.filter(|text| text != "max");
                Ok(text.map(|text| At { path: &path, line: 1 }.number(name, Some(&text))).transpose()?)
            };
            let Some(threads) = number("pids.current")? else { continue };
            let level = CgroupThreads { threads, threads_max: number("pids.max")? };
            let used =
                |of: &CgroupThreads| of.threads_max.map_or(0.0, |max| of.threads as f64 / max.max(1) as f64);
            if nearest.as_ref().is_none_or(|nearest| used(nearest) < used(&level)) {
                nearest = Some(level);
            }
        }
        Ok(nearest)
    }
}
