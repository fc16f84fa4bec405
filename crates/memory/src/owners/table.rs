//! The data of each block: its owner in one byte, where there are few owners nearby, and its rounding in one.

use crate::entry_table::EntryId;

/// Blocks that share a page: where one of them has an owner whose number takes two bytes, all of them do.
const PAGE_BLOCKS: usize = 1 << 14;

/// Numbers of owners; 0 is none.
#[derive(Debug, Clone)]
enum Page {
    Narrow(Box<[u8]>),
    Wide(Box<[u16]>),
}

/// The owner of each block.
#[derive(Debug, Default, Clone)]
pub(crate) struct Owners {
    pages: Vec<Page>,
    count: usize,
    /// By number, less one. There are fewer than 65,536 entries.
    entries: Vec<EntryId>,
    /// By entry.
    numbers: Vec<u16>,
}

impl Owners {
    /// Of blocks without an owner.
    pub(crate) fn new(count: usize) -> Owners {
        let narrow = |_| Page::Narrow(vec![0; PAGE_BLOCKS].into_boxed_slice());
        let pages = (0..count.div_ceil(PAGE_BLOCKS)).map(narrow).collect();
        Owners { pages, count, ..Owners::default() }
    }

    /// Whether owners were not looked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    fn number(&self, block: u32) -> u16 {
        let (page, at) = (block as usize / PAGE_BLOCKS, block as usize % PAGE_BLOCKS);
        match self.pages.get(page) {
            Some(Page::Narrow(numbers)) => numbers[at].into(),
            Some(Page::Wide(numbers)) => numbers[at],
            None => 0,
        }
    }

    /// The owner of a block, if it has one.
    #[inline]
    pub(crate) fn get(&self, block: u32) -> Option<EntryId> {
        let number = self.number(block);
        self.entries.get(usize::from(number).checked_sub(1)?).copied()
    }

    #[inline]
    pub(crate) fn has(&self, block: u32) -> bool {
        self.number(block) != 0
    }

    /// Gives a block an owner.
    pub(crate) fn set(&mut self, block: u32, owner: EntryId) {
        let number = self.number_of(owner);
        let (page, at) = (block as usize / PAGE_BLOCKS, block as usize % PAGE_BLOCKS);
        match self.pages.get_mut(page) {
            Some(Page::Wide(numbers)) => numbers[at] = number,
            Some(Page::Narrow(numbers)) => match u8::try_from(number) {
                Ok(number) => numbers[at] = number,
                Err(_) => {
                    let mut wide: Box<[u16]> = numbers.iter().map(|number| u16::from(*number)).collect();
                    wide[at] = number;
                    self.pages[page] = Page::Wide(wide);
                }
            },
            None => {}
        }
    }

    fn number_of(&mut self, owner: EntryId) -> u16 {
        if self.numbers.len() <= owner.index() {
            self.numbers.resize(owner.index() + 1, 0);
        }
        let number = &mut self.numbers[owner.index()];
        if *number == 0 {
            self.entries.push(owner);
            *number = u16::try_from(self.entries.len()).unwrap_or(u16::MAX);
        }
        *number
    }

    /// The owners of all blocks, in their order.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<EntryId>> + '_ {
        (0..self.count as u32).map(|block| self.get(block))
    }
}

/// Of tracked blocks: bytes behind what was asked for, the footer included.
#[derive(Debug, Default, Clone)]
pub(crate) struct Slack {
    /// One more than the bytes; 0 for blocks that are not tracked, and the highest for those that are kept apart.
    few: Vec<u8>,
    /// In the order of the blocks.
    many: Vec<(u32, u64)>,
}

const KEPT_APART: u8 = u8::MAX;

impl Slack {
    /// Of blocks that are not tracked.
    pub(crate) fn new(count: usize) -> Slack {
        Slack { few: vec![0; count], many: Vec::new() }
    }

    /// Notes a tracked block. They come in their order.
    pub(crate) fn set(&mut self, block: u32, bytes: u64) {
        let Some(few) = self.few.get_mut(block as usize) else { return };
        match u8::try_from(bytes) {
            Ok(bytes) if bytes < KEPT_APART - 1 => *few = bytes + 1,
            _ => {
                *few = KEPT_APART;
                self.many.push((block, bytes));
            }
        }
    }

    /// `None` for blocks that are not tracked.
    #[inline]
    pub(crate) fn get(&self, block: u32) -> Option<u64> {
        match *self.few.get(block as usize)? {
            0 => None,
            KEPT_APART => {
                let at = self.many.binary_search_by_key(&block, |(block, _)| *block).ok()?;
                Some(self.many[at].1)
            }
            more => Some(u64::from(more) - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry_table::EntryTable;
    use assay_model::{Area, FigureSource};
    use proptest::prelude::*;
    use std::sync::OnceLock;

    fn entries() -> &'static [EntryId] {
        static ENTRIES: OnceLock<Vec<EntryId>> = OnceLock::new();
        ENTRIES.get_or_init(|| {
            let mut table = EntryTable::default();
            (0..600).map(|i| table.entry(Area::Other, &[i.to_string()], FigureSource::Pointers)).collect()
        })
    }

    proptest! {
        // Each case looks at all blocks.
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn owners_are_those_of_a_plain_list(
            sets in prop::collection::vec((0usize..3 * PAGE_BLOCKS, 0usize..600), 0..2000),
        ) {
            let entries = entries();
            let mut plain = vec![None; 3 * PAGE_BLOCKS - 5];
            let mut owners = Owners::new(plain.len());
            for (block, entry) in sets.into_iter().filter(|(block, _)| *block < 3 * PAGE_BLOCKS - 5) {
                plain[block] = Some(entries[entry]);
                owners.set(block as u32, entries[entry]);
            }
            prop_assert!(owners.iter().eq(plain.iter().copied()));
            prop_assert!((0..plain.len()).all(|block| owners.has(block as u32) == plain[block].is_some()));
        }

        #[test]
        fn rounding_is_that_of_a_plain_list(
            plain in prop::collection::vec(
                prop::option::of(prop_oneof![0u64..300, 0u64..100_000]), 0..300,
            ),
        ) {
            let mut slack = Slack::new(plain.len());
            for (block, bytes) in plain.iter().enumerate() {
                bytes.iter().for_each(|bytes| slack.set(block as u32, *bytes));
            }
            for (block, bytes) in plain.iter().enumerate() {
                prop_assert_eq!(slack.get(block as u32), *bytes);
            }
            prop_assert_eq!(slack.get(plain.len() as u32), None);
        }
    }
}
