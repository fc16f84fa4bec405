//! Memory of a process together with the files behind it: a page of a private mapping that was never touched is what the
//! file says, and reading it there leaves the process as it is. The archive of class data is such a mapping.

use assay_linux::{Mapping, MemorySource, ReadError};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

/// Files that are kept open. The archive of class data is one or two, each mapped in several parts.
const FILES_MAX: usize = 16;

/// By device and inode; none where it could not be opened.
type Files = HashMap<(String, u64), Option<Arc<File>>>;

/// Memory, and where it is absent the file.
pub(crate) struct Backed<'m> {
    source: &'m dyn MemorySource,
    files: Mutex<Files>,
}

impl<'m> Backed<'m> {
    pub(crate) fn new(source: &'m dyn MemorySource) -> Self {
        Backed { source, files: Mutex::default() }
    }

    pub(crate) fn source(&self) -> &'m dyn MemorySource {
        self.source
    }

    /// Fills the buffer from an address on.
    pub(crate) fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        match self.source.read(address, buffer) {
            Err(ReadError::Absent) => {}
            read => return read,
        }
        let page_bytes = self.source.pages().page_bytes();
        let (mut at, mut rest) = (address, buffer);
        while !rest.is_empty() {
            let in_page = page_bytes - at % page_bytes;
            let (part, after) = rest.split_at_mut(rest.len().min(in_page as usize));
            match self.source.read(at, part) {
                Err(ReadError::Absent) => self.read_file(at, part)?,
                read => read?,
            }
            at = at.checked_add(part.len() as u64).ok_or(ReadError::Unmapped)?;
            rest = after;
        }
        Ok(())
    }

    /// The word at an address.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes[..self.source.word_bytes() as usize]).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// 32 bits at an address.
    pub(crate) fn u32(&self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// 16 bits at an address.
    pub(crate) fn u16(&self, address: u64) -> Option<u16> {
        let mut bytes = [0; 2];
        self.read(address, &mut bytes).ok()?;
        Some(u16::from_le_bytes(bytes))
    }

    /// Bytes within one page.
    fn read_file(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let mappings = self.source.mappings();
        let at = mappings.partition_point(|m| m.addresses.end <= address);
        let mapping = mappings.get(at).filter(|m| m.addresses.start <= address).ok_or(ReadError::Unmapped)?;
        // Written pages are not in the file, and swapped-out pages may have been written.
        let is_as_in_file = mapping.is_file()
            && mapping.permissions[3] == b'p'
            && mapping.permissions[0] == b'r'
            && mapping.swap_bytes.is_none_or(|bytes| bytes == 0);
        if !is_as_in_file {
            return Err(ReadError::Absent);
        }
        let file = self.file(mapping).ok_or(ReadError::Absent)?;
        let offset = mapping.offset_bytes.checked_add(address - mapping.addresses.start);
        file.read_exact_at(buffer, offset.ok_or(ReadError::Unmapped)?).map_err(|_| ReadError::Absent)
    }

    fn file(&self, mapping: &Mapping) -> Option<Arc<File>> {
        let mut files = self.files.lock().ok()?;
        let key = (mapping.device.clone(), mapping.inode);
        if let Some(file) = files.get(&key) {
            return file.clone();
        }
        if files.len() == FILES_MAX {
            return None;
        }
        let file = self.source.open_mapped_file(mapping).ok().map(Arc::new);
        files.insert(key, file.clone());
        file
    }
}
