//! The kernel's figures about a process's memory beside its mappings: `status`, the sums of `smaps_rollup`, and what the
//! kernel itself needs for the process.

use crate::fields::lines;
use crate::{LinuxError, Mapping, ParseError, ProcRoot, SmapsRollup};
use assay_model::OutsideRss;
use std::path::Path;

/// `/proc/PID/status`, the lines about memory; `proc_pid_status(5)`. Lines that the kernel does not write are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryStatus {
    /// `VmRSS`: lags behind `smaps` by some tens of pages per processor on a busy process.
    pub rss_bytes: Option<u64>,
    /// `VmHWM`: the largest RSS so far.
    pub rss_bytes_max: Option<u64>,
    /// `RssAnon`: of it, anonymous memory.
    pub anonymous_bytes: Option<u64>,
    /// `RssFile`: of it, files.
    pub file_bytes: Option<u64>,
    /// `RssShmem`: of it, shared memory.
    pub shmem_bytes: Option<u64>,
    /// `VmPTE`: page tables.
    pub page_tables_bytes: Option<u64>,
    /// `VmSwap`: swapped out, shared memory left out.
    pub swap_bytes: Option<u64>,
    /// `VmLck`: locked by `mlock`.
    pub locked_bytes: Option<u64>,
    /// `HugetlbPages`: pages of hugetlbfs, no part of the RSS.
    pub hugetlb_bytes: Option<u64>,
    /// `Threads`.
    pub threads: Option<u64>,
    /// `NSpid`: the process's number in the reader's PID namespace, and in each one down to its own.
    pub pids: Vec<u32>,
    /// `THP_enabled`: false when the process opted out of transparent huge pages (`PR_SET_THP_DISABLE`); Linux 5.0.
    pub may_have_huge_pages: Option<bool>,
}

/// Parses the lines about memory of `/proc/PID/status`.
///
/// # Errors
/// When a value is not a number.
pub fn parse_memory_status(path: &Path, text: &str) -> Result<MemoryStatus, ParseError> {
    let mut status = MemoryStatus { pids: crate::threads::pids_of(text), ..MemoryStatus::default() };
    for (at, line) in lines(path, text) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let to = match key {
            "VmRSS" => &mut status.rss_bytes,
            "VmHWM" => &mut status.rss_bytes_max,
            "RssAnon" => &mut status.anonymous_bytes,
            "RssFile" => &mut status.file_bytes,
            "RssShmem" => &mut status.shmem_bytes,
            "VmPTE" => &mut status.page_tables_bytes,
            "VmSwap" => &mut status.swap_bytes,
            "VmLck" => &mut status.locked_bytes,
            "HugetlbPages" => &mut status.hugetlb_bytes,
            "Threads" => {
                status.threads = Some(at.number(key, Some(value))?);
                continue;
            }
            "THP_enabled" => {
                status.may_have_huge_pages = Some(at.number::<u8>(key, Some(value))? != 0);
                continue;
            }
            _ => continue,
        };
        *to = Some(at.kib_as_bytes(key, value)?);
    }
    Ok(status)
}

/// Size of a thread's stack inside the kernel, on the architecture that this program is built for; `None` where it is
/// not known. `THREAD_SIZE` of `arch/*/include/asm/thread_info.h` in usual builds; one with KASAN takes twice that.
/// Held against `KernelStack` of `/proc/meminfo` by `kernel_stacks_are_as_large_as_meminfo_says`.
pub fn kernel_stack_bytes() -> Option<u64> {
    let page_bytes = rustix::param::page_size() as u64;
    match std::env::consts::ARCH {
        "x86_64" | "riscv64" | "s390x" | "powerpc64" | "loongarch64" => Some(16 << 10),
        // At least a page, since the stack is mapped.
        "aarch64" => Some((16 << 10).max(page_bytes)),
        "x86" | "arm" | "riscv32" => Some(8 << 10),
        _ => None,
    }
}

/// What the kernel counts page by page, by its own sums.
fn of_rollup(rollup: &SmapsRollup) -> OutsideRss {
    OutsideRss {
        pss_bytes: rollup.pss_bytes,
        uss_bytes: rollup.uss_bytes(),
        shared_bytes: rollup.shared_bytes(),
        swap_bytes: rollup.swap_bytes,
        huge_pages_bytes: rollup.huge_pages_bytes(),
        hugetlb_bytes: rollup.hugetlb_bytes,
        ..OutsideRss::default()
    }
}

/// The same, summed over mappings.
fn of_mappings(mappings: &[Mapping]) -> OutsideRss {
    let sum = |of: fn(&Mapping) -> Option<u64>| mappings.iter().map(of).sum::<Option<u64>>();
    let huge = |mapping: &Mapping| {
        let kinds = [mapping.anon_huge_pages_bytes, mapping.file_huge_pages_bytes];
        kinds.into_iter().flatten().reduce(u64::saturating_add)
    };
    OutsideRss {
        pss_bytes: sum(|m| m.pss_bytes),
        uss_bytes: sum(|m| m.private_bytes),
        shared_bytes: sum(|m| m.shared_bytes),
        swap_bytes: sum(|m| m.swap_bytes),
        huge_pages_bytes: sum(huge),
        hugetlb_bytes: sum(|m| m.hugetlb_bytes),
        ..OutsideRss::default()
    }
}

impl ProcRoot {
    /// Reads the lines about memory of `/proc/PID/status`.
    ///
    /// # Errors
    /// When the process is gone, or the text is not in the documented form.
    pub fn read_memory_status(&self, pid: u32) -> Result<MemoryStatus, LinuxError> {
        let (path, text) = self.read_text_of(pid, "status").map_err(|e| e.explained(self, pid))?;
        Ok(parse_memory_status(&path, &text)?)
    }

    /// Everything that the kernel says about a process's memory beside its mappings, in the stored form.
    ///
    /// # Errors
    /// When the process is gone or belongs to somebody else, or a text is not in the documented form.
    pub fn read_beside_rss(&self, pid: u32) -> Result<OutsideRss, LinuxError> {
        let rollup = self.read_smaps_rollup(pid).map_err(|e| e.explained(self, pid))?;
        self.with_status(pid, &rollup.as_ref().map(of_rollup).unwrap_or_default())
    }

    /// The same for a stopped process whose mappings were just read: the kernel need not walk over all its pages again.
    /// The PSS of each shared mapping is rounded down to a KiB.
    ///
    /// # Errors
    /// As of [`ProcRoot::read_beside_rss`].
    pub fn read_beside_rss_of(&self, pid: u32, mappings: &[Mapping]) -> Result<OutsideRss, LinuxError> {
        self.with_status(pid, &of_mappings(mappings))
    }

    /// Adds what `status` says to what was counted page by page.
    fn with_status(&self, pid: u32, pages: &OutsideRss) -> Result<OutsideRss, LinuxError> {
        let status = self.read_memory_status(pid)?;
        Ok(OutsideRss {
            vm_rss_bytes: status.rss_bytes,
            rss_peak_bytes: status.rss_bytes_max,
            // That of `smaps` counts swapped shared memory too.
            swap_bytes: pages.swap_bytes.or(status.swap_bytes),
            page_tables_bytes: status.page_tables_bytes,
            kernel_stacks_bytes: status
                .threads
                .zip(kernel_stack_bytes())
                .map(|(threads, bytes)| threads.saturating_mul(bytes)),
            hugetlb_bytes: status.hugetlb_bytes.or(pages.hugetlb_bytes),
            locked_bytes: status.locked_bytes,
            threads: status.threads,
            ..*pages
        })
    }
}
