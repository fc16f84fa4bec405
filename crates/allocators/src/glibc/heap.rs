//! A heap of an arena.

use super::walk::Segment;
use std::ops::Range;

/// A heap, with the memory around it that belongs to the arena too: `heap_info`, `malloc_state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heap {
    /// What is walked.
    pub segment: Segment,
    /// What belongs to it, `segment` included; the main arena's ends where its top does.
    pub addresses: Range<u64>,
}
