//! A bounded sample of objects that lie next to each other.
//!
//! Serial, Parallel and G1 are walked address by address, so that the record behind an object's is its neighbour's. ZGC and
//! Shenandoah are walked along the references, and there it is not (an `Integer` of 16 bytes has its next record 48 bytes
//! on, where the next `Node` lies): of a sample of pages, all objects are kept, and put in order at the end. Held by
//! `every_collectors_heap_gives_true_neighbours` in `tests/hprof_truth.rs`.

use super::classes::SlotIndex;
use crate::PrimitiveKind;
use std::collections::HashMap;

/// Different pairs that are kept; then only those are counted on.
const DISTINCT_MAX: usize = 1 << 15;
/// Objects that are kept of the sample of pages; when there are more, every second page is given up.
const KEPT_MAX: usize = 1 << 15;
/// Farther apart than this lie no neighbours.
const GAP_BYTES_MAX: u64 = 1 << 20;
/// Arrays up to this length are the most informative: in longer ones the header's size drowns.
const LENGTH_MAX: u64 = 1 << 12;
/// Of each kind, so many objects are all looked at, and then every 32nd: rare classes have their say too, and the sample
/// costs next to nothing.
const ALL_UP_TO: u64 = 64;
const THEN_EVERY: u64 = 32;
/// Pages of 8 KiB: some 200 objects.
const PAGE_BITS: u32 = 13;

/// The first of two neighbours, by slot of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Instance(SlotIndex),
    Primitives(PrimitiveKind, u32),
    References(u32),
}

/// The sample.
#[derive(Default)]
pub(super) struct Neighbours {
    first: Option<(Kind, u64)>,
    walk: HashMap<(Kind, u32), u64>,
    /// Steps of the walk, and those that went a short way up.
    steps: u64,
    steps_near: u64,
    /// Objects of the sampled pages: what says nothing as the first of two ends a gap all the same.
    kept: Vec<(u64, Option<Kind>)>,
    /// Pages are sampled whose hash has none of these bits.
    mask: u64,
}

impl Neighbours {
    /// The next object of the walk; it is the `nth` of its kind.
    #[inline]
    pub(super) fn next(&mut self, id: u64, nth: u64, kind: impl Fn() -> Option<Kind>) {
        if let Some((kind, first)) = self.first.take() {
            self.second(kind, id.wrapping_sub(first));
        }
        if nth < ALL_UP_TO || nth.is_multiple_of(THEN_EVERY) {
            self.first = kind().map(|kind| (kind, id));
        }
        if self.is_sampled(id) {
            self.keep(id, kind());
        }
    }

    /// A class's mirror, which lies between the objects but has its record elsewhere.
    pub(super) fn mirror(&mut self, id: u64) {
        self.first = None;
        if self.is_sampled(id) {
            self.keep(id, None);
        }
    }

    /// Something is missing in between.
    pub(super) fn interrupt(&mut self) {
        self.first = None;
    }

    #[inline]
    fn is_sampled(&self, id: u64) -> bool {
        // High bits of a product are mixed, low ones are not.
        ((id >> PAGE_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) & self.mask == 0
    }

    fn second(&mut self, kind: Kind, gap: u64) {
        self.steps += 1;
        if gap == 0 || gap > GAP_BYTES_MAX {
            return;
        }
        self.steps_near += 1;
        count(&mut self.walk, (kind, gap as u32));
    }

    #[cold]
    fn keep(&mut self, id: u64, kind: Option<Kind>) {
        while self.kept.len() >= KEPT_MAX {
            if self.mask == u64::from(u32::MAX) {
                return;
            }
            self.mask = self.mask << 1 | 1;
            let kept = std::mem::take(&mut self.kept);
            self.kept = kept.into_iter().filter(|(id, _)| self.is_sampled(*id)).collect();
        }
        if self.is_sampled(id) {
            self.kept.push((id, kind));
        }
    }

    /// Pairs with how often they were met: those of the pages, and those of the walk where it went along the addresses.
    pub(super) fn into_counts(mut self) -> HashMap<(Kind, u32), u64> {
        let goes_along = self.steps_near > self.steps / 2;
        let mut counts = if goes_along { std::mem::take(&mut self.walk) } else { HashMap::new() };
        self.kept.sort_unstable_by_key(|(id, _)| *id);
        for pair in self.kept.windows(2) {
            let [(id, kind), (next, _)] = pair else { continue };
            let Some(kind) = kind else { continue };
            if id >> PAGE_BITS == next >> PAGE_BITS && id != next {
                count(&mut counts, (*kind, (next - id) as u32));
            }
        }
        counts
    }
}

fn count(counts: &mut HashMap<(Kind, u32), u64>, key: (Kind, u32)) {
    if counts.len() < DISTINCT_MAX {
        *counts.entry(key).or_insert(0) += 1;
    } else if let Some(count) = counts.get_mut(&key) {
        *count += 1;
    }
}

/// Kinds of arrays that say something.
pub(super) fn short(length: u64) -> Option<u32> {
    (length <= LENGTH_MAX).then_some(length as u32)
}
