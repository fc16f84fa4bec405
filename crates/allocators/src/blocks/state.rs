//! What became of a block.

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockState {
    /// Handed out and not given back.
    Used,
    /// Given back, in a bin (glibc: small, large and unsorted bins; others: free runs and dirty pages).
    Binned,
    /// Given back, in a fast bin.
    Fast,
    /// Given back, in a thread's cache.
    ThreadCache,
    /// Never handed out since it was got from the kernel, or merged into the end of its heap.
    Top,
}
