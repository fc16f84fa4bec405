//! The stored form of a recording.
//!
//! ```text
//! 8 bytes   "ASSAYMEM"
//! 4 bytes   version, 1; numbers are little endian
//! gzip of:
//!   8 bytes   length of the head
//!   head      JSON: mappings, pages, threads, ranges of addresses, mapped files (name, device, inode, bytes)
//!   bytes     of each range in turn, then of each mapped file in turn
//! ```
//!
//! A reader trusts nothing: lengths are checked against a limit before anything is read, and memory grows with what
//! has really come, not with what is announced.

use super::{Chunk, FileKey, MappedFile, Recording, RecordingError};
use crate::page_map::PAGE_BYTES_MIN;
use crate::{Mapping, PageMap, PageRun, ThreadFacts};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::ops::Range;

const MAGIC: [u8; 8] = *b"ASSAYMEM";
const VERSION: u32 = 1;
/// 65,000 mappings take 30 MB, two million runs of pages 50 MB.
/// Every field of the head that is a part of a long list is required, so that what it becomes in memory is at most three times as long.
const HEAD_BYTES_MAX: u64 = 128 << 20;
const PAGE_BYTES_MAX: u64 = 1 << 24;

#[derive(Serialize, Deserialize)]
struct Head {
    pid: u32,
    word_bytes: u64,
    page_bytes: u64,
    mappings: Vec<Mapping>,
    /// Start, end, and whether the pages belong to a file.
    pages: Vec<(u64, u64, bool)>,
    /// Start and end of the parts that lie in huge pages; absent where the kernel did not say, and in older recordings.
    #[serde(default)]
    huge: Option<Vec<(u64, u64)>>,
    threads: Vec<ThreadFacts>,
    ranges: Vec<Range<u64>>,
    files: Vec<FileHead>,
}

#[derive(Serialize, Deserialize)]
struct FileHead {
    #[serde(flatten)]
    key: FileKey,
    bytes: u64,
}

impl Recording {
    /// Writes it, compressed.
    ///
    /// # Errors
    /// When the destination cannot be written.
    pub fn write(&self, mut to: impl Write) -> Result<(), RecordingError> {
        to.write_all(&MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        // The fastest level: zeros and repeated words go, and a gigabyte takes seconds.
        let mut packed = GzEncoder::new(to, Compression::fast());
        self.write_plain(&mut packed)?;
        packed.finish()?.flush()?;
        Ok(())
    }

    pub(super) fn write_plain(&self, to: &mut impl Write) -> Result<(), RecordingError> {
        let head = Head {
            pid: self.pid,
            word_bytes: self.word_bytes,
            page_bytes: self.pages.page_bytes(),
            mappings: self.mappings.clone(),
            pages: self
                .pages
                .runs()
                .iter()
                .map(|r| (r.addresses.start, r.addresses.end, r.is_file))
                .collect(),
            huge: self.pages.huge().map(|huge| huge.iter().map(|range| (range.start, range.end)).collect()),
            threads: self.threads.clone(),
            ranges: self.recorded_ranges().collect(),
            files: self
                .files
                .iter()
                .map(|f| FileHead { key: f.key.clone(), bytes: f.bytes.len() as u64 })
                .collect(),
        };
        let text = serde_json::to_vec(&head).map_err(|e| RecordingError::Form(e.to_string()))?;
        to.write_all(&(text.len() as u64).to_le_bytes())?;
        to.write_all(&text)?;
        for bytes in self.chunks.iter().map(|c| &c.bytes).chain(self.files.iter().map(|f| &f.bytes)) {
            to.write_all(bytes)?;
        }
        Ok(())
    }

    /// Reads one of at most `bytes_max` bytes of memory and files.
    ///
    /// # Errors
    /// When it is larger, cut off, or not in the form of a recording.
    pub fn read(mut from: impl Read, bytes_max: u64) -> Result<Recording, RecordingError> {
        let mut start = [0; 12];
        from.read_exact(&mut start)?;
        let (magic, version) = start.split_at(8);
        if magic != MAGIC {
            return Err(wrong("it does not begin with ASSAYMEM"));
        }
        if version != VERSION.to_le_bytes() {
            return Err(wrong("written by another version of Assay"));
        }
        let mut plain = GzDecoder::new(from);
        let recording = Recording::read_plain(&mut plain, bytes_max)?;
        // To the end, so that the check sum is looked at.
        if plain.read(&mut [0])? != 0 {
            return Err(wrong("more bytes than announced"));
        }
        Ok(recording)
    }

    pub(super) fn read_plain(from: &mut impl Read, bytes_max: u64) -> Result<Recording, RecordingError> {
        let mut len = [0; 8];
        from.read_exact(&mut len)?;
        let len = u64::from_le_bytes(len);
        if HEAD_BYTES_MAX < len {
            return Err(wrong("the head is too long"));
        }
        let text = read_bytes(from, len)?;
        let head: Head = serde_json::from_slice(&text).map_err(|e| RecordingError::Form(e.to_string()))?;
        drop(text);
        check(&head, bytes_max)?;
        let mut chunks = Vec::with_capacity(head.ranges.len());
        for range in &head.ranges {
            chunks.push(Chunk { start: range.start, bytes: read_bytes(from, range.end - range.start)? });
        }
        let mut files = Vec::with_capacity(head.files.len());
        for file in head.files {
            files.push(MappedFile { key: file.key, bytes: read_bytes(from, file.bytes)? });
        }
        let run = |(start, end, is_file)| PageRun { addresses: start..end, is_file };
        let huge = head.huge.map(|huge| huge.into_iter().map(|(start, end)| start..end).collect());
        let pages = PageMap::new(head.pages.into_iter().map(run).collect(), head.page_bytes);
        Ok(Recording {
            pid: head.pid,
            word_bytes: head.word_bytes,
            mappings: head.mappings,
            pages: pages.with_huge(huge),
            threads: head.threads,
            chunks,
            files,
        })
    }
}

fn wrong(what: &str) -> RecordingError {
    RecordingError::Form(what.to_owned())
}

fn read_bytes(from: &mut impl Read, len: u64) -> Result<Vec<u8>, RecordingError> {
    let mut bytes = Vec::new();
    from.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len { Ok(bytes) } else { Err(wrong("it is cut off")) }
}

/// What every reader of a [`crate::MemorySource`] may rely on: order, no overlap, sizes within the limit.
fn check(head: &Head, bytes_max: u64) -> Result<(), RecordingError> {
    if !matches!(head.word_bytes, 4 | 8) {
        return Err(wrong("words of neither 4 nor 8 bytes"));
    }
    let sizes = PAGE_BYTES_MIN..=PAGE_BYTES_MAX;
    if !head.page_bytes.is_power_of_two() || !sizes.contains(&head.page_bytes) {
        return Err(wrong("pages of an impossible size"));
    }
    in_order(head.mappings.iter().map(|m| m.addresses.clone()), "mappings")?;
    in_order(head.pages.iter().map(|(start, end, _)| *start..*end), "pages")?;
    in_order(head.huge.iter().flatten().map(|(start, end)| *start..*end), "huge pages")?;
    in_order(head.ranges.iter().cloned(), "ranges")?;
    if head.ranges.windows(2).any(|pair| pair[0].end == pair[1].start) {
        return Err(wrong("ranges next to each other"));
    }
    let sizes = head.ranges.iter().map(|r| r.end - r.start).chain(head.files.iter().map(|f| f.bytes));
    if bytes_max < sizes.fold(0, u64::saturating_add) {
        return Err(RecordingError::TooLarge { bytes_max });
    }
    Ok(())
}

fn in_order(ranges: impl Iterator<Item = Range<u64>>, what: &str) -> Result<(), RecordingError> {
    let mut end = 0;
    for range in ranges {
        if range.is_empty() || range.start < end {
            return Err(RecordingError::Form(format!("{what} are not in order")));
        }
        end = range.end;
    }
    Ok(())
}
