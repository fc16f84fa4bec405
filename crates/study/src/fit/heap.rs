//! The heap that goes with a memory limit, by what runs have shown so far.

use assay_memory::{BesideHeap, beside_heap, heap_within, limit_of};
use assay_model::{FitVerdict, MemoryReport, StoredTrial};
use std::collections::BTreeMap;

/// The smallest heap that is of interest.
const HEAP_BYTES_MIN: u64 = 8 << 20;
/// Limits are of interest down to this part of what a run without limits needed beside its heap, or with one that is given. Other collectors,
/// which a JVM chooses for small containers, need less.
const LEAST_SHARE: f64 = 0.6;
/// Above what was charged without limits.
const ROOM: f64 = 1.15;
/// What was charged beside the heap is taken for so much more after a kill.
const AFTER_KILL: f64 = 1.03;

/// What is known of a server's memory.
pub(super) struct HeapState {
    /// The command, the study or the user sets the heap.
    pub is_given: bool,
    given_bytes: Option<u64>,
    /// The largest heap without limits.
    max_bytes: u64,
    pub beside_bytes: u64,
    pub charged_elsewhere_bytes: u64,
    resident_bytes: u64,
    /// The smallest limit that is known to hold; none before any was.
    smallest_bytes: Option<u64>,
    /// The server in the run that the figures are of.
    pub snapshot: Option<MemoryReport>,
    /// Each limit keeps the heap that it was first tried with: runs at one limit are runs of one thing.
    heaps: BTreeMap<u64, u64>,
}

impl HeapState {
    /// From a run without limits.
    pub fn new(trial: &StoredTrial, given_bytes: Option<u64>, is_given: bool) -> HeapState {
        let beside = of_trial(trial);
        let max = trial.memory_report.as_ref().and_then(|of| of.jvm.as_ref()?.heap_bytes_max);
        HeapState {
            is_given,
            given_bytes,
            max_bytes: given_bytes.or(max).unwrap_or(0),
            beside_bytes: beside.map_or(0, |of| of.beside_bytes),
            charged_elsewhere_bytes: beside.map_or(0, |of| of.charged_elsewhere_bytes),
            resident_bytes: beside.map_or(0, |of| of.heap_bytes),
            smallest_bytes: None,
            snapshot: trial.memory_report.clone(),
            heaps: BTreeMap::new(),
        }
    }

    /// A run in a limit ended.
    pub fn learn(&mut self, limit_bytes: u64, verdict: FitVerdict, trial: &StoredTrial) {
        if verdict == FitVerdict::Killed {
            self.beside_bytes = (self.beside_bytes as f64 * AFTER_KILL) as u64;
        }
        let Some(beside) = of_trial(trial).filter(|_| verdict == FitVerdict::Holds) else { return };
        // Without limits another collector and more threads may have been at work: the first run in a limit replaces that figure.
        let is_first = self.smallest_bytes.is_none();
        self.beside_bytes =
            if is_first { beside.beside_bytes } else { self.beside_bytes.max(beside.beside_bytes) };
        if self.smallest_bytes.is_none_or(|smallest| limit_bytes < smallest) {
            self.smallest_bytes = Some(limit_bytes);
            self.charged_elsewhere_bytes = beside.charged_elsewhere_bytes;
            self.snapshot.clone_from(&trial.memory_report);
        }
    }

    /// The server in the smallest limit that holds; none before any did.
    pub fn in_limit(&self) -> Option<&MemoryReport> {
        self.snapshot.as_ref().filter(|_| self.smallest_bytes.is_some())
    }

    /// The heap that is set with a limit; none where the command has its own, or the limit has no room for one.
    pub fn within(&mut self, limit_bytes: u64) -> Option<u64> {
        if self.is_given {
            return self.given_bytes;
        }
        if let Some(heap) = self.heaps.get(&limit_bytes) {
            return Some(*heap);
        }
        let heap = heap_within(limit_bytes, self.beside_bytes)?;
        self.heaps.insert(limit_bytes, heap);
        Some(heap)
    }

    /// Between which limits the smallest one lies.
    pub fn range(&self, machine_bytes: u64) -> (f64, f64) {
        let heap = if self.is_given { self.max_bytes.max(self.resident_bytes) } else { self.resident_bytes };
        let least = if self.is_given { self.resident_bytes } else { 0 };
        let low = self.beside_bytes.saturating_add(least) as f64 * LEAST_SHARE + HEAP_BYTES_MIN as f64;
        let high = limit_of(heap.max(2 * HEAP_BYTES_MIN), self.beside_bytes) as f64 * ROOM;
        (low, high.min(machine_bytes as f64))
    }
}

fn of_trial(trial: &StoredTrial) -> Option<BesideHeap> {
    trial.memory_report.as_ref().and_then(|report| beside_heap(report, &trial.memory))
}
