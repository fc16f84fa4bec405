//! What survives, and whether it grows.

use crate::intervals::{Intervals, Merge};
use crate::theil_sen::slope;
use crate::timeline::Span;
use assay_model::{Estimate, GcLiveSet, GcRecord, GcRecordKind, GcScope, GcTrend};
use assay_stats::TrendPoint;

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
}

impl Readings {
    fn push(&mut self, jvm: usize, at: Option<Span>, bytes: u64) {
        (self.last, self.max) = (bytes, self.max.max(bytes));
        self.first.get_or_insert(bytes);
        self.count += 1;
        if let Some(at) = at {
            let point = TrendPoint { group: jvm, at: at.end_ns as f64 / 3.6e12, value: bytes as f64 };
            self.points.at(at.end_ns).merge(&Lowest(Some(point)));
        }
    }

    fn points(&self) -> Vec<TrendPoint> {
        self.points.items().iter().filter_map(|lowest| lowest.0).collect()
    }
}

/// Follows what is left after collections that look at all of the heap, by three ways of seeing it.
#[derive(Debug, Clone, Default)]
pub(super) struct LiveSet {
    after_full: Readings,
    after_mixed: Readings,
    after_cycles: Readings,
    /// Lowest of a run of mixed collections that goes on.
    mixed: Option<(Option<Span>, u64)>,
    /// End of a cycle that may have a later step with less.
    cycle: Option<(Option<u64>, Option<Span>, u64)>,
    jvm: usize,
    capacity_max: Option<u64>,
    resolution_bytes: u64,
}

impl LiveSet {
    /// Another JVM begins: slopes are not taken over that.
    pub fn begin_jvm(&mut self) {
        self.end_runs();
        self.jvm += 1;
    }

    fn end_runs(&mut self) {
        if let Some((at, bytes)) = self.mixed.take() {
            self.after_mixed.push(self.jvm, at, bytes);
        }
        if let Some((_, at, bytes)) = self.cycle.take() {
            self.after_cycles.push(self.jvm, at, bytes);
        }
    }

    /// Takes a record.
    pub fn add(&mut self, record: &GcRecord, at: Option<Span>) {
        self.capacity_max = self.capacity_max.max(record.heap.capacity_bytes);
        let is_pause = record.kind == GcRecordKind::Pause;
        if is_pause
            && record.scope == Some(GcScope::Young)
            && let Some((at, bytes)) = self.mixed.take()
        {
            self.after_mixed.push(self.jvm, at, bytes);
        }
        let Some(after) = record.heap.after_bytes else { return };
        self.resolution_bytes = self.resolution_bytes.max(record.heap.resolution_bytes.unwrap_or(1));
        match (record.kind, record.scope) {
            (GcRecordKind::Pause, Some(GcScope::Full)) => self.after_full.push(self.jvm, at, after),
            (GcRecordKind::Pause, Some(GcScope::Mixed)) => {
                let lowest = self.mixed.filter(|(_, lowest)| *lowest < after);
                self.mixed = lowest.or(Some((at, after)));
            }
            (GcRecordKind::Cycle | GcRecordKind::Concurrent, scope) if is_of_all(scope) => {
                if let Some((id, at, bytes)) = self.cycle.replace((record.cycle_id, at, after))
                    && (id.is_none() || id != record.cycle_id)
                {
                    self.after_cycles.push(self.jvm, at, bytes);
                }
            }
            _ => {}
        }
    }

    /// The stored form; `None` when no collection looked at all of the heap.
    pub fn live_set(&self) -> Option<GcLiveSet> {
        let mut all = self.clone();
        all.end_runs();
        let ways = [
            ("after full collections", &all.after_full),
            ("lowest after mixed collections", &all.after_mixed),
            ("after cycles", &all.after_cycles),
        ];
        // The way that shows most; of equal ones the first, which is the surest.
        let (basis, seen) = ways.into_iter().rev().max_by_key(|(_, seen)| seen.count)?;
        if seen.count == 0 {
            return None;
        }
        let points = seen.points();
        let found = (POINTS_FOR_TREND <= points.len()).then(|| slope(&points)).flatten();
        Some(GcLiveSet {
            basis: basis.to_owned(),
            count: seen.count,
            first_bytes: seen.first,
            last_bytes: seen.last,
            max_bytes: seen.max,
            slope_bytes_per_h: found.filter(|_| SLOPE_SPAN_H_MIN <= longest_h(&points)),
            trend: found.map_or(GcTrend::Unknown, |found| all.trend(seen.max, &points, &found)),
        })
    }

    fn trend(&self, max: u64, points: &[TrendPoint], found: &Estimate) -> GcTrend {
        let (Some(low), Some(high)) = (found.low, found.high) else { return GcTrend::Unknown };
        let hours = longest_h(points);
        let least_bytes = (self.resolution_bytes as f64 * 2.0).max(GROWTH_SHARE * max as f64);
        let heap_bytes = self.capacity_max.unwrap_or(max) as f64;
        let is_small = |slope: f64| (slope * hours).abs() <= FLAT_SHARE * heap_bytes;
        // A cache that fills grows too, and then no more: what grows must grow in the later half as well.
        let later = slope(&points[points.len() / 2..]);
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
