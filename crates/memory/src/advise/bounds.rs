//! What may become of each part.
//!
//! Margins are choices, named so that they can be judged: nobody can measure what a program will do. Known bounds are the
//! JVM's own; inferred ones follow from another observation, or from a measurement that is named.

use super::parts::{KernelPart, MemoryPart, allocated};
use super::{Observed, round_up};
use crate::findings::words::{bytes, flag};
use assay_model::{Certainty, JvmMemoryFacts, MemoryReport, Problem};

/// For what follows the program's data and its libraries.
const MARGIN_PERCENT: u64 = 20;
/// More threads, or deeper calls, than were observed.
const STACKS_MARGIN_PERCENT: u64 = 25;
/// Memory retained by malloc depends on the order of calls more than on their sum.
const FREED_MARGIN_PERCENT: u64 = 25;
/// What has no bound of its own and follows the load: direct buffers, compilers at work, sockets.
const LOAD_MARGIN_PERCENT: u64 = 50;
/// Pages of libraries that were not used yet.
const LIBRARIES_MARGIN_PERCENT: u64 = 10;
/// Compilers idle most of the time: one snapshot sees nothing of what they need. Measured after a burst of compilation on JDK
/// 17 and 25: 2.0 to 16.7 MB.
const JIT_WORK_BYTES_MIN: u64 = 17 << 20;
/// Of pages of files: the kernel drops them when memory is short and reads them again. Half is the part that is kept, since
/// a server that reads its jars again and again is slow.
const MAPPED_KEPT_PERCENT: u64 = 50;
/// The collector's memory beside its tables does not grow beyond this part of the heap: G1's remembered sets are 2 to 4 %.
const GC_SHARE_MAX: u64 = 10;
/// Code of the JVM itself in the code cache: interpreter, stubs, adapters.
const CODE_OF_JVM_BYTES: u64 = 8 << 20;
/// Compiled code for each class that is loaded. Measured with `javac`: 5.5 KB on JDK 17 and 5.0 KB on JDK 25 after twelve rounds;
/// with every method compiled at its first call (`-Xcomp`) 6.9 KB and 17.6 KB.
const CODE_BYTES_PER_CLASS: u64 = 20 << 10;
/// A page of 4 KiB has an entry of 8 bytes.
const PAGES_PER_TABLE: u64 = 512;

/// What may become of a part, and why.
#[derive(Debug)]
pub(super) struct Bound {
    pub bytes: u64,
    pub from: String,
    pub certainty: Certainty,
}

impl Bound {
    fn known(bytes: u64, from: String) -> Bound {
        Bound { bytes, from, certainty: Certainty::Known }
    }

    fn inferred(bytes: u64, from: String) -> Bound {
        Bound { bytes, from, certainty: Certainty::Inferred }
    }
}

/// The bound of a part; none for a part that the process has never had.
pub(super) fn bound(part: MemoryPart, seen: Observed, now: &MemoryReport) -> Option<Bound> {
    let jvm = now.jvm.as_ref();
    let known = |limit: Option<u64>, name: &str| {
        limit.map(|limit| Bound::known(limit, format!("{name}, {}", bytes(limit))))
    };
    let of_part = match part {
        MemoryPart::Heap => known(jvm.and_then(|j| j.heap_bytes_max), "MaxHeapSize"),
        MemoryPart::Metaspace => known(jvm.and_then(|j| j.metaspace_bytes_max), "MaxMetaspaceSize"),
        MemoryPart::CodeCache => jvm.and_then(|jvm| code_cache(seen, jvm)),
        MemoryPart::Direct => known(jvm.and_then(direct_limit), "MaxDirectMemorySize"),
        MemoryPart::GcTables => jvm.and_then(gc_tables),
        _ => None,
    };
    if of_part.is_some() {
        return of_part;
    }
    if seen.peak_bytes == 0 && part != MemoryPart::JitWork {
        return None;
    }
    Some(match part {
        MemoryPart::JitWork if jvm.is_none() => return None,
        MemoryPart::JitWork => {
            let margin = with_margin(seen, LOAD_MARGIN_PERCENT);
            let least = bytes(JIT_WORK_BYTES_MIN);
            let from = format!("{}, at least {least}, measured after a burst of compilation", margin.from);
            Bound::inferred(margin.bytes.max(JIT_WORK_BYTES_MIN), from)
        }
        MemoryPart::Stacks => stacks(seen, now),
        MemoryPart::GcTables => gc_structures(seen, 0, jvm),
        MemoryPart::GcRest => gc_structures(seen, allocated(now, part), jvm),
        MemoryPart::MappedFiles => Bound::inferred(
            part_of(seen.peak_bytes, MAPPED_KEPT_PERCENT),
            format!(
                "{MAPPED_KEPT_PERCENT} % of the largest seen: clean pages of files, which the kernel can drop"
            ),
        ),
        MemoryPart::Direct | MemoryPart::JitRest => with_margin(seen, LOAD_MARGIN_PERCENT),
        MemoryPart::Freed => with_margin(seen, FREED_MARGIN_PERCENT),
        MemoryPart::Libraries => with_margin(seen, LIBRARIES_MARGIN_PERCENT),
        _ => with_margin(seen, MARGIN_PERCENT),
    })
}

/// The code cache reserves far more than the methods of a program can fill.
fn code_cache(seen: Observed, jvm: &JvmMemoryFacts) -> Option<Bound> {
    let reserve = jvm.code_cache_bytes_max?;
    let of_classes = |classes: u64| {
        let classes_bytes = part_of(classes.saturating_mul(CODE_BYTES_PER_CLASS), 100 + MARGIN_PERCENT);
        let could = CODE_OF_JVM_BYTES.saturating_add(classes_bytes);
        let bound = could.max(part_of(seen.peak_bytes, 100 + LOAD_MARGIN_PERCENT));
        let from = format!(
            "all methods of {classes} classes compiled, {} of each, measured with -Xcomp, + {MARGIN_PERCENT} %; \
             ReservedCodeCacheSize allows {}",
            bytes(CODE_BYTES_PER_CLASS),
            bytes(reserve)
        );
        Bound::inferred(bound, from)
    };
    let inferred = jvm.classes.map(of_classes).filter(|bound| bound.bytes < reserve);
    let known = || Bound::known(reserve, format!("ReservedCodeCacheSize, {}", bytes(reserve)));
    Some(inferred.unwrap_or_else(known))
}

/// Tables with an entry for each piece of the heap have room for the largest heap from the start.
fn gc_tables(jvm: &JvmMemoryFacts) -> Option<Bound> {
    let tables = jvm.gc_tables_bytes.filter(|bytes| *bytes != 0)?;
    let heap =
        jvm.heap_bytes_max.map_or("the largest heap".to_owned(), |max| format!("a heap of {}", bytes(max)));
    Some(Bound::known(tables, format!("{} for {heap}", bytes(tables))))
}

/// A limit for direct buffers that somebody set; where nobody did, the heap's holds, which bounds nothing in practice.
pub(super) fn direct_limit(jvm: &JvmMemoryFacts) -> Option<u64> {
    flag(jvm, "MaxDirectMemorySize").filter(|limit| *limit != 0)
}

pub(super) fn part_of(bytes: u64, percent: u64) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

/// A limit for a process that has needed so much at most, and goes on as it did.
pub(super) fn observed_limit(peak_bytes: u64) -> u64 {
    round_up(part_of(peak_bytes, 100 + MARGIN_PERCENT))
}

fn with_margin(seen: Observed, percent: u64) -> Bound {
    Bound {
        bytes: part_of(seen.peak_bytes, 100 + percent),
        from: format!("largest seen + {percent} %"),
        certainty: Certainty::Unknown,
    }
}

/// Threads times `-Xss` is not an honest bound: it is address space, of which stacks touch a tenth, and does not bound threads.
fn stacks(seen: Observed, now: &MemoryReport) -> Bound {
    let margin = with_margin(seen, STACKS_MARGIN_PERCENT);
    let threads = now.outside_rss.threads;
    let reserve = now.jvm.as_ref().and_then(|jvm| jvm.thread_stack_bytes);
    let could = match (threads, reserve) {
        (Some(threads), Some(stack)) => format!(
            ": {threads} threads, {} touched of each; all of {} each would be {}",
            bytes(seen.now_bytes / threads.max(1)),
            bytes(stack),
            bytes(threads.saturating_mul(stack))
        ),
        _ => String::new(),
    };
    Bound { from: format!("{}{could}", margin.from), ..margin }
}

/// The collector's memory grows with the committed heap; memory that it has taken from malloc already may become resident.
fn gc_structures(seen: Observed, allocated_bytes: u64, jvm: Option<&JvmMemoryFacts>) -> Bound {
    let sizes =
        jvm.and_then(|jvm| jvm.heap_bytes_max.zip(jvm.heap_committed_bytes.filter(|bytes| *bytes != 0)));
    let taken = seen.peak_bytes.max(allocated_bytes);
    let least = part_of(taken, 100 + MARGIN_PERCENT);
    let Some((max, committed)) = sizes.filter(|(max, committed)| committed < max) else {
        return Bound::inferred(least, format!("{} allocated so far + {MARGIN_PERCENT} %", bytes(taken)));
    };
    let scaled = u128::from(taken) * u128::from(max) / u128::from(committed);
    let most = taken.saturating_add(max / GC_SHARE_MAX);
    Bound::inferred(
        u64::try_from(scaled).unwrap_or(u64::MAX).min(most).max(least),
        format!(
            "{} allocated so far, scaled with the heap from {} committed to {}, at most by {} % of it",
            bytes(taken),
            bytes(committed),
            bytes(max),
            100 / GC_SHARE_MAX
        ),
    )
}

/// The bound of the kernel's memory beside a process of at most `resident_bound` bytes.
pub(super) fn kernel_bound(part: KernelPart, seen: Observed, resident_bound: u64) -> Bound {
    match part {
        KernelPart::PageTables => Bound::inferred(
            seen.peak_bytes.saturating_add(resident_bound / PAGES_PER_TABLE),
            "largest seen + 8 bytes for each page of the lines above".to_owned(),
        ),
        KernelPart::Stacks => with_margin(seen, STACKS_MARGIN_PERCENT),
        KernelPart::Slab => with_margin(seen, LOAD_MARGIN_PERCENT),
    }
}

/// What makes the limit less certain than it looks.
pub(super) fn problems(snapshots: &[MemoryReport], now: &MemoryReport) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut problem = |source: &str, what: String| problems.push(Problem::new(source, what));
    if let Some(jvm) = &now.jvm {
        if jvm.heap_bytes_max.is_none() {
            problem(
                "Java heap",
                "its largest size is not known: the limit provides for the observed size".to_owned(),
            );
        }
        let direct = super::parts::resident(now, MemoryPart::Direct);
        if direct != 0
            && direct_limit(jvm).is_none()
            && let Some(max) = jvm.direct_bytes_max
        {
            problem(
                "direct buffers",
                format!(
                    "may grow to {}, the heap's size: -XX:MaxDirectMemorySize would bound them",
                    bytes(max)
                ),
            );
        }
    }
    if let Some(others) = now.cgroup.as_ref().and_then(|c| c.processes).filter(|processes| 1 < *processes) {
        problem("control group", format!("it holds {others} processes: the limit is for this one alone"));
    }
    if !snapshots.iter().all(MemoryReport::has_owners) {
        problem(
            "snapshots",
            "owners were not searched in each: direct buffers and the compilers' arenas are then in the line of malloc; \
             --depth owners distinguishes them"
                .to_owned(),
        );
    }
    if snapshots.iter().any(|snapshot| snapshot.pid != now.pid || snapshot.program != now.program) {
        problem("snapshots", "they are of different processes".to_owned());
    }
    problems
}
