//! The memory of one process, wherever it comes from.

use crate::{EarlierBytes, Mapping, PageMap};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::ops::Range;

/// Why bytes could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not resident when the source was opened: reading it would make it so.
    #[error("not resident")]
    Absent,
    /// Unmapped, or the process has gone.
    #[error("unmapped, or the process has ended")]
    Unmapped,
}

/// A thread as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ThreadFacts {
    /// Thread id in the reader's PID namespace.
    pub tid: u32,
    /// Thread id in the process's own PID namespace, which is what the JVM knows.
    pub tid_inside: u32,
    /// The kernel's name of it, up to 15 bytes.
    pub name: String,
    /// Stack pointer, unless the thread was running or the kernel does not report it.
    pub stack_pointer: Option<u64>,
}

/// One process's memory: a live process (also this very one), or a recording.
///
/// Mappings, pages and threads are from the moment at which the source was opened. Bytes are read when they are asked
/// for, and only from pages that were resident at that moment: nothing that is read here makes a page resident.
pub trait MemorySource: Sync {
    /// The process, in the reader's PID namespace.
    fn pid(&self) -> u32;

    /// Bytes of a pointer: 8 or 4.
    fn word_bytes(&self) -> u64;

    /// Mappings in the order of their addresses.
    fn mappings(&self) -> &[Mapping];

    /// Resident pages.
    fn pages(&self) -> &PageMap;

    /// Pages that can be read: the resident ones, and those of hugetlbfs, which the RSS does not count. A Java heap may lie in these
    /// (`-XX:+UseLargePages`).
    fn readable_pages(&self) -> &PageMap {
        self.pages()
    }

    /// Threads.
    fn threads(&self) -> &[ThreadFacts];

    /// Variables of the program and its libraries as they were just before the pages were looked at, in the order of their
    /// addresses; empty where the process stands still, or is a recording.
    fn earlier_variables(&self) -> &[EarlierBytes] {
        &[]
    }

    /// Whether all that is read at these addresses is of one moment, that of the pages: the process stands still, they were copied while it
    /// did, or it is a recording.
    fn is_of_one_moment(&self, _addresses: &Range<u64>) -> bool {
        self.earlier_variables().is_empty()
    }

    /// Fills the buffer from an address on.
    ///
    /// # Errors
    /// When a page of it is not resident, or the process has unmapped it since.
    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError>;

    /// [`MemorySource::read`], of this moment: a source that keeps what it has read reads it once more.
    ///
    /// # Errors
    /// Those of [`MemorySource::read`].
    fn read_anew(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.read(address, buffer)
    }

    /// Opens the file that a mapping maps, in the process's own mount namespace. It is data: never run it.
    ///
    /// # Errors
    /// When the mapping has no file, or the file was deleted or replaced since it was mapped.
    fn open_mapped_file(&self, mapping: &Mapping) -> io::Result<File>;

    /// Whether files may be looked for where the mappings' names say. Not where the names come from a recording.
    fn paths_are_of_this_machine(&self) -> bool {
        true
    }

    /// The word at an address; `None` when it cannot be read.
    fn word(&self, address: u64) -> Option<u64> {
        if self.word_bytes() == 8 { self.u64(address) } else { self.u32(address).map(u64::from) }
    }

    /// [`MemorySource::word`], of this moment: see [`MemorySource::read_anew`].
    fn word_anew(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read_anew(address, bytes.get_mut(..self.word_bytes() as usize)?).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// 64 bits at an address, little endian (x86 and Arm).
    fn u64(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// 32 bits at an address.
    fn u32(&self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// 16 bits at an address.
    fn u16(&self, address: u64) -> Option<u16> {
        let mut bytes = [0; 2];
        self.read(address, &mut bytes).ok()?;
        Some(u16::from_le_bytes(bytes))
    }

    /// A byte at an address.
    fn u8(&self, address: u64) -> Option<u8> {
        let mut bytes = [0; 1];
        self.read(address, &mut bytes).ok()?;
        Some(bytes[0])
    }

    /// The text at an address up to its zero byte, which must come within `bytes_max` bytes. Bytes that are not UTF-8
    /// are replaced.
    fn c_string(&self, address: u64, bytes_max: usize) -> Option<String> {
        c_string(|at, buffer| self.read(at, buffer).ok(), address, bytes_max)
    }
}

/// The text at an address up to its zero byte, which must come within `bytes_max` bytes, by a function that reads. Bytes that are not
/// UTF-8 are replaced.
pub fn c_string(
    read: impl Fn(u64, &mut [u8]) -> Option<()>,
    address: u64,
    bytes_max: usize,
) -> Option<String> {
    const STEP: usize = 64;
    let mut text = Vec::new();
    let mut buffer = [0; STEP];
    while text.len() < bytes_max {
        let at = address.checked_add(text.len() as u64)?;
        // Reads end with a block of 64 bytes, and so never reach into the next page for nothing.
        let wanted = (STEP - (at % STEP as u64) as usize).min(bytes_max - text.len());
        read(at, &mut buffer[..wanted])?;
        if let Some(end) = buffer[..wanted].iter().position(|byte| *byte == 0) {
            text.extend_from_slice(&buffer[..end]);
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
        text.extend_from_slice(&buffer[..wanted]);
    }
    None
}

/// A source that stands before another one, and differs from it in what it reads, or in the files that it opens.
pub trait BeforeMemory: Sync {
    /// The one behind.
    fn behind(&self) -> &dyn MemorySource;

    /// [`MemorySource::is_of_one_moment`]; by default that of the underlying source.
    fn is_of_one_moment_before(&self, addresses: &Range<u64>) -> bool {
        self.behind().is_of_one_moment(addresses)
    }

    /// [`MemorySource::read`]; by default that of the underlying source.
    ///
    /// # Errors
    /// Those of [`MemorySource::read`].
    fn read_before(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.behind().read(address, buffer)
    }

    /// [`MemorySource::read_anew`]; by default the same as any other read.
    ///
    /// # Errors
    /// Those of [`MemorySource::read`].
    fn read_anew_before(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.read_before(address, buffer)
    }

    /// [`MemorySource::open_mapped_file`]; by default that of the underlying source.
    ///
    /// # Errors
    /// Those of [`MemorySource::open_mapped_file`].
    fn open_before(&self, mapping: &Mapping) -> io::Result<File> {
        self.behind().open_mapped_file(mapping)
    }

    /// [`MemorySource::paths_are_of_this_machine`]; by default that of the underlying source.
    fn paths_are_of_this_machine_before(&self) -> bool {
        self.behind().paths_are_of_this_machine()
    }
}

impl<T: BeforeMemory> MemorySource for T {
    fn pid(&self) -> u32 {
        self.behind().pid()
    }

    fn word_bytes(&self) -> u64 {
        self.behind().word_bytes()
    }

    fn mappings(&self) -> &[Mapping] {
        self.behind().mappings()
    }

    fn pages(&self) -> &PageMap {
        self.behind().pages()
    }

    fn readable_pages(&self) -> &PageMap {
        self.behind().readable_pages()
    }

    fn threads(&self) -> &[ThreadFacts] {
        self.behind().threads()
    }

    fn earlier_variables(&self) -> &[EarlierBytes] {
        self.behind().earlier_variables()
    }

    fn is_of_one_moment(&self, addresses: &Range<u64>) -> bool {
        self.is_of_one_moment_before(addresses)
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.read_before(address, buffer)
    }

    fn read_anew(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.read_anew_before(address, buffer)
    }

    fn open_mapped_file(&self, mapping: &Mapping) -> io::Result<File> {
        self.open_before(mapping)
    }

    fn paths_are_of_this_machine(&self) -> bool {
        self.paths_are_of_this_machine_before()
    }
}
