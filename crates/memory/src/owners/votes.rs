//! Who owns memory that no structure names: pointers into it vote.

use crate::entry_table::EntryId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Pointers of each owner: how many, and whether it came before others, which are then less sure.
type Counts = HashMap<EntryId, (u64, Reverse<usize>)>;

/// Pointers into regions.
///
/// The kernel joins mappings that lie next to each other, so that a region may be several. A pointer to the start of a page
/// is one to the start of a mapping: what lies before the first of them, and nobody points into, is somebody else's.
#[derive(Debug)]
pub(crate) struct Votes<'a> {
    regions: &'a [Range<u64>],
    page_bytes: u64,
    /// By the start that is pointed at.
    starts: BTreeMap<u64, Counts>,
    /// By region: pointers to elsewhere in it, and the lowest address of those.
    insides: HashMap<usize, (u64, Counts)>,
    turn: usize,
}

impl<'a> Votes<'a> {
    pub(crate) fn new(regions: &'a [Range<u64>], page_bytes: u64) -> Votes<'a> {
        let (starts, insides) = (BTreeMap::new(), HashMap::new());
        Votes { regions, page_bytes, starts, insides, turn: 0 }
    }

    /// Notes a word that may lead into a region, with its owner if it has one.
    pub(crate) fn add(&mut self, word: u64, owner: impl FnOnce() -> Option<EntryId>) {
        let region = self.regions.partition_point(|region| region.end <= word);
        if self.regions.get(region).is_none_or(|region| word < region.start) {
            return;
        }
        let Some(owner) = owner() else { return };
        self.turn += 1;
        let counts = if word.is_multiple_of(self.page_bytes) {
            self.starts.entry(word).or_default()
        } else {
            let (lowest, counts) = self.insides.entry(region).or_insert((word, Counts::new()));
            *lowest = word.min(*lowest);
            counts
        };
        counts.entry(owner).or_insert((0, Reverse(self.turn))).0 += 1;
    }

    /// Regions, or parts of them, with the owner of most of the pointers that were met so far.
    pub(crate) fn winners(&self) -> Vec<(Range<u64>, EntryId)> {
        let mut won = Vec::new();
        for (number, region) in self.regions.iter().enumerate() {
            let mut starts = self.starts.range(region.clone()).peekable();
            let first = starts.peek().map_or(region.end, |(start, _)| **start);
            let inside = self.insides.get(&number);
            let inside = inside.filter(|(lowest, _)| *lowest < first);
            won.extend(inside.and_then(|(_, counts)| Some((region.start..first, most(counts)?))));
            while let Some((start, counts)) = starts.next() {
                let end = starts.peek().map_or(region.end, |(next, _)| **next);
                won.extend(most(counts).map(|owner| (*start..end, owner)));
            }
        }
        won
    }
}

/// The owner with most pointers; of several, who came first.
fn most(counts: &Counts) -> Option<EntryId> {
    counts.iter().max_by_key(|(_, count)| **count).map(|(owner, _)| *owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry_table::EntryTable;
    use assay_model::{Area, FigureSource};

    #[test]
    fn what_lies_before_the_first_pointer_is_nobody_s_and_each_mapping_has_its_own_owner() {
        let mut table = EntryTable::default();
        let [a, b] = ["a", "b"].map(|name| table.entry(Area::Other, &[name], FigureSource::Pointers));
        let regions = [0x10000..0x20000, 0x30000..0x40000];
        let mut votes = Votes::new(&regions, 0x1000);
        for (word, owner) in
            [(0x14000, a), (0x14010, b), (0x14020, b), (0x18000, b), (0x20000, a), (0x30008, b)]
        {
            votes.add(word, || Some(owner));
        }
        votes.add(0x38000, || None);
        let expected = [(0x14000..0x18000, a), (0x18000..0x20000, b), (0x30000..0x40000, b)];
        assert_eq!(votes.winners(), expected);
    }

    #[test]
    fn pointers_into_the_middle_alone_speak_for_all_of_it() {
        let mut table = EntryTable::default();
        let [a, b] = ["a", "b"].map(|name| table.entry(Area::Other, &[name], FigureSource::Pointers));
        let region = 0x10000..0x20000;
        let mut votes = Votes::new(std::slice::from_ref(&region), 0x1000);
        for (word, owner) in [(0x11008, a), (0x12008, b)] {
            votes.add(word, || Some(owner));
        }
        assert_eq!(votes.winners(), [(0x10000..0x20000, a)], "of equals the first");
        votes.add(0x13008, || Some(b));
        votes.add(0x14000, || Some(a));
        assert_eq!(votes.winners(), [(0x10000..0x14000, b), (0x14000..0x20000, a)]);
    }
}
