//! What survives, and whether it grows.

use crate::intervals::{Intervals, Merge};
use crate::timeline::Span;
use assay_model::{Estimate, GcLiveSet, GcRecord, GcRecordKind, GcScope, GcTrend};
use assay_stats::{TrendPoint, median, trend as slope};
use std::collections::VecDeque;

/// Points that the slope is taken over.
const POINTS_MAX: usize = 256;
/// Fewer points show no trend.
const POINTS_FOR_TREND: usize = 6;
/// No figure by the hour is made of less than this, hours: a minute.
const SLOPE_SPAN_H_MIN: f64 = 1.0 / 60.0;
/// A set that changes by less than this share of the heap over the log is flat.
const FLAT_SHARE: f64 = 0.05;
/// Growth by less than this share of the set over the log is not called growth.
const GROWTH_SHARE: f64 = 0.02;
/// From this share of the heap on it is full: a survivor space, or a few regions, remain empty.
const FULL_SHARE: f64 = 0.93;
/// A heap of this share of its maximum has grown as far as it will.
const GROWN_SHARE: f64 = 0.85;
/// A set that fills the heap in a smaller part of the log than this was built at the start.
const FILLING_SHARE: f64 = 0.1;
/// So many points that rise up to a full heap are growth, too, if all but one of so many pairs of them do: by chance that is so once in 120
/// times. A full heap bends the line, since its collections leave the program less and less time, and Parallel leaves some dead objects.
const RISING_MIN: usize = 5;
const PAIRS_PER_EXCEPTION: usize = 15;
/// Readings of which the level at the end is the median.
const LEVEL_OF: usize = 5;

/// The lowest point of an interval of time.
#[derive(Debug, Clone, Copy, Default)]
struct Lowest(Option<TrendPoint>);

impl Merge for Lowest {
    fn merge(&mut self, later: &Self) {
        let Some(new) = later.0 else { return };
        if self.0.is_none_or(|old| old.group != new.group || new.value <= old.value) {
            self.0 = Some(new);
        }
    }
}

/// Readings of one kind. Its points are spread evenly over the time: collections in fast succession add nothing to a trend.
#[derive(Debug, Clone, Default)]
struct Readings {
    points: Intervals<Lowest, POINTS_MAX>,
    count: u64,
    first: Option<u64>,
    last: u64,
    max: u64,
    latest: VecDeque<u64>,
}

impl Readings {
    fn push(&mut self, group: usize, at: Option<Span>, bytes: u64) {
        (self.last, self.max) = (bytes, self.max.max(bytes));
        if self.latest.len() == LEVEL_OF {
            self.latest.pop_front();
        }
        self.latest.push_back(bytes);
        self.first.get_or_insert(bytes);
        self.count += 1;
        if let Some(at) = at {
            let point = TrendPoint { group, at: at.end_ns as f64 / 3.6e12, value: bytes as f64 };
            self.points.at(at.end_ns).merge(&Lowest(Some(point)));
        }
    }

    fn points(&self) -> impl Iterator<Item = TrendPoint> {
        self.points.items().iter().filter_map(|lowest| lowest.0)
    }

    /// The level at the end.
    fn level(&self) -> u64 {
        let latest: Vec<f64> = self.latest.iter().map(|bytes| *bytes as f64).collect();
        median(&latest).map_or(self.last, |level| level as u64)
    }
}

/// Ways of seeing the live set, the surest first.
#[derive(Debug, Clone, Copy)]
enum Way {
    Full,
    Mixed,
    /// The first young collection after a mark: what was found dead is not in it, and no garbage of the young generation.
    Mark,
    Cycle,
}

const WAYS: [(Way, &str); 4] = [
    (Way::Full, "after full collections"),
    (Way::Mixed, "lowest after mixed collections"),
    (Way::Mark, "after marks"),
    (Way::Cycle, "after cycles"),
];

/// Follows what is left after collections that look at all of the heap, by all ways of seeing it.
#[derive(Debug, Clone, Default)]
pub(super) struct LiveSet {
    by_way: [Readings; WAYS.len()],
    /// Lowest of a run of mixed collections that goes on.
    mixed: Option<(Option<Span>, u64)>,
    /// End of a cycle that may have a later step with less.
    cycle: Option<(Option<u64>, Option<Span>, u64)>,
    /// A mark has ended, and no young collection yet since then.
    is_marked: bool,
    /// This JVM logs the live bytes of its marks. Then the bytes in use after a cycle are not read: they include garbage since the mark.
    says_live: bool,
    jvm: usize,
    capacity_max: Option<u64>,
    /// End of the first full collection that left a full heap, whatever size that had then. Parallel's young generation gives room back
    /// to no one: its heap is full below its largest size.
    full_ns: Option<u64>,
    resolution_bytes: u64,
}

impl LiveSet {
    /// Another JVM begins: slopes are not taken over that.
    pub fn begin_jvm(&mut self) {
        self.end_runs();
        self.jvm += 1;
        self.is_marked = false;
        self.says_live = false;
    }

    fn end_runs(&mut self) {
        if let Some((at, bytes)) = self.mixed.take() {
            self.push(Way::Mixed, at, bytes);
        }
        if let Some((_, at, bytes)) = self.cycle.take() {
            self.push(Way::Cycle, at, bytes);
        }
    }

    /// Levels of different ways are not compared with each other: each is a group of its own.
    fn push(&mut self, way: Way, at: Option<Span>, bytes: u64) {
        let group = self.jvm.saturating_mul(WAYS.len()).saturating_add(way as usize);
        self.by_way[way as usize].push(group, at, bytes);
    }

    /// Takes a record.
    pub fn add(&mut self, record: &GcRecord, at: Option<Span>) {
        self.capacity_max = self.capacity_max.max(record.heap.capacity_bytes);
        self.is_marked |= ends_mark(record);
        let is_young = record.kind == GcRecordKind::Pause && record.scope == Some(GcScope::Young);
        if is_young && let Some((at, bytes)) = self.mixed.take() {
            self.push(Way::Mixed, at, bytes);
        }
        let Some(after) = record.heap.after_bytes else { return };
        self.resolution_bytes = self.resolution_bytes.max(record.heap.resolution_bytes.unwrap_or(1));
        if is_young && std::mem::take(&mut self.is_marked) {
            self.push(Way::Mark, at, after);
        }
        match (record.kind, record.scope) {
            (GcRecordKind::Pause, Some(GcScope::Full)) => {
                // One that could have made the heap larger would have.
                let is_full =
                    record.heap.capacity_bytes.is_some_and(|of| FULL_SHARE * of as f64 <= after as f64);
                self.full_ns = self.full_ns.or(at.filter(|_| is_full).map(|at| at.end_ns));
                self.push(Way::Full, at, after);
            }
            (GcRecordKind::Pause, Some(GcScope::Mixed)) => {
                let lowest = self.mixed.filter(|(_, lowest)| *lowest < after);
                self.mixed = lowest.or(Some((at, after)));
            }
            (GcRecordKind::Cycle | GcRecordKind::Concurrent, scope) if is_of_all(scope) => {
                self.says_live |= record.live_bytes.is_some();
                if self.says_live && record.live_bytes.is_none() {
                    return;
                }
                let live = record.live_bytes.unwrap_or(after);
                if let Some((id, at, bytes)) = self.cycle.replace((record.cycle_id, at, live))
                    && (id.is_none() || id != record.cycle_id)
                {
                    self.push(Way::Cycle, at, bytes);
                }
            }
            _ => {}
        }
    }

    /// The stored form, of a log that ends at this instant, whose JVM may have so large a heap; `None` when no collection looked at all of
    /// the heap.
    pub fn live_set(&self, heap_bytes_max: Option<u64>, end_ns: u64) -> Option<GcLiveSet> {
        let mut all = self.clone();
        all.end_runs();
        // The way that shows most; of equal ones the first, which is the surest.
        let (way, basis) = WAYS.into_iter().rev().max_by_key(|(way, _)| all.by_way[*way as usize].count)?;
        let seen = &all.by_way[way as usize];
        if seen.count == 0 {
            return None;
        }
        let limit = all.limit(heap_bytes_max).map(|bytes| bytes as f64);
        let full_at = all.full_ns.filter(|_| all.has_grown(heap_bytes_max)).map(|ns| ns as f64 / 3.6e12);
        let filling = Filling::of(all.points(), limit, full_at);
        let points = &filling.points;
        let found = (POINTS_FOR_TREND <= points.len()).then(|| slope(points)).flatten();
        let mut trend = found.map_or(GcTrend::Unknown, |found| all.trend(seen.max, points, &found));
        if filling.is_of_start(end_ns) && trend == GcTrend::Grows {
            trend = GcTrend::Unknown;
        } else if filling.rises() {
            trend = GcTrend::Grows;
        }
        let growth = slope(points).map(|slope| slope.estimate / 3_600.0);
        let growth = growth.filter(|bytes_per_s| trend == GcTrend::Grows && 0.0 < *bytes_per_s);
        Some(GcLiveSet {
            basis: basis.to_owned(),
            count: seen.count,
            first_bytes: seen.first,
            last_bytes: seen.last,
            max_bytes: seen.max,
            level_bytes: seen.level(),
            fills_bytes_per_s: growth,
            full_at_s: growth
                .zip(limit)
                .and_then(|(bytes_per_s, limit)| filling.full_at_s(limit, bytes_per_s)),
            slope_bytes_per_h: found.filter(|_| SLOPE_SPAN_H_MIN <= longest_h(points)),
            trend,
        })
    }

    /// Where the heap ends: at its capacity once that has grown nearly as far as it may, since a survivor space is in no sum.
    fn limit(&self, heap_bytes_max: Option<u64>) -> Option<u64> {
        let grown = self.capacity_max.filter(|_| self.has_grown(heap_bytes_max));
        grown.or(heap_bytes_max).or(self.capacity_max)
    }

    /// Whether the heap has once been nearly as large as it may be.
    fn has_grown(&self, heap_bytes_max: Option<u64>) -> bool {
        let sizes = self.capacity_max.zip(heap_bytes_max);
        sizes.is_some_and(|(capacity, max)| max as f64 * GROWN_SHARE <= capacity as f64)
    }

    /// All readings, those of a way one after the other.
    fn points(&self) -> Vec<TrendPoint> {
        self.by_way.iter().flat_map(Readings::points).collect()
    }

    fn trend(&self, max: u64, points: &[TrendPoint], found: &Estimate) -> GcTrend {
        let (Some(low), Some(high)) = (found.low, found.high) else { return GcTrend::Unknown };
        let hours = longest_h(points);
        let least_bytes = (self.resolution_bytes as f64 * 2.0).max(GROWTH_SHARE * max as f64);
        let heap_bytes = self.capacity_max.unwrap_or(max) as f64;
        let is_small = |slope: f64| (slope * hours).abs() <= FLAT_SHARE * heap_bytes;
        // A cache that fills grows too, and then no more: what grows must grow in the later half as well.
        let later = slope(&later_half(points));
        let (later_low, later_high) = later.map_or((0.0, 0.0), |later| {
            // Of few points the estimate must do: the interval of all of them excludes chance.
            (later.low.unwrap_or(later.estimate), later.high.unwrap_or(later.estimate))
        });
        if 0.0 < low && least_bytes < low * hours && 0.0 < later_low {
            GcTrend::Grows
        } else if high < 0.0 && high * hours < -least_bytes && later_high < 0.0 {
            GcTrend::Shrinks
        } else if is_small(low)
            && is_small(high)
            && low * hours <= least_bytes
            && -least_bytes <= high * hours
        {
            // Clear growth in one half alone is not flat: it may be a start or a slow leak, and a longer log would show which.
            GcTrend::Flat
        } else {
            GcTrend::Unknown
        }
    }
}

/// The points until the heap was full: what came then cannot be larger, however much the program wants.
struct Filling {
    points: Vec<TrendPoint>,
    /// The first that found it full, hours.
    full_at: Option<f64>,
}

impl Filling {
    /// Of a log that does not say how large the heap may be it is not known when it is full: its largest level is not its limit.
    /// `full_at` is when a collection left a full heap, where one did.
    fn of(points: Vec<TrendPoint>, limit: Option<f64>, full_at: Option<f64>) -> Filling {
        let is_full = |point: &&TrendPoint| limit.is_some_and(|limit| FULL_SHARE * limit <= point.value);
        let full_at = points.iter().filter(is_full).map(|point| point.at).chain(full_at).reduce(f64::min);
        let before: Vec<TrendPoint> =
            points.iter().filter(|point| full_at.is_none_or(|full| point.at <= full)).copied().collect();
        // A set that was as large from the beginning did not fill anything.
        let filled = full_at.filter(|_| RISING_MIN <= before.len());
        Filling { points: if filled.is_some() { before } else { points }, full_at: filled }
    }

    /// Whether the heap was filled in so small a part of the log that this was its start.
    fn is_of_start(&self, end_ns: u64) -> bool {
        let Some(full_at) = self.full_at else { return false };
        let begin = self.points.iter().map(|point| point.at).fold(full_at, f64::min);
        full_at - begin < FILLING_SHARE * (end_ns as f64 / 3.6e12)
    }

    /// Whether each way shows more and more, up to a heap that is full.
    fn rises(&self) -> bool {
        let groups = || self.points.chunk_by(|a, b| a.group == b.group);
        let is_enough = groups().any(|group| RISING_MIN <= group.len());
        self.full_at.is_some() && is_enough && groups().all(all_but_few_rise)
    }

    /// When the heap was full, or will be, seconds.
    fn full_at_s(&self, limit: f64, bytes_per_s: f64) -> Option<f64> {
        let last = self.points.iter().max_by(|a, b| a.at.total_cmp(&b.at))?;
        let left_s = (limit - last.value).max(0.0) / bytes_per_s;
        Some(self.full_at.map_or(last.at * 3_600.0 + left_s, |hours| hours * 3_600.0))
    }
}

/// Whether nearly all pairs of points rise.
fn all_but_few_rise(points: &[TrendPoint]) -> bool {
    let pairs = || points.iter().enumerate().flat_map(|(at, a)| points[at + 1..].iter().map(move |b| (a, b)));
    let others = pairs().filter(|(a, b)| b.value <= a.value).count();
    others <= pairs().count() / PAIRS_PER_EXCEPTION
}

/// The points of each group in the later half of the time.
fn later_half(points: &[TrendPoint]) -> Vec<TrendPoint> {
    let halves = points.chunk_by(|a, b| a.group == b.group).flat_map(|group| &group[group.len() / 2..]);
    halves.copied().collect()
}

/// Whether a record ends a mark of the old generation: G1's clean-up, CMS' sweep.
fn ends_mark(record: &GcRecord) -> bool {
    match record.kind {
        GcRecordKind::Pause => matches!(record.phase.as_str(), "Pause Cleanup" | "GC cleanup"),
        GcRecordKind::Concurrent => {
            ["Concurrent Sweep", "CMS-concurrent-sweep"].contains(&record.phase.as_str())
        }
        _ => false,
    }
}

/// From the first to the last point of the JVM that has been watched longest, hours.
fn longest_h(points: &[TrendPoint]) -> f64 {
    let runs = points.chunk_by(|a, b| a.group == b.group);
    let lengths = runs.map(|run| run.last().map_or(0.0, |last| last.at) - run.first().map_or(0.0, |p| p.at));
    lengths.fold(0.0, f64::max)
}

/// Whether a cycle of this scope looks at all of the heap.
fn is_of_all(scope: Option<GcScope>) -> bool {
    matches!(scope, None | Some(GcScope::Whole | GcScope::Full))
}
