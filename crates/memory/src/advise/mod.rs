//! The limit that a process needs, with its arithmetic.
//!
//! Each line of the limit is a part of what the process is charged for, and what may become of it: a known bound where the
//! JVM has one that it can reach (the largest heap, the collector's tables), an inferred one where something else bounds it (the
//! code of the classes that are loaded), else the largest value observed and a margin, and then nothing is known to bound it. Nothing
//! is averaged, and no line is smaller than its largest observation. Held by: `a_server_lives_within_the_limit_that_it_is_advised`.
//!
//! Calculators in use today start from constants instead: 5,800 bytes a class and 14 MB for metaspace, 240 MB of code
//! cache, 250 threads of 1 MB each, 10 MB of direct buffers. They know neither the classes nor the stacks of the program, and
//! have no line for malloc, for what malloc keeps, for the collector's tables or for the kernel's memory.

mod bounds;
mod heap;
mod parts;
mod seen;
mod settings;

use crate::findings::container;
use assay_model::{Advice, AdviceLine, Certainty, MemoryReport, Problem, Provenance, schema};
use parts::{KernelPart, MemoryPart};
use seen::{Observed, round_up};

pub use heap::{BesideHeap, beside_heap, heap_within, limit_of};
pub(crate) use settings::rules;

/// Works out the limit that the process of these snapshots needs. The last snapshot is "now"; more snapshots give peaks.
///
/// `limit_bytes` is the sum of the lines' bounds, rounded up to a MiB. It grows, or stays, when any figure of a snapshot does.
/// The bound of a line without a hard limit rests on observation: snapshots under load, taken after the program has warmed
/// up, are worth more than one snapshot of an idle process. `observed_limit_bytes` rests on nothing else: it stands beside the worst
/// case, which programs reach a third to a half of.
pub fn advise(snapshots: &[MemoryReport]) -> Advice {
    let Some(now) = snapshots.last() else { return nothing() };
    let mut problems = bounds::problems(snapshots, now);
    problems.extend(container::unseen_limit(now));
    let mut lines: Vec<AdviceLine> =
        MemoryPart::ALL.iter().filter_map(|part| line(*part, snapshots, now)).collect();
    lines.extend(missed_peak(snapshots, &lines));
    let resident_bound = lines.iter().fold(0u64, |sum, line| sum.saturating_add(line.bound_bytes));
    for part in KernelPart::ALL {
        match kernel_line(part, snapshots, now, resident_bound) {
            Some(line) => lines.push(line),
            None => problems.push(Problem::new(part.title(), "not known: the limit has no line for it")),
        }
    }
    let sum = |of: fn(&AdviceLine) -> u64| lines.iter().fold(0u64, |sum, line| sum.saturating_add(of(line)));
    let limit_bytes = round_up(sum(|line| line.bound_bytes));
    let observed = snapshots.iter().map(needed).max().unwrap_or(0);
    Advice {
        schema: schema::MEMORY_ADVICE.to_owned(),
        provenance: now.provenance.clone(),
        pid: now.pid,
        program: now.program.clone(),
        limit_bytes,
        observed_limit_bytes: Some(bounds::observed_limit(observed).min(limit_bytes)),
        observed_peak_bytes: Some(observed),
        direct_beyond_bytes: direct_beyond(now, &lines),
        now_bytes: sum(|line| line.now_bytes),
        group_bytes: now.cgroup.as_ref().and_then(|cgroup| cgroup.current_bytes),
        current_limit_bytes: now.cgroup.as_ref().and_then(|cgroup| cgroup.limit_bytes),
        settings: settings::settings(snapshots, now, &lines),
        lines,
        problems,
    }
}

fn nothing() -> Advice {
    Advice {
        schema: schema::MEMORY_ADVICE.to_owned(),
        provenance: Provenance {
            assay_version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: None,
            os: None,
            architecture: std::env::consts::ARCH.to_owned(),
            cpu_model: None,
            cpus: None,
            memory_bytes: None,
        },
        pid: 0,
        program: String::new(),
        limit_bytes: 0,
        observed_limit_bytes: None,
        observed_peak_bytes: None,
        direct_beyond_bytes: None,
        now_bytes: 0,
        group_bytes: None,
        current_limit_bytes: None,
        lines: Vec::new(),
        settings: Vec::new(),
        problems: vec![Problem::new("snapshots", "there is no snapshot to advise from")],
    }
}

/// Growth that the JVM allows direct buffers beyond the budget, where no limit is set.
fn direct_beyond(now: &MemoryReport, lines: &[AdviceLine]) -> Option<u64> {
    let jvm = now.jvm.as_ref().filter(|jvm| bounds::direct_limit(jvm).is_none())?;
    let line = lines.iter().find(|line| line.name == MemoryPart::Direct.title());
    let provided = line.map_or(0, |line| line.bound_bytes);
    jvm.direct_bytes_max?.checked_sub(provided).filter(|beyond| *beyond != 0)
}

fn line(part: MemoryPart, snapshots: &[MemoryReport], now: &MemoryReport) -> Option<AdviceLine> {
    let values = snapshots.iter().map(|snapshot| parts::resident(snapshot, part));
    let seen = Observed { now_bytes: parts::resident(now, part), peak_bytes: values.max().unwrap_or(0) };
    let bound = bounds::bound(part, seen, now)?;
    // A heap or a code cache may hold a little beside what its option counts.
    let bound_bytes = bound.bytes.max(if part == MemoryPart::MappedFiles { 0 } else { seen.peak_bytes });
    Some(finished(part.title(), seen, snapshots, bounds::Bound { bytes: bound_bytes, ..bound }))
}

fn kernel_line(
    part: KernelPart,
    snapshots: &[MemoryReport],
    now: &MemoryReport,
    resident_bound: u64,
) -> Option<AdviceLine> {
    let now_bytes = parts::kernel(now, part)?;
    let peak_bytes =
        snapshots.iter().filter_map(|snapshot| parts::kernel(snapshot, part)).max().unwrap_or(now_bytes);
    let seen = Observed { now_bytes, peak_bytes };
    Some(finished(part.title(), seen, snapshots, bounds::kernel_bound(part, seen, resident_bound)))
}

fn finished(name: &str, seen: Observed, snapshots: &[MemoryReport], bound: bounds::Bound) -> AdviceLine {
    AdviceLine {
        name: name.to_owned(),
        now_bytes: seen.now_bytes,
        peak_bytes: (1 < snapshots.len()).then_some(seen.peak_bytes),
        bound_bytes: bound.bytes,
        bound_from: bound.from,
        is_hard: bound.certainty == Certainty::Known,
        certainty: Some(bound.certainty),
    }
}

/// The most that a process has needed up to a snapshot: memory that was resident, and what the kernel keeps for it now.
fn needed(snapshot: &MemoryReport) -> u64 {
    let of_kernel = KernelPart::ALL.into_iter().filter_map(|part| parts::kernel(snapshot, part));
    let resident = snapshot.bytes_of_memory().max(peak_of_memory(snapshot).unwrap_or(0));
    of_kernel.fold(resident, u64::saturating_add)
}

/// The kernel's peak of the RSS as memory. It counts what is mapped several times at each address, so that a peak is as much too large as
/// the RSS is now, or more.
fn peak_of_memory(snapshot: &MemoryReport) -> Option<u64> {
    let again_bytes = snapshot.rss_bytes.saturating_sub(snapshot.bytes_of_memory());
    Some(snapshot.outside_rss.rss_peak_bytes?.saturating_sub(again_bytes))
}

/// The process was larger once than all bounds together: the kernel remembers the peak, not its cause.
fn missed_peak(snapshots: &[MemoryReport], lines: &[AdviceLine]) -> Option<AdviceLine> {
    let peak = snapshots.iter().filter_map(peak_of_memory).max()?;
    let bounds = lines.iter().fold(0u64, |sum, line| sum.saturating_add(line.bound_bytes));
    let missed = peak.checked_sub(bounds).filter(|missed| *missed != 0)?;
    Some(AdviceLine {
        name: "resident once, in no snapshot".to_owned(),
        now_bytes: 0,
        peak_bytes: None,
        bound_bytes: missed,
        bound_from: "peak RSS that the kernel remembers (VmHWM) less the lines above".to_owned(),
        is_hard: false,
        certainty: Some(Certainty::Unknown),
    })
}
