//! The memory of jemalloc's own tables: leaves of the radix tree, extents' structures, arenas.
//!
//! It comes in blocks of multiples of 2 MiB, aligned to that (jemalloc 5.3.0, `base.c`). A block begins with its size, the
//! next block of its arena, and an extent that describes its unused rest, which reaches exactly to the block's end: by
//! that a block is known.

use super::extent::{EXTENT_BYTES, Extent};
use crate::word_reader::WordReader;
use std::ops::Range;

/// Huge pages of x86-64, and of 64-bit Arm with pages of 4 KiB.
const ALIGN_BYTES: u64 = 2 << 20;
/// Bytes of a block, which grow with their number: 1 TiB of heap takes about 3 GiB of tables.
const BLOCK_BYTES_MAX: u64 = 1 << 36;
/// How far below a table the start of its block is looked for.
const STEPS_MAX: u64 = 1024;
/// Blocks in all, and in one arena's chain.
const BLOCKS_MAX: usize = 1 << 16;
/// Where a block's unused rest is described: behind size and next block.
const REST_AT: u64 = 16;

/// Blocks of tables, in order.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Bases {
    pub blocks: Vec<Range<u64>>,
}

impl Bases {
    /// The block in which an address lies, if it is known.
    pub fn contains(&self, address: u64) -> bool {
        let next = self.blocks.partition_point(|block| block.end <= address);
        self.blocks.get(next).is_some_and(|block| block.contains(&address))
    }

    /// Finds the block in which a table lies, with those that follow it in its chain; false when there is none.
    pub fn add(&mut self, reader: &WordReader<'_>, table: u64) -> bool {
        self.add_within(reader, table, STEPS_MAX)
    }

    /// Like [`Bases::add`] for an address that may be no table: an arena's structure begins in the first 2 MiB of a
    /// block.
    pub fn add_near(&mut self, reader: &WordReader<'_>, address: u64) -> bool {
        self.add_within(reader, address, 1)
    }

    fn add_within(&mut self, reader: &WordReader<'_>, table: u64, steps: u64) -> bool {
        if self.contains(table) {
            return true;
        }
        let aligned = table / ALIGN_BYTES;
        let starts = (0..steps).map_while(|step| Some(aligned.checked_sub(step)? * ALIGN_BYTES));
        let mut found = starts.filter_map(|start| block_at(reader, start));
        let Some((block, mut next)) = found.find(|(block, _)| block.contains(&table)) else { return false };
        self.insert(block);
        while let Some((block, following)) = block_at(reader, next).filter(|_| next != 0) {
            if self.contains(next) || BLOCKS_MAX <= self.blocks.len() {
                break;
            }
            self.insert(block);
            next = following;
        }
        true
    }

    /// Leaves out blocks that overlap extents, which are in order, and counts them.
    pub fn leave_out_those_in(&mut self, extents: &[Extent], count: &mut u64) {
        self.blocks.retain(|block| {
            let next = extents.partition_point(|extent| extent.addresses.end <= block.start);
            let is_apart = extents.get(next).is_none_or(|extent| block.end <= extent.addresses.start);
            *count += u64::from(!is_apart);
            is_apart
        });
    }

    /// Adds a block, unless it overlaps another.
    fn insert(&mut self, block: Range<u64>) {
        let index = self.blocks.partition_point(|other| other.end <= block.start);
        if self.blocks.get(index).is_none_or(|other| block.end <= other.start) {
            self.blocks.insert(index, block);
        }
    }
}

/// The block at an address, and the one after it in its chain.
fn block_at(reader: &WordReader<'_>, at: u64) -> Option<(Range<u64>, u64)> {
    let bytes = reader.u64(at)?;
    let next = reader.u64(at.checked_add(8)?)?;
    let rest = reader.u64(at.checked_add(REST_AT + 8)?)?;
    let rest_bytes = reader.u64(at.checked_add(REST_AT + 16)?)?;
    let end = at.checked_add(bytes)?;
    let is_block = at.is_multiple_of(ALIGN_BYTES)
        && next.is_multiple_of(ALIGN_BYTES)
        && bytes.is_multiple_of(ALIGN_BYTES)
        && (ALIGN_BYTES..=BLOCK_BYTES_MAX).contains(&bytes)
        && at + REST_AT + EXTENT_BYTES <= rest
        && rest.checked_add(rest_bytes) == Some(end);
    is_block.then_some((at..end, next))
}
