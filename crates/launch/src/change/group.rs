//! A control group of a trial's own, with limits and processors for its server.
//!
//! Version 1 has a hierarchy for each controller, so it is a folder in each; version 2 has one folder for all, below one that must
//! pass the controllers on (`cgroup.subtree_control`).
//! Formats: `Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/{cpusets,memory}.rst`, `scheduler/sched-bwc.rst`.

use crate::treatment::Treatment;
use assay_linux::{CgroupVersion, ProcRoot, Processors, SysRoot};
use assay_model::GroupEnd;
use rustix::fs::Access;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the kernel may take to let go of a group whose processes have ended.
const REMOVE_WAIT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Period of a CPU limit, the kernel's usual one.
const PERIOD_US: u64 = 100_000;
/// Least quota that the kernel takes.
const QUOTA_US_MIN: u64 = 1000;
/// The kernel rounds limits of memory to pages, which have at most so many bytes.
const PAGE_BYTES_MAX: u64 = 64 << 10;

/// What a group limits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupLimits {
    /// CPU time per time, in processors.
    pub cpus: Option<f64>,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Memory beyond which the kernel reclaims and slows down, and ends nothing: of version 2.
    pub memory_high_bytes: Option<u64>,
    /// Swap beside the memory.
    pub swap_bytes: Option<u64>,
    /// Processors that may be used, as a list of the kernel: `0-3,8`.
    pub cpuset: Option<String>,
    /// Memory nodes whose memory may be used, likewise.
    pub nodes: Option<String>,
    /// The group limits nothing yet: the limits are set within it later ([`GroupLimits::settings`]).
    pub is_open: bool,
}

/// A file of a controller and what is written to it.
type Files = Vec<(&'static str, String)>;

impl GroupLimits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == GroupLimits::default()
    }

    /// In words.
    pub fn describe(&self) -> String {
        let of = [
            self.cpuset.as_ref().map(|list| format!("processors {list}")),
            self.nodes.as_ref().map(|list| format!("memory nodes {list}")),
            self.cpus.map(|cpus| format!("{cpus} CPUs")),
            self.memory_bytes.map(|bytes| format!("memory {} KiB", bytes >> 10)),
            self.memory_high_bytes.map(|bytes| format!("memory.high {} KiB", bytes >> 10)),
            self.swap_bytes.map(|bytes| format!("swap {} KiB", bytes >> 10)),
        ];
        let limits = of.into_iter().flatten().collect::<Vec<_>>().join(", ");
        if self.is_open { format!("open, for {limits} at times") } else { limits }
    }

    /// The files of the open group of this name, and what is written for the limits to hold.
    ///
    /// # Errors
    /// As of [`OwnGroup::new`].
    pub(super) fn settings(
        &self,
        name: &str,
        proc: &ProcRoot,
        sys: &SysRoot,
    ) -> io::Result<Vec<(PathBuf, String)>> {
        let mut settings = Vec::new();
        for (controller, version, place) in self.places(proc, sys).map_err(io::Error::other)? {
            let folder = place.join(name);
            let files = self.files(controller, version, &place)?;
            settings.extend(files.into_iter().map(|(file, value)| (folder.join(file), value)));
        }
        Ok(settings)
    }

    /// How many processes the kernel's OOM killer has ended so far in the group of this name; absent where the group limits no memory, is
    /// not there, or the kernel does not count them (before 4.13).
    pub fn oom_kills(&self, name: &str) -> Option<u64> {
        self.oom_kills_at(name, &ProcRoot::default(), &SysRoot::default())
    }

    /// What became of the group of this name; absent where it limits no memory, or is not there.
    pub fn end(&self, name: &str) -> Option<GroupEnd> {
        let (version, folder) = self.memory_folder(name, &ProcRoot::default(), &SysRoot::default())?;
        let peak = match version {
            CgroupVersion::V1 => "memory.max_usage_in_bytes",
            CgroupVersion::V2 => "memory.peak",
        };
        Some(GroupEnd {
            limit_bytes: self.memory_bytes.filter(|_| folder.is_dir())?,
            oom_kills: self.oom_kills(name),
            peak_bytes: std::fs::read_to_string(folder.join(peak))
                .ok()
                .and_then(|text| text.trim().parse().ok()),
        })
    }

    fn oom_kills_at(&self, name: &str, proc: &ProcRoot, sys: &SysRoot) -> Option<u64> {
        let (version, folder) = self.memory_folder(name, proc, sys)?;
        let file = match version {
            CgroupVersion::V1 => "memory.oom_control",
            CgroupVersion::V2 => "memory.events",
        };
        let text = std::fs::read_to_string(folder.join(file)).ok()?;
        text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
    }

    fn memory_folder(&self, name: &str, proc: &ProcRoot, sys: &SysRoot) -> Option<(CgroupVersion, PathBuf)> {
        let places = self.places(proc, sys).ok()?;
        let (_, version, place) = places.into_iter().find(|(controller, ..)| *controller == "memory")?;
        Some((version, place.join(name)))
    }

    fn controllers(&self) -> Vec<&'static str> {
        let of = [
            ("cpuset", self.cpuset.is_some() || self.nodes.is_some()),
            ("cpu", self.cpus.is_some()),
            ("memory", self.memory_bytes.or(self.memory_high_bytes).or(self.swap_bytes).is_some()),
        ];
        of.into_iter().filter(|(_, is_wanted)| *is_wanted).map(|(name, _)| name).collect()
    }

    /// Says why there cannot be such a group here.
    ///
    /// # Errors
    /// Which controller is missing, or what cannot be said to it.
    pub fn check_here(&self, proc: &ProcRoot, sys: &SysRoot) -> Result<(), String> {
        for (controller, version, place) in self.places(proc, sys)? {
            self.files(controller, version, &place).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Says why this process may not make such a group here.
    ///
    /// # Errors
    /// The controller that is missing, or the folder that cannot be written.
    pub fn check_writable(&self) -> Result<(), String> {
        for (_, version, place) in self.places(&ProcRoot::default(), &SysRoot::default())? {
            let access = rustix::fs::access(&place, Access::WRITE_OK);
            access.map_err(|e| format!("{} cannot be written: {}", place.display(), io::Error::from(e)))?;
            let counts_swap =
                version == CgroupVersion::V2 || place.join("memory.memsw.limit_in_bytes").exists();
            if self.swap_bytes.is_some() && place.ends_with("memory") && !counts_swap {
                return Err(format!("the kernel does not count swap in the groups of {}", place.display()));
            }
        }
        Ok(())
    }

    fn places(
        &self,
        proc: &ProcRoot,
        sys: &SysRoot,
    ) -> Result<Vec<(&'static str, CgroupVersion, PathBuf)>, String> {
        let place = |name: &'static str| match proc.place_for_groups(sys, name) {
            Ok(Some((version, place))) => Ok((name, version, place)),
            Ok(None) => Err(format!("this machine has no control groups with the controller `{name}`")),
            Err(e) => Err(e.to_string()),
        };
        self.controllers().into_iter().map(place).collect()
    }

    /// Files of a controller, in the order in which they must be written.
    fn files(&self, controller: &str, version: CgroupVersion, parent: &Path) -> io::Result<Files> {
        let quota = self.cpus.map(|cpus| ((cpus * PERIOD_US as f64).round() as u64).max(QUOTA_US_MIN));
        let rounded = |bytes: u64| bytes / PAGE_BYTES_MAX * PAGE_BYTES_MAX;
        let (memory, swap) = (self.memory_bytes.map(rounded), self.swap_bytes.map(rounded));
        let high = self.memory_high_bytes.map(rounded);
        let mut files = Vec::new();
        match (controller, version) {
            ("cpu", CgroupVersion::V1) => {
                files.push(("cpu.cfs_period_us", PERIOD_US.to_string()));
                files.extend(quota.map(|quota| ("cpu.cfs_quota_us", quota.to_string())));
            }
            ("cpu", CgroupVersion::V2) => {
                files.extend(quota.map(|quota| ("cpu.max", format!("{quota} {PERIOD_US}"))));
            }
            ("memory", CgroupVersion::V1) => {
                if high.is_some() {
                    return Err(io::Error::other("memory_high takes control groups of version 2"));
                }
                files.extend(memory.map(|bytes| ("memory.limit_in_bytes", bytes.to_string())));
                if let Some(swap) = swap {
                    // The file limits both together.
                    let memory = memory.ok_or_else(|| {
                        io::Error::other("in control groups of version 1 a limit of swap needs one of memory")
                    })?;
                    files.push(("memory.memsw.limit_in_bytes", (memory + swap).to_string()));
                }
            }
            ("memory", CgroupVersion::V2) => {
                files.extend(memory.map(|bytes| ("memory.max", bytes.to_string())));
                files.extend(high.map(|bytes| ("memory.high", bytes.to_string())));
                files.extend(swap.map(|bytes| ("memory.swap.max", bytes.to_string())));
            }
            _ => {
                for (file, list) in [("cpuset.cpus", &self.cpuset), ("cpuset.mems", &self.nodes)] {
                    let of_parent =
                        || fs_err::read_to_string(parent.join(file)).map(|list| list.trim().to_owned());
                    match list {
                        Some(list) => files.push((file, list.clone())),
                        // Empty in a new group, and then no process can enter it.
                        None if version == CgroupVersion::V1 => files.push((file, of_parent()?)),
                        None => {}
                    }
                }
            }
        }
        Ok(files)
    }
}

/// The group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnGroup {
    parts: Vec<GroupFolder>,
    /// Of version 2: the folder above, and the controllers that it did not pass on.
    passed_on: Option<(PathBuf, Vec<String>)>,
}

/// One folder of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GroupFolder {
    folder: PathBuf,
    files: Vec<(String, String)>,
}

impl OwnGroup {
    /// Plans one of this name; nothing is made yet.
    ///
    /// # Errors
    /// When a controller is missing, or one cannot be limited like this.
    pub fn new(limits: &GroupLimits, name: &str, proc: &ProcRoot, sys: &SysRoot) -> io::Result<OwnGroup> {
        let (mut parts, mut missing, mut above): (Vec<GroupFolder>, Vec<String>, Option<PathBuf>) =
            Default::default();
        for (controller, version, place) in limits.places(proc, sys).map_err(io::Error::other)? {
            let folder = place.join(name);
            let files = limits.files(controller, version, &place)?;
            let files = if limits.is_open { Files::new() } else { files };
            let files = files.into_iter().map(|(file, value)| (file.to_owned(), value));
            match parts.iter_mut().find(|part| part.folder == folder) {
                Some(part) => part.files.extend(files),
                None => parts.push(GroupFolder { folder, files: files.collect() }),
            }
            if version == CgroupVersion::V2 {
                let passed = fs_err::read_to_string(place.join("cgroup.subtree_control"))?;
                if passed.split_whitespace().all(|of| of != controller) {
                    missing.push(controller.to_owned());
                }
                above = Some(place);
            }
        }
        Ok(OwnGroup { parts, passed_on: above.map(|above| (above, missing)) })
    }

    /// The folders whose `cgroup.procs` a process writes itself to.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.parts.iter().map(|part| part.folder.clone()).collect()
    }

    /// What the kernel made of the values.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(&self) -> io::Result<String> {
        let mut found = Vec::new();
        for part in &self.parts {
            for (file, _) in &part.files {
                let text = fs_err::read_to_string(part.folder.join(file))?;
                found.push(format!("{file}={}", text.trim()));
            }
        }
        Ok(found.join(" "))
    }

    fn pass_on(&self, sign: char) -> io::Result<()> {
        let Some((above, missing)) = &self.passed_on else { return Ok(()) };
        let words: Vec<String> = missing.iter().map(|name| format!("{sign}{name}")).collect();
        match words.is_empty() {
            true => Ok(()),
            false => fs_err::write(above.join("cgroup.subtree_control"), words.join(" ")),
        }
    }
}

impl Treatment for OwnGroup {
    fn apply(&self) -> io::Result<()> {
        self.pass_on('+')?;
        for part in &self.parts {
            fs_err::create_dir(&part.folder)?;
            for (file, value) in &part.files {
                let path = part.folder.join(file);
                let hint = if file.starts_with("memory.memsw") {
                    "; the kernel may not count swap in groups"
                } else {
                    ""
                };
                fs_err::write(&path, value)
                    .map_err(|e| io::Error::new(e.kind(), format!("{e} (`{value}`){hint}")))?;
            }
        }
        Ok(())
    }

    fn verify(&self) -> io::Result<()> {
        for part in &self.parts {
            for (file, value) in &part.files {
                let found = fs_err::read_to_string(part.folder.join(file))?;
                // The kernel writes a list of processors its own way: `0,1` becomes `0-1`.
                let is_same = match file.as_str() {
                    "cpuset.cpus" | "cpuset.mems" => Processors::parse(&found) == Processors::parse(value),
                    _ => found.trim() == value,
                };
                if !is_same {
                    let path = part.folder.join(file);
                    return Err(io::Error::other(format!(
                        "{} is `{}`, not `{value}`",
                        path.display(),
                        found.trim()
                    )));
                }
            }
        }
        Ok(())
    }

    fn undo(&self) -> io::Result<()> {
        self.parts.iter().rev().try_for_each(|part| remove(&part.folder))?;
        match self.passed_on.as_ref().is_some_and(|(above, _)| above.exists()) {
            true => self.pass_on('-'),
            false => Ok(()),
        }
    }

    fn name(&self) -> String {
        let shown: Vec<String> = self.parts.iter().map(|part| part.folder.display().to_string()).collect();
        format!("control group {}", shown.join(", "))
    }
}

/// Removes a group. Processes that are still in it move to the group above.
fn remove(folder: &Path) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match std::fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) if REMOVE_WAIT <= begun.elapsed() => {
                return Err(io::Error::new(e.kind(), format!("{}: {e}", folder.display())));
            }
            Err(_) => {}
        }
        let above = folder.parent().unwrap_or(folder).join("cgroup.procs");
        let inside = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        for pid in inside.lines() {
            // One by one, as the kernel wants it; one that has ended meanwhile is none.
            let _ = std::fs::write(&above, pid);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
