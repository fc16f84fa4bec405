//! Variables of libraries and of the program: where they lie, and what they were before the pages were looked at.

use super::filter::AddressFilter;
use super::scan::words_of;
use crate::mapped::library_data;
use assay_linux::{EarlierBytes, MemorySource};
use std::ops::Range;

/// Variables of a process.
pub(crate) struct Variables<'s> {
    /// The path of each object, and a range.
    pub(crate) ranges: Vec<(&'s str, Range<u64>)>,
    earlier: &'s [EarlierBytes],
    word_bytes: u64,
}

impl<'s> Variables<'s> {
    pub(crate) fn of(source: &'s dyn MemorySource) -> Variables<'s> {
        Variables {
            ranges: library_data(source),
            earlier: source.earlier_variables(),
            word_bytes: source.word_bytes(),
        }
    }

    /// Calls `each` with the address and the earlier value of every word of a range that passes the filter.
    pub(super) fn for_each_earlier_word(
        &self,
        range: &Range<u64>,
        filter: &AddressFilter,
        mut each: impl FnMut(u64, u64),
    ) {
        let end = |earlier: &EarlierBytes| earlier.address + earlier.bytes.len() as u64;
        let first = self.earlier.partition_point(|earlier| end(earlier) <= range.start);
        for earlier in self.earlier[first..].iter().take_while(|earlier| earlier.address < range.end) {
            words_of(&earlier.bytes, earlier.address, self.word_bytes, filter, &mut |address, word| {
                if range.contains(&address) {
                    each(address, word);
                }
            });
        }
    }
}
