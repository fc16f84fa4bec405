//! Blocks in the order of their addresses, as they are kept.

use super::block::Run;

/// Blocks in the order of their addresses, without overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// In the order of their addresses. The codes of those that were inserted later are behind all others.
    pub(super) runs: Vec<Run>,
    pub(super) codes: Vec<u8>,
    pub(super) count: u32,
    /// Where the last block ends.
    pub(super) end: u64,
    pub(super) bytes_max: usize,
}
