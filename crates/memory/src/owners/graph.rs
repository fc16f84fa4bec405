//! Who points at whom among the blocks of malloc's heap.

use super::bits::Bits;

/// Pointers between two marks: bounds the steps to those of a block.
const MARK_EVERY: u32 = 16;
/// Blocks that share an entry of the table of marks.
const TABLE_BITS: u32 = 8;

/// Pointers between blocks, in the order of the blocks that hold them: 2 to 7 bytes each. How far the block behind the
/// one before it is, then how far it points.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
    /// For each group of blocks: the first mark to look from.
    first_mark: Vec<u32>,
    /// Blocks that hold pointers.
    holders: Bits,
    last: u32,
    since_mark: u32,
    bytes_max: usize,
    /// There were more pointers than these bytes hold: they are followed as far as the first ones lead.
    pub(crate) is_cut_off: bool,
}

/// Where reading may begin.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// The block that holds the first pointer from here on.
    from: u32,
    at: u32,
}

impl Graph {
    pub(crate) fn new(blocks: usize, bytes_max: usize) -> Graph {
        Graph { holders: Bits::new(blocks), bytes_max, ..Graph::default() }
    }

    /// Adds a pointer; they come in the order of `from`.
    pub(crate) fn push(&mut self, from: u32, to: u32) {
        debug_assert!(self.last <= from);
        if self.bytes_max <= self.bytes.len() + self.marks.len() * size_of::<Mark>() {
            self.is_cut_off = true;
            return;
        }
        if self.marks.is_empty() || MARK_EVERY <= self.since_mark {
            let slot = (from >> TABLE_BITS) as usize;
            let before = self.marks.len().saturating_sub(1) as u32;
            while self.first_mark.len() <= slot {
                self.first_mark.push(before);
            }
            self.marks.push(Mark { from, at: self.bytes.len() as u32 });
            (self.last, self.since_mark) = (from, 0);
        }
        self.since_mark += 1;
        self.holders.set(from);
        push_number(&mut self.bytes, u64::from(from - self.last));
        let step = i64::from(to) - i64::from(from);
        push_number(&mut self.bytes, (step << 1 ^ step >> 63).cast_unsigned());
        self.last = from;
    }

    /// Whether a block holds any pointers.
    #[inline]
    pub(crate) fn has(&self, block: u32) -> bool {
        self.holders.is_set(block)
    }

    /// All blocks that hold pointers, in their order.
    pub(crate) fn holders(&self) -> impl Iterator<Item = u32> + '_ {
        self.holders.iter()
    }

    /// All pointers: the block that holds it, and the one that it leads to.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        Reader::at(self, 0)
    }

    /// The blocks that a block points at.
    pub(crate) fn from(&self, block: u32) -> impl Iterator<Item = u32> + '_ {
        // The pointers of a block may begin before the mark that has its number.
        let slot = (block >> TABLE_BITS) as usize;
        let first = self.first_mark.get(slot).or(self.first_mark.last()).map_or(0, |mark| *mark as usize);
        let next = self.first_mark.get(slot + 1).map_or(self.marks.len(), |mark| *mark as usize + 1);
        let behind = self.marks[first..next].partition_point(|mark| mark.from < block);
        let all = Reader::at(self, (first + behind).saturating_sub(1));
        let mine = all.skip_while(move |(from, _)| *from < block).take_while(move |(from, _)| *from == block);
        mine.map(|(_, to)| to)
    }
}

struct Reader<'a> {
    graph: &'a Graph,
    next_mark: usize,
    at: usize,
    last: u32,
}

impl<'a> Reader<'a> {
    fn at(graph: &'a Graph, mark: usize) -> Reader<'a> {
        let at = graph.marks.get(mark).map_or(graph.bytes.len(), |mark| mark.at as usize);
        Reader { graph, next_mark: mark, at, last: 0 }
    }
}

impl Iterator for Reader<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        let mark = self.graph.marks.get(self.next_mark).filter(|mark| mark.at as usize == self.at);
        if let Some(mark) = mark {
            self.last = mark.from;
            self.next_mark += 1;
        }
        self.last += number_at(&self.graph.bytes, &mut self.at)? as u32;
        let zigzag = number_at(&self.graph.bytes, &mut self.at)?;
        let step = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        Some((self.last, (i64::from(self.last) + step) as u32))
    }
}

/// Seven bits to a byte, the lowest first; the highest bit of a byte says that another follows.
fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn number_at(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn pointers_are_those_of_a_plain_list(
            mut plain in prop::collection::vec((0u32..3000, prop_oneof![0u32..3000, any::<u32>()]), 0..600),
            hub in 0u32..3000,
            of_hub in 0u32..100,
        ) {
            plain.extend((0..of_hub).map(|to| (hub, to)));
            plain.sort_by_key(|(from, _)| *from);
            let mut graph = Graph::new(3000, 1 << 20);
            plain.iter().for_each(|(from, to)| graph.push(*from, *to));
            prop_assert!(graph.all().eq(plain.iter().copied()));
            let mut expected: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            plain.iter().for_each(|(from, to)| expected.entry(*from).or_default().push(*to));
            for block in 0..3000 {
                let expected = expected.remove(&block).unwrap_or_default();
                prop_assert_eq!(graph.has(block), !expected.is_empty());
                prop_assert_eq!(graph.from(block).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let mut graph = Graph::new(1 << 20, 1 << 20);
        (0..1 << 20).for_each(|from| graph.push(from, from + 1));
        assert!(graph.is_cut_off);
        assert!((300 << 10) < graph.all().count(), "{}", graph.all().count());
        assert!(graph.bytes.len() <= 1 << 20);
    }
}
