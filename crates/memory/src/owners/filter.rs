//! Which words can be pointers into some ranges, decided from a word alone in a few instructions: nearly all words of a
//! Java heap are something else.

use std::ops::Range;

/// A bit stands for 64 KiB of addresses: malloc's arenas are multiples of it.
const UNIT_BITS: u32 = 16;
const BITS_MIN: u64 = 1 << 16;
/// 512 KiB, the second-level cache's share; units of larger heaps share bits, and the exact look-up distinguishes them.
const BITS_MAX: u64 = 1 << 22;

/// Passes every word that leads into one of its ranges, and few others.
#[derive(Debug, Default)]
pub(crate) struct AddressFilter {
    start: u64,
    bytes: u64,
    /// By the lowest bits of the unit's number: ranges next to each other share none.
    bits: Vec<u64>,
    mask: u64,
}

impl AddressFilter {
    pub(crate) fn new(ranges: impl Iterator<Item = Range<u64>> + Clone) -> Self {
        let filled = ranges.filter(|range| range.start < range.end);
        let start = filled.clone().map(|range| range.start).min().unwrap_or(0);
        let end = filled.clone().map(|range| range.end).max().unwrap_or(0);
        let units = filled.clone().map(|range| ((range.end - range.start) >> UNIT_BITS) + 2);
        let units = units.fold(0, u64::saturating_add);
        // Sixteen bits for each unit let one other address in sixteen pass.
        let size = units.saturating_mul(16).clamp(BITS_MIN, BITS_MAX).next_power_of_two();
        let mut filter =
            AddressFilter { start, bytes: end - start, bits: vec![0; (size / 64) as usize], mask: size - 1 };
        for range in filled {
            let (first, last) = (range.start >> UNIT_BITS, (range.end - 1) >> UNIT_BITS);
            for unit in first..=last.min(first.saturating_add(size)) {
                let bit = unit & filter.mask;
                filter.bits[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
        filter
    }

    /// Whether a word lies between the first and the last address: most words fail this one comparison.
    #[inline]
    pub(crate) fn spans(&self, word: u64) -> bool {
        word.wrapping_sub(self.start) < self.bytes
    }

    /// Whether a word may lead into one of the ranges.
    #[inline]
    pub(crate) fn passes(&self, word: u64) -> bool {
        let bit = (word >> UNIT_BITS) & self.mask;
        self.spans(word) && self.bits[(bit / 64) as usize] >> (bit % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_word_that_leads_into_a_range_is_held_back(
            ranges in prop::collection::vec((0u64..1 << 47, 0u64..1 << 22), 0..20),
            huge in prop::option::of((0u64..1 << 40, 0u64..1 << 44)),
            inside in 0.0..1.0f64,
        ) {
            let ranges: Vec<Range<u64>> =
                ranges.into_iter().chain(huge).map(|(start, bytes)| start..start + bytes).collect();
            let filter = AddressFilter::new(ranges.iter().cloned());
            for range in ranges.iter().filter(|range| !range.is_empty()) {
                let bytes = range.end - range.start;
                let within = range.start + ((bytes as f64 * inside) as u64).min(bytes - 1);
                for word in [range.start, within, range.end - 1] {
                    prop_assert!(filter.passes(word));
                }
            }
            let end = ranges.iter().filter(|r| !r.is_empty()).map(|r| r.end).max().unwrap_or(0);
            prop_assert!(!filter.passes(end) && !filter.passes(u64::MAX));
        }
    }

    #[test]
    fn most_other_words_are_held_back() {
        let arenas = (0..64u64).map(|i| 0x7f00_0000_0000 + i * (128 << 20)).map(|at| at..at + (1 << 20));
        let filter = AddressFilter::new(std::iter::once(0x5555_0000_0000..0x5555_0010_0000).chain(arenas));
        // Addresses all over what lies between, as those of a heap without compressed pointers would be.
        let passed = (0..100_000u64).filter(|i| filter.passes(0x5600_0000_0000 + i * 0x1234_5670)).count();
        assert!(passed < 10_000, "{passed} of 100,000");
    }
}
