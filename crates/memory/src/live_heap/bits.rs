//! A bit for each place of the Java heap at which an object may begin.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Objects begin at multiples of so many bytes at least.
const ALIGNMENT_BYTES: u64 = 8;
/// Bytes of the heap whose bits come together, when the first of them is set: heaps are mostly empty.
const PART_BYTES: u64 = 1 << 20;
const PART_WORDS: usize = (PART_BYTES / ALIGNMENT_BYTES / 64) as usize;
/// Addresses from the first object to the end of the last.
const SPAN_BYTES_MAX: u64 = 256 << 30;

type Part = OnceLock<Box<[AtomicU64]>>;

/// Bits of the addresses of a range. Several threads may set them.
pub(super) struct HeapBits {
    range: Range<u64>,
    parts: Vec<Part>,
}

impl HeapBits {
    /// All of them clear; `None` where the range is too large.
    pub(super) fn new(range: Range<u64>) -> Option<HeapBits> {
        let span = range.end.checked_sub(range.start).filter(|span| *span <= SPAN_BYTES_MAX)?;
        let parts = (0..=span / PART_BYTES).map(|_| Part::new()).collect();
        Some(HeapBits { range, parts })
    }

    /// Sets the bit of an address; whether it was clear.
    #[inline]
    pub(super) fn set(&self, address: u64) -> bool {
        let Some((part, word, bit)) = self.place(address) else { return false };
        let words = part.get_or_init(|| (0..PART_WORDS).map(|_| AtomicU64::new(0)).collect());
        words.get(word).is_some_and(|word| word.fetch_or(bit, Ordering::Relaxed) & bit == 0)
    }

    /// Whether the bit of an address is set.
    #[inline]
    pub(super) fn has(&self, address: u64) -> bool {
        self.place(address).is_some_and(|(part, word, bit)| {
            let word = part.get().and_then(|words| words.get(word));
            word.is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0)
        })
    }

    #[inline]
    fn place(&self, address: u64) -> Option<(&Part, usize, u64)> {
        if !self.range.contains(&address) || !address.is_multiple_of(ALIGNMENT_BYTES) {
            return None;
        }
        let offset = address - self.range.start;
        let bit = offset % PART_BYTES / ALIGNMENT_BYTES;
        Some((self.parts.get((offset / PART_BYTES) as usize)?, (bit / 64) as usize, 1 << (bit % 64)))
    }

    /// The addresses for which there are bits.
    pub(super) fn range(&self) -> &Range<u64> {
        &self.range
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_in_the_range_have_bits() {
        let bits = HeapBits::new(0x1000..0x2000).expect("a small range");
        assert!(bits.set(0x1008) && !bits.set(0x1008) && bits.has(0x1008));
        for none in [0xff8, 0x2000, 0x1004, 0, u64::MAX] {
            assert!(!bits.set(none) && !bits.has(none), "{none:x}");
        }
        assert!(bits.set(0x1ff8) && !bits.has(0x1010));
        assert!(HeapBits::new(0..u64::MAX).is_none());
    }
}
