//! Writes memory of a process that is known to be dead to swap, and shows what was predicted, what came of it and what came back.

mod dead;

use crate::jvm::Jvm;
use crate::snapshot::{Snapshot, take};
use crate::{MemoryError, ReadOptions, SnapshotDepth};
use assay_linux::{CachedMemory, LinuxError, LiveProcess, MemorySource, PageOut, ProcRoot, Swap, SysRoot};
use assay_model::{DeadMemory, MemoryPageOut, PagedOutPart, Problem, schema};
use dead::dead_pages;
use rustix::io::Errno;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks at whether the watch is over.
const NAP: Duration = Duration::from_millis(50);

/// How memory is paged out.
#[derive(Clone, Copy)]
pub struct PageOutOptions<'a> {
    /// What to page out.
    pub memory: &'a [DeadMemory],
    /// Whether to predict alone, and leave the process as it is.
    pub is_dry_run: bool,
    /// How long to watch afterwards for what comes back.
    pub watch: Duration,
    /// Ends the watch early.
    pub stop: &'a AtomicBool,
    /// Called when the pages have been written and the watch begins.
    pub watch_begins: &'a dyn Fn(),
}

/// Why nothing was paged out.
#[derive(Debug, thiserror::Error)]
pub enum PageOutError {
    /// The process could not be looked at.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// There is no swap.
    #[error(
        "this machine has no swap, so nothing can be paged out; swap in compressed memory, as root:\n  modprobe zram; \
         d=$(zramctl --find --size 1G) && mkswap $d && swapon $d"
    )]
    NoSwap,
    /// There is swap, and none of it can be had.
    #[error("{}", no_room(*.pid, *.is_of_group))]
    NoRoom {
        /// The process.
        pid: u32,
        /// Whether its control group forbids it, rather than all swap being in use.
        is_of_group: bool,
    },
    /// The kernel cannot do it.
    #[error(
        "this kernel cannot page out another process: process_madvise(MADV_PAGEOUT) needs Linux 5.10 or later"
    )]
    Kernel,
    /// The kernel refuses.
    #[error(
        "the kernel refuses to page out process {pid}: that needs CAP_SYS_NICE and CAP_SYS_PTRACE; run assay as root: sudo assay ..."
    )]
    Refused {
        /// The process.
        pid: u32,
    },
    /// The call failed.
    #[error("cannot page out process {pid}: {source}")]
    Call {
        /// The process.
        pid: u32,
        /// The kernel's answer.
        source: io::Error,
    },
}

fn no_room(pid: u32, is_of_group: bool) -> String {
    if is_of_group {
        format!(
            "the control group of process {pid} allows no more swap (memory.swap.max): raise it, in Kubernetes by the node's swapBehavior"
        )
    } else {
        "all swap of this machine is in use; more of it in compressed memory, as root:\n  d=$(zramctl --find --size 1G) && mkswap $d && \
         swapon $d"
            .to_owned()
    }
}

impl PageOutError {
    fn of_call(pid: u32, source: io::Error) -> PageOutError {
        match Errno::from_io_error(&source) {
            Some(Errno::NOSYS) => PageOutError::Kernel,
            Some(Errno::PERM | Errno::ACCESS) => PageOutError::Refused { pid },
            Some(Errno::SRCH) => PageOutError::Memory(LinuxError::NoMemory { pid }.into()),
            _ => PageOutError::Call { pid, source },
        }
    }
}

/// Writes whole pages of dead memory to swap. The process is not stopped and loses nothing: a page that it touches again comes back with
/// a fault. With `is_dry_run` it says what would be written, also where there is no swap.
///
/// # Errors
/// When the process cannot be looked at, there is no swap to be had, or the kernel cannot or may not do it.
pub fn page_out(pid: u32, options: &PageOutOptions<'_>) -> Result<MemoryPageOut, PageOutError> {
    let proc = ProcRoot::default();
    let linux = |error: LinuxError| PageOutError::Memory(error.into());
    let swaps = proc.read_swaps().map_err(linux)?;
    let room = room(&proc, pid, &swaps).map_err(linux)?;
    if !options.is_dry_run {
        room.check(pid, &swaps)?;
    }
    // From here on the call reaches this process or nobody.
    let handle = PageOut::open(pid).map_err(|source| PageOutError::of_call(pid, source))?;
    let process = LiveProcess::open(&proc, pid).map_err(linux)?;
    let (kinds, mut problems) = scan(&process, options.memory);
    let mut result = MemoryPageOut {
        schema: schema::MEMORY_PAGE_OUT.to_owned(),
        pid,
        is_dry_run: options.is_dry_run,
        swap_free_bytes: room.bytes,
        swap_on_disk: swaps.iter().filter(|swap| !swap.is_in_memory()).map(|s| s.device.clone()).collect(),
        rss_bytes_before: process.rss_bytes(),
        rss_bytes_after: None,
        actual_bytes: None,
        watched_ns: None,
        parts: kinds.iter().map(predicted).collect(),
        problems: Vec::new(),
    };
    let predicted_bytes = result.sum(|part| Some(part.predicted_bytes)).unwrap_or(0);
    if options.is_dry_run && room.check(pid, &swaps).is_err() {
        problems.push(Problem::new("swap", "there is none to be had here: nothing could be paged out"));
    } else if room.bytes < predicted_bytes {
        let what = format!("{} bytes are free, fewer than the {predicted_bytes} predicted", room.bytes);
        problems.push(Problem::new("swap", what));
    }
    if !options.is_dry_run {
        write_out(&proc, &process, &handle, &kinds, &mut result, &mut problems)?;
        watch(&proc, &process, &kinds, options, &mut result, &mut problems);
    }
    result.problems = problems;
    Ok(result)
}

/// Swap that is free, and whose limit that is.
struct Room {
    bytes: u64,
    is_of_group: bool,
}

fn room(proc: &ProcRoot, pid: u32, swaps: &[Swap]) -> Result<Room, LinuxError> {
    let machine: u64 = swaps.iter().map(|swap| swap.size_bytes.saturating_sub(swap.used_bytes)).sum();
    let group = proc.read_cgroups(&SysRoot::default(), Some(pid))?.read_swap_room()?;
    let is_of_group = group.is_some_and(|group| group < machine);
    Ok(Room { bytes: group.map_or(machine, |group| group.min(machine)), is_of_group })
}

impl Room {
    fn check(&self, pid: u32, swaps: &[Swap]) -> Result<(), PageOutError> {
        match (swaps.is_empty(), self.bytes) {
            (true, _) => Err(PageOutError::NoSwap),
            (false, 0) => Err(PageOutError::NoRoom { pid, is_of_group: self.is_of_group }),
            (false, _) => Ok(()),
        }
    }
}

/// Dead pages of one kind.
struct Kind {
    memory: DeadMemory,
    pages: Vec<Range<u64>>,
    bytes: u64,
}

fn predicted(kind: &Kind) -> PagedOutPart {
    PagedOutPart {
        memory: kind.memory,
        predicted_bytes: kind.bytes,
        paged_out_bytes: None,
        came_back_bytes: None,
    }
}

/// Finds the dead pages of each kind.
fn scan(process: &LiveProcess, memory: &[DeadMemory]) -> (Vec<Kind>, Vec<Problem>) {
    let cached = CachedMemory::new(process);
    let options = ReadOptions::of_depth(SnapshotDepth::Structures);
    let seen = take(&cached, Jvm::find(&cached), &options, &[]);
    let kinds = memory.iter().map(|memory| {
        let pages = dead_pages(process, &seen, *memory);
        let bytes = pages.iter().map(|range| range.end - range.start).sum();
        Kind { memory: *memory, pages, bytes }
    });
    let kinds: Vec<Kind> = kinds.collect();
    let mut problems = seen.problems.clone();
    problems.extend(kinds.iter().filter_map(|kind| unreachable(kind, process, &seen)));
    (kinds, problems)
}

/// Why a kind has no pages although the process may have such memory.
fn unreachable(kind: &Kind, process: &LiveProcess, seen: &Snapshot<'_>) -> Option<Problem> {
    let word = kind.memory.word();
    match (kind.memory, seen.jvm.as_ref()) {
        (DeadMemory::FreeHeap, None) => {
            Some(Problem::new(word, "this process is not a JVM that could be read"))
        }
        (DeadMemory::FreeHeap, Some(jvm)) => {
            let heap = jvm.heap.as_ref().filter(|_| kind.bytes == 0)?;
            let is_shared = |range: &Range<u64>| {
                let at = process.mappings().partition_point(|m| m.addresses.end <= range.start);
                process.mappings().get(at).is_some_and(|mapping| mapping.permissions[3] == b's')
            };
            heap.spaces.iter().any(|space| is_shared(&space.addresses)).then(|| {
                let what =
                    format!("{:?} keeps its heap in shared memory, which is not paged out", heap.collector);
                Problem::new(word, what)
            })
        }
        _ => None,
    }
}

/// Has the kernel write the pages, and counts what is no longer resident.
fn write_out(
    proc: &ProcRoot,
    process: &LiveProcess,
    handle: &PageOut,
    kinds: &[Kind],
    result: &mut MemoryPageOut,
    problems: &mut Vec<Problem>,
) -> Result<(), PageOutError> {
    let pid = process.pid();
    let is_same = process.still_exists().map_err(MemoryError::from)?;
    if !is_same {
        return Err(PageOutError::Memory(LinuxError::NoMemory { pid }.into()));
    }
    for kind in kinds {
        let done = handle.page_out(&kind.pages).map_err(|source| PageOutError::of_call(pid, source))?;
        if done.refused_bytes != 0 {
            let what = format!("{} bytes were unmapped in the meantime, or are locked", done.refused_bytes);
            problems.push(Problem::new(kind.memory.word(), what));
        }
    }
    let after = LiveProcess::open(proc, pid).map_err(MemoryError::from)?;
    result.rss_bytes_after = Some(after.rss_bytes());
    let less = i64::try_from(after.rss_bytes()).unwrap_or(i64::MAX);
    result.actual_bytes = i64::try_from(result.rss_bytes_before).ok().map(|before| before - less);
    for (kind, part) in kinds.iter().zip(&mut result.parts) {
        part.paged_out_bytes = Some(kind.bytes.saturating_sub(kind.resident_bytes(&after)));
    }
    let paged_out_bytes = result.sum(|part| part.paged_out_bytes).unwrap_or(0);
    let predicted_bytes = result.sum(|part| Some(part.predicted_bytes)).unwrap_or(0);
    if paged_out_bytes < predicted_bytes / 2 {
        let what =
            "the kernel left more than half of the pages where they were: they are in use, or swap is full";
        problems.push(Problem::new("swap", what));
    }
    Ok(())
}

/// Waits, and counts what has come back.
fn watch(
    proc: &ProcRoot,
    process: &LiveProcess,
    kinds: &[Kind],
    options: &PageOutOptions<'_>,
    result: &mut MemoryPageOut,
    problems: &mut Vec<Problem>,
) {
    let began = Instant::now();
    (options.watch_begins)();
    while began.elapsed() < options.watch && !options.stop.load(Ordering::SeqCst) {
        std::thread::sleep(NAP.min(options.watch));
        if !process.still_exists().unwrap_or(false) {
            return problems.push(Problem::new("watch", "the process has ended"));
        }
    }
    let now = match LiveProcess::open(proc, process.pid()) {
        Ok(now) if now.identity() == process.identity() => now,
        Ok(_) => return problems.push(Problem::new("watch", "the process has ended")),
        Err(e) => return problems.push(Problem::from(&e)),
    };
    result.watched_ns = u64::try_from(began.elapsed().as_nanos()).ok();
    for (kind, part) in kinds.iter().zip(&mut result.parts) {
        let out_bytes = part.paged_out_bytes.unwrap_or(0);
        let is_out_bytes = kind.bytes.saturating_sub(kind.resident_bytes(&now));
        part.came_back_bytes = Some(out_bytes.saturating_sub(is_out_bytes));
    }
}

impl Kind {
    fn resident_bytes(&self, process: &LiveProcess) -> u64 {
        self.pages.iter().map(|range| process.pages().resident_bytes_in(range.clone())).sum()
    }
}
