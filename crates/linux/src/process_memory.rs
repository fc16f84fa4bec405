//! The memory of another process: which pages of a range are resident, and what is in them.
//! `Documentation/admin-guide/mm/pagemap.rst`, `proc_pid_mem(5)`.

use crate::{LinuxError, ProcRoot};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Entries read at a time.
const ENTRIES_PER_READ: usize = 4096;
/// Bit 63 of an entry: the page is in memory.
const PRESENT: u64 = 1 << 63;

impl ProcRoot {
    /// Bytes of a range that are in memory, pages of zeros included.
    ///
    /// Folklore: an anonymous page that was read but never written shows the kernel's page of zeros, which is present
    /// here but not resident in `smaps`; without root the two cannot be distinguished. The figure is an upper bound.
    ///
    /// # Errors
    /// When the process is gone or belongs to somebody else.
    pub fn read_present_bytes(&self, pid: u32, addresses: Range<u64>) -> Result<u64, LinuxError> {
        let path = self.file_of(pid, "pagemap");
        let failed = |e| LinuxError::read(&path, e);
        let page_bytes = rustix::param::page_size() as u64;
        let file = File::open(&path).map_err(failed)?;
        let (mut page, end_page) = (addresses.start / page_bytes, addresses.end.div_ceil(page_bytes));
        let mut buffer = vec![0; ENTRIES_PER_READ * 8];
        let mut present = 0;
        while page < end_page {
            let entries = (end_page - page).min(ENTRIES_PER_READ as u64);
            let wanted = &mut buffer[..entries as usize * 8];
            file.read_exact_at(wanted, page * 8).map_err(failed)?;
            let words = wanted.as_chunks::<8>().0.iter();
            present += words.filter(|word| u64::from_ne_bytes(**word) & PRESENT != 0).count() as u64;
            page += entries;
        }
        Ok(present * page_bytes)
    }

    /// Fills a buffer with the memory of a process from an address on.
    ///
    /// Reading a page that is not resident makes it so: ask only for pages that are known to be.
    ///
    /// # Errors
    /// When the process is gone or belongs to somebody else, or nothing is mapped there.
    pub fn read_memory(&self, pid: u32, address: u64, buffer: &mut [u8]) -> Result<(), LinuxError> {
        let path = self.file_of(pid, "mem");
        let read = File::open(&path).and_then(|file| file.read_exact_at(buffer, address));
        read.map_err(|e| LinuxError::read(&path, e))
    }
}
