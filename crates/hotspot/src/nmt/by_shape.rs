//! Tables of native memory tracking in a libjvm without symbols: found among its variables by what they hold, and believed only where
//! they agree with themselves and with what the JVM exports.
//!
//! Until JDK 17 a counter is two words, and each block's header is counted apart.

use crate::Hotspot;
use std::ops::Range;

/// The first tag, and the last one.
const FIRST_TAG: &str = "Java Heap";
const LAST_TAG: &str = "Unknown";
/// Releases have 16 tags and more; none more than these.
const TAGS: Range<usize> = 12..65;
/// A JVM that has started has more blocks.
const BLOCKS_MIN: u64 = 100;
/// Blocks come and go between the two words of a counter, and between counters: so often the tables are read until they agree.
const READS_MAX: u32 = 5;
/// What is reserved before a heap with a base.
const BEFORE_HEAP_BYTES_MAX: u64 = 32 << 20;
/// Words of a tag: blocks, then arenas, each a number and bytes.
const MALLOC_WORDS: usize = 4;
/// Words of a tag: reserved, committed.
const VIRTUAL_WORDS: usize = 2;
/// Tags that have reserved memory in every JVM.
const RESERVING_TAGS_MIN: usize = 4;

impl Hotspot<'_> {
    /// Names of the tags: texts in a row from the first that every release has to the last.
    pub(super) fn tags_by_shape(&self) -> Option<Vec<String>> {
        let constants = self.symbols().image.constants();
        let first = constants.places_of(FIRST_TAG);
        let table = self.found_among_words(1, |words| {
            if !first.contains(words.first()?) {
                return None;
            }
            let texts = words.iter().take(TAGS.end).map_while(|word| constants.text(*word));
            let mut tags: Vec<String> = texts.map(str::to_owned).collect();
            let last = tags.iter().position(|tag| tag == LAST_TAG)?;
            tags.truncate(last + 1);
            TAGS.contains(&tags.len()).then_some(tags)
        });
        one(table)
    }

    /// The table of malloc's counters for so many tags: the counter of headers behind it has one header for each block.
    pub(super) fn malloc_by_shape(&self, tags: usize) -> Option<Vec<u64>> {
        let header_bytes = u64::from(self.header_form().header_bytes());
        let words = MALLOC_WORDS * tags + 2;
        let is_table = |table: &[u64]| {
            let (counters, headers) = table.split_at(MALLOC_WORDS * tags);
            let [count, bytes] = *headers else { return false };
            let is_counted = BLOCKS_MIN <= count && count.checked_mul(header_bytes) == Some(bytes);
            is_counted && is_sum(counters, count)
        };
        let look = || {
            self.found_among_words(words, |at| {
                let table = at.get(..words)?;
                is_table(table).then(|| table.to_vec())
            })
        };
        (0..READS_MAX).find_map(|_| one(look()))
    }

    /// The table of address space for so many tags: the heap's is what the JVM exports of it, and nothing is committed that is not
    /// reserved.
    pub(super) fn virtual_by_shape(&self, tags: &[String]) -> Option<Vec<u64>> {
        let heap = tags.iter().position(|tag| tag == FIRST_TAG)?;
        let heap_bytes = self.reserved_heap().map(|range| range.end - range.start)?;
        let page_bytes = self.source().pages().page_bytes();
        let words = VIRTUAL_WORDS * tags.len();
        let is_row = |row: &[u64]| {
            let [reserved, committed] = *row else { return false };
            committed <= reserved
                && reserved.is_multiple_of(page_bytes)
                && committed.is_multiple_of(page_bytes)
        };
        let look = || {
            self.found_among_words(words, |at| {
                let table = at.get(..words)?;
                let before = table.get(VIRTUAL_WORDS * heap)?.checked_sub(heap_bytes)?;
                let reserving = || table.chunks_exact(VIRTUAL_WORDS).filter(|row| row[0] != 0).count();
                let is_table = before <= BEFORE_HEAP_BYTES_MAX
                    && table.chunks_exact(VIRTUAL_WORDS).all(is_row)
                    && RESERVING_TAGS_MIN <= reserving();
                is_table.then(|| table.to_vec())
            })
        };
        (0..READS_MAX).find_map(|_| one(look()))
    }
}

/// Whether the blocks of all tags are so many, and no tag has bytes without a block. A number without bytes counts something else: JDK 8
/// has that of thread stacks there.
fn is_sum(counters: &[u64], count: u64) -> bool {
    let is_possible = counters.chunks_exact(2).all(|pair| pair[0] != 0 || pair[1] == 0);
    let mut rows = counters.chunks_exact(MALLOC_WORDS).filter(|row| row[1] != 0);
    is_possible && rows.try_fold(0_u64, |sum, row| sum.checked_add(row[0])) == Some(count)
}

/// The only one; where several look alike, none is known to be it.
fn one<T>(mut found: Vec<T>) -> Option<T> {
    if found.len() == 1 { found.pop() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_the_sum_of_its_tags_or_no_table() {
        // Two tags: 100 blocks, no arena; 20 blocks, 2 arenas.
        let table = [100, 5000, 0, 0, 20, 300, 2, 2048];
        assert!(is_sum(&table, 120));
        assert!(!is_sum(&table, 121));
        assert!(is_sum(&[100, 5000, 0, 0, 25, 0, 0, 0], 100), "25 stacks, and no block of theirs");
        assert!(!is_sum(&[100, 5000, 0, 8, 20, 300, 2, 2048], 120), "bytes of no arena");
        assert!(!is_sum(&[u64::MAX, 1, 0, 0, 20, 300, 2, 2048], 19));
    }

    #[test]
    fn of_two_that_look_alike_none_is_taken() {
        assert_eq!((one(vec![7]), one(vec![7, 8]), one::<u64>(Vec::new())), (Some(7), None, None));
    }
}
