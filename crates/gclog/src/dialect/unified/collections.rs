//! Collections some of whose lines were read, and the records that wait for their last lines.
//!
//! A pause's own line is not its last: its CPU time follows, and Parallel draws the heap after it. So the last pause waits until a
//! line shows that the JVM has moved on; what ends meanwhile waits behind it, so that records come in the order of their end.

use super::heap::HeapLines;
use super::heap_lines::HeapLine;
use super::timed::LineSizes;
use crate::contract::{At, GcSink};
use assay_model::{GcAnomaly, GcCpu, GcInstant, GcPart, GcRecord, GcRecordKind, GcScope};
use std::collections::VecDeque;

/// Collections whose lines may be interleaved: concurrent cycles of two generations, pauses within them, and spare.
const OPEN_MAX: usize = 16;
/// Records that wait for a pause's last lines.
const WAITING_MAX: usize = 64;
/// Phases of a collection that have begun: they nest three deep.
const PHASES_MAX: usize = 8;
/// Parts of a pause that are kept: a few kinds, each once.
const PARTS_MAX: usize = 8;
/// Lines after which a pause's last line is no longer waited for: Parallel's pictures and phases of all workers have less.
const LINES_MAX: u32 = 200;

/// Lines of a collection since its last record.
#[derive(Debug, Clone, Default)]
pub(super) struct Collection {
    /// `GC(n)`; a log may be without.
    pub id: Option<u64>,
    /// First line since its last pause.
    pub first: Option<At>,
    /// Phases that have begun: a mark of their name, and the line.
    begun_phases: Vec<(u64, At)>,
    pub heap: HeapLines,
    pub workers: Option<u64>,
    pub anomalies: Vec<GcAnomaly>,
    parts: Vec<(GcPart, u64)>,
    /// When its cycle began: Z without generations does not say how long one took.
    pub begun: Option<GcInstant>,
    /// A pause of it has begun and not ended.
    pub is_in_pause: bool,
    /// A pause within its pause: the young collection of CMS holds the full one that its failure made necessary, a remark may hold a
    /// young collection. Both are one stop.
    inner: Option<Box<GcRecord>>,
}

impl Collection {
    /// The parts of the record that ends now; those of the cycle stay.
    fn take_for_record(&mut self) -> Collection {
        Collection {
            id: self.id,
            first: self.first.take(),
            begun_phases: Vec::new(),
            heap: std::mem::take(&mut self.heap),
            workers: self.workers.take(),
            anomalies: std::mem::take(&mut self.anomalies),
            parts: std::mem::take(&mut self.parts),
            begun: None,
            is_in_pause: std::mem::take(&mut self.is_in_pause),
            inner: self.inner.take(),
        }
    }

    /// A phase of this name begins.
    pub fn begin_phase(&mut self, name: &str, at: At) {
        if self.begun_phases.len() == PHASES_MAX {
            self.begun_phases.remove(0);
        }
        self.begun_phases.push((mark(name), at));
    }

    /// Where the phase of this name, which ends now, has begun.
    pub fn end_phase(&mut self, name: &str) -> Option<At> {
        let mark = mark(name);
        let index = self.begun_phases.iter().rposition(|(begun, _)| *begun == mark)?;
        Some(self.begun_phases.remove(index).1)
    }

    /// Notes how long a part of its next pause took, nanoseconds.
    pub fn add_part(&mut self, part: (GcPart, u64)) {
        if self.parts.len() < PARTS_MAX {
            self.parts.push(part);
        }
    }

    /// Notes what went wrong, once.
    pub fn add_anomaly(&mut self, anomaly: GcAnomaly) {
        if !self.anomalies.contains(&anomaly) {
            self.anomalies.push(anomaly);
        }
    }
}

/// Two phases of one collection that have begun and not ended have different names: FNV-1a distinguishes them.
fn mark(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |mark, byte| (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A record that may still become finer.
#[derive(Debug, Clone)]
struct Waiting {
    collection: Collection,
    sizes: Option<LineSizes>,
    lines: u32,
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Collections {
    open: VecDeque<Collection>,
    /// Records in the order of their end; the first waits when `waiting` is there.
    ended: VecDeque<GcRecord>,
    waiting: Option<Waiting>,
    pub region_bytes: Option<u64>,
    highest_id: Option<u64>,
}

impl Collections {
    /// The collection with this number; the one that was not touched for longest gives way to a new one.
    pub fn open(&mut self, id: Option<u64>, at: At) -> &mut Collection {
        self.highest_id = self.highest_id.max(id);
        let last = self.open.len().wrapping_sub(1);
        let index = match self.open.iter().rposition(|open| open.id == id) {
            Some(index) if index == last => index,
            Some(index) => {
                let touched = self.open.remove(index).unwrap_or_default();
                self.open.push_back(touched);
                last
            }
            None => {
                if self.open.len() == OPEN_MAX {
                    self.open.pop_front();
                }
                self.open.push_back(Collection { id, ..Collection::default() });
                self.open.len() - 1
            }
        };
        let collection = &mut self.open[index];
        collection.first.get_or_insert(at);
        collection
    }

    /// Whether a number shows that another JVM writes: numbers only rise, but for collections that are open.
    pub fn is_of_another_jvm(&self, id: u64) -> bool {
        id == 0
            && self.highest_id.is_some_and(|highest| highest > 0)
            && !self.open.iter().any(|open| open.id == Some(0))
    }

    /// The collection in whose pause the one with this number is: its number.
    pub fn around(&self, id: u64) -> Option<u64> {
        let other = |open: &&Collection| open.is_in_pause && open.id != Some(id);
        self.open.iter().rev().find(other)?.id
    }

    /// The one that began or went on last.
    pub fn begun_last(&mut self) -> Option<&mut Collection> {
        self.open.iter_mut().rev().find(|open| open.first.is_some())
    }

    /// A heap line of a collection: also one that follows the line of its pause.
    pub fn take_heap_line(&mut self, id: Option<u64>, at: At, line: &HeapLine<'_>) {
        match &mut self.waiting {
            Some(waiting) if waiting.collection.id == id => waiting.collection.heap.take(line),
            _ => self.open(id, at).heap.take(line),
        }
    }

    /// CPU time of the record that ended last, when it is of this collection.
    pub fn take_cpu(&mut self, id: Option<u64>, cpu: GcCpu, sink: &mut dyn GcSink) {
        let Some(waiting) = self.waiting.as_ref().filter(|waiting| waiting.collection.id == id) else {
            return;
        };
        let is_whole = !waiting.collection.heap.awaits_picture();
        if let Some(record) = self.ended.front_mut() {
            record.cpu = Some(cpu);
        }
        if is_whole {
            self.settle(sink);
        }
    }

    /// A record has ended whose last lines may still come.
    pub fn end_waiting(
        &mut self,
        mut record: GcRecord,
        sizes: Option<LineSizes>,
        at: At,
        sink: &mut dyn GcSink,
    ) {
        self.settle(sink);
        let collection = self.open(record.cycle_id, at).take_for_record();
        give(&mut record, &collection);
        self.ended.push_back(record);
        self.waiting = Some(Waiting { collection, sizes, lines: 0 });
    }

    /// A pause has ended within that of collection `outer`, which ends later.
    pub fn end_within(&mut self, outer: u64, mut record: GcRecord, sizes: Option<LineSizes>, at: At) {
        let region_bytes = self.region_bytes;
        let own = self.open(record.cycle_id, at).take_for_record();
        give(&mut record, &own);
        own.heap.fill(&mut record, sizes, region_bytes);
        self.open(Some(outer), at).inner = Some(Box::new(record));
    }

    /// At the end of the log: reports phases that ended within pauses that have not.
    pub fn finish(&mut self, sink: &mut dyn GcSink) {
        self.settle(sink);
        self.open.iter_mut().filter_map(|open| open.inner.take()).for_each(|inner| sink.record(*inner));
    }

    /// Something has ended of which no line will follow. A cycle has the lines of the heap to itself.
    pub fn end(
        &mut self,
        mut record: GcRecord,
        sizes: Option<LineSizes>,
        at: At,
        name: &str,
        sink: &mut dyn GcSink,
    ) {
        if record.cycle_id.is_none() {
            self.push(record, sink);
            return;
        }
        let collection = self.open(record.cycle_id, at);
        let begun = collection.end_phase(name);
        let mut own = Collection { first: begun, ..Collection::default() };
        if record.kind == GcRecordKind::Cycle && sizes.is_some() {
            own.heap = std::mem::take(&mut collection.heap);
        } else {
            own.workers = collection.workers.take();
        }
        give(&mut record, &own);
        own.heap.fill(&mut record, sizes, None);
        self.push(record, sink);
    }

    /// Something has ended that stands on its line alone.
    pub fn tell(&mut self, record: GcRecord, sink: &mut dyn GcSink) {
        self.push(record, sink);
    }

    fn push(&mut self, record: GcRecord, sink: &mut dyn GcSink) {
        if self.waiting.is_none() {
            sink.record(record);
            return;
        }
        if self.ended.len() == WAITING_MAX {
            self.settle(sink);
            sink.record(record);
            return;
        }
        self.ended.push_back(record);
    }

    /// A line has gone by that belongs to no waiting record.
    pub fn count_line(&mut self, sink: &mut dyn GcSink) {
        if let Some(waiting) = &mut self.waiting {
            waiting.lines += 1;
            if waiting.lines > LINES_MAX {
                self.settle(sink);
            }
        }
    }

    /// The JVM has moved on: reports all that has ended.
    pub fn settle(&mut self, sink: &mut dyn GcSink) {
        if let (Some(waiting), Some(record)) = (self.waiting.take(), self.ended.front_mut()) {
            waiting.collection.heap.fill(record, waiting.sizes, self.region_bytes);
            if let Some(inner) = waiting.collection.inner {
                join(record, *inner);
            }
        }
        for record in self.ended.drain(..) {
            sink.record(record);
        }
    }

    /// Another JVM begins: nothing of this one goes on.
    pub fn restart(&mut self, sink: &mut dyn GcSink) {
        self.finish(sink);
        *self = Collections::default();
    }
}

/// What does not become finer any more.
fn give(record: &mut GcRecord, collection: &Collection) {
    if let Some(first) = collection.first {
        record.first_line = if first.source == record.source { first.line } else { 1 };
    }
    record.workers = record.workers.or(collection.workers);
    if record.kind == GcRecordKind::Pause {
        record.parts.extend(&collection.parts);
    }
    for anomaly in &collection.anomalies {
        if !record.anomalies.contains(anomaly) {
            record.anomalies.push(*anomaly);
        }
    }
}

/// Makes a pause and the one within it one stop, whose length and sizes are in the outer one's own line.
fn join(record: &mut GcRecord, inner: GcRecord) {
    if inner.scope == Some(GcScope::Full) {
        (record.scope, record.phase, record.cause) = (inner.scope, inner.phase, inner.cause);
    }
    record.heap.before_bytes = record.heap.before_bytes.or(inner.heap.before_bytes);
    for anomaly in inner.anomalies {
        if !record.anomalies.contains(&anomaly) {
            record.anomalies.push(anomaly);
        }
    }
    for (space, sizes) in inner.spaces {
        if record.space(space).is_none() {
            record.spaces.push((space, sizes));
        }
    }
}
