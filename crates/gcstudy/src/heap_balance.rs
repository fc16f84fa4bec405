//! What was allocated and freed, from collection to collection.
//!
//! Between the end of one collection and the beginning of the next the application allocates before(n) - after(n-1) bytes. Where a
//! collector works beside the application, this holds between its cycles only: allocation during one is not known unless the log
//! says it, and so those intervals count neither in bytes nor in time.

use crate::timeline::Span;
use assay_model::{GcRecord, GcRecordKind, GcSizes};

/// What a collection shows of the time since the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Entry {
    /// Bytes allocated, and nanoseconds in which that was; absent when the log does not show it.
    pub allocated: Option<(i128, Option<u64>)>,
    /// Bytes freed, and nanoseconds since the collection before.
    pub freed: Option<(i128, Option<u64>)>,
    /// Bytes freed by the first collection of a JVM: part of the sum, and of no rate, since how long they took to make is not known.
    pub freed_first: Option<i128>,
}

/// The heap in use, followed over collections.
#[derive(Debug, Clone, Default)]
pub(super) struct HeapBalance {
    in_use: Option<InUse>,
    /// Finest step of sizes so far.
    resolution_bytes: Option<u64>,
    /// Something freed memory since, and the log does not say how much.
    is_unsure: bool,
}

#[derive(Debug, Clone, Copy)]
struct InUse {
    bytes: i128,
    end_ns: Option<u64>,
    cycle_id: Option<u64>,
}

/// Sizes of a coarser step than this many times the finest do not begin a count: they correct it.
const COARSER: u64 = 4;

impl HeapBalance {
    /// Another JVM begins.
    pub fn begin_jvm(&mut self) {
        *self = HeapBalance::default();
    }

    /// Enters a record.
    pub fn enter(&mut self, record: &GcRecord, at: Option<Span>) -> Entry {
        let GcSizes { before_bytes: Some(before), after_bytes: Some(after), .. } = record.heap else {
            self.is_unsure |= frees_unseen(record);
            return Entry::default();
        };
        let (before, after) = (i128::from(before), i128::from(after));
        let step = record.heap.resolution_bytes.unwrap_or(1);
        let finest = self.resolution_bytes.map_or(step, |finest| finest.min(step));
        self.resolution_bytes = Some(finest);
        let now = InUse { bytes: after, end_ns: at.map(|at| at.end_ns), cycle_id: record.cycle_id };
        if finest.saturating_mul(COARSER) < step && record.kind == GcRecordKind::Pause {
            return self.correct(before - after);
        }
        let Some(was) = self.in_use.replace(now) else {
            let freed_first = (record.kind != GcRecordKind::Cycle).then_some(before - after);
            return Entry { freed_first, ..Entry::default() };
        };
        let is_unsure = std::mem::take(&mut self.is_unsure);
        let since_ns = now.end_ns.zip(was.end_ns).map(|(now, was)| now.saturating_sub(was));
        if let Some(said) = record.allocated_bytes {
            let said = i128::from(said);
            return Entry {
                allocated: Some((said, since_ns)),
                freed: Some((was.bytes + said - after, since_ns)),
                freed_first: None,
            };
        }
        if is_around(record, at, was) {
            return Entry::default();
        }
        // Bytes freed by a concurrent cycle are not visible: the application allocates at the same time.
        let freed = (record.kind != GcRecordKind::Cycle).then_some((before - after, since_ns));
        let grown = before - was.bytes;
        if is_unsure || grown < -i128::from(step.saturating_mul(2)) {
            return Entry { freed, ..Entry::default() };
        }
        let between_ns = at.zip(was.end_ns).map(|(at, was)| match record.kind {
            // Time in a pause is time in which nothing can be allocated, but it is part of the pace.
            GcRecordKind::Pause => at.end_ns.saturating_sub(was),
            _ => at.start_ns.saturating_sub(was),
        });
        Entry { allocated: Some((grown, between_ns)), freed, freed_first: None }
    }

    /// A pause with coarser sizes than others (G1's `Pause Remark` has whole MiB): it only gives what it freed itself.
    fn correct(&mut self, freed: i128) -> Entry {
        if let Some(in_use) = &mut self.in_use {
            in_use.bytes -= freed;
        }
        Entry { freed: Some((freed, None)), ..Entry::default() }
    }
}

/// Whether something frees memory without saying how much: CMS sweeps beside the application.
pub(crate) fn frees_unseen(record: &GcRecord) -> bool {
    let names = ["sweep", "Sweep"];
    record.kind == GcRecordKind::Concurrent
        && record.heap.after_bytes.is_none()
        && names.iter().any(|name| record.phase.contains(name))
}

/// Whether a record encloses collections that have been entered: a major cycle around minor ones.
fn is_around(record: &GcRecord, at: Option<Span>, was: InUse) -> bool {
    if record.kind == GcRecordKind::Pause {
        return false;
    }
    let is_by_time =
        at.zip(was.end_ns).is_some_and(|(at, was)| at.start_ns.saturating_add(at.resolution_ns) < was);
    is_by_time
        || (record.cycle_id.is_some()
            && record.cycle_id == was.cycle_id
            && record.kind == GcRecordKind::Cycle)
}
