//! The leaves of a table of pages of two levels, as jemalloc and tcmalloc have one.

use crate::word_reader::WordReader;
use std::collections::BTreeMap;

/// Where the leaves of a table lie.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaves {
    /// The address of each, with the index of its entry in the root.
    pub found: Vec<(u64, u64)>,
    /// Entries of the root that lead to no leaf.
    pub torn: u64,
}

impl Leaves {
    /// Follows the entries of a root.
    ///
    /// A leaf lies in private memory, and no two overlap. So all of them together are read once at most: of the quarter
    /// of a million words of what is taken for a root by mistake, each may lead into a heap, and then each would cost
    /// the reading of a leaf (`a_root_that_leads_into_one_place_again_and_again_costs_one_reading`).
    pub fn read(reader: &WordReader<'_>, root: u64, entries: u64, leaf_bytes: u64) -> Leaves {
        let mut leaves = Leaves::default();
        let mut ends = BTreeMap::new();
        reader.each_word(root..root.saturating_add(entries * 8), |at, leaf| {
            let is_free = |end: &u64| {
                let before = ends.range(..*end).next_back();
                before.is_none_or(|(_, before)| *before <= leaf)
            };
            let end = leaf.checked_add(leaf_bytes).filter(is_free);
            match end.filter(|end| leaf.is_multiple_of(8) && reader.is_private_memory(leaf..*end)) {
                Some(end) => {
                    ends.insert(leaf, end);
                    leaves.found.push((leaf, (at - root) / 8));
                }
                None => leaves.torn += 1,
            }
            true
        });
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_reader::Lines;
    use assay_linux::{LiveProcess, ProcRoot};

    const LEAF_BYTES: u64 = 1 << 20;

    #[test]
    fn a_root_that_leads_into_one_place_again_and_again_costs_one_reading() {
        // This process's own memory is the one that is read.
        let heap = vec![1_u64; 4 * LEAF_BYTES as usize / 8];
        let start = heap.as_ptr() as u64;
        let root: Vec<u64> = (1..=4096).map(|entry| start + 8 * entry).collect();
        let process = LiveProcess::open(&ProcRoot::default(), std::process::id()).expect("this process");
        let reader = WordReader::new(&process, Lines::OF_TABLES);
        let leaves = Leaves::read(&reader, root.as_ptr() as u64, 4096, LEAF_BYTES);
        assert_eq!(leaves, Leaves { found: vec![(start + 8, 0)], torn: 4095 });
    }

    #[test]
    fn leaves_side_by_side_are_found_in_any_order_and_what_is_no_memory_is_not() {
        let heap = vec![1_u64; 4 * LEAF_BYTES as usize / 8];
        let start = heap.as_ptr() as u64;
        let at = |leaf: u64| start + leaf * LEAF_BYTES;
        let root = [0, at(2), 5 << 20, at(0), at(1), at(1) + 8, u64::MAX - 7, at(3) + 4];
        let process = LiveProcess::open(&ProcRoot::default(), std::process::id()).expect("this process");
        let reader = WordReader::new(&process, Lines::OF_TABLES);
        let leaves = Leaves::read(&reader, root.as_ptr() as u64, root.len() as u64, LEAF_BYTES);
        assert_eq!(leaves, Leaves { found: vec![(at(2), 1), (at(0), 3), (at(1), 4)], torn: 4 });
    }
}
