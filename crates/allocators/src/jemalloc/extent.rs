//! Extents: runs of pages, and their size classes.
//!
//! Layout (jemalloc 5.3.0, `edata.h`, 64-bit, pages of 4 KiB): a word of bit fields, the address, the size with a serial
//! number in its low bits, links, and, from byte 64 on, the bits of free regions of a slab.

use crate::word_reader::WordReader;
use std::ops::Range;

/// Pages of jemalloc, which on x86-64 are the kernel's.
pub(super) const PAGE_BYTES: u64 = 4096;
/// Bytes of the structure that describes an extent; it is aligned to that, too.
pub(super) const EXTENT_BYTES: u64 = 128;
/// Size classes, the first of which has index 0.
const CLASSES: u64 = 232;
/// Bits of free regions: words, from byte 64 on.
const SLAB_WORDS: u64 = 8;
const SLAB_BITS_AT: u64 = 64;

/// What became of an extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// A slab, or one large block.
    Active,
    /// Free, its pages kept.
    Dirty,
    /// Free, its pages given back to the kernel unless it does not need them (`MADV_FREE`).
    Muzzy,
    /// Free, its pages given back or never touched.
    Retained,
    /// A thread is at work on it.
    Changing,
}

impl State {
    /// From the number that extents and the radix tree store.
    pub fn of(number: u64) -> Option<State> {
        match number {
            0 => Some(State::Active),
            1 => Some(State::Dirty),
            2 => Some(State::Muzzy),
            3 => Some(State::Retained),
            4 | 5 => Some(State::Changing),
            _ => None,
        }
    }
}

/// A run of pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extent {
    /// Address of its own structure.
    pub at: u64,
    /// Number of its arena.
    pub arena: u16,
    /// Its pages.
    pub addresses: Range<u64>,
    /// Where its block begins, if it is one large block: in its first page, at random, against cache conflicts.
    pub block: u64,
    pub state: State,
    pub is_slab: bool,
    /// Whether it was cut out of a huge page, by the allocator for these.
    pub is_of_huge_pages: bool,
    /// Index of its size class; that of no class when it is free.
    pub class: u8,
    /// Free regions, if it is a slab.
    pub free: u64,
}

impl Extent {
    /// Reads one, whose size is not zero and whose state and class exist.
    pub fn read(reader: &WordReader<'_>, at: u64) -> Option<Extent> {
        if !at.is_multiple_of(EXTENT_BYTES) {
            return None;
        }
        let bits = reader.u64(at)?;
        let block = reader.u64(at.checked_add(8)?)?;
        let bytes = reader.u64(at.checked_add(16)?)? / PAGE_BYTES * PAGE_BYTES;
        let start = block / PAGE_BYTES * PAGE_BYTES;
        let end = start.checked_add(bytes)?;
        let class = bits >> 20 & 0xff;
        if bytes == 0 || start == 0 || 1 << 48 <= end || CLASSES < class {
            return None;
        }
        Some(Extent {
            at,
            arena: (bits & 0xfff) as u16,
            addresses: start..end,
            block,
            state: State::of(bits >> 17 & 7)?,
            is_slab: bits >> 12 & 1 != 0,
            is_of_huge_pages: bits >> 14 & 1 != 0,
            class: class as u8,
            free: bits >> 28 & 0x3ff,
        })
    }

    /// Bytes of a slab's regions, or of the large block; `None` when the class does not fit the extent.
    pub fn block_bytes(&self) -> Option<u64> {
        let fits = |bytes: &u64| self.block.checked_add(*bytes).is_some_and(|end| end <= self.addresses.end);
        class_bytes(self.class).filter(fits)
    }

    /// Regions that a slab is cut into.
    pub fn regions(&self) -> Option<u64> {
        let regions = (self.addresses.end - self.addresses.start) / self.block_bytes()?;
        (regions <= SLAB_WORDS * 64).then_some(regions)
    }

    /// The bits of a slab's free regions; `None` when their number is not that which the extent says.
    ///
    /// Their number is read again with them: the page that `self` was read from may have left the reader since, and a
    /// running thread counts on. Held by `what_is_held_stays_used_while_threads_allocate_and_free`, which failed with
    /// every other layout of the address space.
    pub fn free_bits(&self, reader: &WordReader<'_>) -> Option<[u64; SLAB_WORDS as usize]> {
        let now = Extent::read(reader, self.at)?;
        if (&now.addresses, now.class, now.is_slab) != (&self.addresses, self.class, self.is_slab) {
            return None;
        }
        let mut bits = [0; SLAB_WORDS as usize];
        for (index, word) in bits.iter_mut().enumerate() {
            *word = reader.u64(self.at.checked_add(SLAB_BITS_AT + index as u64 * 8)?)?;
        }
        let regions = self.regions()?;
        let is_region = |index: &u64| *index < regions;
        let is_set = |index: u64| bits[(index / 64) as usize] >> (index % 64) & 1 != 0;
        let free = (0..SLAB_WORDS * 64).filter(|index| is_set(*index));
        let (inside, beyond): (Vec<u64>, Vec<u64>) = free.partition(is_region);
        // Groups of bits behind the last region are not written: what an earlier, longer slab left is in them.
        let last_group = regions.div_ceil(64) * 64;
        let is_clean = beyond.iter().all(|index| last_group <= *index);
        (is_clean && inside.len() as u64 == now.free).then_some(bits)
    }
}

/// Bytes of a size class: 8; then four classes for each doubling, from 16 on (`sc.h`).
pub(super) fn class_bytes(class: u8) -> Option<u64> {
    let class = u64::from(class);
    match class {
        0 => Some(8),
        1..=4 => Some(class * 16),
        _ if CLASSES <= class => None,
        _ => {
            let (group, step) = ((class - 5) / 4, (class - 5) % 4 + 1);
            Some((64 << group) + (step << (group + 4)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_four_for_each_doubling() {
        let bytes: Vec<_> = (0..14).filter_map(class_bytes).collect();
        assert_eq!(bytes, [8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]);
        assert_eq!(class_bytes(35), Some(14 << 10), "the largest that comes from a slab");
        assert_eq!(class_bytes(36), Some(16 << 10));
        assert_eq!(class_bytes(231), Some(7 << 60), "the largest of all");
        assert_eq!(class_bytes(232), None);
    }
}
