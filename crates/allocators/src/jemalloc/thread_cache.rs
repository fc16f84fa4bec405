//! Caches of threads: for each size class a stack of freed blocks.
//!
//! Layout (jemalloc 5.3.0, `tcache_structs.h`, `cache_bin.h`): a thread's cache has two parts that point at each other;
//! the slow one is in a ring with those of the other threads of its arena, and points to the arena too. A stack grows
//! down, and its bounds are known by the low 16 bits of their addresses.

use super::base::Bases;
use super::extent::class_bytes;
use crate::word_reader::WordReader;
use std::collections::HashSet;
use std::ops::Range;

/// The slow part: next of the ring, and later the stacks and the arena.
const SLOW_STACKS_AT: u64 = 32;
const SLOW_ARENA_AT: u64 = 40;
/// A stack: its head, a counter, and low bits of three bounds, of which the last is where it is empty.
const STACK_BYTES: u64 = 24;
const STACK_BOUNDS_AT: u64 = 16;
/// Classes up to 8 MiB may have a stack (`TCACHE_NBINS_MAX`).
const STACKS_MAX: u8 = 73;
/// Where in an arena the ring's first may be: behind statistics that take about 10 KiB.
const ARENA_BYTES: u64 = 64 << 10;
const CACHES_MAX: usize = 1 << 17;
/// Words of the library that may name an arena; there are at most 4,096 arenas.
const NAMES_MAX: usize = 1 << 16;
/// Words of would-be arenas that are looked at, in all.
const WORDS_TRIED_MAX: u64 = 16 << 20;

/// A block in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cached {
    pub address: u64,
    /// Index of its size class.
    pub class: u8,
}

/// What the caches of all threads hold.
#[derive(Debug, Default)]
pub(super) struct Caches {
    /// In order of addresses.
    pub cached: Vec<Cached>,
    /// Addresses in the blocks that hold the stacks themselves: blocks that jemalloc allocated for itself.
    pub stacks: Vec<u64>,
    /// Arenas to which threads are bound, and where the library's variables name them.
    pub arenas: Vec<(u64, u64)>,
    /// Stacks that could not be read.
    pub torn: u64,
}

/// Finds all caches: the library points to arenas, and these to rings of caches that point back.
pub(super) fn find(reader: &WordReader<'_>, variables: Range<u64>, bases: &Bases) -> Caches {
    let mut named = Vec::new();
    reader.each_word(variables, |at, word| {
        if word.is_multiple_of(64) && bases.contains(word) {
            named.push((at, word));
        }
        named.len() < NAMES_MAX
    });
    let mut caches = Caches::default();
    let mut rings = std::collections::HashMap::new();
    let mut seen = HashSet::new();
    let mut words_left = WORDS_TRIED_MAX;
    for (at, arena) in named {
        let first = *rings.entry(arena).or_insert_with(|| first_of_ring(reader, arena, &mut words_left));
        let Some(first) = first else { continue };
        caches.arenas.push((at, arena));
        let mut slow = first;
        while seen.len() < CACHES_MAX && is_slow_part(reader, slow, arena) && seen.insert(slow) {
            caches.read(reader, slow);
            slow = reader.u64(slow).unwrap_or(0);
        }
        // The ring closes where it began, or was walked before by another name of the arena.
        caches.torn += u64::from(!seen.contains(&slow));
    }
    caches.cached.sort_unstable();
    caches
}

fn first_of_ring(reader: &WordReader<'_>, arena: u64, words_left: &mut u64) -> Option<u64> {
    let mut first = None;
    reader.each_word(arena..arena.saturating_add(ARENA_BYTES), |_, word| {
        first = Some(word).filter(|word| is_slow_part(reader, *word, arena));
        *words_left = words_left.saturating_sub(1);
        first.is_none() && *words_left != 0
    });
    first
}

fn is_slow_part(reader: &WordReader<'_>, at: u64, arena: u64) -> bool {
    let word = |offset: u64| reader.u64(at.checked_add(offset)?);
    let fast = word(SLOW_STACKS_AT).and_then(|stacks| stacks.checked_sub(8));
    word(SLOW_ARENA_AT) == Some(arena) && fast.and_then(|fast| reader.u64(fast)) == Some(at)
}

impl Caches {
    fn read(&mut self, reader: &WordReader<'_>, slow: u64) {
        let Some(stacks) = reader.u64(slow + SLOW_STACKS_AT) else { return };
        for class in 0..STACKS_MAX {
            let at = stacks.saturating_add(u64::from(class) * STACK_BYTES);
            match self.read_stack(reader, at, class) {
                // Classes that are too large for this process's caches have none.
                Some(0) => return,
                Some(head) if class == 0 => self.stacks.push(head - 1),
                Some(_) => {}
                None => self.torn += 1,
            }
        }
    }

    /// Reads the blocks of a stack; its head, which is 0 where there is no stack.
    fn read_stack(&mut self, reader: &WordReader<'_>, at: u64, class: u8) -> Option<u64> {
        let head = reader.u64(at)?;
        if head == 0 {
            return Some(0);
        }
        let bounds = reader.u64(at.checked_add(STACK_BOUNDS_AT)?)?;
        let (full, empty) = ((bounds >> 16) as u16, (bounds >> 32) as u16);
        let bytes = u64::from(empty.wrapping_sub(head as u16));
        let room = u64::from(empty.wrapping_sub(full));
        if room < bytes || !bytes.is_multiple_of(8) || class_bytes(class).is_none() {
            return None;
        }
        for index in 0..bytes / 8 {
            let address = reader.u64(head.checked_add(index * 8)?)?;
            self.cached.push(Cached { address, class });
        }
        Some(head)
    }
}
