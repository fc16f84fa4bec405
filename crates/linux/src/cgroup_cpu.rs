//! The CPU time that is charged to a control group: `cpuacct.usage` of version 1, `cpu.stat` of version 2.

use crate::cgroup::Hierarchy;
use crate::fields::{At, lines};
use crate::root::{optional, read_text};
use crate::{CgroupVersion, Cgroups, LinuxError};

/// CPU time of the processes of a group and of the groups below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupCpu {
    /// The group, from its hierarchy's root.
    pub path: String,
    /// User and system time since the group was made, live and ended processes.
    pub usage_ns: u64,
}

impl Cgroups {
    /// Reads the CPU time that is charged to the process's own group; `None` where no controller counts it.
    ///
    /// # Errors
    /// When a count that is there cannot be read or is not a number.
    pub fn read_cpu(&self) -> Result<Option<CgroupCpu>, LinuxError> {
        let Some(Hierarchy { version, group, folders }) = &self.cpuacct else { return Ok(None) };
        let Some(folder) = folders.first() else { return Ok(None) };
        let name = match version {
            CgroupVersion::V1 => "cpuacct.usage",
            CgroupVersion::V2 => "cpu.stat",
        };
        let path = folder.join(name);
        let Some(text) = optional(read_text(&path))? else { return Ok(None) };
        let usage_ns = match version {
            CgroupVersion::V1 => Some(At { path: &path, line: 1 }.number("usage", Some(&text))?),
            CgroupVersion::V2 => {
                let mut found = lines(&path, &text)
                    .filter_map(|(at, line)| Some((at, line.strip_prefix("usage_usec ")?)));
                found
                    .next()
                    .map(|(at, us)| at.number::<u64>("usage_usec", Some(us)))
                    .transpose()?
                    .map(|us| us.saturating_mul(1000))
            }
        };
        Ok(usage_ns.map(|usage_ns| CgroupCpu { path: group.display().to_string(), usage_ns }))
    }
}
