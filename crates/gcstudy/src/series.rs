//! The heap and the pauses over time.

use crate::intervals::{Intervals, Merge};
use crate::timeline::Span;
use assay_model::{GcClock, GcCollection, GcPoint, GcRecord, GcRecordKind, GcScope, GcSeries};

/// Buckets.
const BUCKETS_MAX: usize = 2_000;
/// Collections that are kept one by one; a chart on a screen has about as many pixels.
const COLLECTIONS_MAX: usize = 1_000;
/// JVMs whose clock is kept.
const CLOCKS_MAX: usize = 1_000;

/// Scopes in the order in which a bucket counts them; the last is for those that have none.
const SCOPES: [(Option<GcScope>, &str); 6] = [
    (Some(GcScope::Young), "young"),
    (Some(GcScope::Mixed), "mixed"),
    (Some(GcScope::Old), "old"),
    (Some(GcScope::Full), "full"),
    (Some(GcScope::Whole), "whole"),
    (None, "other"),
];

#[derive(Debug, Clone, Default)]
struct Bucket {
    before_max: Option<u64>,
    after_min: Option<u64>,
    capacity: Option<u64>,
    /// By scope: how many, their sum and the longest, nanoseconds.
    pauses: [(u64, u64, u64); SCOPES.len()],
    /// By scope: where the longest ended.
    longest_at: [(usize, u64); SCOPES.len()],
    stalled_ns: u64,
    is_start: bool,
    is_used: bool,
}

impl Merge for Bucket {
    fn merge(&mut self, later: &Self) {
        self.before_max = self.before_max.max(later.before_max);
        self.after_min = least(self.after_min, later.after_min);
        self.capacity = later.capacity.or(self.capacity);
        for (scope, its) in later.pauses.iter().enumerate() {
            let mine = &mut self.pauses[scope];
            if mine.2 < its.2 || mine.0 == 0 {
                self.longest_at[scope] = later.longest_at[scope];
            }
            *mine = (mine.0 + its.0, mine.1.saturating_add(its.1), mine.2.max(its.2));
        }
        self.stalled_ns = self.stalled_ns.saturating_add(later.stalled_ns);
        self.is_start |= later.is_start;
        self.is_used |= later.is_used;
    }
}

fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a.min(b)).or(a).or(b)
}

/// The series as it grows.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    buckets: Intervals<Bucket, BUCKETS_MAX>,
    /// Each by itself; none any more once there are too many.
    collections: Vec<GcCollection>,
    are_too_many: bool,
    /// The next collection is the first of a JVM.
    is_start: bool,
    /// Where the JVM begins.
    jvm_ns: u64,
    /// What the wall clock said where each JVM began.
    clocks: Vec<GcClock>,
}

impl Series {
    /// A JVM begins at this time.
    pub fn begin_jvm(&mut self, at_ns: u64) {
        let bucket = self.buckets.at(at_ns);
        bucket.is_start = true;
        bucket.is_used = true;
        self.is_start = true;
        self.jvm_ns = at_ns;
    }

    /// The first record of a JVM that has the wall clock says what it was when the JVM began.
    fn tell_clock(&mut self, record: &GcRecord, at: Span) {
        let Some(unix_ns) = record.end.unix_ns else { return };
        let is_known = self.clocks.last().is_some_and(|clock| clock.at_ns == self.jvm_ns);
        if is_known || self.clocks.len() == CLOCKS_MAX {
            return;
        }
        let passed_ns = at.end_ns.saturating_sub(self.jvm_ns);
        self.clocks.extend(
            unix_ns.checked_sub_unsigned(passed_ns).map(|unix_ns| GcClock { at_ns: self.jvm_ns, unix_ns }),
        );
    }

    /// Takes a record.
    pub fn add(&mut self, record: &GcRecord, at: Span) {
        let has_sizes = record.heap.before_bytes.is_some() || record.heap.after_bytes.is_some();
        let is_shown = matches!(record.kind, GcRecordKind::Pause | GcRecordKind::Stall);
        if !is_shown && !has_sizes {
            return;
        }
        self.tell_clock(record, at);
        self.keep(record, at);
        let bucket = self.buckets.at(at.end_ns);
        bucket.is_used = true;
        bucket.before_max = bucket.before_max.max(record.heap.before_bytes);
        bucket.after_min = least(bucket.after_min, record.heap.after_bytes);
        bucket.capacity = record.heap.capacity_bytes.or(bucket.capacity);
        let ns = record.duration_ns.unwrap_or(0);
        if record.kind == GcRecordKind::Stall {
            bucket.stalled_ns = bucket.stalled_ns.saturating_add(ns);
        } else if record.kind == GcRecordKind::Pause {
            let index = scope_of(record);
            let (count, sum, longest) = &mut bucket.pauses[index];
            if *longest < ns || *count == 0 {
                bucket.longest_at[index] = (record.source, record.line);
            }
            (*count, *sum, *longest) = (*count + 1, sum.saturating_add(ns), (*longest).max(ns));
        }
    }

    fn keep(&mut self, record: &GcRecord, at: Span) {
        if self.are_too_many || self.collections.len() == COLLECTIONS_MAX {
            (self.collections, self.are_too_many) = (Vec::new(), true);
            return;
        }
        let ms = record.duration_ns.map(|ns| ns as f64 / 1e6);
        let of_kind = |kind| ms.filter(|_| record.kind == kind);
        self.collections.push(GcCollection {
            at_s: at.end_ns as f64 / 1e9,
            before_bytes: record.heap.before_bytes,
            after_bytes: record.heap.after_bytes,
            capacity_bytes: record.heap.capacity_bytes,
            pause: of_kind(GcRecordKind::Pause).map(|ms| (SCOPES[scope_of(record)].1.to_owned(), ms)),
            stalled_ms: of_kind(GcRecordKind::Stall),
            is_start: std::mem::take(&mut self.is_start),
            at: Some((record.source, record.line)),
        });
    }

    /// The stored form.
    pub fn series(&self) -> GcSeries {
        let bucket_s = self.buckets.length_ns() as f64 / 1e9;
        let used = self.buckets.items().iter().enumerate().filter(|(_, bucket)| bucket.is_used);
        let points = used.map(|(index, bucket)| point(index as f64 * bucket_s, bucket)).collect();
        GcSeries { bucket_s, points, collections: self.collections.clone(), clocks: self.clocks.clone() }
    }
}

fn scope_of(record: &GcRecord) -> usize {
    SCOPES.iter().position(|(scope, _)| *scope == record.scope).unwrap_or(SCOPES.len() - 1)
}

fn point(at_s: f64, bucket: &Bucket) -> GcPoint {
    let scopes = SCOPES.iter().zip(&bucket.pauses).filter(|(_, (count, ..))| *count > 0);
    let pauses = scopes.map(|((_, name), (count, sum, longest))| {
        ((*name).to_owned(), (*count, *sum as f64 / 1e6, *longest as f64 / 1e6))
    });
    let used =
        SCOPES.iter().zip(&bucket.longest_at).zip(&bucket.pauses).filter(|(_, (count, ..))| *count > 0);
    GcPoint {
        at_s,
        before_bytes_max: bucket.before_max,
        after_bytes_min: bucket.after_min,
        capacity_bytes: bucket.capacity,
        pauses: pauses.collect(),
        longest_at: used.map(|(((_, name), at), _)| ((*name).to_owned(), *at)).collect(),
        stalled_ms: bucket.stalled_ns as f64 / 1e6,
        is_start: bucket.is_start,
    }
}
