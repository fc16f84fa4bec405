//! The memory of a process, copied: read again later, on another machine, or with bytes changed by a test.

use crate::{BeforeMemory, Mapping, MemorySource, PageMap, PageRun, ReadError, ThreadFacts, mapped_file};
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::path::Path;

mod form;
#[cfg(test)]
mod tests;

/// Bytes copied at a time.
const STEP: u64 = 1 << 20;

/// Why a recording could not be made, written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// More memory than the caller allows.
    #[error("more than {bytes_max} bytes would be recorded")]
    TooLarge {
        /// The limit.
        bytes_max: u64,
    },
    /// The bytes are not those of a recording.
    #[error("not a recording of memory: {0}")]
    Form(String),
    /// The file could not be read or written.
    #[error("recording of memory: {0}")]
    Io(#[from] io::Error),
}

/// A copy of a process's memory.
///
/// All mappings, the page map and the threads are kept; bytes and mapped files only as far as asked for. A resident page
/// that was not kept reads as [`ReadError::Absent`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    pid: u32,
    word_bytes: u64,
    mappings: Vec<Mapping>,
    pages: PageMap,
    threads: Vec<ThreadFacts>,
    /// In the order of their addresses, and never next to each other.
    chunks: Vec<Chunk>,
    files: Vec<MappedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Chunk {
    start: u64,
    bytes: Vec<u8>,
}

impl Chunk {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// A mapped file whose content is part of the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MappedFile {
    key: FileKey,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileKey {
    name: String,
    device: String,
    inode: u64,
}

impl FileKey {
    fn of(mapping: &Mapping) -> Self {
        FileKey { name: mapping.name.clone(), device: mapping.device.clone(), inode: mapping.inode }
    }
}

impl Recording {
    /// Copies a source: what is known of it, and the resident bytes of the mappings that are to be kept. Pages that
    /// the process gives back meanwhile are left out.
    ///
    /// # Errors
    /// When these are more than `bytes_max`.
    pub fn capture(
        source: &dyn MemorySource,
        keep: impl Fn(&Mapping) -> bool,
        bytes_max: u64,
    ) -> Result<Recording, RecordingError> {
        let kept = |m: &&Mapping| keep(m);
        let pages = source.pages();
        let sizes =
            source.mappings().iter().filter(kept).map(|m| pages.resident_bytes_in(m.addresses.clone()));
        if bytes_max < sizes.fold(0, u64::saturating_add) {
            return Err(RecordingError::TooLarge { bytes_max });
        }
        let mut recording = Recording {
            pid: source.pid(),
            word_bytes: source.word_bytes(),
            mappings: source.mappings().to_vec(),
            pages: pages.clone(),
            threads: source.threads().to_vec(),
            ..Recording::default()
        };
        for mapping in source.mappings().iter().filter(kept) {
            for part in pages.resident_in(mapping.addresses.clone()) {
                recording.copy(source, part);
            }
        }
        Ok(recording)
    }

    /// Copies a resident range, page by page where one of its pages has gone.
    fn copy(&mut self, source: &dyn MemorySource, part: Range<u64>) {
        let page_bytes = source.pages().page_bytes();
        let mut at = part.start;
        while at < part.end {
            let end = part.end.min(at.saturating_add(STEP));
            let mut bytes = vec![0; (end - at) as usize];
            if source.read(at, &mut bytes).is_ok() {
                self.append(at, &bytes);
            } else {
                for page in (at..end).step_by(page_bytes as usize) {
                    let mut bytes = vec![0; page_bytes.min(end - page) as usize];
                    if source.read(page, &mut bytes).is_ok() {
                        self.append(page, &bytes);
                    }
                }
            }
            at = end;
        }
    }

    /// Adds bytes behind all that are there.
    fn append(&mut self, start: u64, bytes: &[u8]) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.end() == start => chunk.bytes.extend_from_slice(bytes),
            _ => self.chunks.push(Chunk { start, bytes: bytes.to_vec() }),
        }
    }

    /// Adds the content of mapped files, so that the recording can be read where they are not. A file that cannot be
    /// opened is left out; opening it from the recording then gives an error.
    ///
    /// # Errors
    /// When they are more than `bytes_max`, or one cannot be read to its end.
    pub fn with_files(
        mut self,
        source: &dyn MemorySource,
        keep: impl Fn(&Mapping) -> bool,
        bytes_max: u64,
    ) -> Result<Recording, RecordingError> {
        let mut left = bytes_max;
        for mapping in source.mappings().iter().filter(|m| m.is_file() && keep(m)) {
            let key = FileKey::of(mapping);
            if self.files.iter().any(|file| file.key == key) {
                continue;
            }
            let Ok(file) = source.open_mapped_file(mapping) else { continue };
            let mut bytes = Vec::new();
            file.take(left.saturating_add(1)).read_to_end(&mut bytes)?;
            left = left.checked_sub(bytes.len() as u64).ok_or(RecordingError::TooLarge { bytes_max })?;
            self.files.push(MappedFile { key, bytes });
        }
        Ok(self)
    }

    /// A process made up for a test: without mappings, with pages of 4 KiB.
    pub fn of_nothing(word_bytes: u64) -> Recording {
        Recording { word_bytes, ..Recording::default() }
    }

    /// Adds a mapping whose pages are all resident and hold these bytes, and zeros behind them.
    ///
    /// # Errors
    /// When it overlaps one that is there, is not made of whole pages, or is smaller than the bytes.
    pub fn with_mapping(mut self, mapping: Mapping, bytes: &[u8]) -> Result<Recording, RecordingError> {
        let wrong = |what: &str| RecordingError::Form(format!("{what}: {mapping:x?}"));
        let Range { start, end } = mapping.addresses;
        let page_bytes = self.pages.page_bytes();
        let size_bytes = end.checked_sub(start).filter(|bytes| *bytes != 0).ok_or_else(|| wrong("empty"))?;
        if !start.is_multiple_of(page_bytes)
            || !end.is_multiple_of(page_bytes)
            || size_bytes < bytes.len() as u64
        {
            return Err(wrong("not of whole pages that hold the bytes"));
        }
        let place = self.mappings.partition_point(|m| m.addresses.start < end);
        if self.mappings[..place].last().is_some_and(|before| start < before.addresses.end) {
            return Err(wrong("overlaps another"));
        }
        let mut content = bytes.to_vec();
        content.resize(size_bytes as usize, 0);
        let mut runs = self.pages.runs().to_vec();
        let run = PageRun { addresses: start..end, is_file: mapping.is_file() };
        runs.insert(runs.partition_point(|r| r.addresses.start < start), run);
        let huge = self.pages.huge().map(<[_]>::to_vec);
        self.pages = PageMap::new(runs, page_bytes).with_huge(huge);
        self.mappings.insert(place, Mapping { rss_bytes: size_bytes, ..mapping });
        self.add(Chunk { start, bytes: content });
        Ok(self)
    }

    /// Adds a chunk that overlaps none, and joins it with its neighbours.
    fn add(&mut self, chunk: Chunk) {
        let place = self.chunks.partition_point(|c| c.start < chunk.start);
        self.chunks.insert(place, chunk);
        if self.chunks.get(place + 1).is_some_and(|next| next.start == self.chunks[place].end()) {
            let next = self.chunks.remove(place + 1);
            self.chunks[place].bytes.extend_from_slice(&next.bytes);
        }
        if 0 < place && self.chunks[place - 1].end() == self.chunks[place].start {
            let chunk = self.chunks.remove(place);
            self.chunks[place - 1].bytes.extend_from_slice(&chunk.bytes);
        }
    }

    /// The same with other bytes at an address, as a test wants them.
    ///
    /// # Errors
    /// When one of these addresses is not recorded.
    pub fn with_bytes(mut self, address: u64, bytes: &[u8]) -> Result<Recording, ReadError> {
        self.set_bytes(address, bytes)?;
        Ok(self)
    }

    /// Puts other bytes at an address.
    ///
    /// # Errors
    /// When one of these addresses is not recorded.
    pub fn set_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), ReadError> {
        let (chunk, range) = self.place(address, bytes.len())?;
        self.chunks[chunk].bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    /// The same with these threads.
    pub fn with_threads(mut self, threads: Vec<ThreadFacts>) -> Recording {
        self.threads = threads;
        self
    }

    /// Bytes of memory that it holds.
    pub fn recorded_bytes(&self) -> u64 {
        self.chunks.iter().map(|c| c.bytes.len() as u64).sum()
    }

    /// Ranges of addresses whose bytes it holds.
    pub fn recorded_ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.chunks.iter().map(|c| c.start..c.end())
    }

    /// The recorded content of the file of a mapping.
    fn file(&self, mapping: &Mapping) -> Option<&MappedFile> {
        let key = FileKey::of(mapping);
        self.files.iter().find(|file| mapping.is_file() && file.key == key)
    }

    /// Where the bytes lie: chunk, and range in it.
    fn place(&self, address: u64, len: usize) -> Result<(usize, Range<usize>), ReadError> {
        let end = address.checked_add(len as u64).ok_or(ReadError::Unmapped)?;
        let chunk = self.chunks.partition_point(|c| c.end() <= address);
        match self.chunks.get(chunk) {
            _ if len == 0 => Ok((0, 0..0)),
            Some(found) if found.start <= address && end <= found.end() => {
                let from = (address - found.start) as usize;
                Ok((chunk, from..from + len))
            }
            _ if self.mappings.iter().any(|m| m.addresses.contains(&address)) => Err(ReadError::Absent),
            _ => Err(ReadError::Unmapped),
        }
    }
}

/// A recording of this machine, by somebody who is trusted: a mapped file that it does not hold is opened by the path that
/// it names, if that is still the very file.
pub struct OpeningFiles<'a>(pub &'a Recording);

impl BeforeMemory for OpeningFiles<'_> {
    fn behind(&self) -> &dyn MemorySource {
        self.0
    }

    fn open_before(&self, mapping: &Mapping) -> io::Result<File> {
        if !mapping.is_file() || self.0.file(mapping).is_some() {
            return self.0.open_mapped_file(mapping);
        }
        mapped_file::open_at(Path::new(&mapping.name), mapping)
    }

    fn paths_are_of_this_machine_before(&self) -> bool {
        true
    }
}

impl MemorySource for Recording {
    fn pid(&self) -> u32 {
        self.pid
    }

    fn word_bytes(&self) -> u64 {
        self.word_bytes
    }

    fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    fn pages(&self) -> &PageMap {
        &self.pages
    }

    fn threads(&self) -> &[ThreadFacts] {
        &self.threads
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let (chunk, range) = self.place(address, buffer.len())?;
        if !range.is_empty() {
            buffer.copy_from_slice(&self.chunks[chunk].bytes[range]);
        }
        Ok(())
    }

    /// Opens the recorded content. A file that is not recorded is not looked for: who made the recording chose its path.
    fn open_mapped_file(&self, mapping: &Mapping) -> io::Result<File> {
        let Some(recorded) = self.file(mapping) else {
            let why = format!("{} is not part of the recording", mapping.name);
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        };
        let mut file = File::from(memfd_create("recorded", MemfdFlags::CLOEXEC)?);
        file.write_all(&recorded.bytes)?;
        file.rewind()?;
        Ok(file)
    }

    fn paths_are_of_this_machine(&self) -> bool {
        false
    }
}
