//! The figures of a record of which growth is judged: entries that mean the same, live objects, and what holds them.

use super::shape::Point;
use crate::explain::cause_of;
use crate::findings::words::of_area;
use crate::owners::{DIRECT_BUFFERS, NO_HOLDER, is_no_holder};
use crate::process::Process;
use assay_model::{Area, HeapHolder, HeapLive, MemoryReport};
use std::collections::{BTreeMap, BTreeSet};

/// Entries of the Java heap that eden and survivors are not: only collections of the whole heap free what is in them.
const OLD_SPACES: [&str; 3] = ["old", "humongous", "objects"];

/// Of so many snapshots one must be usable: a collection may fall into some.
const USABLE_PART: usize = 2;

/// The name of direct buffers without a known holder: they may be dead.
pub(super) const NOT_HELD: &str = "without a known holder";

/// Objects that free a direct buffer (JDK 8 to 25). A list of the JDK keeps them alive until a collection finds that the buffer is dead, so
/// those of dead buffers are garbage as well.
const CLEANERS: [&str; 3] =
    ["jdk.internal.ref.Cleaner", "sun.misc.Cleaner", "java.nio.DirectByteBuffer$Deallocator"];

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
                if Area::of_path(&key) == Some(Area::Stacks) {
                    // A list of threads that changes while it is read shows some threads as native in one snapshot.
                    key.truncate(1);
                }
                if entry.path.get(1).is_some_and(|kind| kind == DIRECT_BUFFERS) {
                    let holder = entry.path.get(2).map_or(NOT_HELD, String::as_str);
                    let apart = match holder {
                        NOT_HELD => Some(NOT_HELD),
                        holder => is_no_holder(holder).then_some(NO_HOLDER),
                    };
                    key.extend(apart.map(str::to_owned));
                }
                let bytes = causes.entry(key).or_insert_with(|| vec![0; self.snapshots.len()]);
                bytes[index] = u64::saturating_add(bytes[index], entry.resident_bytes);
            }
        }
        let (held, dead, not_held) = direct_buffers();
        let mut take =
            |key: &Vec<String>| causes.remove(key).unwrap_or_else(|| vec![0; self.snapshots.len()]);
        let mut buffers = Buffers { held: take(&held), dead: take(&dead), not_held: take(&not_held) };
        buffers.correct();
        causes.extend([(held, buffers.held), (dead, buffers.dead), (not_held, buffers.not_held)]);
        causes
    }

    /// Whether the last snapshot lost the holders of direct buffers, as far as that can be told before the next one: more are without one,
    /// fewer have one, and none was freed.
    pub(super) fn may_have_lost_holders(&self, matters_bytes: f64) -> bool {
        let [.., before, last] = &self.snapshots[..] else { return false };
        let of = |snapshot: &MemoryReport| {
            let all = direct_bytes(snapshot, |_| true);
            let held = direct_bytes(snapshot, |holder| holder != NOT_HELD && !is_no_holder(holder));
            (all, held)
        };
        let ((all_before, held_before), (all, held)) = (of(before), of(last));
        all_before <= all && matters_bytes <= held_before as f64 - held as f64
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
    pub(super) fn marked(&self, matters_bytes: f64) -> Option<(Comparable<'a>, Vec<&'a HeapLive>)> {
        let live = |snapshot: &&'a MemoryReport| {
            let live = snapshot.jvm.as_ref()?.heap_live.as_ref().filter(|live| !live.is_partial)?;
            Some((*snapshot, live))
        };
        let (snapshots, all): (Vec<_>, Vec<_>) = self.snapshots.iter().filter_map(live).unzip();
        let pairs = snapshots.into_iter().zip(&all).enumerate();
        let whole = pairs.filter(|(at, _)| !has_lost_objects(&all, *at, matters_bytes));
        let (snapshots, live): (Vec<_>, Vec<_>) =
            whole.map(|(_, (snapshot, live))| (snapshot, *live)).unzip();
        let is_enough = !live.is_empty() && self.snapshots.len() <= USABLE_PART * live.len();
        is_enough.then_some((Comparable { snapshots, of_earlier: 0, of_other_depth: 0 }, live))
    }
}

/// Whether a mark missed what was alive: garbage that is alive in the next one, though no collection ran between. The table of a map that
/// grew meanwhile may lie on a page that was not there when the mark began, and all that it holds is missed.
fn has_lost_objects(live: &[&HeapLive], at: usize, matters_bytes: f64) -> bool {
    let next = live.get(at).zip(live.get(at + 1));
    next.is_some_and(|(live, next)| {
        all_bytes(live) <= all_bytes(next) && matters_bytes <= live.dead_bytes as f64 - next.dead_bytes as f64
    })
}

/// Whether the last mark found less alive than the one before, though no collection ran between: only the next one shows whether it missed
/// objects.
pub(super) fn may_have_lost_objects(live: &[&HeapLive], matters_bytes: f64) -> bool {
    let [.., before, last] = live else { return false };
    all_bytes(before) <= all_bytes(last) && matters_bytes <= before.live_bytes as f64 - last.live_bytes as f64
}

fn all_bytes(live: &HeapLive) -> u64 {
    live.live_bytes.saturating_add(live.dead_bytes)
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
    snapshot.unknown_bytes.saturating_add(direct_bytes(snapshot, |holder| holder == NOT_HELD))
}

/// Bytes of direct buffers with such a holder.
fn direct_bytes(snapshot: &MemoryReport, is_asked_for: impl Fn(&str) -> bool) -> u64 {
    let is_it = |path: &[String]| {
        path.get(1).is_some_and(|kind| kind == DIRECT_BUFFERS)
            && is_asked_for(path.get(2).map_or(NOT_HELD, String::as_str))
    };
    let of = snapshot.entries.iter().filter(|entry| is_it(&entry.path));
    of.fold(0, |sum, entry| sum.saturating_add(entry.resident_bytes))
}

/// The causes that direct buffers are: held, dead, and without a known holder.
fn direct_buffers() -> (Vec<String>, Vec<String>, Vec<String>) {
    let held = vec![Area::Buffers.title().to_owned(), DIRECT_BUFFERS.to_owned()];
    let with = |name: &str| held.iter().cloned().chain([name.to_owned()]).collect();
    (held.clone(), with(NO_HOLDER), with(NOT_HELD))
}

/// Bytes of direct buffers in each snapshot.
struct Buffers {
    held: Vec<u64>,
    dead: Vec<u64>,
    not_held: Vec<u64>,
}

impl Buffers {
    /// What is dead stays so until it is freed. Buffers that have a holder again, though none was freed meanwhile, were held all the time:
    /// a snapshot did not find it, since the program put them elsewhere while it was read.
    fn correct(&mut self) {
        for at in (0..self.held.len().saturating_sub(1)).rev() {
            let all =
                |at: usize| self.held[at].saturating_add(self.dead[at]).saturating_add(self.not_held[at]);
            let unheld = |at: usize| self.dead[at].saturating_add(self.not_held[at]);
            if all(at + 1) < all(at) {
                continue;
            }
            let found = unheld(at).saturating_sub(unheld(at + 1));
            let of_dead = found.min(self.dead[at]);
            self.dead[at] -= of_dead;
            self.not_held[at] -= found - of_dead;
            self.held[at] = self.held[at].saturating_add(found);
        }
    }
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

/// Bytes of live objects that free direct buffers, as far as holders are listed with them.
pub(super) fn cleaner_bytes(live: &HeapLive) -> u64 {
    let classes = live.holders.iter().flat_map(|holder| &holder.classes);
    let of = classes.filter(|of| CLEANERS.contains(&of.class.as_str()));
    of.fold(0, |sum, of| sum.saturating_add(of.bytes))
}

/// Whether a holder holds mostly such objects.
pub(super) fn is_of_cleaners(holder: &HeapHolder) -> bool {
    holder.classes.first().is_some_and(|most| CLEANERS.contains(&most.class.as_str()))
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
