//! Reading words over any range, and the contents of malloc's blocks one after the other, with few system calls.

use super::filter::AddressFilter;
use crate::windows::{WINDOW_BYTES, WindowBuffer, windows};
use assay_allocators::{Block, BlockState, Blocks};
use assay_linux::MemorySource;
use std::collections::HashMap;
use std::ops::Range;

/// Calls `each` with the address and the value of every aligned word in the pages of a range that passes the filter.
pub(crate) fn for_each_word(
    source: &dyn MemorySource,
    range: Range<u64>,
    filter: &AddressFilter,
    buffer: &mut WindowBuffer,
    mut each: impl FnMut(u64, u64),
) {
    let word_bytes = source.word_bytes();
    let parts = source.readable_pages().resident_in(range);
    for window in parts.flat_map(|part| windows(part.start.next_multiple_of(word_bytes)..part.end)) {
        if let Some(bytes) = buffer.read(source, &window) {
            words_of(bytes, window.start, word_bytes, filter, &mut each);
        }
    }
}

/// The words of bytes that begin at an address, as far as they pass the filter.
pub(crate) fn words_of(
    bytes: &[u8],
    start: u64,
    word_bytes: u64,
    filter: &AddressFilter,
    each: &mut impl FnMut(u64, u64),
) {
    let mut give = |address: u64, word: u64| {
        if filter.passes(word) {
            each(address, word);
        }
    };
    if word_bytes == 8 {
        // A line of the cache at a time: most hold no pointer at all.
        let (lines, rest) = bytes.as_chunks::<64>();
        for (i, line) in lines.iter().enumerate() {
            let words = line.as_chunks::<8>().0;
            let spans = |any: bool, word: &[u8; 8]| any | filter.spans(u64::from_le_bytes(*word));
            if words.iter().fold(false, spans) {
                for (j, word) in words.iter().enumerate() {
                    give(start + 64 * i as u64 + 8 * j as u64, u64::from_le_bytes(*word));
                }
            }
        }
        let start = start + 64 * lines.len() as u64;
        for (i, word) in rest.as_chunks::<8>().0.iter().enumerate() {
            give(start + 8 * i as u64, u64::from_le_bytes(*word));
        }
    } else {
        for (i, word) in bytes.as_chunks::<4>().0.iter().enumerate() {
            give(start + 4 * i as u64, u64::from(u32::from_le_bytes(*word)));
        }
    }
}

/// Words that passed the filter, of ranges that are looked through twice: the Java heap is read once.
#[derive(Debug, Default)]
pub(crate) struct KeptWords {
    /// By the range's start and end: addresses and words.
    kept: HashMap<(u64, u64), Vec<(u64, u64)>>,
    count: usize,
    count_max: usize,
}

impl KeptWords {
    /// Keeps so many words at most.
    pub(crate) fn new(count_max: usize) -> KeptWords {
        KeptWords { count_max, ..KeptWords::default() }
    }

    /// [`for_each_word`], from what was kept if there is something. Where a range has more of such words than are kept,
    /// it is read again.
    pub(crate) fn for_each(
        &mut self,
        source: &dyn MemorySource,
        range: Range<u64>,
        filter: &AddressFilter,
        buffer: &mut WindowBuffer,
        mut each: impl FnMut(u64, u64),
    ) {
        let key = (range.start, range.end);
        if let Some(words) = self.kept.get(&key) {
            words.iter().for_each(|(address, word)| each(*address, *word));
            return;
        }
        let room = self.count_max.saturating_sub(self.count);
        let mut words = Vec::new();
        let mut fits = true;
        for_each_word(source, range, filter, buffer, |address, word| {
            fits &= words.len() < room;
            if fits {
                words.push((address, word));
            }
            each(address, word);
        });
        if fits {
            self.count += words.len();
            self.kept.insert(key, words);
        }
    }
}

/// A resident part of a block in use.
pub(crate) struct BlockBytes<'a> {
    /// Index of the block.
    pub(crate) index: u32,
    pub(crate) block: Block,
    /// Where it begins.
    pub(crate) address: u64,
    pub(crate) bytes: &'a [u8],
}

/// Calls `each` with the resident parts of all blocks in use, in the order of their addresses: of each the first
/// `reach_bytes` at most. A block is cut where a page is not resident, and every 256 KiB.
pub(crate) fn for_each_used_block(
    source: &dyn MemorySource,
    blocks: &Blocks,
    reach_bytes: u64,
    mut each: impl FnMut(&BlockBytes<'_>),
) {
    let mut window = ReadAhead { source, start: 0, buffer: Vec::new() };
    for (index, block) in (0..).zip(blocks).filter(|(_, block)| block.state == BlockState::Used) {
        let addresses = block.address..block.address.saturating_add(block.bytes.min(reach_bytes));
        // Nearly every block lies whole in what was read last.
        if let Some(bytes) = window.whole(&addresses) {
            each(&BlockBytes { index, block, address: block.address, bytes });
        } else {
            window.read_piecewise(addresses, |address, bytes| {
                each(&BlockBytes { index, block, address, bytes });
            });
        }
    }
}

/// The bytes that were read last.
struct ReadAhead<'a> {
    source: &'a dyn MemorySource,
    start: u64,
    buffer: Vec<u8>,
}

impl ReadAhead<'_> {
    /// The bytes at these addresses, if they have all been read.
    #[inline]
    fn whole(&self, addresses: &Range<u64>) -> Option<&[u8]> {
        let from = usize::try_from(addresses.start.checked_sub(self.start)?).ok()?;
        let bytes = (addresses.end - addresses.start) as usize;
        self.buffer.get(from..from.checked_add(bytes)?)
    }

    /// Reads what is resident at these addresses, and gives it in pieces.
    fn read_piecewise(&mut self, addresses: Range<u64>, mut each: impl FnMut(u64, &[u8])) {
        let Range { mut start, end } = addresses;
        while start < end {
            if !self.holds(start) && !self.fill(start, end) {
                start = self.skip(start, end);
                continue;
            }
            let wanted = (end - start) as usize;
            let is_cut = self.from(start).len() < wanted;
            if is_cut && start != self.start && self.fill(start, end) {
                continue;
            }
            let bytes = self.from(start);
            let bytes = &bytes[..bytes.len().min(wanted)];
            each(start, bytes);
            start += bytes.len() as u64;
        }
    }

    fn holds(&self, address: u64) -> bool {
        self.start <= address && address < self.start + self.buffer.len() as u64
    }

    fn from(&self, address: u64) -> &[u8] {
        &self.buffer[(address - self.start) as usize..]
    }

    /// Reads from an address to the end of the run of resident pages that it lies in.
    fn fill(&mut self, address: u64, end: u64) -> bool {
        let until = address.saturating_add(WINDOW_BYTES);
        let resident = self.source.pages().resident_in(address..until.max(end)).next();
        let resident = resident.filter(|part| part.start == address);
        let bytes = resident.map_or(0, |part| (part.end - address).min(WINDOW_BYTES));
        self.start = address;
        self.buffer.resize(bytes as usize, 0);
        let filled = bytes != 0 && self.source.read(address, &mut self.buffer).is_ok();
        if !filled {
            self.buffer.clear();
        }
        filled
    }

    /// The next resident address after one that could not be read.
    fn skip(&self, address: u64, end: u64) -> u64 {
        let page_bytes = self.source.pages().page_bytes();
        let next_page = (address + 1).next_multiple_of(page_bytes);
        if end <= next_page {
            return end;
        }
        self.source.pages().resident_in(next_page..end).next().map_or(end, |part| part.start)
    }
}
