//! The radix tree that finds the extent of a page.
//!
//! Layout (jemalloc 5.3.0, `rtree.h`, 48 address bits): a root among the library's variables, whose entries point to
//! leaves; a leaf's entry has, from high to low bits, the size class, the extent's address, its state, whether it is the
//! first of a mapping, and whether it is a slab. Slabs have an entry for each page, others for the first and last.

use super::extent::{EXTENT_BYTES, Extent, PAGE_BYTES, State};
use crate::leaves::Leaves;
use crate::word_reader::WordReader;
use std::ops::Range;

/// Entries of the root and of a leaf.
const ENTRIES: u64 = 1 << 18;
/// Extents that are read: 64 GiB in slabs of 16 KiB.
const EXTENTS_MAX: usize = 4 << 20;
/// Entries of a would-be leaf that are looked at before it is given up. Running threads may be changing the first ones.
const ENTRIES_TRIED_MAX: usize = 512;
/// Words of the library that are tried as a pointer to a leaf, once they point to enough memory.
const WORDS_TRIED_MAX: usize = 4096;

/// Bytes of a leaf.
pub(super) const LEAF_BYTES: u64 = ENTRIES * 8;

/// Where the tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RadixTree {
    /// Address of the root's first entry.
    pub root: u64,
}

/// All extents, in order and without overlap.
#[derive(Debug, Default)]
pub(super) struct Extents {
    pub extents: Vec<Extent>,
    /// Addresses of the leaves.
    pub leaves: Vec<u64>,
    /// Entries and extents that contradict each other.
    pub torn: u64,
}

impl RadixTree {
    /// Finds the tree: a word of the library that points to a leaf, in which an entry points to an extent whose first
    /// page is that entry's. The page's number then says which entry of the root the word is.
    pub fn find(reader: &WordReader<'_>, variables: Range<u64>) -> Option<RadixTree> {
        let mut found = None;
        let mut tried = 0;
        reader.each_word(variables.clone(), |at, word| {
            let end = word.checked_add(LEAF_BYTES);
            let is_leaf = || end.is_some_and(|end| reader.is_private_memory(word..end));
            if word.is_multiple_of(64) && !variables.contains(&word) && is_leaf() {
                tried += 1;
                found = tree_by_leaf(reader, at, word, &variables);
            }
            found.is_none() && tried < WORDS_TRIED_MAX
        });
        found
    }

    /// Reads all extents.
    pub fn extents(self, reader: &WordReader<'_>) -> Extents {
        let leaves = Leaves::read(reader, self.root, ENTRIES, LEAF_BYTES);
        let mut all = Extents { torn: leaves.torn, ..Extents::default() };
        let mut next_page = 0;
        for (leaf, index) in leaves.found {
            all.leaves.push(leaf);
            reader.each_word(leaf..leaf + LEAF_BYTES, |at, entry| {
                let page = index * ENTRIES + (at - leaf) / 8;
                // An entry that was cleared keeps a size class, that of none, so that it is not zero. Held by
                // `every_block_of_a_program_on_five_threads_is_told_and_sums_equal_the_allocators_own` (retain:false).
                if page < next_page || extent_of(entry) == 0 {
                    return true;
                }
                match self.extent(reader, entry, page) {
                    Some(extent) => {
                        next_page = extent.addresses.end / PAGE_BYTES;
                        all.extents.push(extent);
                    }
                    None => all.torn += 1,
                }
                all.extents.len() < EXTENTS_MAX
            });
        }
        if EXTENTS_MAX <= all.extents.len() {
            all.torn += 1;
        }
        all
    }

    /// The entry of a page.
    fn entry(self, reader: &WordReader<'_>, page: u64) -> Option<u64> {
        let leaf = reader.u64(self.root.checked_add(page / ENTRIES * 8)?)?;
        reader.u64(leaf.checked_add(page % ENTRIES * 8)?)
    }

    /// The extent that begins with a page, if its structure, its first and its last entry agree.
    fn extent(self, reader: &WordReader<'_>, entry: u64, page: u64) -> Option<Extent> {
        let extent = Extent::read(reader, extent_of(entry))?;
        let last = self.entry(reader, extent.addresses.end / PAGE_BYTES - 1)?;
        let agrees = extent.addresses.start / PAGE_BYTES == page
            && State::of(entry >> 2 & 7)? == extent.state
            && extent_of(last) == extent.at;
        agrees.then_some(extent)
    }
}

/// The extent's address in an entry: 48 bits, of which the low ones serve otherwise, and extended by its sign.
fn extent_of(entry: u64) -> u64 {
    ((entry << 16) as i64 >> 16) as u64 & !(EXTENT_BYTES - 1)
}

/// The tree, if the word at `at` points to a leaf of it.
fn tree_by_leaf(reader: &WordReader<'_>, at: u64, leaf: u64, variables: &Range<u64>) -> Option<RadixTree> {
    let mut tree = None;
    let mut tried = 0;
    reader.each_word(leaf..leaf.checked_add(LEAF_BYTES)?, |entry_at, entry| {
        tried += 1;
        tree = Extent::read(reader, extent_of(entry)).and_then(|extent| {
            let page = extent.addresses.start / PAGE_BYTES;
            let root = at.checked_sub(page / ENTRIES * 8)?;
            let end = root.checked_add(ENTRIES * 8)?;
            let is_its = page % ENTRIES == (entry_at - leaf) / 8;
            let is_inside = variables.start <= root && end <= variables.end;
            let tree = RadixTree { root };
            (is_its && is_inside && tree.extent(reader, entry, page).is_some()).then_some(tree)
        });
        tree.is_none() && tried < ENTRIES_TRIED_MAX
    });
    tree
}
