//! A block, and blocks without a gap between them.

use super::code::Code;
use super::state::BlockState;
use std::ops::Range;

/// Blocks of a run: bounds the steps to one of them.
const RUN_BLOCKS_MAX: u8 = 32;

/// The arena of a block that is in none, since it has a mapping of its own.
pub const NO_ARENA: u16 = u16::MAX;

/// A block of an allocator's heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// What `malloc` returned, or would: behind the allocator's own header.
    pub address: u64,
    /// Usable bytes from there on, rounding included.
    pub bytes: u64,
    /// What became of it.
    pub state: BlockState,
    /// Bytes directly before `address` that the allocator takes for itself.
    pub header_bytes: u8,
    /// Index of its arena in [`crate::Survey::arenas`]; [`NO_ARENA`] for a block with a mapping of its own.
    pub arena: u16,
}

impl Block {
    /// Usable addresses.
    pub fn addresses(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes)
    }

    /// Where its header begins.
    pub(super) fn start(&self) -> u64 {
        self.address.saturating_sub(self.header_bytes.into())
    }
}

/// Blocks without a gap between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Run {
    /// Where the header of the first one begins.
    pub(super) start: u64,
    /// Where its codes begin.
    pub(super) codes_at: u32,
    /// Index of the first one.
    pub(super) index: u32,
    pub(super) arena: u16,
    pub(super) header_bytes: u8,
    pub(super) unit_bits: u8,
    /// Blocks in it.
    pub(super) count: u8,
}

impl Run {
    /// The block whose header begins at an address.
    #[inline]
    pub(super) fn block(&self, start: u64, code: Code) -> Block {
        let header = u64::from(self.header_bytes);
        Block {
            address: start + header,
            bytes: (code.units << self.unit_bits).saturating_sub(header),
            state: code.state,
            header_bytes: self.header_bytes,
            arena: self.arena,
        }
    }

    /// Whether a block that follows on the last one fits in.
    pub(super) fn takes(&self, block: &Block, span: u64) -> bool {
        self.count < RUN_BLOCKS_MAX
            && self.arena == block.arena
            && self.header_bytes == block.header_bytes
            && span.trailing_zeros() >= u32::from(self.unit_bits)
    }
}
