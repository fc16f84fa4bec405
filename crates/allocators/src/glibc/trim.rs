//! What `malloc_trim(0)` would give back, page by page.
//!
//! It first merges the chunks of the fast bins with their free neighbours (caches of threads stay as they are). Then, of
//! every free chunk in every arena, it gives back the whole pages behind the chunk's own fields. Of the tops only the
//! main arena's is cut, to whole pages, and only if the break is still where malloc left it.
//! Held by: `the_predicted_gain_is_what_a_trim_gives`.

use super::layout::Sizes;
use crate::{Block, BlockState};
use assay_linux::PageMap;
use std::ops::Range;

/// Input of the prediction, beside the blocks.
pub(crate) struct Trim<'a> {
    /// Resident pages.
    pub pages: &'a PageMap,
    /// Sizes of chunks.
    pub sizes: Sizes,
    /// The main arena's top is cut to multiples of this: a page, or a huge page where malloc uses those.
    pub top_step_bytes: u64,
    /// Where the break is; absent when it is not known.
    pub brk: Option<u64>,
}

impl Trim<'_> {
    /// Resident bytes that a trim gives back, of the blocks of one heap in the order of their addresses.
    pub(crate) fn gain_bytes(&self, blocks: impl Iterator<Item = Block>, is_main: bool) -> u64 {
        let mut gain = 0;
        let mut run: Option<Range<u64>> = None;
        for block in blocks {
            let chunk = self.chunk(&block);
            match block.state {
                BlockState::Binned | BlockState::Fast => match &mut run {
                    Some(run) if run.end == chunk.start => run.end = chunk.end,
                    _ => gain += run.replace(chunk).map_or(0, |run| self.of_bin(&run)),
                },
                BlockState::Top => {
                    // The top has absorbed the chunk directly before it, so no bin holds that.
                    let before = run.take_if(|run| run.end == chunk.start);
                    let start = before.map_or(chunk.start, |run| run.start);
                    gain += if is_main { self.of_top(&(start..chunk.end)) } else { 0 };
                }
                BlockState::Used | BlockState::ThreadCache => {
                    gain += run.take().map_or(0, |run| self.of_bin(&run));
                }
            }
        }
        gain + run.map_or(0, |run| self.of_bin(&run))
    }

    fn chunk(&self, block: &Block) -> Range<u64> {
        let start = block.address.saturating_sub(self.sizes.header());
        let shared = if block.state == BlockState::Top { 0 } else { self.sizes.word };
        start..block.address.saturating_add(block.bytes).saturating_sub(shared)
    }

    fn of_bin(&self, chunk: &Range<u64>) -> u64 {
        let page = self.pages.page_bytes();
        let from = chunk.start.saturating_add(self.sizes.chunk_struct()).next_multiple_of(page);
        let to = chunk.end - chunk.end % page;
        if from < to { self.pages.resident_bytes_in(from..to) } else { 0 }
    }

    fn of_top(&self, top: &Range<u64>) -> u64 {
        let spare = (top.end - top.start).saturating_sub(self.sizes.chunk_min() + 1);
        let extra = spare - spare % self.top_step_bytes.max(1);
        if extra == 0 || self.brk != Some(top.end) {
            0
        } else {
            self.pages.resident_bytes_in(top.end - extra..top.end)
        }
    }
}
