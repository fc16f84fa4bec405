//! The heap read here and there: pages are kept, since objects that refer to each other often lie side by side.

use assay_linux::MemorySource;

const PAGE_BYTES: usize = 4096;
/// Pages that are kept, each in the one place that its number gives it: 32 MiB.
const KEPT: usize = 8_192;

/// Pages of a process that were read last.
pub(super) struct Pages<'m> {
    source: &'m dyn MemorySource,
    /// The number of the page in each place; 0 for none.
    numbers: Vec<u64>,
    bytes: Vec<u8>,
    /// Reads so far.
    pub(super) reads: u64,
}

impl<'m> Pages<'m> {
    pub(super) fn new(source: &'m dyn MemorySource) -> Pages<'m> {
        Pages { source, numbers: vec![0; KEPT], bytes: vec![0; KEPT * PAGE_BYTES], reads: 0 }
    }

    /// Fills the buffer from an address on; gives how many bytes could be read in one piece.
    pub(super) fn read(&mut self, address: u64, buffer: &mut [u8]) -> usize {
        let mut filled = 0;
        while filled < buffer.len() {
            let Some(part) = address.checked_add(filled as u64).and_then(|at| self.at(at)) else { break };
            let bytes = part.len().min(buffer.len() - filled);
            buffer[filled..filled + bytes].copy_from_slice(&part[..bytes]);
            filled += bytes;
        }
        filled
    }

    /// The bytes from an address to the end of its page.
    fn at(&mut self, address: u64) -> Option<&[u8]> {
        let (number, offset) = (address / PAGE_BYTES as u64, (address % PAGE_BYTES as u64) as usize);
        let place = (number % KEPT as u64) as usize;
        let page = &mut self.bytes[place * PAGE_BYTES..][..PAGE_BYTES];
        if self.numbers[place] != number {
            self.reads += 1;
            self.numbers[place] = 0;
            self.source.read(number * PAGE_BYTES as u64, page).ok()?;
            self.numbers[place] = number;
        }
        Some(&page[offset..])
    }
}
