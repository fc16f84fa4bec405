//! The limits of a process's control group as a JVM looks for them.
//!
//! Folklore: kernels built without the controllers' version 1 (`CONFIG_MEMCG_V1=n`; Linux 6.11 and later) have no line for them in
//! `/proc/cgroups`, although version 2 has them. JVMs before JDK-8349988 look there, find no memory controller and ignore every limit.

use crate::root::optional;
use crate::{CgroupVersion, Cgroups, LinuxError, ProcRoot, SysRoot};
use assay_model::ContainerLimits;

impl ProcRoot {
    /// The limits of a process's control group and the groups above it.
    ///
    /// # Errors
    /// When a file that is there cannot be read or is not in the documented form.
    pub fn read_container_limits(&self, sys: &SysRoot, pid: u32) -> Result<ContainerLimits, LinuxError> {
        let groups = self.read_cgroups(sys, Some(pid))?;
        let limits = groups.read_limits()?;
        let own_bytes = groups.read_own_memory_limit()?;
        Ok(ContainerLimits {
            memory_bytes: limits.memory_bytes,
            is_memory_of_parent: limits.memory_bytes.is_some() && own_bytes != limits.memory_bytes,
            cpus: limits.cpus,
            is_version_2: groups.memory_version().map(|version| version == CgroupVersion::V2),
            lists_memory: self.lists_memory_controller()?,
            machine_bytes: self.read_meminfo()?.total_bytes,
        })
    }

    /// Whether `/proc/cgroups` has a line for the memory controller; `None` where there is no such file.
    fn lists_memory_controller(&self) -> Result<Option<bool>, LinuxError> {
        let text = optional(self.read_text("cgroups"))?;
        let is_memory = |line: &str| line.split_whitespace().next() == Some("memory");
        Ok(text.map(|(_, text)| text.lines().any(is_memory)))
    }
}

impl Cgroups {
    fn memory_version(&self) -> Option<CgroupVersion> {
        self.memory.as_ref().map(|hierarchy| hierarchy.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_limit_of_a_group_above_and_a_missing_line_are_seen() {
        let root = tempfile::tempdir().expect("a folder");
        let (proc, sys) = (root.path().join("proc"), root.path().join("sys"));
        let write = |path: std::path::PathBuf, text: &str| {
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        write(proc.join("7/cgroup"), "0::/pod/app\n");
        write(
            proc.join("self/mountinfo"),
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
        );
        write(proc.join("cgroups"), "#subsys_name\thierarchy\tnum_cgroups\tenabled\npids\t0\t9\t1\n");
        write(proc.join("meminfo"), "MemTotal: 4194304 kB\n");
        write(sys.join("fs/cgroup/pod/memory.max"), "536870912\n");
        write(sys.join("fs/cgroup/pod/app/memory.max"), "max\n");
        write(sys.join("fs/cgroup/pod/app/cpu.max"), "150000 100000\n");
        let read = || ProcRoot::at(&proc).read_container_limits(&SysRoot::at(&sys), 7).expect("limits");
        let expected = ContainerLimits {
            memory_bytes: Some(512 << 20),
            is_memory_of_parent: true,
            cpus: Some(1.5),
            is_version_2: Some(true),
            lists_memory: Some(false),
            machine_bytes: Some(4 << 30),
        };
        assert_eq!(read(), expected);
        write(sys.join("fs/cgroup/pod/app/memory.max"), "268435456\n");
        write(proc.join("cgroups"), "memory\t0\t9\t1\n");
        assert_eq!(
            read(),
            ContainerLimits {
                memory_bytes: Some(256 << 20),
                is_memory_of_parent: false,
                lists_memory: Some(true),
                ..expected
            }
        );
    }
}
