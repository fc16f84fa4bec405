//! Reads single words of a process's memory, a line of them at a time.
//!
//! Free lists and tables are read word by word, hopping back and forth between few pages: a system call for each word
//! would take a second for each million of them.

use assay_linux::MemorySource;
use std::cell::RefCell;
use std::ops::Range;

/// Bytes that a walk over all words of a range reads at once.
const WALK_BYTES: u64 = 64 << 10;

/// How much is read at once, and how much of it is kept. Each line has one place, which it shares with those that are a
/// multiple of their number apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines {
    /// A power of two, up to a page.
    bytes: u64,
    count: u64,
}

impl Lines {
    /// 16 MiB: for tables, which are read nearly whole.
    pub const OF_TABLES: Lines = Lines { bytes: 4096, count: 4096 };
    /// 2 MiB: of a list that hops through a large heap little more than its links is copied.
    pub const OF_LISTS: Lines = Lines { bytes: 512, count: 4096 };
}

/// Words of a process, with the lines read last.
pub(crate) struct WordReader<'a> {
    source: &'a dyn MemorySource,
    lines: Lines,
    kept: RefCell<CachedLines>,
}

/// Lines by place.
struct CachedLines {
    /// Number of the line in each place.
    numbers: Vec<Option<u64>>,
    /// Whether it could be read.
    is_read: Vec<bool>,
    bytes: Vec<u8>,
}

impl<'a> WordReader<'a> {
    /// A reader that has read nothing yet.
    pub fn new(source: &'a dyn MemorySource, lines: Lines) -> Self {
        let numbers = vec![None; lines.count as usize];
        let is_read = vec![false; lines.count as usize];
        let bytes = vec![0; (lines.count * lines.bytes) as usize];
        WordReader { source, lines, kept: RefCell::new(CachedLines { numbers, is_read, bytes }) }
    }

    /// Where it reads from.
    pub fn source(&self) -> &'a dyn MemorySource {
        self.source
    }

    /// Forgets what was read, so that the next look sees the process as it is then.
    pub fn forget(&self) {
        self.kept.borrow_mut().numbers.fill(None);
    }

    /// Whether a range is private memory without a file that may be written, without a hole: what an allocator's tables
    /// lie in.
    pub fn is_private_memory(&self, addresses: Range<u64>) -> bool {
        let mappings = self.source.mappings();
        let first = mappings.partition_point(|mapping| mapping.addresses.end <= addresses.start);
        let mut reached = addresses.start;
        for mapping in &mappings[first..] {
            let is_it = mapping.permissions.starts_with(b"rw")
                && mapping.permissions[3] == b'p'
                && !mapping.is_file();
            if addresses.end <= reached || reached < mapping.addresses.start || !is_it {
                break;
            }
            reached = mapping.addresses.end;
        }
        addresses.end <= reached
    }

    /// 64 bits at a multiple of 8.
    pub fn u64(&self, address: u64) -> Option<u64> {
        if !address.is_multiple_of(8) {
            return None;
        }
        let bytes = self.bytes::<8>(address)?;
        Some(u64::from_le_bytes(bytes))
    }

    /// 32 bits at a multiple of 4.
    pub fn u32(&self, address: u64) -> Option<u32> {
        if !address.is_multiple_of(4) {
            return None;
        }
        let bytes = self.bytes::<4>(address)?;
        Some(u32::from_le_bytes(bytes))
    }

    /// A word of the process's own size, at a multiple of that.
    pub fn word(&self, address: u64) -> Option<u64> {
        if self.source.word_bytes() == 8 { self.u64(address) } else { self.u32(address).map(u64::from) }
    }

    fn bytes<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let CachedLines { numbers, is_read, bytes } = &mut *self.kept.borrow_mut();
        let Lines { bytes: line_bytes, count } = self.lines;
        let number = address / line_bytes;
        let place = (number % count) as usize;
        let line = &mut bytes[place * line_bytes as usize..][..line_bytes as usize];
        if numbers[place] != Some(number) {
            is_read[place] = self.source.read(number * line_bytes, line).is_ok();
            numbers[place] = Some(number);
        }
        let word = line.get((address % line_bytes) as usize..)?.first_chunk();
        word.filter(|_| is_read[place]).copied()
    }

    /// Calls `each` with address and value of every word of a range that is resident and not zero, until it says false.
    pub fn each_word(&self, addresses: Range<u64>, mut each: impl FnMut(u64, u64) -> bool) {
        let mut buffer = vec![0; WALK_BYTES as usize];
        for part in self.source.pages().resident_in(addresses) {
            let mut at = part.start.next_multiple_of(8);
            while at + 8 <= part.end {
                let bytes = (part.end - at).min(WALK_BYTES) & !7;
                let words = &mut buffer[..bytes as usize];
                if self.source.read(at, words).is_ok() {
                    for (index, word) in words.as_chunks::<8>().0.iter().enumerate() {
                        let word = u64::from_le_bytes(*word);
                        if word != 0 && !each(at + index as u64 * 8, word) {
                            return;
                        }
                    }
                }
                at += bytes;
            }
        }
    }
}
