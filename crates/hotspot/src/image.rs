//! A mapped ELF file as memory and as file together: what is not resident, and was never written, is read from the file.

use crate::elf::{Elf, Segment};
use assay_linux::{Mapping, MemorySource, ReadError};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Where a file is loaded.
#[derive(Debug)]
pub(crate) struct Image {
    file: File,
    /// What is added to the file's addresses.
    pub bias: u64,
    /// Segments at their addresses in the process.
    segments: Vec<Segment>,
    /// Constants at their addresses in the process.
    constants: Vec<Segment>,
    /// Mappings of which a part is swapped out, so that absent does not mean unchanged.
    swapped: Vec<Range<u64>>,
    page_bytes: u64,
}

impl Image {
    /// Places a file at its mappings.
    ///
    /// # Errors
    /// When no mapping fits a segment of the file.
    pub fn new(file: File, elf: &Elf, source: &dyn MemorySource, mapping: &Mapping) -> Result<Image, String> {
        let page_bytes = source.pages().page_bytes();
        let is_same =
            |m: &&Mapping| m.inode == mapping.inode && m.device == mapping.device && m.name == mapping.name;
        let same = || source.mappings().iter().filter(is_same);
        let first = same().next().ok_or("the mapping is not one of the process")?;
        // The first mapping is that of the first segment. (Later ones may begin in the same page of the file.)
        let lowest = elf.segments.iter().min_by_key(|s| s.addresses.start).ok_or("no loaded segment")?;
        let page_down = |value: u64| value / page_bytes * page_bytes;
        let into_file = first.offset_bytes.checked_sub(page_down(lowest.file_offset));
        let bias = into_file
            .and_then(|offset| first.addresses.start.checked_sub(offset))
            .and_then(|start| start.checked_sub(page_down(lowest.addresses.start)))
            .ok_or("its first mapping is not its first segment")?;
        let placed = |segments: &[Segment]| segments.iter().map(|s| s.at(bias)).collect();
        let swapped = same().filter(|m| m.swap_bytes.is_some_and(|bytes| bytes != 0));
        Ok(Image {
            file,
            bias,
            segments: placed(&elf.segments),
            constants: placed(&elf.constants),
            swapped: swapped.map(|m| m.addresses.clone()).collect(),
            page_bytes,
        })
    }

    /// Writable memory of the file: data, relocated constants, and bss.
    pub fn data_ranges(&self) -> Vec<Range<u64>> {
        self.segments.iter().filter(|s| s.is_writable).map(|s| s.addresses.clone()).collect()
    }

    /// Fills the buffer from memory, and where a page is absent from the file.
    ///
    /// # Errors
    /// When it lies outside of the file's segments and is not resident, or was swapped out.
    pub fn read(&self, source: &dyn MemorySource, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        match source.read(address, buffer) {
            Err(ReadError::Absent) => {}
            read => return read,
        }
        let (mut at, mut rest) = (address, buffer);
        while !rest.is_empty() {
            let in_page = self.page_bytes - at % self.page_bytes;
            let (part, after) = rest.split_at_mut(rest.len().min(in_page as usize));
            match source.read(at, part) {
                Err(ReadError::Absent) => self.read_file(at, part)?,
                read => read?,
            }
            at = at.checked_add(part.len() as u64).ok_or(ReadError::Unmapped)?;
            rest = after;
        }
        Ok(())
    }

    fn read_file(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        if self.swapped.iter().any(|range| range.contains(&address)) {
            return Err(ReadError::Absent);
        }
        let segment = self.segments.iter().find(|s| s.addresses.contains(&address));
        let segment = segment.ok_or(ReadError::Absent)?;
        let offset = address - segment.addresses.start;
        // Behind the file's bytes are zeros.
        let in_file = segment.file_bytes.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let (from_file, zeros) = buffer.split_at_mut(in_file);
        let place = segment.file_offset.checked_add(offset).ok_or(ReadError::Unmapped)?;
        self.file.read_exact_at(from_file, place).map_err(|_| ReadError::Unmapped)?;
        zeros.fill(0);
        Ok(())
    }

    /// All constants of the file, read at once from the file: for a table with hundreds of pointers to texts.
    pub fn constants(&self) -> Constants {
        /// A libjvm has 1 MB of them.
        const BYTES_MAX: u64 = 16 << 20;
        let mut parts = Vec::new();
        for part in self.constants.iter().filter(|part| part.file_bytes <= BYTES_MAX).take(8) {
            let mut bytes = vec![0; part.file_bytes as usize];
            if self.file.read_exact_at(&mut bytes, part.file_offset).is_ok() {
                parts.push((part.addresses.start, bytes));
            }
        }
        Constants { parts }
    }
}

/// Bytes of constants, by address.
pub(crate) struct Constants {
    parts: Vec<(u64, Vec<u8>)>,
}

impl Constants {
    /// Where a text stands, also as the end of a longer one.
    pub fn places_of(&self, text: &str) -> Vec<u64> {
        let ended = [text.as_bytes(), &[0]].concat();
        let in_part = |(start, bytes): &(u64, Vec<u8>)| {
            memchr::memmem::find_iter(bytes, &ended).map(|at| start + at as u64).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(in_part).collect()
    }

    /// The text at an address.
    pub fn text(&self, address: u64) -> Option<&str> {
        let from = self
            .parts
            .iter()
            .find_map(|(start, bytes)| bytes.get(usize::try_from(address.checked_sub(*start)?).ok()?..))?;
        let end = memchr::memchr(0, from)?;
        std::str::from_utf8(&from[..end]).ok()
    }
}

impl Segment {
    fn at(&self, bias: u64) -> Segment {
        let Range { start, end } = self.addresses;
        Segment { addresses: start.saturating_add(bias)..end.saturating_add(bias), ..self.clone() }
    }
}
