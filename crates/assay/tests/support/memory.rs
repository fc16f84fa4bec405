//! `assay memory` against the kernel's sum, the JVM's list of threads and its own tracking of native memory.

use super::cell::Cell;
use super::subject::{Collector, Subject, assay};
use assay_hotspot::Hotspot;
use assay_linux::{LiveProcess, ProcRoot};
use assay_model::{Area, MemoryReport, ThreadKind};
use assay_testkit::{
    PrintedThread, Running, printed_threads, role_in_working, start_java, tracked_memory, tracking_report,
};
use std::collections::BTreeMap;
use std::time::Duration;

const TRACKED: &str = "-XX:NativeMemoryTracking=summary";
/// Of resident bytes, in percent.
const UNKNOWN_MAX: f64 = 0.1;
/// Tags that the command itself changes: its buffer, its thread, its arguments, and what it prints from.
const OF_THE_COMMAND: [&str; 5] =
    ["Internal", "Native Memory Tracking", "Thread", "Arena Chunk", "Serviceability"];
/// Tags of a JVM that is at rest, at least.
const TAGS_MIN: usize = 8;
/// JDK 8 has 16 tags and prints those with a KB at least: with Serial nine, four of which the command changes.
const TAGS_MIN_OF_8: usize = 5;
const LOOKS_MAX: u32 = 100;
const LOOKS_OF_STOPPED_MAX: u32 = 5;

fn report(jvm: &Running, options: &[&str]) -> Result<MemoryReport, String> {
    assay(&[&["memory", &jvm.pid().to_string()], options].concat())
}

fn started(subject: &Subject, collector: Collector, options: &[&str], program: &str) -> Running {
    start_java(&subject.java, &self::options(collector, options), &[], program)
}

/// Options of a JVM with a collector and a heap of 256 MB.
pub fn options<'o>(collector: Collector, more: &[&'o str]) -> Vec<&'o str> {
    [&collector.options()[..], &["-Xmx256m"], more].concat()
}

/// A snapshot of a stopped JVM, and the kernel's sum.
pub struct Snapshot(pub MemoryReport, u64);

impl Snapshot {
    /// By how many bytes entries or areas differ from the kernel's sum.
    pub fn off_by(&self) -> u64 {
        let Snapshot(report, kernel_bytes) = self;
        let entries: u64 = report.entries.iter().map(|entry| entry.resident_bytes).sum();
        let areas: u64 = report.areas.iter().map(|area| area.resident_bytes).sum();
        let difference_bytes = report.difference_bytes.unsigned_abs();
        entries.abs_diff(*kernel_bytes).max(areas.abs_diff(*kernel_bytes)).max(difference_bytes)
    }

    /// Of the RSS, what nobody is known for.
    pub fn unknown_percent(&self) -> f64 {
        self.0.unknown_bytes as f64 / self.0.rss_bytes as f64 * 100.0
    }

    /// Whether that is within the bound, and nothing is in no region.
    pub fn is_known(&self) -> bool {
        self.unknown_percent() <= UNKNOWN_MAX && Area::NativeAnonymous.bytes_in(&self.0.areas) == 0
    }
}

/// Whether the entries add up to what the kernel counts, and what of it nobody is known for.
pub fn sums(subject: &Subject, collector: Collector) -> [Cell; 2] {
    let snapshot = |options| snapshot_of(&started(subject, collector, options, "Waiting"));
    let snapshots: Result<Vec<Snapshot>, String> = [&[][..], &[TRACKED]].into_iter().map(snapshot).collect();
    match snapshots {
        Ok(snapshots) => {
            let off_by = snapshots.iter().map(Snapshot::off_by).max().unwrap_or(u64::MAX);
            let unknown: Vec<String> =
                snapshots.iter().map(|snapshot| format!("{:.2} %", snapshot.unknown_percent())).collect();
            let is_known = snapshots.iter().all(Snapshot::is_known);
            [Cell::of(off_by == 0, format!("{off_by} B off")), Cell::of(is_known, unknown.join(", "))]
        }
        Err(why) => [Cell::Wrong(why.clone()), Cell::Wrong(why)],
    }
}

/// Stops a JVM, and looks at it.
pub fn snapshot_of(jvm: &Running) -> Result<Snapshot, String> {
    jvm.freeze();
    let sum = || {
        let rollup = ProcRoot::default().read_smaps_rollup(jvm.pid()).map_err(|e| e.to_string())?;
        Ok::<_, String>(rollup.ok_or("the kernel has no sum")?.rss_bytes)
    };
    for _ in 1..LOOKS_OF_STOPPED_MAX {
        let before_bytes = sum()?;
        let report = report(jvm, &[])?;
        // A machine that is short of memory takes pages of files even from a process that is stopped.
        if sum()? == before_bytes {
            return Ok(Snapshot(report, before_bytes));
        }
    }
    let kernel_bytes = sum()?;
    Ok(Snapshot(report(jvm, &[])?, kernel_bytes))
}

/// What each tag has, by Assay from outside and by the JVM's own command: the same, of the tags that the command leaves alone.
pub fn tracked(subject: &Subject, collector: Collector) -> Cell {
    // The interpreter alone, so that the JVM has nothing of its own to do between the two.
    let jvm = started(subject, collector, &[TRACKED, "-Xint"], "Waiting");
    // The first command starts a thread in the JVM.
    let (report, unit_bytes) = tracking_report(subject.row.feature);
    jvm.jcmd(&report);
    let before = at_rest(&jvm);
    let said = tracked_memory(&jvm.jcmd(&report));
    let in_unit = |bytes: u64| (bytes + unit_bytes / 2) / unit_bytes;
    let mut differing = Vec::new();
    let mut equal = 0;
    for (tag, said) in said.iter().filter(|(tag, _)| !OF_THE_COMMAND.contains(&tag.as_str())) {
        let read = before.get(tag);
        let malloc = [said.malloc_bytes, said.malloc_count, said.arena_bytes, said.arena_count];
        // What of the stacks is committed is looked up while the command runs.
        let mapped = (tag != "Thread Stack").then_some((said.reserved_bytes, said.committed_bytes));
        let is_equal = read.is_some_and(|(own_malloc, own_mapped)| {
            let [bytes, count, arena_bytes, arena_count] = *own_malloc;
            let own_mapped = (in_unit(own_mapped.0), in_unit(own_mapped.1));
            [in_unit(bytes), count, in_unit(arena_bytes), arena_count] == malloc
                && mapped.is_none_or(|mapped| own_mapped == mapped)
        });
        if is_equal {
            equal += 1;
        } else {
            differing.push(tag.as_str());
        }
    }
    let all = equal + differing.len();
    if before.is_empty() {
        return Cell::Wrong("the counters are not found".to_owned());
    }
    let names = if differing.is_empty() { String::new() } else { format!(", not {}", differing.join(", ")) };
    let tags_min = if subject.row.feature == 8 { TAGS_MIN_OF_8 } else { TAGS_MIN };
    Cell::of(differing.is_empty() && tags_min <= equal, format!("{equal} of {all} tags{names}"))
}

/// Malloc and arenas, then reserved and committed bytes.
type Counted = BTreeMap<String, ([u64; 4], (u64, u64))>;

/// What several looks in a row find alike: the JVM has done with what it was asked for.
fn at_rest(jvm: &Running) -> Counted {
    let mut alike = 0;
    let mut last = counted(jvm);
    for _ in 0..LOOKS_MAX {
        std::thread::sleep(Duration::from_millis(100));
        let next = counted(jvm);
        alike = if next == last { alike + 1 } else { 0 };
        last = next;
        if alike == 3 {
            break;
        }
    }
    last
}

fn counted(jvm: &Running) -> Counted {
    let Ok(process) = LiveProcess::open(&ProcRoot::default(), jvm.pid()) else { return Counted::new() };
    let Ok(Some(hotspot)) = Hotspot::open(&process) else { return Counted::new() };
    let counters = hotspot.nmt().counters.into_iter();
    counters
        .map(|of| {
            let malloc = [of.malloc_bytes, of.malloc_count, of.arena_bytes, of.arena_count];
            (of.tag, (malloc, (of.reserved_bytes.unwrap_or(0), of.committed_bytes.unwrap_or(0))))
        })
        .collect()
}

/// A JVM with threads of every role; a program that allocates needs a collector that frees.
pub fn working(subject: &Subject, collector: Collector) -> Running {
    let program = if collector.name == "Epsilon" { "Waiting" } else { "Working" };
    started(subject, collector, &[], program)
}

/// Whose stack is which, against the JVM's own list of its threads.
pub fn threads(jvm: &Running) -> Cell {
    let kinds = || {
        let report = report(jvm, &["--depth", "structures"])?;
        Ok(report.threads.iter().map(|of| (of.tid, of.kind)).collect::<BTreeMap<u32, ThreadKind>>())
    };
    compared(jvm, kinds, |kinds, tid, thread| Some(kinds.get(&tid) == Some(&kind_of(thread))))
}

/// What a stack's thread is for, by the words of `assay memory`.
fn kind_of(thread: &PrintedThread) -> ThreadKind {
    match role_in_working(thread) {
        Some("C1" | "C2") => ThreadKind::Compiler,
        Some("collector") => ThreadKind::Gc,
        Some("VM") => ThreadKind::Vm,
        _ => ThreadKind::Java,
    }
}

/// How many of the threads that the JVM prints, before a snapshot and behind it, the snapshot has as they must be. `None`: it need not have it.
pub fn compared<L>(
    jvm: &Running,
    snapshot: impl FnOnce() -> Result<L, String>,
    is_right: impl Fn(&L, u32, &PrintedThread) -> Option<bool>,
) -> Cell {
    // The first command starts the thread that answers.
    jvm.jcmd(&["VM.version"]);
    let before = printed_threads(&jvm.jcmd(&["Thread.print"]));
    let snapshot = match snapshot() {
        Ok(snapshot) => snapshot,
        Err(why) => return Cell::Wrong(why),
    };
    let after = printed_threads(&jvm.jcmd(&["Thread.print"]));
    // Compilers and collectors start and stop threads as they like.
    let stayed = before.iter().filter(|(tid, of)| after.get(tid) == Some(of));
    let judged: Vec<(&str, bool)> = stayed
        .filter_map(|(tid, thread)| Some((thread.name.as_str(), is_right(&snapshot, *tid, thread)?)))
        .collect();
    let right = judged.iter().filter(|(_, is_right)| *is_right).count();
    let wrong = judged.iter().find(|(_, is_right)| !is_right);
    let name = wrong.map_or(String::new(), |(name, _)| format!(", not `{name}`"));
    Cell::of(wrong.is_none() && right != 0, format!("{right} of {}{name}", judged.len()))
}
