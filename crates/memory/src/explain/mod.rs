//! What grew between two snapshots, and why.
//!
//! Entries of both snapshots are paired by path and gathered into causes: all entries that mean the same (a holder of buffers, a
//! space of the heap, the stacks of one kind of thread) are one. An entry that carries nearly all of a gathering's change
//! gives it its name. Causes never overlap, and what they changed by adds up to the change of RSS.

mod depths;
mod gather;
mod huge_pages;
mod number;
mod words;

use crate::process::Process;
use assay_model::{Area, Cause, MemoryChange, MemoryReport, Problem, schema};
pub(crate) use gather::cause_of;
use gather::{Change, gather};
use jiff::Timestamp;
use number::{bounded, difference};

/// Smaller changes are gathered into the rest of their area.
const SMALL_BYTES: u64 = 64 << 10;
/// The same as a part of all that changed, up and down.
const SMALL_SHARE: u64 = 200;
/// Two clocks over the same interval may differ by this much, besides a hundredth of it: clocks are set.
const CLOCK_DIFFERENCE_S: f64 = 60.0;
/// Name of the cause that holds what entries and RSS differ by.
const WHILE_READ: &str = "changed while it was read";

/// Explains the growth of RSS from one snapshot to a later one.
pub fn explain_change(before: &MemoryReport, after: &MemoryReport) -> MemoryChange {
    let change_bytes = difference(before.rss_bytes, after.rss_bytes);
    let mut problems = Vec::new();
    let elapsed_ns = elapsed_ns(before, after, &mut problems);
    let is_same = is_same_process(before, after, &mut problems);
    let mut causes = causes(before, after, &mut problems);
    let sum = causes.iter().fold(0i64, |sum, cause| sum.saturating_add(cause.change_bytes()));
    causes.extend(while_read(change_bytes.saturating_sub(sum)));
    causes.retain(|cause| cause.change_bytes() != 0);
    causes.sort_by(|a, b| b.change_bytes().cmp(&a.change_bytes()).then_with(|| a.path.cmp(&b.path)));
    let known = causes.iter().filter(|cause| is_known(cause));
    let explained_bytes = known.fold(0i64, |sum, cause| sum.saturating_add(cause.change_bytes()));
    MemoryChange {
        schema: schema::MEMORY_CHANGE.to_owned(),
        pid: is_same.then_some(after.pid),
        elapsed_ns,
        before_bytes: bounded(before.rss_bytes),
        after_bytes: bounded(after.rss_bytes),
        explained_bytes,
        explained_share: explained_share(&causes, change_bytes),
        causes,
        growth: None,
        problems,
    }
}

/// Whether both snapshots are of one process; if not, a problem says so.
fn is_same_process(before: &MemoryReport, after: &MemoryReport, problems: &mut Vec<Problem>) -> bool {
    let (before, after) = (Process::of(before), Process::of(after));
    if !after.differs_from(&before) {
        return true;
    }
    let which = if after.has_name_of(&before) {
        format!("{after} was restarted between the snapshots")
    } else {
        format!("{before}, {after}")
    };
    let what = format!("not the same process ({which}): this is a difference, not growth");
    problems.push(Problem::new("snapshots", what));
    false
}

/// One less the unexplained part of the change. Gains and losses of unknown causes do not cancel out.
fn explained_share(causes: &[Cause], change_bytes: i64) -> Option<f64> {
    let unknown = causes.iter().filter(|cause| !is_known(cause));
    let unknown = unknown.fold(0u64, |sum, cause| sum.saturating_add(cause.change_bytes().unsigned_abs()));
    let change = change_bytes.unsigned_abs();
    (change != 0).then(|| 1.0 - (unknown as f64 / change as f64).min(1.0))
}

fn is_known(cause: &Cause) -> bool {
    let unknown = [Area::MallocHeap.title(), Area::NativeAnonymous.title(), depths::NOT_SPLIT, WHILE_READ];
    cause.path.first().is_some_and(|first| !unknown.contains(&first.as_str()))
}

fn causes(before: &MemoryReport, after: &MemoryReport, problems: &mut Vec<Problem>) -> Vec<Cause> {
    let [entries_before, entries_after] = depths::comparable(before, after, problems);
    let mut changes = gather::pair(&entries_before, &entries_after);
    let of_huge_pages = huge_pages::take(before, after, &mut changes);
    let all = changes.iter().fold(0u64, |sum, change| sum.saturating_add(change.bytes().unsigned_abs()));
    let gathered = gather(changes, SMALL_BYTES.max(all / SMALL_SHARE));
    let huge_bytes = huge_pages::growth(before, after);
    let cause = |change: Change| {
        let mut explanation = if change.path.first().is_some_and(|first| first == depths::NOT_SPLIT) {
            depths::EXPLANATION.to_owned()
        } else {
            words::explanation(&change, before, after)
        };
        if let Some(more) = huge_pages::remark(&change, huge_bytes) {
            explanation.push_str(&more);
        }
        let count_change = change.count_change.or_else(|| words::thread_change(&change.path, before, after));
        Cause {
            path: change.path,
            before_bytes: change.before_bytes,
            after_bytes: change.after_bytes,
            count_change,
            source: change.source,
            explanation,
        }
    };
    let mut causes: Vec<Cause> = gathered.into_iter().map(cause).collect();
    causes.extend(of_huge_pages);
    causes
}

/// The part of the change that the entries do not have: a running process changes between the reads of one snapshot.
fn while_read(bytes: i64) -> Option<Cause> {
    (bytes != 0).then(|| Cause {
        path: vec![WHILE_READ.to_owned()],
        before_bytes: if bytes < 0 { bytes.unsigned_abs() } else { 0 },
        after_bytes: if 0 < bytes { bytes.unsigned_abs() } else { 0 },
        count_change: None,
        source: assay_model::FigureSource::Kernel,
        explanation: "pages that came or went between the kernel's count and the reading of the areas; snapshots with --freeze \
                      have none"
            .to_owned(),
    })
}

/// Time between two snapshots, where both clocks agree that they are from one boot.
fn elapsed_ns(before: &MemoryReport, after: &MemoryReport, problems: &mut Vec<Problem>) -> Option<u64> {
    let mut problem = |what: &str| problems.push(Problem::new("snapshots", what));
    if before.provenance.architecture != after.provenance.architecture
        || before.provenance.cpu_model != after.provenance.cpu_model
        || before.provenance.kernel != after.provenance.kernel
    {
        problem("from different machines or kernels: the time between them is not known");
        return None;
    }
    let Some(elapsed_ns) = after.monotonic_ns.checked_sub(before.monotonic_ns) else {
        problem("the second snapshot is older than the first, or from another boot");
        return None;
    };
    let wall = |snapshot: &MemoryReport| snapshot.taken_at.parse::<Timestamp>().ok();
    let (Some(from), Some(to)) = (wall(before), wall(after)) else { return Some(elapsed_ns) };
    let (elapsed_s, wall_s) =
        (elapsed_ns as f64 / 1e9, (to.as_nanosecond() - from.as_nanosecond()) as f64 / 1e9);
    if CLOCK_DIFFERENCE_S + wall_s.abs() / 100.0 < (elapsed_s - wall_s).abs() {
        problem("the clocks do not agree on the time between them: another boot, or the machine slept");
        return None;
    }
    Some(elapsed_ns)
}
