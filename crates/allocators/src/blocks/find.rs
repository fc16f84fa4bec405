//! Which block an address lies in, in a few steps whatever the number of blocks.

use super::block::{Block, Run};
use super::code::{Code, Eight};
use super::iter::Iter;
use super::list::Blocks;

/// Runs so far apart have tables of their own.
const RANGE_GAP_BYTES: u64 = 1 << 20;

/// A table over runs by their addresses. It takes about four bytes for each run, of which one has up to 32 blocks.
#[derive(Debug)]
pub struct BlockFinder<'a> {
    blocks: &'a Blocks,
    ranges: Vec<CellRange>,
    /// For each cell of each range: the last run that begins in front of it, or in it where none does.
    first_run: Vec<u32>,
}

/// Addresses that are cut into cells of equal size.
#[derive(Debug)]
struct CellRange {
    start: u64,
    end: u64,
    cell_bits: u32,
    /// Where its cells begin.
    cells_at: usize,
}

impl<'a> BlockFinder<'a> {
    pub(super) fn new(blocks: &'a Blocks) -> BlockFinder<'a> {
        let mut finder = BlockFinder { blocks, ranges: Vec::new(), first_run: Vec::new() };
        let runs = &blocks.runs;
        let mut first = 0;
        while first < runs.len() {
            let is_apart = |pair: &[Run]| RANGE_GAP_BYTES < pair[1].start - pair[0].start;
            let length = runs[first..].windows(2).position(is_apart).map_or(runs.len() - first, |i| i + 1);
            finder.add(first, first + length);
            first += length;
        }
        finder
    }

    fn add(&mut self, first: usize, behind: usize) {
        let runs = &self.blocks.runs[first..behind];
        let (Some(head), Some(tail)) = (runs.first(), runs.last()) else { return };
        let end = Iter::of_run(self.blocks, behind - 1).take(tail.count.into()).last();
        let (start, end) = (head.start, end.map_or(tail.start, |block| block.addresses().end));
        // As many cells as runs, or up to twice as many.
        let cell_bytes = ((end - start) / runs.len() as u64).max(1);
        let cell_bits = cell_bytes.ilog2();
        self.ranges.push(CellRange { start, end, cell_bits, cells_at: self.first_run.len() });
        let mut run = first;
        for cell in 0..=(end - start) >> cell_bits {
            let at = start + (cell << cell_bits);
            while run + 1 < behind && self.blocks.runs[run + 1].start <= at {
                run += 1;
            }
            self.first_run.push(run as u32);
        }
    }

    /// The block that an address lies in, its header not counted, and its index.
    #[inline]
    pub fn find(&self, address: u64) -> Option<(usize, Block)> {
        let range = self.ranges.partition_point(|range| range.end <= address);
        let range = self.ranges.get(range).filter(|range| range.start <= address)?;
        let cell = range.cells_at + ((address - range.start) >> range.cell_bits) as usize;
        let mut run = *self.first_run.get(cell)? as usize;
        while self.blocks.runs.get(run + 1).is_some_and(|next| next.start <= address) {
            run += 1;
        }
        in_run(self.blocks, run, address)
    }
}

/// The block of a run that an address lies in.
pub(super) fn in_run(blocks: &Blocks, run: usize, address: u64) -> Option<(usize, Block)> {
    let of = blocks.runs.get(run)?;
    let (mut passed, mut code_at, mut start) = (0, of.codes_at as usize, of.start);
    let found = |passed: u8, start: u64, code: Code| {
        let block = of.block(start, code);
        (block.address <= address).then_some((of.index as usize + usize::from(passed), block))
    };
    // Eight at a time, as long as they take a byte each.
    while passed + 8 <= of.count
        && let Some(eight) = Eight::at(&blocks.codes, code_at)
    {
        if let Some((index, before, code)) = eight.find(address.checked_sub(start)? >> of.unit_bits) {
            return found(passed + index as u8, start + (before << of.unit_bits), code);
        }
        start += eight.units() << of.unit_bits;
        (passed, code_at) = (passed + 8, code_at + 8);
    }
    while passed < of.count {
        let (code, behind) = Code::at(&blocks.codes, code_at)?;
        let end = start + (code.units << of.unit_bits);
        if address < end {
            return found(passed, start, code);
        }
        (passed, code_at, start) = (passed + 1, behind, end);
    }
    None
}
