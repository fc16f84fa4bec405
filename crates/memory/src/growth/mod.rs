//! Whether a process's memory grows, and of what: a verdict over all snapshots of a record.
//!
//! Every cause outside the Java heap is a figure over time, and so is what of the heap is alive. A figure grows if its slope over all
//! snapshots has an interval above zero, and that of its later half as well ([`shape`]); first and last snapshot alone say nothing.
//! Garbage in the heap never counts as growth: without marks of the live objects, only what collections leave does.

mod finding;
mod series;
mod shape;
#[cfg(test)]
mod shape_tests;

pub(crate) use finding::MEMORY_GROWS;
pub use finding::growth_finding;

use crate::explain::explain_change;
use crate::findings::words::bytes;
use crate::heap_classes::LIVE;
use crate::owners::{DIRECT_BUFFERS, NO_HOLDER, is_no_holder};
use assay_model::{
    Area, Estimate, Grower, GrowthGround, GrowthKind, GrowthVerdict, HeapHolder, HeapLive, MemoryReport,
};
use assay_stats::POINTS_FOR_TREND;
use series::{
    Comparable, NOT_HELD, cleaner_bytes, holders, is_of_cleaners, key_of, may_have_lost_objects, old_bytes,
    used_bytes,
};
use shape::{Point, Shape, shape_of};

/// Changes below this, and below this part of the RSS, do not matter.
const MATTERS_BYTES: u64 = 1 << 20;
const MATTERS_SHARE: u64 = 200;
/// Snapshots by which growth is told from a step with some certainty.
const SNAPSHOTS_ENOUGH: u64 = 7;
/// Free memory of malloc matters from so many times as much on.
const FREE_FACTOR: f64 = 8.0;
/// No shorter time to come back after.
const COME_BACK_NS_MIN: u64 = 60_000_000_000;
/// Falls of the heap by which growth of what is left is told from garbage that collections of a part have not reached yet.
const FALLS_MIN: usize = 10;
/// Classes that are named of what a holder holds.
const CLASSES_NAMED: usize = 3;

/// Judges the snapshots of a record, in their order; of several processes, the one that ran last.
pub fn judge_growth(snapshots: &[MemoryReport]) -> GrowthVerdict {
    let compared = Comparable::of(snapshots);
    let mut judged = Judged { matters_bytes: matters(&compared), ..Judged::default() };
    judged.left_out(&compared);
    let (with_owners, lapses) = compared.without_lapses(judged.matters_bytes);
    judged.lapsed(lapses);
    judged.outside_heap(&with_owners);
    match compared.marked(judged.matters_bytes) {
        Some((marked, live)) => judged.live_heap(&marked, &live),
        None => {
            judged.heap_after_collections(&compared);
            judged.not_marked(&compared);
        }
    }
    judged.verdict(&compared)
}

fn matters(compared: &Comparable<'_>) -> f64 {
    let rss = compared.snapshots.iter().map(|snapshot| snapshot.rss_bytes).max().unwrap_or(0);
    MATTERS_BYTES.max(rss / MATTERS_SHARE) as f64
}

/// What was judged so far.
#[derive(Default)]
struct Judged {
    matters_bytes: f64,
    growing: Vec<Grower>,
    /// Names of what nobody can tell yet.
    open: Vec<String>,
    /// Falls of the heap whose lows do not rise.
    heap_falls: usize,
    /// Memory outside the heap grows that a collection frees.
    is_garbage: bool,
    evidence: Vec<String>,
}

impl Judged {
    fn left_out(&mut self, compared: &Comparable<'_>) {
        if 0 < compared.of_earlier {
            let what = "snapshots before the restart of the process are left out";
            self.evidence.push(format!("{} {what}", compared.of_earlier));
        }
        if 0 < compared.of_other_depth {
            let what = "snapshots of another depth are left out: they distinguish other causes";
            self.evidence.push(format!("{} {what}", compared.of_other_depth));
        }
    }

    fn lapsed(&mut self, lapses: usize) {
        if 0 < lapses {
            let what =
                "snapshots say nothing of memory outside the heap: its owners were lost in them for a moment";
            self.evidence.push(format!("{lapses} {what}"));
        }
    }

    fn outside_heap(&mut self, compared: &Comparable<'_>) {
        let has_lost = compared.may_have_lost_holders(self.matters_bytes);
        if has_lost {
            self.open.push("direct buffers: the last snapshot may have lost their holders".to_owned());
        }
        for (key, of_snapshots) in compared.causes() {
            if has_lost && key.get(1).is_some_and(|part| part == DIRECT_BUFFERS) {
                continue;
            }
            let points = points(compared, &of_snapshots);
            match shape_of(&points, matters_of(&key, self.matters_bytes)) {
                Shape::Grows { .. } if key.last().is_some_and(|part| part == NOT_HELD) => self.open.push(
                    "direct buffers that nothing is known to hold: dead until a collection frees them, or held out of sight".to_owned(),
                ),
                Shape::Grows { .. } | Shape::Open if key.last().is_some_and(|part| part == NO_HOLDER) => {
                    self.is_garbage = true;
                    self.evidence.push(
                        "direct buffers that no object holds: dead until a collection frees them".to_owned(),
                    );
                }
                // Bounded, and planted by warm-up, however long that takes.
                Shape::Grows { .. } if is_bounded(&key) => {}
                Shape::Grows { bytes_per_s, since } => {
                    let (path, explanation) = explained(compared, &key, since);
                    self.grows(compared, (path, explanation), GrowthGround::Resident, (&points, bytes_per_s, since));
                }
                Shape::Open if !is_bounded(&key) => self.open.push(key.join(": ")),
                Shape::RisesSlowly { bytes_per_s } if !is_bounded(&key) => self.rises_slowly(&key.join(": "), bytes_per_s),
                Shape::RisesSlowly { .. } | Shape::Open | Shape::Still | Shape::LevelledOff | Shape::RisesAndFalls { .. } => {}
            }
        }
    }

    /// The heap by its live objects.
    fn live_heap(&mut self, compared: &Comparable<'_>, live: &[&HeapLive]) {
        let Some((first, last)) = live.first().zip(live.last()) else { return };
        let cleaners = |of: &HeapLive| if self.is_garbage { cleaner_bytes(of) } else { 0 };
        let all: Vec<u64> = live.iter().map(|of| of.live_bytes.saturating_sub(cleaners(of))).collect();
        let all_points = points(compared, &all);
        self.evidence.push(format!(
            "live objects of the Java heap: {} at first, {} at last; {} of it are garbage now",
            bytes(first.live_bytes),
            bytes(last.live_bytes),
            bytes(last.dead_bytes)
        ));
        if let Shape::RisesAndFalls { falls } = shape_of(&compared.points(used_bytes), self.matters_bytes) {
            self.heap_falls = falls;
        }
        if may_have_lost_objects(live, self.matters_bytes) {
            self.open.push("live objects of the Java heap: the last mark may have missed some".to_owned());
            return;
        }
        match shape_of(&all_points, self.matters_bytes) {
            Shape::Grows { bytes_per_s, since } => {
                let before = self.growing.len();
                self.holders_that_grow(compared, live);
                if self.growing.len() == before && self.is_garbage {
                    self.open.push("live objects of the Java heap, of many holders: perhaps those that free dead direct buffers".to_owned());
                } else if self.growing.len() == before {
                    let path = vec![Area::JavaHeap.title().to_owned(), "live objects".to_owned()];
                    let what = "live objects of many holders, each with little growth".to_owned();
                    let ground = GrowthGround::LiveObjects;
                    self.grows(compared, (path, what), ground, (&all_points, bytes_per_s, since));
                }
            }
            Shape::Open => self.open.push("live objects of the Java heap".to_owned()),
            Shape::RisesSlowly { bytes_per_s } => {
                self.rises_slowly("live objects of the Java heap", bytes_per_s);
            }
            Shape::Still | Shape::LevelledOff | Shape::RisesAndFalls { .. } => {}
        }
    }

    fn holders_that_grow(&mut self, compared: &Comparable<'_>, live: &[&HeapLive]) {
        for (path, of_snapshots) in holders(live) {
            let points = points(compared, &of_snapshots);
            let holder = live.last().and_then(|last| last.holders.iter().find(|of| key_of(of) == path));
            if self.is_garbage && holder.is_some_and(is_of_cleaners) {
                continue;
            }
            if let Shape::Grows { bytes_per_s, since } = shape_of(&points, self.matters_bytes) {
                let what = holder.map_or_else(String::new, held);
                self.grows(compared, (path, what), GrowthGround::LiveObjects, (&points, bytes_per_s, since));
            }
        }
    }

    /// Why nothing that holds objects of the heap is named, by the last snapshot that says so.
    fn not_marked(&mut self, compared: &Comparable<'_>) {
        let mut latest = compared.snapshots.iter().rev();
        let why = latest.find_map(|snapshot| snapshot.problems.iter().find(|of| of.about == LIVE));
        if let Some(why) = why {
            self.evidence.push(format!("no holder of Java objects is named: {}", why.text));
        }
    }

    /// The heap where no marks were made: only what collections leave can be told from garbage.
    fn heap_after_collections(&mut self, compared: &Comparable<'_>) {
        let old = compared.points(old_bytes);
        let falls = |points: &[Point]| shape_of(points, self.matters_bytes);
        match (falls(&old), falls(&compared.points(used_bytes))) {
            (Shape::Grows { bytes_per_s, since }, _) if FALLS_MIN <= falls_of(&old, self.matters_bytes) => {
                let path = vec![Area::JavaHeap.title().to_owned(), "after collections".to_owned()];
                let (_, what) = explained(compared, &path[..1], since);
                self.grows(
                    compared,
                    (path, what),
                    GrowthGround::AfterCollections,
                    (&old, bytes_per_s, since),
                );
            }
            (Shape::Grows { .. } | Shape::Open, _) => {
                self.open.push("objects of the Java heap, live or not: no collection of the whole heap fell into the record".to_owned());
            }
            (Shape::RisesAndFalls { falls }, _) | (_, Shape::RisesAndFalls { falls }) => {
                self.heap_falls = falls;
                self.evidence.push(format!("the Java heap fell {falls} times, and its lows do not rise"));
            }
            // New objects alone fill the heap between collections: nobody can tell yet which of them stay.
            (
                Shape::Still | Shape::LevelledOff | Shape::RisesSlowly { .. },
                Shape::Grows { .. } | Shape::Open,
            ) => {
                self.open.push(
                    "objects of the Java heap, live or not: no collection fell into the record".to_owned(),
                );
            }
            (Shape::Still | Shape::LevelledOff | Shape::RisesSlowly { .. }, _) => {}
        }
    }

    fn rises_slowly(&mut self, what: &str, bytes_per_s: f64) {
        let an_hour = bytes((bytes_per_s.max(0.0) * 3600.0) as u64);
        self.evidence.push(format!("{what}: rises by about {an_hour} an hour, which does not matter"));
    }

    fn grows(
        &mut self,
        compared: &Comparable<'_>,
        (path, explanation): (Vec<String>, String),
        ground: GrowthGround,
        (points, rate_bytes_per_s, since): (&[Point], Estimate, usize),
    ) {
        let Some((first, last)) = compared.snapshots.get(since).zip(compared.snapshots.last()) else {
            return;
        };
        let at = |index: usize| points.get(index).map_or(0, |point| point.bytes as u64);
        self.growing.push(Grower {
            path,
            ground,
            rate_bytes_per_s,
            since: first.taken_at.clone(),
            since_ns: last.monotonic_ns.saturating_sub(first.monotonic_ns),
            before_bytes: at(since),
            after_bytes: at(points.len().saturating_sub(1)),
            explanation,
        });
    }

    fn verdict(mut self, compared: &Comparable<'_>) -> GrowthVerdict {
        let (snapshots, elapsed_ns) = (compared.snapshots.len() as u64, compared.elapsed_ns());
        let rate = |grower: &Grower| grower.rate_bytes_per_s.estimate;
        self.growing.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        // Of a process that is gone there is no more to record.
        let has_ended = compared.snapshots.last().is_some_and(|last| last.end.is_some());
        let is_short = compared.snapshots.len() < POINTS_FOR_TREND || !self.open.is_empty();
        let kind = if !self.growing.is_empty() {
            GrowthKind::Growing
        } else if is_short {
            GrowthKind::TooShort
        } else if 0 < self.heap_falls || self.is_garbage {
            GrowthKind::Garbage
        } else {
            GrowthKind::LevelledOff
        };
        self.evidence.extend(self.open.iter().map(|what| format!("not told yet: {what}")));
        GrowthVerdict {
            kind,
            snapshots,
            elapsed_ns,
            growing: self.growing,
            come_back_after_ns: (kind == GrowthKind::TooShort && !has_ended)
                .then(|| come_back_after(snapshots, elapsed_ns)),
            evidence: self.evidence,
        }
    }
}

fn points(compared: &Comparable<'_>, of_snapshots: &[u64]) -> Vec<Point> {
    let mut points = compared.points(|_| 0);
    for (point, bytes) in points.iter_mut().zip(of_snapshots) {
        point.bytes = *bytes as f64;
    }
    points
}

/// How often a figure has given something back, so that its lows say what is left.
fn falls_of(points: &[Point], matters_bytes: f64) -> usize {
    points.windows(2).filter(|pair| matters_bytes <= pair[0].bytes - pair[1].bytes).count()
}

/// What the JVM bounds, and what every program fills while it warms up; and the collector's tables, which follow the heap.
fn is_bounded(path: &[String]) -> bool {
    matches!(Area::of_path(path), Some(Area::JitCode | Area::JitWork | Area::GcStructures))
}

/// Changes of a cause below this do not matter.
///
/// The JVM's compilers free some MiB after each larger method, which malloc keeps for the next one: nobody holds them, and they come and go.
fn matters_of(path: &[String], matters_bytes: f64) -> f64 {
    let is_free = Area::of_path(path) == Some(Area::FreedResident);
    if is_free { FREE_FACTOR * matters_bytes } else { matters_bytes }
}

/// The cause that grew most of those under a path, with its explanation.
fn explained(compared: &Comparable<'_>, key: &[String], since: usize) -> (Vec<String>, String) {
    let ends = compared.snapshots.get(since).zip(compared.snapshots.last());
    let change = ends.map(|(first, last)| explain_change(first, last));
    let causes = change.into_iter().flat_map(|change| change.causes);
    // Dead buffers are a figure of their own.
    let is_dead = |path: &[String]| path.last().is_some_and(|part| is_no_holder(part));
    let of_key =
        causes.filter(|cause| cause.path.starts_with(key) && (is_dead(key) || !is_dead(&cause.path)));
    let found = of_key.max_by_key(|cause| cause.change_bytes());
    found.map_or_else(|| (key.to_vec(), String::new()), |cause| (cause.path, cause.explanation))
}

/// What a holder holds, in words.
fn held(holder: &HeapHolder) -> String {
    let classes = holder.classes.iter().take(CLASSES_NAMED);
    let classes: Vec<String> =
        classes.map(|of| format!("{} {} in {} objects", of.class, bytes(of.bytes), of.objects)).collect();
    format!("it holds {} in {} objects: {}", bytes(holder.bytes), holder.objects, classes.join(", "))
}

/// Twice the time of this record, with enough snapshots.
fn come_back_after(snapshots: u64, elapsed_ns: u64) -> u64 {
    let interval_ns = elapsed_ns / snapshots.saturating_sub(1).max(1);
    let missing_ns = interval_ns.saturating_mul(SNAPSHOTS_ENOUGH.saturating_sub(snapshots));
    elapsed_ns.max(missing_ns).max(COME_BACK_NS_MIN)
}
