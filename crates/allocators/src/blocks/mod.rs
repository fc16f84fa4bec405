//! All blocks of an allocator's heaps, packed: a heap of small blocks has twenty million of them in a GiB.
//!
//! Blocks that follow each other without a gap, with headers of one size and in one arena, are a run, of which only the
//! beginning is kept in full. Of each block in it the state and the length are kept: in one byte up to 240 bytes of
//! length, in two up to 32 KiB. With its runs that makes 1.8 bytes for a block of a heap of small ones.

mod block;
mod code;
mod find;
mod iter;
mod list;
mod state;
#[cfg(test)]
mod tests;

use block::Run;
pub use block::{Block, NO_ARENA};
pub use find::BlockFinder;
pub use iter::Iter;
pub use list::Blocks;
pub use state::BlockState;

use code::{Code, STATE_MASK};
use std::ops::Range;

/// Lengths are kept in units of up to 16 bytes, as malloc's are.
const UNIT_BITS_MAX: u32 = 4;
/// Addresses of a process end before.
const SPAN_BYTES_MAX: u64 = 1 << 57;
/// Memory limit of all blocks together: 21 million small ones. Beyond it they are not distinguished, and the survey says so.
const BYTES_MAX: usize = 36 << 20;

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks::with_room(BYTES_MAX)
    }
}

impl Blocks {
    /// No blocks yet, and room for those that take so many bytes.
    pub(crate) fn with_room(bytes_max: usize) -> Blocks {
        Blocks { runs: Vec::new(), codes: Vec::new(), count: 0, end: 0, bytes_max }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All blocks.
    pub fn iter(&self) -> Iter<'_> {
        Iter::new(self, 0)
    }

    /// The blocks with these indices.
    pub fn range(&self, indices: Range<usize>) -> impl Iterator<Item = Block> + '_ {
        Iter::new(self, indices.start).take(indices.len())
    }

    /// The block with an index.
    pub fn get(&self, index: usize) -> Option<Block> {
        Iter::new(self, index).next()
    }

    /// The block that an address lies in, its header not counted, and its index. For many look-ups see
    /// [`Blocks::finder`].
    pub fn find(&self, address: u64) -> Option<(usize, Block)> {
        let behind = self.runs.partition_point(|run| run.start <= address);
        find::in_run(self, behind.checked_sub(1)?, address)
    }

    /// For many look-ups.
    pub fn finder(&self) -> BlockFinder<'_> {
        BlockFinder::new(self)
    }

    /// Whether the list is full, which ends a walk. Markers of a heap's end may still be added.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes_max <= self.codes.len() + self.runs.len() * size_of::<Run>()
    }

    /// Adds a block behind all others.
    pub(crate) fn push(&mut self, block: Block) {
        let start = block.start();
        let span = block.bytes.saturating_add(block.address - start).min(SPAN_BYTES_MAX);
        debug_assert!(self.is_empty() || self.end <= start, "{block:?} is not behind {:#x}", self.end);
        let unit_bits = match self.runs.last() {
            Some(run) if self.end == start && run.takes(&block, span) => run.unit_bits,
            _ => self.open_run(&block, start, span),
        };
        Code { units: span >> unit_bits, state: block.state }.push_to(&mut self.codes);
        if let Some(run) = self.runs.last_mut() {
            run.count += 1;
        }
        self.count += 1;
        self.end = start.saturating_add(span);
    }

    fn open_run(&mut self, block: &Block, start: u64, span: u64) -> u8 {
        let unit_bits = span.trailing_zeros().min(UNIT_BITS_MAX) as u8;
        self.runs.push(Run {
            start,
            // `is_full` is asked long before.
            codes_at: u32::try_from(self.codes.len()).unwrap_or(u32::MAX),
            index: self.count,
            arena: block.arena,
            header_bytes: block.header_bytes,
            unit_bits,
            count: 0,
        });
        unit_bits
    }

    /// Keeps the first blocks only. For lists into which nothing was inserted.
    pub(crate) fn truncate(&mut self, count: usize) {
        if self.len() <= count {
            return;
        }
        let Some(place) = Iter::new(self, count).place() else { return };
        self.codes.truncate(place.code_at);
        self.runs.truncate(place.run + usize::from(place.in_run != 0));
        if let Some(run) = self.runs.last_mut().filter(|_| place.in_run != 0) {
            run.count = place.in_run;
        }
        self.count = count as u32;
        self.end = self.last().map_or(0, |block| block.addresses().end);
    }

    /// The last block.
    pub(crate) fn last(&self) -> Option<Block> {
        self.get(self.len().checked_sub(1)?)
    }

    /// How many of the blocks from an index on end at an address or before.
    pub(crate) fn count_ending_by(&self, first: usize, address: u64) -> usize {
        let ends = |block: &Block| block.addresses().end <= address;
        // Whole runs first: the last that begins before the address is the one to look into.
        let behind = self.runs.partition_point(|run| run.start < address);
        let Some(run) = behind.checked_sub(1).map(|run| &self.runs[run]) else { return 0 };
        let at = (run.index as usize).max(first);
        at - first + Iter::new(self, at).take_while(ends).count()
    }

    /// Changes what became of a block.
    pub(crate) fn set_state(&mut self, index: usize, state: BlockState) {
        if let Some(place) = Iter::new(self, index).place() {
            let code = &mut self.codes[place.code_at];
            *code = *code & !STATE_MASK | code::number_of(state);
        }
    }

    /// Adds sorted blocks that lie between the others, each apart from them.
    pub(crate) fn insert(&mut self, few: &[Block]) {
        let mut apart = Blocks::default();
        few.iter().for_each(|block| apart.push(*block));
        let codes = self.codes.len() as u32;
        self.codes.extend_from_slice(&apart.codes);
        apart.runs.iter_mut().for_each(|run| run.codes_at += codes);
        self.runs.append(&mut apart.runs);
        // Both parts are sorted already: such a sort only merges.
        self.runs.sort_by_key(|run| run.start);
        self.count = 0;
        for run in &mut self.runs {
            run.index = self.count;
            self.count += u32::from(run.count);
        }
        self.end = self.end.max(apart.end);
    }
}

impl<'a> IntoIterator for &'a Blocks {
    type Item = Block;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<Block> for Blocks {
    /// From blocks in the order of their addresses.
    fn from_iter<I: IntoIterator<Item = Block>>(sorted: I) -> Blocks {
        let mut blocks = Blocks::default();
        sorted.into_iter().for_each(|block| blocks.push(block));
        blocks
    }
}
