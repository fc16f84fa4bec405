//! The heap through a buffer: large reads, forward, of resident pages only.

use super::backed::Backed;
use assay_linux::MemorySource;

/// Bytes that are read at a time: they are still in the processor's cache when they are parsed.
const READ_BYTES: u64 = 512 << 10;
/// Bytes behind those that were read, so that a header at the end can be taken whole.
const PADDING_BYTES: usize = 64;

/// The addresses at which the heap can be read. ZGC before JDK 21 maps it three times, and a page may be in the page
/// table of one of these only; reading it elsewhere would add to the process's pages.
pub(super) struct HeapMemory<'b, 'm> {
    backed: &'b Backed<'m>,
    /// Offset from an address to the other mappings of the same memory; 0 is the first.
    views: Vec<u64>,
}

impl<'b, 'm> HeapMemory<'b, 'm> {
    pub(super) fn new(backed: &'b Backed<'m>, views: Vec<u64>) -> Self {
        HeapMemory { backed, views }
    }

    fn source(&self) -> &'m dyn MemorySource {
        self.backed.source()
    }

    /// Reads a small piece, wherever each of its pages can be read.
    pub(super) fn read_exact(&self, address: u64, buffer: &mut [u8]) -> bool {
        let read = |at: u64, part: &mut [u8]| {
            self.views
                .iter()
                .any(|view| at.checked_add(*view).is_some_and(|at| self.backed.read(at, part).is_ok()))
        };
        if read(address, buffer) {
            return true;
        }
        let page_bytes = self.source().pages().page_bytes();
        let (mut at, mut rest) = (address, buffer);
        while !rest.is_empty() {
            let (part, after) = rest.split_at_mut(rest.len().min((page_bytes - at % page_bytes) as usize));
            if !read(at, part) {
                return false;
            }
            at = at.saturating_add(part.len() as u64);
            rest = after;
        }
        true
    }

    /// Reads as many bytes as there are in one piece from an address on; 0 when there is nothing.
    fn read_prefix(&self, address: u64, buffer: &mut [u8]) -> usize {
        let wanted = buffer.len() as u64;
        let places = || self.views.iter().filter_map(|view| address.checked_add(*view));
        let place = places().find(|at| self.source().read(*at, buffer).is_ok());
        if place.is_some() {
            return buffer.len();
        }
        let resident = |at: u64| {
            let mut parts = self.source().readable_pages().resident_in(at..at.saturating_add(wanted));
            parts.next().filter(|part| part.start == at).map_or(0, |part| part.end - at)
        };
        let longest = places().map(|at| (resident(at), at)).max().unwrap_or((0, address));
        let part = &mut buffer[..longest.0 as usize];
        if !part.is_empty() && self.source().read(longest.1, part).is_ok() {
            return part.len();
        }
        let mut read = 0;
        let page_bytes = self.source().pages().page_bytes();
        while read < buffer.len() {
            let at = address.saturating_add(read as u64);
            let bytes = ((page_bytes - at % page_bytes) as usize).min(buffer.len() - read);
            if self.backed.read(at, &mut buffer[read..read + bytes]).is_err() {
                break;
            }
            read += bytes;
        }
        read
    }

    /// Where the next resident page begins behind an address that could not be read; `end` when there is none before.
    pub(super) fn next_resident(&self, address: u64, end: u64) -> u64 {
        let page_bytes = self.source().pages().page_bytes();
        let behind = (address / page_bytes * page_bytes).saturating_add(page_bytes).min(end);
        let next = |view: &u64| {
            let at = behind.checked_add(*view)?;
            let part = self.source().readable_pages().resident_in(at..end.checked_add(*view)?).next()?;
            Some(part.start - view)
        };
        self.views.iter().filter_map(next).min().unwrap_or(end)
    }
}

/// A piece of the heap that has been read.
pub(super) struct HeapReader<'h, 'b, 'm> {
    memory: &'h HeapMemory<'b, 'm>,
    buffer: Vec<u8>,
    start: u64,
    /// Bytes of the buffer that hold something, from `start` on.
    bytes: usize,
    /// Bytes that were read in all.
    pub(super) bytes_read: u64,
}

impl<'h, 'b, 'm> HeapReader<'h, 'b, 'm> {
    pub(super) fn new(memory: &'h HeapMemory<'b, 'm>) -> Self {
        let buffer = vec![0; READ_BYTES as usize + PADDING_BYTES];
        HeapReader { memory, buffer, start: 0, bytes: 0, bytes_read: 0 }
    }

    /// The bytes from an address on, of which `needed` were read; zeros or older bytes may follow them. `None` when they
    /// have not been read.
    #[inline]
    pub(super) fn at(&self, address: u64, needed: usize) -> Option<&[u8]> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        if self.bytes < offset.checked_add(needed)? {
            return None;
        }
        self.buffer.get(offset..)
    }

    /// Reads on from an address, at most to `end`. Whether `needed` bytes could be read; these are at most
    /// [`PADDING_BYTES`] when pages next to each other cannot be read in one piece.
    pub(super) fn read_on(&mut self, address: u64, needed: usize, end: u64) -> bool {
        let wanted = end.saturating_sub(address).min(READ_BYTES).max(needed as u64) as usize;
        self.start = address;
        self.bytes = self.memory.read_prefix(address, &mut self.buffer[..wanted]);
        self.bytes_read += self.bytes as u64;
        if self.bytes < needed {
            self.bytes = if self.memory.read_exact(address, &mut self.buffer[..needed]) { needed } else { 0 };
            self.bytes_read += self.bytes as u64;
        }
        needed <= self.bytes
    }
}
