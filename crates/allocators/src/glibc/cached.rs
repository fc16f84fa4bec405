//! Freed chunks that look as if they were in use: those in fast bins and in the caches of threads.
//!
//! A thread's cache is itself a block. It is believed when two things agree that do not depend on each other: counts
//! and lists fit (every entry is a chunk of the bin's size that looks in use, and there are as many as the count says),
//! and every entry carries the same key.

use super::arena::Arenas;
use super::layout::Sizes;
use super::reader::little_endian;
use super::walk::Noted;
use crate::word_reader::{Lines, WordReader};
use crate::{Block, BlockState, Blocks};
use assay_linux::MemorySource;
use std::collections::HashMap;

/// List heads by which the form of links is recognised.
const VOTERS_MAX: usize = 256;
/// Entries of a list in a thread's cache.
const LIST_MAX: usize = u16::MAX as usize;
/// A cache whose thread runs may be read while it changes.
const TORN_BINS_MAX: usize = 2;
const READS_MAX: usize = 3;

/// What was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cached {
    /// Caches of threads, empty ones not counted.
    pub caches: usize,
    /// Lists that lead out of the heap or into a chunk that is not in use.
    pub broken_lists: usize,
}

/// Marks the blocks in fast bins and in caches. `noted` are addresses of blocks that may be caches: of [`cache_sizes`].
pub(crate) fn mark(
    source: &dyn MemorySource,
    arenas: &Arenas,
    sizes: Sizes,
    noted: &[u64],
    blocks: &mut Blocks,
) -> Cached {
    let lines = WordReader::new(source, Lines::OF_LISTS);
    let candidates = find_candidates(source, sizes, noted, blocks);
    let heads = arenas.states.iter().flat_map(|state| &state.fast).filter(|chunk| **chunk != 0);
    let positions = heads.filter_map(|chunk| chunk.checked_add(sizes.header()));
    let positions = positions.chain(candidates.iter().flat_map(|c| c.entries.iter().copied()));
    let links = Links::told_by(&lines, blocks, positions.filter(|at| *at != 0).take(VOTERS_MAX));
    let mut cached = Cached::default();
    for state in &arenas.states {
        for (bin, first) in state.fast.iter().enumerate() {
            cached.broken_lists += usize::from(!mark_fast(&lines, sizes, links, bin, *first, blocks));
        }
    }
    let lists: Vec<_> =
        candidates.into_iter().filter_map(|c| c.read(source, &lines, sizes, links, blocks)).collect();
    let key = Key::told_by(&lists);
    for cache in &lists {
        let entries: Vec<usize> =
            cache.entries.iter().filter(|entry| key.is_of(cache, entry)).map(|entry| entry.block).collect();
        // The key of half of the entries, at least: a thread may be at work on the rest.
        if !entries.is_empty() && cache.entries.len() <= 2 * entries.len() {
            cached.caches += 1;
            for block in entries {
                blocks.set_state(block, BlockState::ThreadCache);
            }
        }
    }
    cached
}

/// The block at an address, if there is one that looks in use.
fn used_block(blocks: &Blocks, address: u64) -> Option<(usize, Block)> {
    blocks.find(address).filter(|(_, block)| block.address == address && block.state == BlockState::Used)
}

/// The form of links: since 2.32 they are mixed with the address that they are stored at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Links {
    is_safe: bool,
}

impl Links {
    fn decode(self, raw: u64, at: u64) -> u64 {
        if self.is_safe { raw ^ (at >> 12) } else { raw }
    }

    /// A link leads to a block or is zero, in one form only.
    fn told_by(lines: &WordReader<'_>, blocks: &Blocks, positions: impl Iterator<Item = u64>) -> Links {
        let mut votes = 0_i32;
        let header = blocks.get(0).map_or(0, |block| 2 * u64::from(block.header_bytes));
        for at in positions {
            let Some(raw) = lines.word(at) else { continue };
            // Links of fast bins lead to a chunk, those of caches to what it hands out.
            let leads = |to: u64| {
                to == 0
                    || used_block(blocks, to).is_some()
                    || used_block(blocks, to.wrapping_add(header)).is_some()
            };
            votes += i32::from(leads(raw ^ (at >> 12))) - i32::from(leads(raw));
        }
        Links { is_safe: 0 <= votes }
    }
}

/// Marks a fast bin; false when its list breaks. Every step marks a block that was not marked before, so that it ends.
fn mark_fast(
    lines: &WordReader<'_>,
    sizes: Sizes,
    links: Links,
    bin: usize,
    first: u64,
    blocks: &mut Blocks,
) -> bool {
    let step = if sizes.word == 8 { 16 } else { 8 };
    let bytes = (bin as u64 + 2) * step;
    let mut chunk = first;
    while chunk != 0 {
        let at = chunk.wrapping_add(sizes.header());
        let Some((index, block)) = used_block(blocks, at) else { return false };
        // On i386 bins are counted in steps of 8 bytes, of which chunks take every other one.
        if block.bytes + sizes.word != bytes {
            return false;
        }
        blocks.set_state(index, BlockState::Fast);
        let Some(raw) = lines.word(at) else { return false };
        chunk = links.decode(raw, at);
    }
    true
}

/// How a cache (`tcache_perthread_struct`) is built: counts, then list heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    count_bytes: u64,
    bins: u64,
    /// Since 2.42: what is free, rather than what is there.
    counts_are_free_slots: bool,
}

/// 2.26 to 2.29, 2.30 to 2.41, since 2.42.
const SHAPES: [Shape; 3] = [
    Shape { count_bytes: 1, bins: 64, counts_are_free_slots: false },
    Shape { count_bytes: 2, bins: 64, counts_are_free_slots: false },
    Shape { count_bytes: 2, bins: 76, counts_are_free_slots: true },
];
/// Bins of one size each; those above are of ranges of sizes.
const EXACT_BINS: u64 = 64;

impl Shape {
    fn bytes(self, word: u64) -> u64 {
        (self.bins * self.count_bytes).next_multiple_of(word) + self.bins * word
    }
}

/// A block that may be a cache.
struct Candidate {
    address: u64,
    shape: Shape,
    counts: Vec<u64>,
    entries: Vec<u64>,
}

/// A cache whose lists fit.
struct Cache {
    address: u64,
    entries: Vec<Entry>,
}

struct Entry {
    block: usize,
    key: u64,
}

/// Sizes of the blocks that caches lie in.
pub(crate) fn cache_sizes(sizes: Sizes) -> Noted {
    SHAPES.map(|shape| sizes.chunk_for(shape.bytes(sizes.word)) - sizes.word)
}

/// Those of the noted blocks whose lists lead to blocks.
fn find_candidates(
    source: &dyn MemorySource,
    sizes: Sizes,
    noted: &[u64],
    blocks: &Blocks,
) -> Vec<Candidate> {
    let shapes: Vec<_> = cache_sizes(sizes).into_iter().zip(SHAPES).collect();
    let candidate = |address: &u64| {
        let (_, block) = used_block(blocks, *address)?;
        let (_, shape) = shapes.iter().find(|(bytes, _)| *bytes == block.bytes)?;
        Candidate::at(source, sizes, *shape, block.address, blocks)
    };
    noted.iter().filter_map(candidate).collect()
}

impl Candidate {
    /// Reads counts and heads; nothing if no head leads to a block, or one leads elsewhere.
    fn at(
        source: &dyn MemorySource,
        sizes: Sizes,
        shape: Shape,
        address: u64,
        blocks: &Blocks,
    ) -> Option<Candidate> {
        let mut bytes = vec![0; shape.bytes(sizes.word) as usize];
        source.read(address, &mut bytes).ok()?;
        let heads = (shape.bins * shape.count_bytes).next_multiple_of(sizes.word) as usize;
        let counts = bytes.chunks_exact(shape.count_bytes as usize).take(shape.bins as usize);
        let counts = counts.map(little_endian).collect();
        let entries: Vec<u64> = bytes[heads..].chunks_exact(sizes.word as usize).map(little_endian).collect();
        let leads = |entry: &&u64| used_block(blocks, **entry).is_some();
        let set = entries.iter().filter(|entry| **entry != 0);
        let astray = set.clone().filter(|entry| !leads(entry)).count();
        (set.count() != astray && astray <= TORN_BINS_MAX).then_some(Candidate {
            address,
            shape,
            counts,
            entries,
        })
    }

    /// Follows the lists, again if the cache changes meanwhile.
    fn read(
        mut self,
        source: &dyn MemorySource,
        lines: &WordReader<'_>,
        sizes: Sizes,
        links: Links,
        blocks: &Blocks,
    ) -> Option<Cache> {
        for read in 0..READS_MAX {
            let (entries, torn) = self.follow(lines, sizes, links, blocks);
            if torn == 0 || read + 1 == READS_MAX && torn <= TORN_BINS_MAX && !entries.is_empty() {
                return Some(Cache { address: self.address, entries });
            }
            lines.forget();
            self = Candidate::at(source, sizes, self.shape, self.address, blocks)?;
        }
        None
    }

    /// Entries of all lists, and the number of lists that do not fit.
    fn follow(
        &self,
        lines: &WordReader<'_>,
        sizes: Sizes,
        links: Links,
        blocks: &Blocks,
    ) -> (Vec<Entry>, usize) {
        let mut found = Vec::new();
        let mut torn = 0;
        // 2.42 counts down from the number that a bin may hold, which is the same for all.
        let fill = self.counts.iter().copied().max().unwrap_or(0);
        for (bin, (count, head)) in self.counts.iter().zip(&self.entries).enumerate() {
            let expected = if self.shape.counts_are_free_slots { fill - count } else { *count };
            let mut length = 0;
            let mut at = *head;
            let mut fits = true;
            while at != 0 {
                let entry = used_block(blocks, at).and_then(|(index, block)| {
                    let chunk = block.bytes + sizes.word;
                    let exact = sizes.chunk_min() + bin as u64 * sizes.align;
                    let is_size = if (bin as u64) < EXACT_BINS { chunk == exact } else { exact <= chunk };
                    let (raw, key) = (lines.word(at)?, lines.word(at + sizes.word)?);
                    is_size.then_some((Entry { block: index, key }, links.decode(raw, at)))
                });
                let Some((entry, next)) = entry.filter(|_| length < expected && length < LIST_MAX as u64)
                else {
                    fits = false;
                    break;
                };
                found.push(entry);
                length += 1;
                at = next;
            }
            torn += usize::from(!fits || length != expected);
        }
        (found, torn)
    }
}

/// The mark of what is in a cache, by which glibc finds double frees.
enum Key {
    /// Before 2.29.
    None,
    /// 2.29 to 2.33: the address of the cache.
    Cache,
    /// Since 2.34: a random number, the same in the whole process.
    Random(u64),
}

impl Key {
    fn told_by(caches: &[Cache]) -> Key {
        let mut keys: HashMap<u64, usize> = HashMap::new();
        let (mut own, mut entries) = (0, 0);
        for cache in caches {
            for entry in &cache.entries {
                *keys.entry(entry.key).or_default() += 1;
                own += usize::from(entry.key == cache.address);
                entries += 1;
            }
        }
        match keys.into_iter().max_by_key(|(_, count)| *count) {
            _ if entries < 2 * own => Key::Cache,
            Some((key, count)) if entries < 2 * count => Key::Random(key),
            _ => Key::None,
        }
    }

    fn is_of(&self, cache: &Cache, entry: &Entry) -> bool {
        match self {
            Key::None => true,
            Key::Cache => entry.key == cache.address,
            Key::Random(key) => entry.key == *key,
        }
    }
}
