//! Properties of the walk over chunks, on heaps made of random chunks, of random bytes, and of memory that never says
//! the same thing twice.

use super::layout::{PREV_INUSE, Sizes};
use super::walk::{Headers, Segment, Walked, walk};
use crate::{Block, BlockState, Blocks};
use proptest::prelude::*;

const SIZES: Sizes = Sizes { word: 8, align: 16 };
const BASE: u64 = 0x10_0000;

/// Words of a heap, from [`BASE`] on.
struct Memory {
    words: Vec<u64>,
    top: Option<u64>,
    reads: usize,
    /// Mixed into every word that is read, changed each time.
    noise: Box<dyn FnMut(usize) -> u64>,
}

impl Memory {
    fn new(words: Vec<u64>, top: Option<u64>) -> Memory {
        Memory { words, top, reads: 0, noise: Box::new(|_| 0) }
    }

    fn end(&self) -> u64 {
        BASE + 8 * self.words.len() as u64
    }

    fn walk(&mut self) -> (Vec<Block>, Walked) {
        self.walk_into(Blocks::default())
    }

    fn walk_into(&mut self, mut blocks: Blocks) -> (Vec<Block>, Walked) {
        let segment = Segment { first: BASE, end: self.end(), is_main: true, arena: 0 };
        let walked = walk(self, SIZES, &segment, &[0x298 - 16; 3], &mut blocks);
        (blocks.iter().collect(), walked)
    }
}

impl Headers for Memory {
    fn header(&mut self, chunk: u64) -> Option<[u64; 2]> {
        self.reads += 1;
        let index = usize::try_from(chunk.checked_sub(BASE)? / 8).ok()?;
        let words = [*self.words.get(index)?, *self.words.get(index + 1)?];
        Some(words.map(|word| word ^ (self.noise)(self.reads)))
    }

    fn refresh(&mut self) {}

    fn next_readable(&self, at: u64, end: u64) -> Option<u64> {
        (at < end).then_some(at)
    }

    fn top(&mut self) -> Option<u64> {
        self.top
    }
}

/// A heap of chunks, given by their sizes in units of 16 bytes and whether they are free, and what a walk must find.
fn heap(chunks: &[(u64, bool)]) -> (Memory, Vec<(u64, u64, BlockState)>) {
    let mut words = Vec::new();
    let mut blocks = Vec::new();
    let mut free_before = None;
    for (units, is_free) in chunks {
        let size = 16 * units;
        let at = words.len();
        words.resize(at + 2 * *units as usize, 0x6b6b_6b6b_6b6b_6b60);
        words[at] = free_before.unwrap_or(0x6b);
        words[at + 1] = size | if free_before.is_some() { 0 } else { PREV_INUSE };
        // Two free chunks side by side are one.
        let is_free = *is_free && free_before.is_none();
        let state = if is_free { BlockState::Binned } else { BlockState::Used };
        blocks.push((BASE + 8 * at as u64 + 16, size - 8, state));
        free_before = is_free.then_some(size);
    }
    let top = BASE + 8 * words.len() as u64;
    words.extend([free_before.unwrap_or(0), 0x100 | if free_before.is_some() { 0 } else { PREV_INUSE }]);
    words.resize(words.len() + 30, 0);
    blocks.push((top + 16, 0x100 - 16, BlockState::Top));
    (Memory::new(words, Some(top)), blocks)
}

fn check_form(blocks: &[Block], walked: &Walked, end: u64) -> Result<(), TestCaseError> {
    for pair in blocks.windows(2) {
        prop_assert!(pair[0].address + pair[0].bytes <= pair[1].address - 8, "{pair:x?}");
    }
    for block in blocks {
        prop_assert!(BASE < block.address && block.address + block.bytes <= end, "{block:x?}");
    }
    for gap in walked.gaps.iter().chain(&walked.foreign) {
        prop_assert!(gap.start < gap.end && BASE <= gap.start && gap.end <= end, "{gap:x?}");
        let inside = blocks.iter().find(|b| gap.start <= b.address && b.address < gap.end);
        prop_assert!(inside.is_none_or(|block| block.state == BlockState::Top), "{gap:x?} {inside:x?}");
    }
    prop_assert!(walked.end <= end);
    Ok(())
}

fn chunks() -> impl Strategy<Value = Vec<(u64, bool)>> {
    prop::collection::vec((2_u64..40, any::<bool>()), 1..200)
}

proptest! {
    #[test]
    fn every_chunk_is_found(chunks in chunks()) {
        let (mut memory, expected) = heap(&chunks);
        let (blocks, walked) = memory.walk();
        let seen: Vec<_> = blocks.iter().map(|b| (b.address, b.bytes, b.state)).collect();
        prop_assert_eq!(seen, expected);
        prop_assert_eq!(walked, Walked { end: memory.end(), ..Walked::default() });
        prop_assert!(memory.reads <= 3 * (chunks.len() + 1), "{} reads", memory.reads);
    }

    /// Of one wrong header the chunk, its neighbours, and at most a few more are lost, and the gap says where.
    #[test]
    fn a_wrong_size_loses_no_more_than_its_surroundings(
        chunks in prop::collection::vec((2_u64..40, any::<bool>()), 20..200),
        at in any::<prop::sample::Index>(),
        wrong in any::<u64>(),
    ) {
        let (mut memory, expected) = heap(&chunks);
        let chunk = at.index(chunks.len());
        let word = ((expected[chunk].0 - BASE) / 8 - 1) as usize;
        // Not a size that fits, nor one that ends the heap.
        memory.words[word] = wrong | 8 | 1 << 40;
        let (blocks, walked) = memory.walk();
        check_form(&blocks, &walked, memory.end())?;
        let seen: Vec<_> = blocks.iter().map(|b| (b.address, b.bytes, b.state)).collect();
        let lost = expected.iter().filter(|block| !seen.contains(block)).count();
        prop_assert!((1..=3).contains(&lost), "{lost} lost, {walked:x?}");
        prop_assert_eq!(walked.gaps.len(), 1);
    }

    #[test]
    fn any_bytes_give_an_end(words in prop::collection::vec(any::<u64>(), 2..600)) {
        let mut memory = Memory::new(words, None);
        let (blocks, walked) = memory.walk();
        check_form(&blocks, &walked, memory.end())?;
    }

    /// Small numbers look like chunks more often than any do.
    #[test]
    fn numbers_that_look_like_sizes_give_an_end(
        words in prop::collection::vec(0_u64..0x200, 2..600),
        top in prop::option::of(0_u64..600),
    ) {
        let mut memory = Memory::new(words, None);
        memory.top = top.map(|top| BASE + 16 * top).filter(|top| *top < memory.end());
        let (blocks, walked) = memory.walk();
        check_form(&blocks, &walked, memory.end())?;
    }

    /// A target that changes under every read: the number of reads is bounded by the size of the heap.
    #[test]
    fn memory_that_never_holds_still_gives_an_end(chunks in chunks(), seed in any::<u64>(), one_in in 2_u64..200) {
        let (mut memory, _) = heap(&chunks);
        let mut state = seed;
        memory.noise = Box::new(move |_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            if (state >> 33) % one_in == 0 { (state >> 40) & 0x3f0 } else { 0 }
        });
        let (blocks, walked) = memory.walk();
        check_form(&blocks, &walked, memory.end())?;
        // Every try costs at most what it goes back, and there are 2,000 of them at most.
        prop_assert!(memory.reads < 2_500 * 1_100 + 20 * memory.words.len(), "{} reads", memory.reads);
    }

    #[test]
    fn where_there_is_no_room_for_more_blocks_the_rest_is_a_gap(
        chunks in prop::collection::vec((2u64..20, any::<bool>()), 1..200),
        room_bytes in 0usize..300,
    ) {
        let (mut memory, expected) = heap(&chunks);
        let (blocks, walked) = memory.walk_into(Blocks::with_room(room_bytes));
        check_form(&blocks, &walked, memory.end())?;
        // Blocks from the first on, and the top.
        let seen: Vec<_> = blocks.iter().map(|b| (b.address, b.bytes, b.state)).collect();
        let (top, front) = seen.split_last().expect("the top");
        prop_assert_eq!(Some(top), expected.last());
        prop_assert_eq!(front, &expected[..front.len()]);
        let is_whole = seen.len() == expected.len();
        prop_assert_eq!(walked.gaps.is_empty(), is_whole);
        if let Some(gap) = walked.gaps.first() {
            prop_assert_eq!(gap.end + 16, top.0);
            prop_assert_eq!(gap.start + 16, expected[front.len()].0);
        }
    }
}
