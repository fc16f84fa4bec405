//! Control groups, version 1, version 2 and both at once: limits and throttling of a process, and of every group above
//! it that is visible.
//!
//! Formats: `cgroups(7)`, `Documentation/admin-guide/cgroup-v2.rst`, `Documentation/scheduler/sched-bwc.rst`.

use crate::fields::{At, lines};
use crate::root::{optional, read_text};
use crate::{LinuxError, ParseError, ProcRoot, SysRoot};
use std::path::{Path, PathBuf};

/// Groups above each other.
const LEVELS_MAX: usize = 64;
/// Version 1 writes "no limit" as the largest multiple of a page below 2^63; pages are at most 64 KiB here.
pub(crate) const MEMORY_V1_NO_LIMIT_BYTES: u64 = i64::MAX as u64 & !0xffff;

/// A line of `/proc/PID/cgroup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupMembership {
    /// Controllers of a version 1 hierarchy; empty for version 2.
    pub controllers: Vec<String>,
    /// The group, from the hierarchy's root.
    pub group: PathBuf,
}

/// A mount of a control group hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The folder of the hierarchy that is mounted.
    pub root: PathBuf,
    /// Where.
    pub mount_point: PathBuf,
    /// Type: `cgroup` or `cgroup2`.
    pub file_system: String,
    /// Options of the file system; for `cgroup` the controllers are among them.
    pub options: Vec<String>,
}

/// Version of the interface that holds a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgroupVersion {
    /// A hierarchy for each controller.
    V1,
    /// One for all.
    V2,
}

/// Parses `/proc/PID/cgroup`. Lines are `hierarchy:controllers:path`.
///
/// # Errors
/// When a line has fewer than three parts.
pub fn parse_cgroup(path: &Path, text: &str) -> Result<Vec<CgroupMembership>, ParseError> {
    let parse = |(at, line): (At<'_>, &str)| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
            return Err(at.error("cgroup", "not of the form hierarchy:controllers:path"));
        };
        let controllers = controllers.split(',').filter(|c| !c.is_empty()).map(str::to_owned).collect();
        Ok(CgroupMembership { controllers, group: PathBuf::from(group) })
    };
    lines(path, text).map(parse).collect()
}

/// Parses `/proc/PID/mountinfo` and keeps the mounts of control groups; `proc_pid_mountinfo(5)`.
///
/// # Errors
/// When a line lacks a part.
pub fn parse_mountinfo(path: &Path, text: &str) -> Result<Vec<Mount>, ParseError> {
    let mut mounts = Vec::new();
    for (at, line) in lines(path, text) {
        let (before, after) = line.split_once(" - ").ok_or_else(|| at.error("mount", "no separator"))?;
        let mut after = after.split(' ');
        let file_system = after.next().unwrap_or("");
        if !matches!(file_system, "cgroup" | "cgroup2") {
            continue;
        }
        let mut before = before.split(' ').skip(3);
        let (Some(root), Some(mount_point)) = (before.next(), before.next()) else {
            return Err(at.error("mount", "no root or mount point"));
        };
        mounts.push(Mount {
            root: PathBuf::from(root),
            mount_point: PathBuf::from(mount_point),
            file_system: file_system.to_owned(),
            options: after.nth(1).unwrap_or("").split(',').map(str::to_owned).collect(),
        });
    }
    Ok(mounts)
}

/// Limits of a process: the tightest of its group and those above.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CgroupLimits {
    /// CPU time per time, in processors; absent means no limit.
    pub cpus: Option<f64>,
    /// Memory; absent means no limit.
    pub memory_bytes: Option<u64>,
}

/// Times that the CPU limit held a process's group, or one above it, still.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CgroupThrottling {
    /// Periods in which it was held.
    pub periods: u64,
    /// Time held, added up over processors and groups above each other: may exceed the clock's.
    pub throttled_ns: u64,
}

/// The control groups of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroups {
    cpu: Option<Hierarchy>,
    pub(crate) cpuacct: Option<Hierarchy>,
    pub(crate) memory: Option<Hierarchy>,
    pub(crate) pids: Option<Hierarchy>,
}

/// The folders of a group and of those above it, innermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub(crate) version: CgroupVersion,
    /// The group as the kernel names it, from the hierarchy's root.
    pub(crate) group: PathBuf,
    pub(crate) folders: Vec<PathBuf>,
}

impl ProcRoot {
    /// Finds the control groups of a process (`None`: of this one), by `cgroup` and `mountinfo`.
    ///
    /// # Errors
    /// When either file cannot be read or is not in the documented form. A kernel without control groups gives none.
    pub fn read_cgroups(&self, sys: &SysRoot, pid: Option<u32>) -> Result<Cgroups, LinuxError> {
        let process = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
        let Some((path, text)) = optional(self.read_text(&format!("{process}/cgroup")))? else {
            return Ok(Cgroups { cpu: None, cpuacct: None, memory: None, pids: None });
        };
        let memberships = parse_cgroup(&path, &text)?;
        // How the groups are mounted here decides where they can be read, whoever the process is. Those of another container lie outside of
        // our namespace of groups, and are read through its own view: what is mounted here would be our own group.
        let is_foreign = memberships.iter().any(|of| is_outside(&of.group));
        let of_process =
            pid.filter(|_| is_foreign).map(|pid| SysRoot::at(self.file_of(pid, "root").join("sys")));
        let (sys, view) = match &of_process {
            Some(of_process) => (of_process, format!("{process}/mountinfo")),
            None => (sys, "self/mountinfo".to_owned()),
        };
        let (path, text) = self.read_text(&view)?;
        let mounts = parse_mountinfo(&path, &text)?;
        let find = |controller| find_hierarchy(sys, &memberships, &mounts, controller);
        Ok(Cgroups { cpu: find("cpu"), cpuacct: find("cpuacct"), memory: find("memory"), pids: find("pids") })
    }
}

impl ProcRoot {
    /// Where this process can make groups of its own for a controller, and by which interface: below its own group, so that the limits
    /// of that hold too; in version 2 below the topmost one that is mounted, since a group with processes cannot have others below it
    /// that are limited (`cgroup-v2.rst`, "No Internal Process Constraint").
    ///
    /// # Errors
    /// As [`ProcRoot::read_cgroups`]. `None` where the kernel has no such controller, or does not let it be used.
    pub fn place_for_groups(
        &self,
        sys: &SysRoot,
        controller: &str,
    ) -> Result<Option<(CgroupVersion, PathBuf)>, LinuxError> {
        let Some((path, text)) = optional(self.read_text("self/cgroup"))? else { return Ok(None) };
        let memberships = parse_cgroup(&path, &text)?;
        let (path, text) = self.read_text("self/mountinfo")?;
        let mounts = parse_mountinfo(&path, &text)?;
        let Some(hierarchy) = find_hierarchy(sys, &memberships, &mounts, controller) else { return Ok(None) };
        let place = match hierarchy.version {
            CgroupVersion::V1 => hierarchy.folders.into_iter().next(),
            CgroupVersion::V2 => hierarchy.folders.into_iter().next_back(),
        };
        let Some(place) = place.filter(|place| place.is_dir()) else { return Ok(None) };
        if hierarchy.version == CgroupVersion::V2 {
            let offered = optional(read_text(&place.join("cgroup.controllers")))?.unwrap_or_default();
            if offered.split_whitespace().all(|of| of != controller) {
                return Ok(None);
            }
        }
        Ok(Some((hierarchy.version, place)))
    }
}

/// Whether a group lies outside of the namespace of groups in which it is read: `/../cri-1`.
fn is_outside(group: &Path) -> bool {
    group.components().any(|part| part == std::path::Component::ParentDir)
}

/// A controller is in version 1 if a version 1 hierarchy names it, else in version 2 (`cgroups(7)`: never in both).
fn find_hierarchy(
    sys: &SysRoot,
    memberships: &[CgroupMembership],
    mounts: &[Mount],
    controller: &str,
) -> Option<Hierarchy> {
    let v1 = memberships.iter().find(|m| m.controllers.iter().any(|c| c == controller));
    let (version, membership) = match v1 {
        Some(membership) => (CgroupVersion::V1, membership),
        None => (CgroupVersion::V2, memberships.iter().find(|m| m.controllers.is_empty())?),
    };
    let mount = mounts.iter().find(|mount| match version {
        CgroupVersion::V1 => mount.file_system == "cgroup" && mount.options.iter().any(|o| o == controller),
        CgroupVersion::V2 => mount.file_system == "cgroup2",
    })?;
    // In a container without a namespace of its own, the group is named from the host's root, but only the
    // container's part is mounted: `/docker/abc` is then both the mount's root and the group.
    let below = membership.group.strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let below = if is_outside(below) { Path::new("") } else { below };
    let folders = below.ancestors().take(LEVELS_MAX).map(|level| sys.place(&mount.mount_point.join(level)));
    Some(Hierarchy { version, group: membership.group.clone(), folders: folders.collect() })
}

impl Cgroups {
    /// Which interface holds the CPU controller; absent where there is none.
    pub fn cpu_version(&self) -> Option<CgroupVersion> {
        self.cpu.as_ref().map(|h| h.version)
    }

    /// Reads the limits.
    ///
    /// # Errors
    /// When a limit that is there cannot be read or is not a number.
    pub fn read_limits(&self) -> Result<CgroupLimits, LinuxError> {
        let mut limits = CgroupLimits::default();
        for (version, folder) in levels(self.cpu.as_ref()) {
            let cpus = read_cpu_limit(version, folder)?;
            limits.cpus = limits.cpus.into_iter().chain(cpus).reduce(f64::min);
        }
        for (version, folder) in levels(self.memory.as_ref()) {
            let bytes = read_memory_limit(version, folder)?;
            limits.memory_bytes = limits.memory_bytes.into_iter().chain(bytes).min();
        }
        Ok(limits)
    }

    /// The memory limit of the process's own group, without those above it.
    ///
    /// # Errors
    /// When it is there and cannot be read or is not a number.
    pub(crate) fn read_own_memory_limit(&self) -> Result<Option<u64>, LinuxError> {
        let own = levels(self.memory.as_ref()).next();
        own.map_or(Ok(None), |(version, folder)| read_memory_limit(version, folder))
    }

    /// Reads how often and how long the CPU limit held the process's groups; `None` where the kernel does not count it
    /// (no CPU controller, or a root group of version 2, which cannot be limited).
    ///
    /// # Errors
    /// When a count that is there cannot be read or is not a number.
    pub fn read_throttling(&self) -> Result<Option<CgroupThrottling>, LinuxError> {
        let mut sum: Option<CgroupThrottling> = None;
        for (_, folder) in levels(self.cpu.as_ref()) {
            let path = folder.join("cpu.stat");
            let Some(text) = optional(read_text(&path))? else { continue };
            if let Some(level) = parse_throttling(&path, &text)? {
                let sum = sum.get_or_insert_default();
                sum.periods = sum.periods.saturating_add(level.periods);
                sum.throttled_ns = sum.throttled_ns.saturating_add(level.throttled_ns);
            }
        }
        Ok(sum)
    }
}

pub(crate) fn levels(hierarchy: Option<&Hierarchy>) -> impl Iterator<Item = (CgroupVersion, &PathBuf)> {
    hierarchy.into_iter().flat_map(|h| h.folders.iter().map(|folder| (h.version, folder)))
}

fn read_cpu_limit(version: CgroupVersion, folder: &Path) -> Result<Option<f64>, LinuxError> {
    let read = |name: &str| {
        let path = folder.join(name);
        optional(read_text(&path)).map(|text| text.map(|text| (path, text)))
    };
    // Both ask for the same: so many microseconds of CPU time in each period. `max` and -1 mean no limit.
    let (path, quota, period) = match version {
        CgroupVersion::V2 => {
            let Some((path, text)) = read("cpu.max")? else { return Ok(None) };
            let (quota, period) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            (path, quota.to_owned(), period.to_owned())
        }
        CgroupVersion::V1 => {
            let (Some((path, quota)), Some((_, period))) =
                (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
            else {
                return Ok(None);
            };
            (path, quota.trim().to_owned(), period)
        }
    };
    if quota == "max" || quota == "-1" {
        return Ok(None);
    }
    let at = At { path: &path, line: 1 };
    let (quota, period): (u64, u64) =
        (at.number("quota", Some(&quota))?, at.number("period", Some(&period))?);
    Ok(Some(quota as f64 / period.max(1) as f64))
}

fn read_memory_limit(version: CgroupVersion, folder: &Path) -> Result<Option<u64>, LinuxError> {
    let path = folder.join(match version {
        CgroupVersion::V2 => "memory.max",
        CgroupVersion::V1 => "memory.limit_in_bytes",
    });
    let Some(text) = optional(read_text(&path))? else { return Ok(None) };
    if text.trim() == "max" {
        return Ok(None);
    }
    let bytes: u64 = At { path: &path, line: 1 }.number("limit", Some(&text))?;
    Ok(Some(bytes).filter(|bytes| *bytes < MEMORY_V1_NO_LIMIT_BYTES))
}

/// `cpu.stat`: version 1 gives `throttled_time` in nanoseconds, version 2 `throttled_usec`.
fn parse_throttling(path: &Path, text: &str) -> Result<Option<CgroupThrottling>, ParseError> {
    let (mut periods, mut throttled_ns) = (None, None);
    for (at, line) in lines(path, text) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let number = || at.number::<u64>(key, Some(value)).map(Some);
        match key {
            "nr_throttled" => periods = number()?,
            "throttled_time" => throttled_ns = number()?,
            "throttled_usec" => throttled_ns = number()?.map(|us| us.saturating_mul(1000)),
            _ => {}
        }
    }
    let counts = periods.zip(throttled_ns);
    Ok(counts.map(|(periods, throttled_ns)| CgroupThrottling { periods, throttled_ns }))
}
