//! Blocks one after the other.

use super::block::{Block, Run};
use super::code::Code;
use super::list::Blocks;
use std::iter::FusedIterator;

/// All blocks from one on, in the order of their addresses.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    blocks: &'a Blocks,
    /// The run after that of the next block.
    next_run: usize,
    /// The run of the next block, and how many of it are still to come.
    run: Run,
    left: u8,
    code_at: usize,
    /// Where the header of the next block begins.
    start: u64,
}

/// Where the code of a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CodePosition {
    pub(super) run: usize,
    pub(super) in_run: u8,
    pub(super) code_at: usize,
}

impl<'a> Iter<'a> {
    pub(super) fn new(blocks: &'a Blocks, index: usize) -> Iter<'a> {
        let behind = blocks.runs.partition_point(|run| run.index as usize <= index);
        let run = behind.saturating_sub(1);
        let mut iter = Iter::of_run(blocks, run);
        let skipped = blocks.runs.get(run).map_or(0, |run| index - run.index as usize);
        for _ in 0..skipped {
            if iter.next().is_none() {
                break;
            }
        }
        iter
    }

    /// From the first block of a run on.
    pub(super) fn of_run(blocks: &'a Blocks, run: usize) -> Iter<'a> {
        let mut iter = Iter { blocks, next_run: run, run: Run::default(), left: 0, code_at: 0, start: 0 };
        iter.enter();
        iter
    }

    /// Goes on to the next run that has any blocks.
    fn enter(&mut self) {
        while self.left == 0
            && let Some(run) = self.blocks.runs.get(self.next_run)
        {
            self.next_run += 1;
            (self.run, self.left) = (*run, run.count);
            (self.code_at, self.start) = (run.codes_at as usize, run.start);
        }
    }

    /// Where the next block is.
    pub(super) fn place(&mut self) -> Option<CodePosition> {
        if self.left == 0 {
            self.enter();
        }
        let in_run = self.run.count - self.left;
        (self.left != 0).then(|| CodePosition { run: self.next_run - 1, in_run, code_at: self.code_at })
    }
}

impl Iterator for Iter<'_> {
    type Item = Block;

    #[inline]
    fn next(&mut self) -> Option<Block> {
        if self.left == 0 {
            self.enter();
            if self.left == 0 {
                return None;
            }
        }
        let (code, behind) = Code::at(&self.blocks.codes, self.code_at)?;
        let block = self.run.block(self.start, code);
        self.left -= 1;
        self.code_at = behind;
        self.start += code.units << self.run.unit_bits;
        Some(block)
    }
}

impl FusedIterator for Iter<'_> {}
