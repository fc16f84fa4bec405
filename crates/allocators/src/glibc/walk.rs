//! Walks the chunks of one heap from its first to its top, or to the fence at its end.
//!
//! A chunk says how long it is, and the chunk behind it says whether it is in use. While threads of the target run, the
//! chain may be torn under the reader: what was read as a chunk has been merged or split since. There is no counter of
//! generations; that sizes fit together and that the walk lands exactly on `top` is the check. A walk that does not
//! fit is taken back some chunks and done again with memory that is read anew; when that does not help, it goes on
//! at the next place that looks like a chain of chunks, and the range between is called not walkable.

use super::layout::{FLAGS, IS_MMAPPED, PREV_INUSE, Sizes};
use crate::{Block, BlockState, Blocks};
use std::ops::Range;

/// How many blocks a try is taken back, before the next place is looked for.
const BACK: [usize; 5] = [0, 0, 8, 64, 512];
/// Tries in one heap: bounds the time that a target can make a walk take.
const TRIES_MAX: u32 = 2_000;
/// Heaps are whole pages, of this size at least.
const PAGE_BYTES_MIN: u64 = 4096;
/// Chunks that must fit together where a walk goes on after a gap.
const CHAIN: usize = 4;

/// The memory that a walk reads.
pub(crate) trait Headers {
    /// Size of the chunk before (if that is free), and size with flags, of a chunk.
    fn header(&mut self, chunk: u64) -> Option<[u64; 2]>;
    /// Reads anew what is asked for from now on.
    fn refresh(&mut self);
    /// The first address from `at` on that can be read.
    fn next_readable(&self, at: u64, end: u64) -> Option<u64>;
    /// The arena's top chunk as it is now.
    fn top(&mut self) -> Option<u64>;
}

/// One heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Address of its first chunk.
    pub first: u64,
    /// Its end: no chunk reaches beyond. Before it the heap ends with the arena's top or with a fence.
    pub end: u64,
    /// Whether it is grown by `brk`: others may have moved the break in between.
    pub is_main: bool,
    /// The arena.
    pub arena: u16,
}

/// Sizes of blocks that are noted beside all others.
pub(crate) type Noted = [u64; 3];

/// What a walk says beside the blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Walked {
    /// The end of the last chunk, fence included.
    pub end: u64,
    /// Could not be walked.
    pub gaps: Vec<Range<u64>>,
    /// Belongs to somebody else, who moved the break.
    pub foreign: Vec<Range<u64>>,
    /// Addresses where blocks of the noted sizes were met; a walk that was taken back may have been wrong.
    pub noted: Vec<u64>,
    /// How often the walk was taken back.
    pub retries: u32,
}

/// Walks a heap, and appends its blocks.
pub(crate) fn walk(
    memory: &mut impl Headers,
    sizes: Sizes,
    segment: &Segment,
    noted: &Noted,
    blocks: &mut Blocks,
) -> Walked {
    let first_block = blocks.len();
    let top = memory.top();
    let mut walker = Walker {
        sizes,
        segment,
        memory,
        noted,
        blocks,
        first_block,
        top,
        at: segment.first,
        behind: None,
        worst: segment.first,
        tries: 0,
        walked: Walked::default(),
    };
    loop {
        match walker.step() {
            Step::Next => {}
            Step::End(end) => {
                walker.walked.end = end;
                return walker.walked;
            }
            Step::Torn => {
                if !walker.take_back() && !walker.go_on_behind(false) {
                    return walker.give_up();
                }
            }
            Step::Full => return walker.give_up(),
            Step::Foreign => {
                if !walker.go_on_behind(true) {
                    // Somebody else's to the end: malloc has moved elsewhere.
                    walker.walked.end = walker.at;
                    return walker.walked;
                }
            }
        }
    }
}

enum Step {
    Next,
    End(u64),
    Torn,
    Foreign,
    /// There is no room for more blocks.
    Full,
}

struct Chunk {
    size: u64,
    flags: u64,
    before: u64,
}

struct Walker<'a, H> {
    sizes: Sizes,
    segment: &'a Segment,
    memory: &'a mut H,
    noted: &'a Noted,
    blocks: &'a mut Blocks,
    /// Blocks before this one are of other heaps.
    first_block: usize,
    top: Option<u64>,
    at: u64,
    /// The chunk behind the last one, and where it is: read to see whether the last one is free.
    behind: Option<(u64, Chunk)>,
    /// The furthest place at which a try failed.
    worst: u64,
    tries: usize,
    walked: Walked,
}

impl<H: Headers> Walker<'_, H> {
    fn step(&mut self) -> Step {
        if Some(self.at) == self.top {
            return self.end_at_top();
        }
        if self.blocks.is_full() {
            return Step::Full;
        }
        let known = self.behind.take().filter(|(at, _)| *at == self.at).map(|(_, chunk)| chunk);
        let Some(chunk) = known.or_else(|| self.chunk(self.at)) else { return Step::Torn };
        if chunk.size == 0 || chunk.size == self.sizes.header() {
            return self.fence(&chunk);
        }
        if !self.fits(self.at, &chunk) {
            return Step::Torn;
        }
        let next = self.at + chunk.size;
        let Some(behind) = self.chunk(next) else { return Step::Torn };
        let is_free = behind.flags & PREV_INUSE == 0;
        if is_free && behind.before != chunk.size {
            return Step::Torn;
        }
        let state = if is_free { BlockState::Binned } else { BlockState::Used };
        let block = self.block(chunk.size - self.sizes.word, state);
        if !is_free && self.noted.contains(&block.bytes) {
            self.walked.noted.push(block.address);
        }
        self.blocks.push(block);
        self.at = next;
        self.behind = Some((next, behind));
        Step::Next
    }

    /// The block that the chunk here hands out. The word in front of it is its size; the one before that belongs to its neighbour
    /// while that is in use, so that a chunk ends a word behind the next one's beginning.
    fn block(&self, bytes: u64, state: BlockState) -> Block {
        Block {
            address: self.at + self.sizes.header(),
            bytes,
            state,
            header_bytes: self.sizes.word as u8,
            arena: self.segment.arena,
        }
    }

    fn chunk(&mut self, at: u64) -> Option<Chunk> {
        if self.segment.end.saturating_sub(self.sizes.header()) < at {
            return None;
        }
        let [before, size] = self.memory.header(at)?;
        Some(Chunk { size: size & !FLAGS, flags: size & FLAGS, before })
    }

    /// Whether a chunk's own words are as they must be.
    fn fits(&self, at: u64, chunk: &Chunk) -> bool {
        let size = chunk.size;
        let limit = self.top.unwrap_or(self.segment.end);
        let flags = if self.segment.is_main { chunk.flags & !PREV_INUSE } else { chunk.flags & IS_MMAPPED };
        flags == 0
            && self.sizes.chunk_min() <= size
            && size.is_multiple_of(self.sizes.align)
            && at.checked_add(size).is_some_and(|end| end <= limit)
    }

    fn end_at_top(&mut self) -> Step {
        let Some(chunk) = self.chunk(self.at) else { return Step::Torn };
        let end = self.at.saturating_add(chunk.size);
        if chunk.size < self.sizes.header() || self.segment.end < end {
            return Step::Torn;
        }
        if self.memory.top() != self.top {
            return Step::Torn;
        }
        self.blocks.push(self.block(chunk.size - self.sizes.header(), BlockState::Top));
        Step::End(end)
    }

    /// The end of a heap that is full: a chunk of a header's size and one of size 0 at the very end, or, where there was
    /// no space for both, a chunk of twice a header's size that nobody owns (`sysmalloc`). The main arena, whose break
    /// somebody else has moved, has two of a header's size, and goes on behind what is not its own. The first of the two
    /// is marked as any chunk is by the one before it, which was the top and mostly is free now.
    fn fence(&mut self, chunk: &Chunk) -> Step {
        let header = self.sizes.header();
        let next = self.at + header;
        if chunk.size == 0 {
            if chunk.flags & PREV_INUSE == 0 || self.top.is_some() || !self.is_end(next) {
                return Step::Torn;
            }
            let is_unowned = |last: &Block| {
                last.address + last.bytes == self.at + self.sizes.word
                    && last.bytes + self.sizes.word == 2 * header
            };
            if self.blocks.last().as_ref().is_some_and(is_unowned) {
                self.blocks.truncate(self.blocks.len() - 1);
            }
            return Step::End(self.end_of_heap(next));
        }
        let Some(behind) = self.chunk(next) else { return Step::Torn };
        if behind.flags & PREV_INUSE == 0 {
            return Step::Torn;
        }
        match behind.size {
            0 if self.top.is_none() && self.is_end(next + header) => {
                Step::End(self.end_of_heap(next + header))
            }
            size if size == header && self.segment.is_main => {
                self.at = next + header;
                Step::Foreign
            }
            _ => Step::Torn,
        }
    }

    /// Whether a heap may end here: at a page. On i386 chunks begin 8 bytes behind a multiple of 16, so that some bytes
    /// are left.
    fn is_end(&self, at: u64) -> bool {
        let end = self.end_of_heap(at);
        end <= self.segment.end && end.is_multiple_of(PAGE_BYTES_MIN)
    }

    fn end_of_heap(&self, at: u64) -> u64 {
        at.next_multiple_of(self.sizes.align)
    }

    /// Goes back some blocks and reads anew; false when that was tried often enough.
    fn take_back(&mut self) -> bool {
        self.walked.retries += 1;
        if self.worst < self.at {
            self.worst = self.at;
            self.tries = 0;
        }
        if BACK.len() <= self.tries || TRIES_MAX < self.walked.retries {
            return false;
        }
        self.memory.refresh();
        self.behind = None;
        self.top = self.memory.top();
        let back = BACK[self.tries].max(self.blocks_beyond_top());
        let keep = self.blocks.len().saturating_sub(back).max(self.first_block);
        if let Some(block) = self.blocks.get(keep) {
            self.at = block.address - self.sizes.header();
            self.blocks.truncate(keep);
        }
        let at = self.at;
        self.walked.gaps.retain(|gap| gap.start < at);
        self.walked.foreign.retain(|gap| gap.start < at);
        self.tries += 1;
        true
    }

    /// Blocks that a top which has moved down has swallowed.
    fn blocks_beyond_top(&self) -> usize {
        let Some(top) = self.top else { return 0 };
        let keep = self.blocks.count_ending_by(self.first_block, top.saturating_add(self.sizes.word));
        self.blocks.len() - self.first_block - keep
    }

    /// Goes on at the next chain of chunks; false when there is none.
    fn go_on_behind(&mut self, is_foreign: bool) -> bool {
        let from = self.at;
        self.tries = 0;
        let Some(first) = self.sizes.first_chunk(if is_foreign { from } else { from + 1 }) else {
            return false;
        };
        let mut at = first;
        loop {
            let Some(readable) = self.memory.next_readable(at, self.segment.end) else { return false };
            if readable != at {
                let Some(aligned) = self.sizes.first_chunk(readable) else { return false };
                at = aligned;
            }
            if self.segment.end <= at {
                return false;
            }
            if self.is_chain(at) {
                break;
            }
            at += self.sizes.align;
        }
        if from < at {
            let gaps = if is_foreign { &mut self.walked.foreign } else { &mut self.walked.gaps };
            gaps.push(from..at);
        }
        self.at = at;
        self.worst = self.worst.max(at);
        true
    }

    fn is_chain(&mut self, mut at: u64) -> bool {
        for passed in 0..CHAIN {
            if Some(at) == self.top {
                return true;
            }
            let Some(chunk) = self.chunk(at) else { return false };
            if chunk.size == self.sizes.header() && 0 < passed {
                return self.segment.is_main || self.is_end(at + 2 * chunk.size);
            }
            if !self.fits(at, &chunk) {
                return false;
            }
            let next = at + chunk.size;
            let Some(behind) = self.chunk(next) else { return false };
            if behind.flags & PREV_INUSE == 0 && behind.before != chunk.size {
                return false;
            }
            at = next;
        }
        true
    }

    /// The rest cannot be walked, except for the top, if there is one.
    fn give_up(mut self) -> Walked {
        let top = self.top.filter(|top| self.at <= *top);
        let end = top.unwrap_or(self.segment.end);
        if self.at < end {
            self.walked.gaps.push(self.at..end);
        }
        self.walked.end = end;
        if let Some(top) = top
            && let Some(chunk) = self.chunk(top)
            && let Some(end) = top.checked_add(chunk.size)
            && self.sizes.header() <= chunk.size
            && end <= self.segment.end
        {
            self.at = top;
            self.blocks.push(self.block(chunk.size - self.sizes.header(), BlockState::Top));
            self.walked.end = end;
        }
        self.walked
    }
}
