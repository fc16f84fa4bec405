//! How a process is read.

use assay_model::SnapshotDepth;
use std::time::Duration;

/// What a caller may choose.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// How deep; where it is left open, owners are looked for unless that reads too much of the Java heap.
    pub depth: Option<SnapshotDepth>,
    /// Bytes of the Java heap that may be read to look for owners, where the depth is left open.
    pub heap_read_bytes_max: u64,
    /// Stop the process while it is copied, for at most this long. Without it the process is never stopped.
    pub freeze: Option<Duration>,
    /// Bytes that are copied at most, and by which Assay's own memory grows. It is less where there is less memory.
    pub copy_bytes_max: u64,
    /// Ignore the headers and counters of native memory tracking: for tests that hold inferred owners against them.
    pub ignore_nmt: bool,
    /// Whether to mark what of the Java heap is alive, where it is read: which roots hold how much, and how much is garbage.
    pub mark_heap: MarkHeap,
    /// Ask the JVM for its own map of what nothing else names. The JVM starts a thread for that, which stays.
    pub ask_jvm: bool,
    /// Say where each entry lies.
    pub with_ranges: bool,
}

/// When the live objects of the Java heap are marked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MarkHeap {
    /// Where little of a large heap is alive, so that a mark takes a small part of the time that the heap takes anyway, and no collection
    /// falls into it.
    #[default]
    IfCheap,
    /// Up to a resident heap of 2 GiB, unless that takes too long, or the whole heap is collected meanwhile.
    Always,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            depth: None,
            heap_read_bytes_max: HEAP_READ_BYTES_MAX,
            freeze: None,
            copy_bytes_max: COPY_BYTES_MAX,
            ignore_nmt: false,
            mark_heap: MarkHeap::IfCheap,
            ask_jvm: false,
            with_ranges: false,
        }
    }
}

impl ReadOptions {
    /// Of this depth, whatever it takes.
    pub fn of_depth(depth: SnapshotDepth) -> ReadOptions {
        ReadOptions { depth: Some(depth), ..ReadOptions::default() }
    }
}

/// Resident bytes of Java objects that are read where no depth is asked for. A snapshot is asked for to be answered: reading
/// takes 0.4 to 0.7 s of CPU time for each GiB, so that this much takes about 2 s. The search for the classes that hold native memory
/// reads parts of it again, for 1.4 s at most.
pub const HEAP_READ_BYTES_MAX: u64 = 3 << 30;

/// Bytes of a process that are copied where nobody says: what a JVM has beside its heap is seldom more.
const COPY_BYTES_MAX: u64 = 8 << 30;
