//! Small reads of a process's memory without a system call for each.

use crate::{BeforeMemory, MemorySource, ReadError};
use std::sync::{Mutex, PoisonError};

/// Bytes that are read at once: a system call costs as much as half a KiB of copying. A power of two, up to a page.
const LINE_BYTES: usize = 1024;
/// Lines that are kept: 4 MiB. Each has one place, which it shares with those that are a multiple of this apart.
const LINES: usize = 4096;
/// Lines that are read at once where reading goes forward: 64 KiB.
const AHEAD_MAX: usize = 64;
/// Reading goes forward when a line follows on the one read last, or on one of so many behind it: headers of what is a
/// few KiB long are read one after the other.
const GAP_LINES: u64 = 8;

/// A source whose structures are read field by field: the bytes beside a field are kept for the next one.
///
/// All that is read through it is of the moment at which its surroundings were read first, so that fields read one after
/// the other fit together better than without. It is for one look, not for watching.
pub struct CachedMemory<'a> {
    source: &'a dyn MemorySource,
    lines: Mutex<Lines>,
}

struct Lines {
    /// Number of the line in each place.
    numbers: Vec<Option<u64>>,
    bytes: Vec<u8>,
    /// The line behind those that were read last, and how many they were.
    behind: u64,
    ahead: usize,
}

impl<'a> CachedMemory<'a> {
    /// Nothing is kept yet.
    pub fn new(source: &'a dyn MemorySource) -> Self {
        let (numbers, bytes) = (vec![None; LINES], vec![0; LINES * LINE_BYTES]);
        let lines = Lines { numbers, bytes, behind: 0, ahead: 0 };
        CachedMemory { source, lines: Mutex::new(lines) }
    }

    /// The source itself: for reads of much at a time, and of what may change meanwhile.
    pub fn source(&self) -> &'a dyn MemorySource {
        self.source
    }

    /// Fills the buffer from the lines that it lies in; false where they are more than two, or cannot be read whole.
    fn read_kept(&self, address: u64, buffer: &mut [u8]) -> bool {
        let (number, offset) = (address / LINE_BYTES as u64, (address % LINE_BYTES as u64) as usize);
        let (first, second) = buffer.split_at_mut(buffer.len().min(LINE_BYTES - offset));
        if LINE_BYTES < second.len() {
            return false;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.copy(self.source, number, offset, first)
            && (second.is_empty() || lines.copy(self.source, number + 1, 0, second))
    }
}

impl Lines {
    /// Copies from a line.
    fn copy(&mut self, source: &dyn MemorySource, number: u64, offset: usize, buffer: &mut [u8]) -> bool {
        let place = (number % LINES as u64) as usize;
        if self.numbers[place] != Some(number) && !self.fill(source, number) {
            return false;
        }
        let line = &self.bytes[place * LINE_BYTES..][..LINE_BYTES];
        buffer.copy_from_slice(&line[offset..offset + buffer.len()]);
        true
    }

    /// Reads a line, and where reading goes forward those behind it.
    fn fill(&mut self, source: &dyn MemorySource, number: u64) -> bool {
        let Some(start) = number.checked_mul(LINE_BYTES as u64) else { return false };
        let place = (number % LINES as u64) as usize;
        let goes_on = number.checked_sub(self.behind).is_some_and(|gap| gap <= GAP_LINES);
        let ahead = if goes_on { (2 * self.ahead).clamp(1, AHEAD_MAX.min(LINES - place)) } else { 1 };
        let read = std::iter::once(ahead).chain((1 < ahead).then_some(1)).find(|count| {
            let bytes = &mut self.bytes[place * LINE_BYTES..][..count * LINE_BYTES];
            // The earlier content may be partly overwritten.
            self.numbers[place..place + count].fill(None);
            source.read(start, bytes).is_ok()
        });
        for (at, number) in (place..place + read.unwrap_or(0)).zip(number..) {
            self.numbers[at] = Some(number);
        }
        (self.behind, self.ahead) = (number + read.unwrap_or(0) as u64, read.unwrap_or(0));
        read.is_some()
    }
}

impl BeforeMemory for CachedMemory<'_> {
    fn behind(&self) -> &dyn MemorySource {
        self.source
    }

    fn read_before(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        if self.read_kept(address, buffer) { Ok(()) } else { self.source.read(address, buffer) }
    }

    fn read_anew_before(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.source.read_anew(address, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, Recording};
    use proptest::prelude::*;

    /// Three pages, a gap of one, and one page more.
    fn recording() -> Recording {
        let mapping = |start: u64, end: u64| Mapping {
            addresses: start..end,
            permissions: *b"rw-p",
            ..Mapping::default()
        };
        let bytes = |count: usize| (0..count).map(|i| (i * 7 + i / 251) as u8).collect::<Vec<u8>>();
        let recording = Recording::of_nothing(8).with_mapping(mapping(0x10000, 0x13000), &bytes(0x3000));
        recording
            .and_then(|r| r.with_mapping(mapping(0x14000, 0x15000), &bytes(0x1000)))
            .expect("two mappings")
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_the_source_holds(
            reads in prop::collection::vec((0xff00u64..0x15100, 0usize..3000), 1..60),
        ) {
            let recording = recording();
            let cached = CachedMemory::new(&recording);
            for (address, length) in reads {
                let (mut seen, mut expected) = (vec![0; length], vec![0; length]);
                let direct = recording.read(address, &mut expected);
                let result = cached.read(address, &mut seen);
                prop_assert_eq!(result, direct);
                prop_assert!(direct.is_err() || seen == expected, "{:#x} {}", address, length);
            }
        }
    }

    #[test]
    fn the_end_of_the_addresses_is_no_trap() {
        let recording = recording();
        let cached = CachedMemory::new(&recording);
        assert_eq!(cached.u64(u64::MAX - 3), None);
        assert_eq!(cached.u64(u64::MAX - 7), None);
        assert_eq!(cached.u64(0), None);
    }
}
