//! Bytes allocated, freed and promoted, in all and by block of time.

use crate::block::{Block, Blocks, RatioTerms};
use crate::heap_balance::HeapBalance;
use crate::timeline::Span;
use assay_model::{Estimate, GcAnomaly, GcRecord, GcRecordKind, GcScope, GcSpace};
use assay_stats::estimate_ratio;

/// Segments that an interval is taken over: long ones, so that neighbours know little of each other.
const BLOCKS_FOR_RATE: usize = 32;

/// Sums over the log.
#[derive(Debug, Clone, Default)]
pub(super) struct Bytes {
    balance: HeapBalance,
    allocated: Option<i128>,
    freed: Option<i128>,
    /// Σ promoted and Σ allocated by the collections that show both.
    promoted_of: Option<(i128, i128)>,
    /// End of the last collection that promotes, whether or not the log shows how much.
    promoted_until_ns: Option<u64>,
    /// The cycle whose promotion is counted: several records of a cycle may say it.
    promoted_by: Option<u64>,
    /// Beginning of the first and end of the last collection of the JVM.
    collected_ns: Option<(u64, u64)>,
    /// Of the JVMs before, the time before their first and after their last collection.
    beside_ns: u64,
}

impl Bytes {
    /// Another JVM begins: no rate runs over that. The timeline of the one before began and ended so.
    pub fn begin_jvm(&mut self, begin_ns: u64, end_ns: u64) {
        self.beside_ns = self.beside_ns(begin_ns, end_ns);
        self.balance.begin_jvm();
        (self.promoted_by, self.promoted_until_ns, self.collected_ns) = (None, None, None);
    }

    /// Time of the log before the first and after the last collection of each JVM, of which the timeline of the last began and ended so. It
    /// is part of every rate: a server that collects twice in its first second and then never again allocates next to nothing. What it did
    /// allocate then, no line says; it is less than a young generation.
    pub fn beside_ns(&self, begin_ns: u64, end_ns: u64) -> u64 {
        let Some((first_ns, last_ns)) = self.collected_ns else { return self.beside_ns };
        let beside_ns = first_ns.saturating_sub(begin_ns).saturating_add(end_ns.saturating_sub(last_ns));
        self.beside_ns.saturating_add(beside_ns)
    }

    /// Takes a record, and adds its bytes to its block.
    pub fn add(&mut self, record: &GcRecord, at: Option<Span>, blocks: &mut Blocks) {
        let entry = self.balance.enter(record, at);
        let is_counted = record.cycle_id.is_some() && record.cycle_id == self.promoted_by;
        let promoted = promoted_bytes(record).filter(|_| !is_counted);
        if promoted.is_some() {
            self.promoted_by = record.cycle_id;
        }
        if let Some((bytes, _)) = entry.allocated {
            *self.allocated.get_or_insert(0) += bytes;
        }
        if let Some(bytes) = entry.freed.map(|(bytes, _)| bytes).or(entry.freed_first) {
            *self.freed.get_or_insert(0) += bytes;
        }
        if let (Some(promoted), Some((allocated, _))) = (promoted, entry.allocated) {
            let (of_promoted, of_allocated) = self.promoted_of.get_or_insert((0, 0));
            *of_promoted += i128::from(promoted);
            *of_allocated += allocated;
        }
        let Some(at) = at else { return };
        let promoted_since_ns = if promoted.is_some() || may_promote(record) {
            self.promoted_until_ns.replace(at.end_ns).map(|until| at.end_ns.saturating_sub(until))
        } else {
            None
        };
        let is_sized = record.heap.after_bytes.is_some();
        if entry.allocated.is_none() && entry.freed.is_none() && promoted.is_none() && !is_sized {
            return;
        }
        let (first_ns, last_ns) = self.collected_ns.unwrap_or((at.start_ns, at.end_ns));
        self.collected_ns = Some((first_ns, last_ns.max(at.end_ns)));
        let block = blocks.at(at.end_ns);
        if let Some((bytes, Some(ns))) = entry.allocated {
            block.allocated.add(bytes as f64, ns as f64);
        }
        if let Some((bytes, ns)) = entry.freed {
            block.freed.add(bytes as f64, ns.unwrap_or(0) as f64);
        }
        if let (Some(bytes), Some(ns)) = (promoted, promoted_since_ns) {
            block.promoted.add(bytes as f64, ns as f64);
        }
        if let Some(after) = record.heap.after_bytes {
            block.after.add(after as f64, 1.0);
        }
    }

    /// Σ allocated; `None` when the log shows none, or contradicts itself.
    pub fn allocated_bytes(&self) -> Option<u64> {
        self.allocated?.try_into().ok()
    }

    /// Σ freed.
    pub fn freed_bytes(&self) -> Option<u64> {
        self.freed?.try_into().ok()
    }

    /// Of what was allocated, the share that was promoted, percent; `None` when the log does not show it, or contradicts itself.
    pub fn promoted_percent(&self) -> Option<f64> {
        let (promoted, allocated) = self.promoted_of?;
        (0 < allocated && promoted <= allocated).then(|| 100.0 * promoted as f64 / allocated as f64)
    }
}

/// What a young collection moved to the old generation: as the log says, or by how much that grew.
fn promoted_bytes(record: &GcRecord) -> Option<u64> {
    if record.promoted_bytes.is_some() {
        return record.promoted_bytes;
    }
    // Where there was no room for survivors, regions of the young generation become old ones as they are: nothing was promoted.
    let has_failed = record.anomalies.contains(&GcAnomaly::EvacuationFailure);
    if !may_promote(record) || record.scope != Some(GcScope::Young) || has_failed {
        return None;
    }
    let old = record.space(GcSpace::Old)?;
    Some(old.after_bytes?.saturating_sub(old.before_bytes?))
}

/// Whether objects may reach the old generation in it.
fn may_promote(record: &GcRecord) -> bool {
    let scopes = [GcScope::Young, GcScope::Mixed, GcScope::Full];
    record.kind == GcRecordKind::Pause && record.scope.is_some_and(|scope| scopes.contains(&scope))
}

/// A part's quantities a second of the time that they are taken over and of the time beside, or, of `rate_per_s` requests, for each; with a
/// confidence interval by blocks.
pub(super) fn per_s(
    blocks: &[Block],
    part: fn(&Block) -> RatioTerms,
    beside_ns: u64,
    rate_per_s: f64,
    seed: u64,
) -> Option<Estimate> {
    let group = blocks.len().div_ceil(BLOCKS_FOR_RATE).max(1);
    let joined = blocks.chunks(group).map(|group| {
        let sum = group.iter().map(|block| part(block).sum).sum::<f64>();
        (sum.max(0.0), group.iter().map(|block| part(block).of).sum::<f64>() / (1e9 / rate_per_s))
    });
    let mut blocks: Vec<(f64, f64)> = joined.filter(|(_, of)| *of > 0.0).collect();
    if let Some((_, of)) = blocks.last_mut() {
        *of += beside_ns as f64 / (1e9 / rate_per_s);
    }
    let found = estimate_ratio(&blocks, seed).ok()?;
    // Student's interval over few blocks may reach below zero, where no rate is.
    Some(Estimate { low: found.low.map(|low| low.max(0.0)), ..found })
}
