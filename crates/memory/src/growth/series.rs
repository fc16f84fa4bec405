//! The figures of a record of which growth is judged: entries that mean the same, live objects, and what holds them.

use super::shape::Point;
use crate::explain::cause_of;
use crate::findings::words::of_area;
use crate::owners::{DIRECT_BUFFERS, NO_HOLDER};
use crate::process::Process;
use assay_model::{Area, HeapHolder, HeapLive, MemoryReport};
use std::collections::{BTreeMap, BTreeSet};

/// Entries of the Java heap that eden and survivors are not: only collections of the whole heap free what is in them.
const OLD_SPACES: [&str; 3] = ["old", "humongous", "objects"];

/// Of so many snapshots one must be usable: a collection may fall into some.
const USABLE_PART: usize = 2;

/// The name of direct buffers without a known holder: they may be dead.
pub(super) const NOT_HELD: &str = "without a known holder";

/// Snapshots that can be compared: of the process that ran last, and of the depth of the last.
pub(super) struct Comparable<'a> {
    pub snapshots: Vec<&'a MemoryReport>,
    /// Snapshots that were left out because they are of an earlier process.
    pub of_earlier: usize,
    /// Those of another depth.
    pub of_other_depth: usize,
}

impl<'a> Comparable<'a> {
    pub(super) fn of(snapshots: &'a [MemoryReport]) -> Comparable<'a> {
        let Some(last) = snapshots.last() else {
            return Comparable { snapshots: Vec::new(), of_earlier: 0, of_other_depth: 0 };
        };
        let process = Process::of(last);
        let is_earlier = |snapshot: &MemoryReport| Process::of(snapshot).differs_from(&process);
        let begin = snapshots.iter().rposition(is_earlier).map_or(0, |index| index + 1);
        let of_process = &snapshots[begin..];
        let mut compared: Vec<&MemoryReport> = Vec::new();
        for snapshot in of_process.iter().filter(|snapshot| snapshot.has_owners() == last.has_owners()) {
            // A clock that went back is of another boot.
            if compared.last().is_some_and(|before| snapshot.monotonic_ns <= before.monotonic_ns) {
                compared.clear();
            }
            compared.push(snapshot);
        }
        let of_other_depth = of_process.iter().filter(|of| of.has_owners() != last.has_owners()).count();
        Comparable { snapshots: compared, of_earlier: begin, of_other_depth }
    }

    pub(super) fn elapsed_ns(&self) -> u64 {
        let ends = self.snapshots.first().zip(self.snapshots.last());
        ends.map_or(0, |(first, last)| last.monotonic_ns.saturating_sub(first.monotonic_ns))
    }

    /// A figure of each snapshot over time.
    pub(super) fn points(&self, of: impl Fn(&MemoryReport) -> u64) -> Vec<Point> {
        let first_ns = self.snapshots.first().map_or(0, |first| first.monotonic_ns);
        let seconds = |snapshot: &MemoryReport| snapshot.monotonic_ns.saturating_sub(first_ns) as f64 / 1e9;
        let point = |snapshot: &&MemoryReport| Point { at_s: seconds(snapshot), bytes: of(snapshot) as f64 };
        self.snapshots.iter().map(point).collect()
    }

    /// The resident bytes of each cause outside the Java heap, by snapshot.
    pub(super) fn causes(&self) -> BTreeMap<Vec<String>, Vec<u64>> {
        let mut causes: BTreeMap<Vec<String>, Vec<u64>> = BTreeMap::new();
        for (index, snapshot) in self.snapshots.iter().enumerate() {
            for entry in &snapshot.entries {
                if Area::of_path(&entry.path) == Some(Area::JavaHeap) {
                    continue;
                }
                let mut key = cause_of(&entry.path).to_vec();
                if entry.path.get(1).is_some_and(|kind| kind == DIRECT_BUFFERS) {
                    let holder = entry.path.get(2).map_or(NOT_HELD, String::as_str);
                    let apart = [NOT_HELD, NO_HOLDER].into_iter().find(|name| *name == holder);
                    key.extend(apart.map(str::to_owned));
                }
                let bytes = causes.entry(key).or_insert_with(|| vec![0; self.snapshots.len()]);
                bytes[index] = u64::saturating_add(bytes[index], entry.resident_bytes);
            }
        }
        causes
    }

    /// The snapshots without those in which owners were lost for a moment, with the number of these: a collection moves objects while they are
    /// read, and what they hold has no owner then. Absent is not zero. None is left out where that would leave too few.
    pub(super) fn without_lapses(&self, matters_bytes: f64) -> (Comparable<'a>, usize) {
        let mut kept: Vec<&MemoryReport> = Vec::new();
        for snapshot in &self.snapshots {
            if !kept.last().is_some_and(|before| has_lost_owners(before, snapshot, matters_bytes)) {
                kept.push(snapshot);
            }
        }
        if USABLE_PART * kept.len() < self.snapshots.len() {
            kept.clone_from(&self.snapshots);
        }
        let lapses = self.snapshots.len() - kept.len();
        (Comparable { snapshots: kept, of_earlier: 0, of_other_depth: 0 }, lapses)
    }

    /// The snapshots whose live objects were marked, with what is alive in each; `None` where these are too few to judge by.
    pub(super) fn marked(&self) -> Option<(Comparable<'a>, Vec<&'a HeapLive>)> {
        let live = |snapshot: &&'a MemoryReport| {
            let live = snapshot.jvm.as_ref()?.heap_live.as_ref().filter(|live| !live.is_partial)?;
            Some((*snapshot, live))
        };
        let (snapshots, live): (Vec<_>, Vec<_>) = self.snapshots.iter().filter_map(live).unzip();
        let is_enough = !live.is_empty() && self.snapshots.len() <= USABLE_PART * live.len();
        is_enough.then_some((Comparable { snapshots, of_earlier: 0, of_other_depth: 0 }, live))
    }
}

/// Whether what had an owner in one snapshot has none in a later one: less has one, and more has none. Of a leak without an owner, the
/// former stays.
fn has_lost_owners(before: &MemoryReport, after: &MemoryReport, matters_bytes: f64) -> bool {
    let owned = |snapshot: &MemoryReport| {
        let outside_heap = snapshot.rss_bytes.saturating_sub(of_area(snapshot, Area::JavaHeap));
        outside_heap.saturating_sub(unowned_bytes(snapshot))
    };
    let is_lower = |low: u64, high: u64| matters_bytes <= high as f64 - low as f64;
    is_lower(unowned_bytes(before), unowned_bytes(after)) && is_lower(owned(after), owned(before))
}

/// Bytes whose owner is unknown, and those of direct buffers whose holder is.
fn unowned_bytes(snapshot: &MemoryReport) -> u64 {
    let is_unheld = |path: &[String]| {
        path.get(1).is_some_and(|kind| kind == DIRECT_BUFFERS)
            && path.get(2).is_none_or(|holder| holder == NOT_HELD)
    };
    let unheld = snapshot.entries.iter().filter(|entry| is_unheld(&entry.path));
    unheld.fold(snapshot.unknown_bytes, |sum, entry| sum.saturating_add(entry.resident_bytes))
}

/// Bytes of each holder in each snapshot, by kind and name.
pub(super) fn holders(live: &[&HeapLive]) -> BTreeMap<Vec<String>, Vec<u64>> {
    let keys: BTreeSet<Vec<String>> = live.iter().flat_map(|of| &of.holders).map(key_of).collect();
    let bytes = |key: &[String]| {
        let of = |live: &&HeapLive| {
            let held = live.holders.iter().filter(|holder| key_of(holder) == key);
            held.fold(0, |sum, holder| u64::saturating_add(sum, holder.bytes))
        };
        live.iter().map(of).collect()
    };
    keys.into_iter().map(|key| (key.clone(), bytes(&key))).collect()
}

/// A holder as the path of what grows names it.
pub(super) fn key_of(holder: &HeapHolder) -> Vec<String> {
    vec![Area::JavaHeap.title().to_owned(), format!("{} {}", holder.kind, holder.name)]
}

/// Bytes of the heap that collections of the whole heap free, live or not.
pub(super) fn old_bytes(snapshot: &MemoryReport) -> u64 {
    let of_old = snapshot.entries.iter().filter(|entry| {
        Area::of_path(&entry.path) == Some(Area::JavaHeap)
            && entry.path.get(1).is_some_and(|space| OLD_SPACES.contains(&space.as_str()))
            && entry.path.get(2).is_some_and(|part| part == "used")
    });
    of_old.fold(0, |sum, entry| sum.saturating_add(entry.resident_bytes))
}

/// Bytes of all objects of the heap; where the JVM does not count them, of the heap's resident pages.
pub(super) fn used_bytes(snapshot: &MemoryReport) -> u64 {
    let counted = snapshot.jvm.as_ref().and_then(|jvm| jvm.heap_used_bytes);
    counted.unwrap_or_else(|| of_area(snapshot, Area::JavaHeap))
}
