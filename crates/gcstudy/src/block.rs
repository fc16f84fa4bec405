//! Figures of a block of time, for confidence intervals and comparisons: neighbours in time resemble each other, so that blocks, not
//! pauses, count as independent.

use crate::intervals::{Intervals, Merge};
use assay_model::GcAnomaly;

/// Kinds of pauses that are held apart; further ones are counted together in the last.
pub(super) const KINDS_MAX: usize = 8;
/// Steps of a power of two that lengths are counted by.
const STEPS_PER_DOUBLING: f64 = 8.0;
/// Steps from 1 µs to 18 minutes; shorter and longer ones are counted in the first and last.
pub(super) const STEPS: usize = 240;

/// A quantity, and the time or the number of events that it belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RatioTerms {
    pub sum: f64,
    pub of: f64,
}

impl RatioTerms {
    pub fn add(&mut self, sum: f64, of: f64) {
        self.sum += sum;
        self.of += of;
    }

    /// Takes the logarithm of a length: how many there are is what it is taken over.
    pub fn add_log(&mut self, ns: u64) {
        self.add((ns.max(1) as f64).ln(), 1.0);
    }

    fn merge(&mut self, other: RatioTerms) {
        self.add(other.sum, other.of);
    }
}

/// All of a log, at most 256 of them.
pub(super) type Blocks = Intervals<Block, 256>;

/// A block of time.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// Logarithms of pauses, by kind.
    pub pauses: [RatioTerms; KINDS_MAX],
    /// Their sum, nanoseconds.
    pub paused_ns: f64,
    /// Their lengths by step; empty where there was none.
    pub steps: Vec<u32>,
    /// Logarithms.
    pub time_to_safepoint: RatioTerms,
    /// Bytes allocated, and nanoseconds in which the log shows that.
    pub allocated: RatioTerms,
    /// Bytes freed, and nanoseconds from collection to collection.
    pub freed: RatioTerms,
    /// Bytes promoted, and nanoseconds since the collection before.
    pub promoted: RatioTerms,
    /// Bytes in use after collections, and how many these were.
    pub after: RatioTerms,
    pub stalls: f64,
    pub stalled_ns: f64,
    pub full: u32,
    /// By [`GcAnomaly`].
    pub anomalies: [u32; GcAnomaly::ALL.len() + 1],
}

impl Block {
    /// Takes the length of a pause of a kind.
    pub fn add_pause(&mut self, kind: usize, ns: u64) {
        self.pauses[kind.min(KINDS_MAX - 1)].add_log(ns);
        self.paused_ns += ns as f64;
        self.steps.resize(STEPS, 0);
        let step = &mut self.steps[step_of(ns)];
        *step = step.saturating_add(1);
    }

    /// Number of pauses.
    pub fn pause_count(&self) -> f64 {
        self.pauses.iter().map(|kind| kind.of).sum()
    }
}

impl Merge for Block {
    fn merge(&mut self, later: &Self) {
        for (mine, its) in self.pauses.iter_mut().zip(&later.pauses) {
            mine.merge(*its);
        }
        self.paused_ns += later.paused_ns;
        self.steps.resize(self.steps.len().max(later.steps.len()), 0);
        for (mine, its) in self.steps.iter_mut().zip(&later.steps) {
            *mine = mine.saturating_add(*its);
        }
        self.time_to_safepoint.merge(later.time_to_safepoint);
        self.allocated.merge(later.allocated);
        self.freed.merge(later.freed);
        self.promoted.merge(later.promoted);
        self.after.merge(later.after);
        self.stalls += later.stalls;
        self.stalled_ns += later.stalled_ns;
        self.full = self.full.saturating_add(later.full);
        for (mine, its) in self.anomalies.iter_mut().zip(&later.anomalies) {
            *mine = mine.saturating_add(*its);
        }
    }
}

/// The step of a length.
fn step_of(ns: u64) -> usize {
    let steps = (ns.max(1_000) as f64 / 1e3).log2() * STEPS_PER_DOUBLING;
    (steps as usize).min(STEPS - 1)
}

/// Lower edge of a step, nanoseconds.
pub(super) fn step_edge_ns(step: usize) -> f64 {
    (step as f64 / STEPS_PER_DOUBLING).exp2() * 1e3
}
