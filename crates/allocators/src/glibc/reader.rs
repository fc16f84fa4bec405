//! Reads a process's memory forward, as a walk over chunks does. It reads no page that was not resident.

use assay_linux::MemorySource;

/// The window is not made larger than this, so that it stays in the second-level cache.
const WINDOW_BYTES_MAX: usize = 256 << 10;
/// What is read first at a new place; doubled while reading goes on directly behind.
const WINDOW_BYTES_MIN: usize = 4096;

/// Reads forward: little at a place far ahead, much at a time without gaps.
pub(crate) struct ForwardReader<'a> {
    source: &'a dyn MemorySource,
    word: usize,
    base: u64,
    bytes: Vec<u8>,
    wanted: usize,
    /// The end of the furthest read.
    furthest: u64,
    read_again_bytes: u64,
}

impl<'a> ForwardReader<'a> {
    pub(crate) fn new(source: &'a dyn MemorySource) -> Self {
        ForwardReader {
            source,
            word: source.word_bytes() as usize,
            base: 0,
            bytes: Vec::new(),
            wanted: WINDOW_BYTES_MIN,
            furthest: 0,
            read_again_bytes: 0,
        }
    }

    /// Bytes that had been read before: what taking a walk back costs.
    pub(crate) fn read_again_bytes(&self) -> u64 {
        self.read_again_bytes
    }

    /// Forgets what was read, so that it is read anew.
    pub(crate) fn refresh(&mut self) {
        self.bytes.clear();
        self.wanted = WINDOW_BYTES_MIN;
    }

    /// Two words at an address.
    pub(crate) fn two_words(&mut self, at: u64) -> Option<[u64; 2]> {
        let word = self.word;
        let end = self.base + self.bytes.len() as u64;
        if at < self.base || end < at.checked_add(2 * word as u64)? {
            self.fill(at, 2 * word)?;
        }
        let from = (at - self.base) as usize;
        let bytes = &self.bytes[from..from + 2 * word];
        // Numbers of a fixed length are read at once.
        if let Ok(bytes) = <[u8; 16]>::try_from(bytes) {
            let both = u128::from_le_bytes(bytes);
            return Some([both as u64, (both >> 64) as u64]);
        }
        Some([little_endian(&bytes[..word]), little_endian(&bytes[word..])])
    }

    /// The first address from `at` on that can be read.
    pub(crate) fn next_readable(&self, at: u64, end: u64) -> Option<u64> {
        self.source.pages().resident_in(at..end.max(at)).next().map(|part| part.start)
    }

    fn fill(&mut self, at: u64, bytes_min: usize) -> Option<()> {
        let end = self.base + self.bytes.len() as u64;
        // The next chunk begins behind the end of what was read, mostly closely.
        let goes_on = !self.bytes.is_empty() && self.base <= at && at < end + WINDOW_BYTES_MIN as u64;
        self.wanted = if goes_on { (self.wanted * 2).min(WINDOW_BYTES_MAX) } else { WINDOW_BYTES_MIN };
        // Reads end at a multiple of the smallest window, so as not to touch one page more for nothing.
        let wanted = self.wanted as u64 - at % WINDOW_BYTES_MIN as u64;
        let wanted = wanted.max(bytes_min as u64);
        let wanted = at..at.checked_add(wanted)?;
        self.base = at;
        let resident = self.source.pages().resident_in(wanted).next();
        let resident = resident.filter(|part| part.start == at).map_or(0, |part| part.end - part.start);
        // Two words may lie across two runs of the page map, and the end of it may have been unmapped since.
        let is_read = bytes_min as u64 <= resident && self.read(resident as usize) || self.read(bytes_min);
        if !is_read {
            self.bytes.clear();
        }
        is_read.then_some(())
    }

    /// Reads so many bytes from the base on.
    fn read(&mut self, bytes: usize) -> bool {
        let end = self.base.saturating_add(bytes as u64);
        self.read_again_bytes += end.min(self.furthest).saturating_sub(self.base);
        self.furthest = self.furthest.max(end);
        // Existing bytes are overwritten.
        self.bytes.resize(bytes, 0);
        self.source.read(self.base, &mut self.bytes).is_ok()
    }
}

/// A number of up to 8 bytes.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
