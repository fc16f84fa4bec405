//! A pause while its brackets are open, and the record that it becomes.

use super::text::Stamp;
use assay_model::{GcAnomaly, GcRecord, GcRecordKind, GcScope, GcSizes, GcSpace};

/// A pause of which not everything is read yet.
#[derive(Debug)]
pub(super) struct Pause {
    /// `GC`, `Full GC`, `GC pause`, `GC remark`, `GC cleanup`.
    words: &'static str,
    stamp: Stamp,
    record: GcRecord,
    young: Option<(&'static str, Option<GcSizes>)>,
    old: Option<(&'static str, Option<GcSizes>)>,
    /// A short stop of CMS.
    mark: Option<(&'static str, Option<GcSizes>)>,
    is_remark: bool,
    /// G1: what of the heap it takes, and whether a cycle begins with it.
    g1_kind: Option<&'static str>,
    is_initial_mark: bool,
    /// A collection within this stop: CMS may collect the young generation before it remarks.
    inner: Option<Box<GcRecord>>,
    /// Whether the heap's sizes are one reading, not one before and one after.
    has_one_reading: bool,
}

impl Pause {
    pub fn new(words: &'static str, stamp: Stamp, source: usize, line: u64) -> Self {
        // Its name is known at its end.
        let mut record = GcRecord::new(GcRecordKind::Pause, String::new(), source, line);
        record.cycle_id = stamp.gc_id;
        Pause {
            words,
            stamp,
            record,
            young: None,
            old: None,
            mark: None,
            is_remark: false,
            g1_kind: None,
            is_initial_mark: false,
            inner: None,
            has_one_reading: false,
        }
    }

    /// Whether a further pause may be in this one.
    pub fn may_hold_pause(&self) -> bool {
        self.is_remark
    }

    /// The line at which it began.
    pub fn first_line(&self) -> (usize, u64) {
        (self.record.source, self.record.first_line)
    }

    /// The remark of CMS has begun.
    pub fn begin_remark(&mut self) {
        self.is_remark = true;
    }

    /// A part has a stamp; the pause may have none, where a torn line took it.
    pub fn part_begins(&mut self, stamp: &Stamp) {
        if !self.stamp.is_there() {
            self.stamp = *stamp;
        }
    }

    /// What stands in parentheses behind the words.
    pub fn group(&mut self, text: &str) {
        match text {
            "young" => self.g1_kind = Some("young"),
            "mixed" => self.g1_kind = Some("mixed"),
            "partial" => self.g1_kind = Some("partial"),
            "initial-mark" => self.is_initial_mark = true,
            "to-space exhausted" | "to-space overflow" => self.anomaly(GcAnomaly::EvacuationFailure),
            "promotion failed" => self.anomaly(GcAnomaly::PromotionFailed),
            "concurrent mode failure" => self.anomaly(GcAnomaly::ConcurrentModeFailure),
            "concurrent mode interrupted" => self.anomaly(GcAnomaly::Aborted),
            _ if text.contains("promotion failure size") => self.anomaly(GcAnomaly::PromotionFailed),
            _ if self.record.cause.is_none() => {
                self.is_remark |= text == "CMS Final Remark";
                if text.starts_with("GCLocker") {
                    self.anomaly(GcAnomaly::CriticalSection);
                }
                self.record.cause = Some(text.to_owned());
            }
            _ => {}
        }
    }

    /// `GC--`: the collection had no room to copy to, and undid itself.
    pub fn undone(&mut self) {
        let is_g1 = self.words == "GC pause";
        self.anomaly(if is_g1 { GcAnomaly::EvacuationFailure } else { GcAnomaly::PromotionFailed });
    }

    fn anomaly(&mut self, anomaly: GcAnomaly) {
        if !self.record.anomalies.contains(&anomaly) {
            self.record.anomalies.push(anomaly);
        }
    }

    pub fn young(&mut self, name: &'static str, sizes: Option<GcSizes>) {
        self.young = Some((name, sizes));
    }

    pub fn old(&mut self, name: &'static str, sizes: Option<GcSizes>) {
        self.old = Some((name, sizes));
    }

    pub fn mark(&mut self, name: &'static str, sizes: Option<GcSizes>) {
        self.mark = Some((name, sizes));
    }

    pub fn permanent(&mut self, sizes: GcSizes) {
        set_space(&mut self.record, GcSpace::Metaspace, sizes);
    }

    pub fn is_g1(&self) -> bool {
        !matches!(self.words, "GC" | "Full GC" | "Inc GC" | "Incremental GC")
    }

    /// A pause within this one has ended: both are one stop, which users feel as one.
    pub fn inner(&mut self, inner: GcRecord) {
        inner.anomalies.iter().for_each(|anomaly| self.anomaly(*anomaly));
        self.inner = Some(Box::new(inner));
    }

    /// Sizes behind everything are those of the heap.
    pub fn heap(&mut self, sizes: GcSizes) {
        if self.record.heap.after_bytes.is_none() {
            self.record.heap = sizes;
            self.has_one_reading = sizes.before_bytes == sizes.after_bytes;
        }
    }

    /// The pause has ended: its record is whole. Bytes freed by a collection within it are part of it. Held by
    /// `a_young_collection_within_a_remark_is_one_stop`.
    pub fn end(mut self, duration: Option<(u64, u64)>, source: usize, line: u64) -> GcRecord {
        self.record.phase = self.phase();
        self.record.scope = self.scope();
        self.put_spaces();
        let record = &mut self.record;
        record.end = duration.map_or_else(Default::default, |(ns, _)| self.stamp.after(ns));
        record.duration_ns = duration.map(|(ns, _)| ns);
        record.duration_resolution_ns = duration.map(|(_, step)| step);
        record.source = source;
        record.line = line;
        if let Some(inner) = self.inner {
            record.heap.before_bytes = inner.heap.before_bytes.or(record.heap.before_bytes);
            record.heap.after_bytes = record.heap.after_bytes.or(inner.heap.after_bytes);
            record.heap.capacity_bytes = record.heap.capacity_bytes.or(inner.heap.capacity_bytes);
            record.heap.resolution_bytes = record.heap.resolution_bytes.max(inner.heap.resolution_bytes);
            let known: Vec<GcSpace> = record.spaces.iter().map(|(space, _)| *space).collect();
            record.spaces.extend(inner.spaces.into_iter().filter(|(space, _)| !known.contains(space)));
        }
        self.record
    }

    /// The words of the log for it, a row in the tables for each.
    fn phase(&self) -> String {
        if let Some((name, _)) = self.mark {
            return name.to_owned();
        }
        if let Some(kind) = self.g1_kind {
            let mark = if self.is_initial_mark { " (initial-mark)" } else { "" };
            return format!("{} ({kind}){mark}", self.words);
        }
        let short_stop = match self.record.cause.as_deref() {
            Some("CMS Initial Mark") => Some("CMS-initial-mark"),
            Some("CMS Final Remark") => Some("CMS-remark"),
            _ => None,
        };
        match (self.words, short_stop, self.young, self.old) {
            ("GC", Some(name), None, None) => name.to_owned(),
            // Without details a short stop of CMS has no more than one reading of the heap.
            ("GC", None, None, None) if self.is_short_stop() => "CMS-initial-mark or CMS-remark".to_owned(),
            ("GC", _, Some((young, _)), Some((old, _))) => ["GC ", young, ", ", old].concat(),
            ("GC", _, Some((name, _)), None) | ("GC", _, None, Some((name, _))) => ["GC ", name].concat(),
            _ => self.words.to_owned(),
        }
    }

    fn is_short_stop(&self) -> bool {
        self.has_one_reading && self.young.is_none() && self.old.is_none()
    }

    fn scope(&self) -> Option<GcScope> {
        if self.mark.is_some() {
            return Some(GcScope::Old);
        }
        match (self.words, self.g1_kind) {
            ("Full GC", _) => Some(GcScope::Full),
            ("GC remark" | "GC cleanup", _) => Some(GcScope::Old),
            ("GC pause", Some("young")) => Some(GcScope::Young),
            ("GC pause", Some(_)) => Some(GcScope::Mixed),
            ("GC pause", None) => None,
            _ if self.old.is_some() => Some(GcScope::Full),
            _ if self.young.is_some() => Some(GcScope::Young),
            _ if self.is_short_stop() || self.is_remark => Some(GcScope::Old),
            _ if self.record.heap.after_bytes.is_some() => Some(GcScope::Young),
            _ => None,
        }
    }

    /// Where only the young generation and the whole heap are reported, the old one is the rest: the JVM adds the same figures up.
    fn put_spaces(&mut self) {
        let young = self.young.and_then(|(_, sizes)| sizes);
        if let Some(sizes) = young {
            set_space(&mut self.record, GcSpace::Young, sizes);
        }
        let old = self.old.or(self.mark).and_then(|(_, sizes)| sizes);
        let rest = young.and_then(|young| difference(&self.record.heap, &young));
        if let Some(sizes) = old.or(rest) {
            set_space(&mut self.record, GcSpace::Old, sizes);
        }
    }
}

/// Puts the sizes of a space in place of those that are there.
pub(super) fn set_space(record: &mut GcRecord, space: GcSpace, sizes: GcSizes) {
    record.spaces.retain(|(name, _)| *name != space);
    record.spaces.push((space, sizes));
}

fn difference(whole: &GcSizes, part: &GcSizes) -> Option<GcSizes> {
    let minus = |whole: Option<u64>, part: Option<u64>| whole?.checked_sub(part?);
    Some(GcSizes {
        before_bytes: Some(minus(whole.before_bytes, part.before_bytes)?),
        after_bytes: Some(minus(whole.after_bytes, part.after_bytes)?),
        capacity_bytes: minus(whole.capacity_bytes, part.capacity_bytes),
        resolution_bytes: whole.resolution_bytes.max(part.resolution_bytes),
    })
}
