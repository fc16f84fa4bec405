//! What the memory controller charges to a control group, and how that comes about.
//!
//! Formats: `Documentation/admin-guide/cgroup-v2.rst`, `Documentation/admin-guide/cgroup-v1/memory.rst`.
//!
//! Folklore:
//! - Each processor takes pages for a group in advance (up to 64), so the charge is a little above what it is made of;
//!   that is `unexplained_bytes` on a quiet machine.
//! - The first process that touches a page of a file pays for it, and goes on paying when others use it: `file_bytes`
//!   is not what the group's processes have mapped.
//! - Version 1 counts TCP buffers apart, and not in the charge; version 2 counts them in `sock`.
//! - Version 1 counts them only in a group that was given a limit for them, and reads 0 until then. So long it charges
//!   accepted sockets to nobody either (2.4 KB each on Linux 6.18): the kernel makes them outside of any process.

use crate::cgroup::{Hierarchy, MEMORY_V1_NO_LIMIT_BYTES, levels};
use crate::fields::{At, lines};
use crate::memory_status::parse_memory_status;
use crate::root::{optional, read_text};
use crate::{CgroupVersion, Cgroups, LinuxError, ParseError, ProcRoot};
use assay_model::{CgroupMemory, Problem};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Groups below the one that is looked at.
const GROUPS_MAX: usize = 1000;
/// Processes whose RSS is added up.
const PROCESSES_MAX: usize = 1000;

/// Names of the same thing in both versions.
struct Names {
    current: &'static str,
    peak: &'static str,
    /// The keys of `memory.stat`, those of the whole subtree.
    anonymous: &'static str,
    file: &'static str,
    inactive_file: &'static str,
    shmem: &'static str,
}

const V2: Names = Names {
    current: "memory.current",
    peak: "memory.peak",
    anonymous: "anon",
    file: "file",
    inactive_file: "inactive_file",
    shmem: "shmem",
};
const V1: Names = Names {
    current: "memory.usage_in_bytes",
    peak: "memory.max_usage_in_bytes",
    anonymous: "total_rss",
    file: "total_cache",
    inactive_file: "total_inactive_file",
    shmem: "total_shmem",
};
/// What `kernel` is made of; version 2 gives the sum since Linux 5.18.
const KERNEL_PARTS: [&str; 6] = ["kernel_stack", "pagetables", "sec_pagetables", "percpu", "vmalloc", "slab"];

impl Cgroups {
    /// Reads the memory charged to the innermost group of the process that counts its own memory, and the tightest limit of
    /// it and the groups above; `None` without a memory controller. A value that could not be read is absent, with a problem.
    ///
    /// # Errors
    /// When a figure that is there is not a number.
    pub fn read_memory(
        &self,
        proc: &ProcRoot,
        problems: &mut Vec<Problem>,
    ) -> Result<Option<CgroupMemory>, LinuxError> {
        let Some(hierarchy) = &self.memory else { return Ok(None) };
        let names = match hierarchy.version {
            CgroupVersion::V1 => V1,
            CgroupVersion::V2 => V2,
        };
        // A group of version 2 in which the controller is not enabled is charged to the one above; the root of all is
        // charged to nobody.
        let mut charged = None;
        for (level, folder) in hierarchy.folders.iter().enumerate() {
            if let Some(current) = read_bytes(&folder.join(names.current))? {
                charged = Some((level, folder, current));
                break;
            }
        }
        let Some((level, folder, current_bytes)) = charged else { return Ok(None) };
        let stat_path = folder.join("memory.stat");
        let stat = match optional(read_text(&stat_path))? {
            Some(text) => parse_stat(&stat_path, &text)?,
            None => BTreeMap::new(),
        };
        let mut memory = CgroupMemory {
            path: name_of(hierarchy, level),
            current_bytes: Some(current_bytes),
            limit_bytes: self.read_limits()?.memory_bytes,
            peak_bytes: read_bytes(&folder.join(names.peak))?,
            anonymous_bytes: stat.get(names.anonymous).copied(),
            file_bytes: stat.get(names.file).copied(),
            inactive_file_bytes: stat.get(names.inactive_file).copied(),
            shmem_bytes: stat.get(names.shmem).copied(),
            kernel_stacks_bytes: stat.get("kernel_stack").copied(),
            page_tables_bytes: stat.get("pagetables").copied(),
            slab_bytes: stat.get("slab").copied(),
            ..CgroupMemory::default()
        };
        match hierarchy.version {
            CgroupVersion::V1 => {
                memory.kernel_bytes = read_bytes(&folder.join("memory.kmem.usage_in_bytes"))?;
                memory.sockets_bytes = read_sockets_v1(folder)?;
            }
            CgroupVersion::V2 => {
                let parts = KERNEL_PARTS.iter().filter_map(|key| stat.get(*key).copied());
                memory.kernel_bytes =
                    stat.get("kernel").copied().or_else(|| parts.reduce(u64::saturating_add));
                memory.sockets_bytes = stat.get("sock").copied();
            }
        }
        memory.unexplained_bytes = unexplained_bytes(&memory, hierarchy.version);
        memory.oom_kills = read_oom_kills(hierarchy.version, folder)?;
        memory.limit_hits = read_limit_hits(hierarchy.version, folder)?;
        add_processes(&mut memory, folder, proc, problems);
        Ok(Some(memory))
    }
}

impl Cgroups {
    /// How many processes the kernel has killed for memory in the group and in each group above it that counts them, by folder.
    /// Version 2 counts a kill in all of these, version 1 in the group of the process alone.
    ///
    /// # Errors
    /// When a count that is there is not a number.
    pub fn read_oom_kills(&self) -> Result<BTreeMap<PathBuf, u64>, LinuxError> {
        let mut kills = BTreeMap::new();
        for (version, folder) in levels(self.memory.as_ref()) {
            if let Some(count) = read_oom_kills(version, folder)? {
                kills.insert(folder.clone(), count);
            }
        }
        Ok(kills)
    }
}

impl Cgroups {
    /// How often the charge of the process's own group ran into that group's limit; `None` where it is not counted (in version 1 also where it
    /// never did), or the group is gone.
    ///
    /// # Errors
    /// When a count that is there is not a number.
    pub fn read_limit_hits(&self) -> Result<Option<u64>, LinuxError> {
        match levels(self.memory.as_ref()).next() {
            Some((version, folder)) => read_limit_hits(version, folder),
            None => Ok(None),
        }
    }
}

fn read_limit_hits(version: CgroupVersion, folder: &Path) -> Result<Option<u64>, LinuxError> {
    match version {
        CgroupVersion::V1 => {
            // With swap included in a limit of its own that one may be the one that is met. 0 says nothing: Linux 6.18 leaves both at 0 in a
            // group that was killed at its limit.
            let hits = [
                read_bytes(&folder.join("memory.failcnt"))?,
                read_bytes(&folder.join("memory.memsw.failcnt"))?,
            ];
            Ok(hits.into_iter().flatten().reduce(u64::saturating_add).filter(|hits| 0 < *hits))
        }
        CgroupVersion::V2 => read_key(&folder.join("memory.events"), "max"),
    }
}

/// Linux 4.13 and later count them.
fn read_oom_kills(version: CgroupVersion, folder: &Path) -> Result<Option<u64>, LinuxError> {
    let file = match version {
        CgroupVersion::V1 => "memory.oom_control",
        CgroupVersion::V2 => "memory.events",
    };
    read_key(&folder.join(file), "oom_kill")
}

fn read_key(path: &Path, key: &str) -> Result<Option<u64>, LinuxError> {
    let Some(text) = optional(read_text(path))? else { return Ok(None) };
    Ok(parse_stat(path, &text)?.get(key).copied())
}

/// TCP buffers of a group of version 1; absent where nobody counts them, which reads like none.
fn read_sockets_v1(folder: &Path) -> Result<Option<u64>, LinuxError> {
    let limit_bytes = read_bytes(&folder.join("memory.kmem.tcp.limit_in_bytes"))?;
    let is_limited = limit_bytes.is_some_and(|bytes| bytes < MEMORY_V1_NO_LIMIT_BYTES);
    let bytes = read_bytes(&folder.join("memory.kmem.tcp.usage_in_bytes"))?;
    Ok(bytes.filter(|bytes| *bytes > 0 || is_limited))
}

/// The charge less its parts; absent when a part is.
fn unexplained_bytes(memory: &CgroupMemory, version: CgroupVersion) -> Option<i64> {
    let sockets_bytes = match version {
        CgroupVersion::V1 => 0,
        CgroupVersion::V2 => memory.sockets_bytes?,
    };
    let parts = [memory.anonymous_bytes?, memory.file_bytes?, memory.kernel_bytes?, sockets_bytes];
    let parts = parts.into_iter().fold(0, u64::saturating_add);
    let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
    Some(signed(memory.current_bytes?).saturating_sub(signed(parts)))
}

/// The group as the kernel names it, `level` steps up.
fn name_of(hierarchy: &Hierarchy, level: usize) -> String {
    let group = hierarchy.group.ancestors().nth(level).unwrap_or(Path::new("/"));
    group.display().to_string()
}

fn read_bytes(path: &Path) -> Result<Option<u64>, LinuxError> {
    let Some(text) = optional(read_text(path))? else { return Ok(None) };
    Ok(Some(At { path, line: 1 }.number("bytes", Some(&text))?))
}

/// `key value` lines.
pub(crate) fn parse_stat(path: &Path, text: &str) -> Result<BTreeMap<String, u64>, ParseError> {
    let parse = |(at, line): (At<'_>, &str)| {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        Ok((key.to_owned(), at.number(key, Some(value))?))
    };
    lines(path, text).filter(|(_, line)| !line.is_empty()).map(parse).collect()
}

/// Adds the number of processes, and the sum of their RSS. Pages that several of them share count several times.
fn add_processes(memory: &mut CgroupMemory, folder: &Path, proc: &ProcRoot, problems: &mut Vec<Problem>) {
    let source = || folder.display().to_string();
    let pids = match read_pids(folder) {
        Ok(pids) => pids,
        Err(e) => return problems.push(Problem::from(&e)),
    };
    memory.processes = Some(pids.len() as u64);
    if PROCESSES_MAX < pids.len() {
        let what = format!("more than {PROCESSES_MAX} processes: their RSS is not added up");
        return problems.push(Problem::new(source(), what));
    }
    let mut rss_bytes = 0_u64;
    for pid in pids {
        // The kernel's running count: the exact sum of `smaps_rollup` would be a walk over all pages of all processes.
        let status = proc.read_text_of(pid, "status");
        let status = status.and_then(|(path, text)| Ok(parse_memory_status(&path, &text)?));
        match optional(status) {
            // A process that has ended meanwhile has no memory.
            Ok(status) => rss_bytes = rss_bytes.saturating_add(status.and_then(|s| s.rss_bytes).unwrap_or(0)),
            Err(e) => {
                let e = e.explained(proc, pid);
                return problems.push(Problem::new(source(), format!("no sum of its processes' RSS: {e}")));
            }
        }
    }
    memory.processes_rss_bytes = Some(rss_bytes);
}

/// Processes of a group and of those below it. A number of 0 is a process outside of the reader's PID namespace.
fn read_pids(folder: &Path) -> Result<Vec<u32>, LinuxError> {
    let mut pids = Vec::new();
    let mut groups: Vec<PathBuf> = vec![folder.to_owned()];
    let mut looked_at = 0;
    while let Some(group) = groups.pop() {
        looked_at += 1;
        if GROUPS_MAX < looked_at {
            return Err(LinuxError::read(folder, std::io::Error::other("too many groups below it")));
        }
        let path = group.join("cgroup.procs");
        // A group may vanish between two looks.
        let Some(text) = optional(read_text(&path))? else { continue };
        for (at, line) in lines(&path, &text) {
            pids.push(at.number("pid", Some(line))?);
        }
        if let Ok(entries) = group.read_dir() {
            let folders = entries.flatten().filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
            groups.extend(folders.take(GROUPS_MAX + 1).map(|entry| entry.path()));
        }
    }
    pids.sort_unstable();
    pids.dedup();
    if pids.first() == Some(&0) {
        return Err(LinuxError::read(
            folder,
            std::io::Error::other("some of its processes lie outside of this PID namespace"),
        ));
    }
    Ok(pids)
}
