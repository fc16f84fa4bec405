//! Which block of malloc's heap a word leads to.

use super::filter::AddressFilter;
use assay_allocators::{BlockFinder, BlockState, Blocks, HeapRange};

/// Blocks by their addresses.
pub(crate) struct BlockIndex<'a> {
    blocks: &'a Blocks,
    finder: BlockFinder<'a>,
    /// Pointers to tracked blocks lead behind the header of native memory tracking.
    tracked_header_bytes: u64,
    filter: AddressFilter,
}

/// Where a word leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// To the first byte that a program sees of the block with this index.
    Start(u32),
    /// Into the block.
    Inside(u32),
}

impl<'a> BlockIndex<'a> {
    /// `tracked_header_bytes` is 0 when native memory is not tracked.
    pub(crate) fn new(blocks: &'a Blocks, ranges: &[HeapRange], tracked_header_bytes: u64) -> Self {
        let filter = AddressFilter::new(ranges.iter().map(|range| range.addresses.clone()));
        BlockIndex { blocks, finder: blocks.finder(), tracked_header_bytes, filter }
    }

    pub(crate) fn blocks(&self) -> &'a Blocks {
        self.blocks
    }

    /// Bytes of a block.
    pub(crate) fn bytes_of(&self, block: u32) -> u64 {
        self.blocks.get(block as usize).map_or(0, |block| block.bytes)
    }

    /// Words that do not pass lead to no block.
    pub(crate) fn filter(&self) -> &AddressFilter {
        &self.filter
    }

    /// The block in use that a word leads to.
    #[inline]
    pub(crate) fn target(&self, word: u64) -> Option<Target> {
        let (index, block) = self.finder.find(word)?;
        let starts = word == block.address || word == block.address + self.tracked_header_bytes;
        let index = index as u32;
        let target = if starts { Target::Start(index) } else { Target::Inside(index) };
        (block.state == BlockState::Used).then_some(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_allocators::{Block, HeapKind};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_address_leads_to_the_block_that_a_search_finds(
            sizes in prop::collection::vec((0u64..9000, 16u64..20_000, any::<bool>()), 1..40),
            header in prop_oneof![Just(0u64), Just(16)],
        ) {
            let base = 0x7f00_0000_0000;
            let mut blocks = Vec::new();
            let mut at = base;
            for (gap, bytes, used) in sizes {
                // A block's own header is not part of it.
                let address = at + gap + 8;
                let state = if used { BlockState::Used } else { BlockState::Binned };
                blocks.push(Block { address, bytes, state, header_bytes: 8, arena: 0 });
                at = address + bytes;
            }
            let range = HeapRange { addresses: base..at, kind: HeapKind::Main };
            let packed = blocks.iter().copied().collect();
            let index = BlockIndex::new(&packed, &[range], header);
            for word in (base.saturating_sub(16)..at + 16).step_by(8) {
                let by_search = blocks.iter().position(|b| b.addresses().contains(&word));
                let expected = by_search.filter(|i| blocks[*i].state == BlockState::Used).map(|i| {
                    let start = word == blocks[i].address || word == blocks[i].address + header;
                    if start { Target::Start(i as u32) } else { Target::Inside(i as u32) }
                });
                prop_assert_eq!(index.target(word), expected);
            }
        }
    }
}
