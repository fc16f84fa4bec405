//! What counting a running JVM's objects gave, and what it cost.

use assay_hotspot::WalkBytes;

/// What stopping and reading a process came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreezeReport {
    /// How long the process was stopped, all attempts together, from the first thread that was asked to stop until all
    /// were let go.
    pub frozen_ns: u64,
    /// How often it was stopped: once, unless a collection ran.
    pub attempts: u32,
    /// Threads that were stopped.
    pub threads: usize,
    /// Bytes that were read of the heap; bodies of large arrays are not.
    pub bytes_read: u64,
    /// Where the bytes of the heap's used part went.
    pub bytes: WalkBytes,
    /// Objects that were met.
    pub objects: u64,
    /// Whether it was let go at the limit, before everything was read.
    pub is_cut_short: bool,
}

impl FreezeReport {
    /// How long the process was stopped, in milliseconds, rounded up.
    pub fn frozen_ms(&self) -> u64 {
        self.frozen_ns.div_ceil(1_000_000)
    }
}

/// Objects of a class histogram, as they are in the heap. Objects that only fill gaps, those of the archive of class data that
/// nothing has loaded, and the stacks in parts of virtual threads' stacks are met, but are not part of a class histogram.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// How many.
    pub objects: u64,
    /// Σ of their sizes in bytes, alignment included.
    pub bytes: u64,
}

impl Counted {
    pub(super) fn add(&mut self, objects: u64, bytes: u64) {
        self.objects = self.objects.saturating_add(objects);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}
