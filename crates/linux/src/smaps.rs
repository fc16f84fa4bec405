//! `/proc/PID/smaps`, streamed mapping by mapping, and its sum `smaps_rollup`. Format: `proc_pid_smaps(5)`.
//!
//! The kernel writes one header line per mapping, in the form of `/proc/PID/maps`, and `Key: value kB` lines below it.
//! The keys depend on the kernel. A missing one is `None`; only `Rss` is required.
//!
//! Folklore: one `read` gives about 4 KiB of `smaps`, five mappings, and the lock on the address space is dropped in
//! between. So the mappings of a busy process are not from one moment, and their sum may differ from `smaps_rollup`.
//! Of a stopped process it does not. Held by: `the_mappings_of_a_stopped_child_sum_to_its_rollup`.

use crate::fields::{At, lines, shortened};
use crate::{LinuxError, ParseError, ProcRoot};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Mappings of one process. `vm.max_map_count` is 65,530 by default, and 1,048,576 where distributions raised it.
pub(crate) const MAPPINGS_MAX: u64 = 4 << 20;
/// A path is at most 4,096 bytes, and four times that when each of them is escaped (`\012`).
const LINE_BYTES_MAX: u64 = 32 << 10;

/// One mapping of a process. Sizes are bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    /// Addresses, the end excluded.
    pub addresses: Range<u64>,
    /// Permissions, `rwxp` with `-` for what is not granted; the last is `p` private or `s` shared.
    pub permissions: [u8; 4],
    /// Offset in the file.
    pub offset_bytes: u64,
    /// Device as `major:minor` in hexadecimal; `00:00` for anonymous memory.
    pub device: String,
    /// Inode; 0 for anonymous memory.
    pub inode: u64,
    /// Path or name (`[heap]`, `[anon:name]`) as the kernel writes it; empty for anonymous memory.
    pub name: String,
    /// Resident bytes.
    pub rss_bytes: u64,
    /// Resident bytes, each divided by the number of processes that share it.
    pub pss_bytes: Option<u64>,
    /// Resident, in this process only, clean and dirty.
    pub private_bytes: Option<u64>,
    /// Resident, in several processes, clean and dirty.
    pub shared_bytes: Option<u64>,
    /// Resident and belonging to no file.
    pub anonymous_bytes: Option<u64>,
    /// Resident in transparent huge pages.
    pub anon_huge_pages_bytes: Option<u64>,
    /// Resident in huge pages of files and of shared memory.
    pub file_huge_pages_bytes: Option<u64>,
    /// Swapped out.
    pub swap_bytes: Option<u64>,
    /// In pages of hugetlbfs, which `rss_bytes` does not count.
    pub hugetlb_bytes: Option<u64>,
}

impl Mapping {
    /// Addresses taken, bytes.
    pub fn size_bytes(&self) -> u64 {
        self.addresses.end.saturating_sub(self.addresses.start)
    }

    /// Whether code may be run from it.
    pub fn is_executable(&self) -> bool {
        self.permissions[2] == b'x'
    }

    /// Whether it may be neither read, written nor run: a guard or a reservation.
    pub fn is_inaccessible(&self) -> bool {
        self.permissions.starts_with(b"---")
    }

    /// Whether it maps a file (a deleted one and shared memory included).
    pub fn is_file(&self) -> bool {
        self.inode != 0
    }

    pub(crate) fn add(&mut self, at: At<'_>, key: &str, value: &str) -> Result<(), ParseError> {
        let bytes = |to: &mut Option<u64>| {
            let value = at.kib_as_bytes(key, value)?;
            *to = Some(to.unwrap_or(0).saturating_add(value));
            Ok(())
        };
        match key {
            "Pss" => bytes(&mut self.pss_bytes),
            "Private_Clean" | "Private_Dirty" => bytes(&mut self.private_bytes),
            "Shared_Clean" | "Shared_Dirty" => bytes(&mut self.shared_bytes),
            "Anonymous" => bytes(&mut self.anonymous_bytes),
            "AnonHugePages" => bytes(&mut self.anon_huge_pages_bytes),
            "ShmemPmdMapped" | "FilePmdMapped" => bytes(&mut self.file_huge_pages_bytes),
            "Swap" => bytes(&mut self.swap_bytes),
            "Shared_Hugetlb" | "Private_Hugetlb" => bytes(&mut self.hugetlb_bytes),
            _ => Ok(()),
        }
    }
}

/// The mappings of a process in the order of their addresses, read one at a time.
#[derive(Debug)]
pub struct Smaps<R> {
    path: PathBuf,
    from: R,
    line: Vec<u8>,
    line_number: u64,
    mappings: u64,
    /// The header line that ended the mapping before.
    next: Option<Mapping>,
    ended: bool,
}

/// Mappings from text in the form of `/proc/PID/smaps`; `path` is for messages. After an error the iterator ends.
pub fn parse_smaps<R: BufRead>(path: &Path, from: R) -> Smaps<R> {
    Smaps {
        path: path.to_owned(),
        from,
        line: Vec::with_capacity(256),
        line_number: 0,
        mappings: 0,
        next: None,
        ended: false,
    }
}

/// Mappings from text in the form of `/proc/PID/maps`, which has the header lines only: resident bytes are left at 0.
fn parse_maps<R: BufRead>(path: &Path, from: R) -> impl Iterator<Item = Result<Mapping, LinuxError>> {
    let lines = (1..).zip(from.split(b'\n')).take(MAPPINGS_MAX as usize);
    lines.map(|(line, text)| {
        let text = text.map_err(|e| LinuxError::read(path, e))?;
        Ok(parse_header(At { path, line }, &String::from_utf8_lossy(&text))?)
    })
}

impl<R: BufRead> Smaps<R> {
    /// Reads a line into `self.line`, without its end; false at the end of the text.
    fn read_line(&mut self) -> Result<bool, LinuxError> {
        self.line.clear();
        let mut limited = (&mut self.from).take(LINE_BYTES_MAX);
        let read = limited.read_until(b'\n', &mut self.line).map_err(|e| LinuxError::read(&self.path, e))?;
        self.line_number += u64::from(read != 0);
        if self.line.pop_if(|last| *last == b'\n').is_none() && read as u64 == LINE_BYTES_MAX {
            return Err(
                ParseError::new(&self.path, self.line_number, "mapping", "line without an end").into()
            );
        }
        Ok(read != 0)
    }

    /// Reads up to the next header line or the end, and gives the mapping before it, if there is one.
    fn read_mapping(&mut self) -> Result<Option<Mapping>, LinuxError> {
        let mut mapping = self.next.take();
        let mut rss_bytes = None;
        while self.read_line()? {
            let text = String::from_utf8_lossy(&self.line);
            let at = At { path: &self.path, line: self.line_number };
            if text.is_empty() {
                continue;
            }
            // Keys begin with a capital, addresses are lower-case hexadecimal.
            if text.starts_with(|c: char| c.is_ascii_uppercase()) {
                let current =
                    mapping.as_mut().ok_or_else(|| at.error("mapping", "no address line before it"))?;
                let (key, value) = text.split_once(':').ok_or_else(|| at.error("mapping", "no colon"))?;
                match key {
                    "Rss" => rss_bytes = Some(at.kib_as_bytes(key, value)?),
                    _ => current.add(at, key, value)?,
                }
            } else {
                let header = parse_header(at, &text)?;
                if mapping.is_none() {
                    mapping = Some(header);
                } else {
                    self.next = Some(header);
                    break;
                }
            }
        }
        let Some(mut mapping) = mapping else { return Ok(None) };
        mapping.rss_bytes = rss_bytes.ok_or_else(|| {
            ParseError::new(&self.path, self.line_number, "Rss", "missing: the text was cut off")
        })?;
        Ok(Some(mapping))
    }
}

impl<R: BufRead> Iterator for Smaps<R> {
    type Item = Result<Mapping, LinuxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        self.mappings += 1;
        let read = if MAPPINGS_MAX < self.mappings {
            Err(ParseError::new(
                &self.path,
                self.line_number,
                "mappings",
                format!("more than {MAPPINGS_MAX}"),
            )
            .into())
        } else {
            self.read_mapping()
        };
        self.ended = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

/// `55e970d16000-55e970d18000 r--p 00000000 fe:00 247026                     /usr/bin/cat`
fn parse_header(at: At<'_>, text: &str) -> Result<Mapping, ParseError> {
    let mut rest = text;
    let mut field = |item: &str| {
        let (field, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        if field.is_empty() { Err(at.error(item, "missing")) } else { Ok(field) }
    };
    let hexadecimal = |item: &str, digits: &str| {
        u64::from_str_radix(digits, 16)
            .map_err(|_| at.error(item, format!("not hexadecimal: {:?}", shortened(digits))))
    };
    let addresses = field("addresses")?;
    let (start, end) = addresses.split_once('-').ok_or_else(|| at.error("addresses", "no hyphen"))?;
    let (start, end) = (hexadecimal("addresses", start)?, hexadecimal("addresses", end)?);
    if end < start {
        return Err(at.error("addresses", "end before start"));
    }
    let permissions = field("permissions")?.as_bytes();
    Ok(Mapping {
        addresses: start..end,
        permissions: permissions.try_into().map_err(|_| at.error("permissions", "not four letters"))?,
        offset_bytes: hexadecimal("offset", field("offset")?)?,
        device: field("device")?.to_owned(),
        inode: at.number("inode", Some(field("inode")?))?,
        // The name is padded on its left only; blanks at its end are its own.
        name: rest.trim_start_matches(' ').to_owned(),
        ..Mapping::default()
    })
}

/// Sums over all mappings, from `/proc/PID/smaps_rollup` (Linux 4.14), made by the kernel in one pass. Sizes are bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SmapsRollup {
    /// Resident bytes.
    pub rss_bytes: u64,
    /// Proportional share.
    pub pss_bytes: Option<u64>,
    /// Resident and belonging to no file.
    pub anonymous_bytes: Option<u64>,
    /// Resident in this process only, as in the file.
    pub private_clean_bytes: Option<u64>,
    /// Resident in this process only, written to.
    pub private_dirty_bytes: Option<u64>,
    /// Resident in several processes, as in the file.
    pub shared_clean_bytes: Option<u64>,
    /// Resident in several processes, written to.
    pub shared_dirty_bytes: Option<u64>,
    /// Resident in transparent huge pages, anonymous ones only.
    pub anon_huge_pages_bytes: Option<u64>,
    /// Resident in huge pages of shared memory (`ShmemPmdMapped`).
    pub shmem_huge_pages_bytes: Option<u64>,
    /// Resident in huge pages of files (`FilePmdMapped`).
    pub file_huge_pages_bytes: Option<u64>,
    /// In pages of hugetlbfs, private and shared, which `rss_bytes` does not count.
    pub hugetlb_bytes: Option<u64>,
    /// Swapped out.
    pub swap_bytes: Option<u64>,
}

impl SmapsRollup {
    /// Unique set size: resident in this process only.
    pub fn uss_bytes(&self) -> Option<u64> {
        Some(self.private_clean_bytes?.saturating_add(self.private_dirty_bytes?))
    }

    /// Resident in several processes.
    pub fn shared_bytes(&self) -> Option<u64> {
        Some(self.shared_clean_bytes?.saturating_add(self.shared_dirty_bytes?))
    }

    /// Resident in transparent huge pages of any kind.
    pub fn huge_pages_bytes(&self) -> Option<u64> {
        let kinds = [self.anon_huge_pages_bytes, self.shmem_huge_pages_bytes, self.file_huge_pages_bytes];
        kinds.into_iter().flatten().reduce(u64::saturating_add)
    }
}

/// Parses `/proc/PID/smaps_rollup`.
///
/// # Errors
/// When there is no `Rss` line or a value is not a number.
pub fn parse_smaps_rollup(path: &Path, text: &str) -> Result<SmapsRollup, ParseError> {
    let mut rollup = SmapsRollup::default();
    let mut rss_bytes = None;
    for (at, line) in lines(path, text) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let to = match key {
            "Rss" => &mut rss_bytes,
            "Pss" => &mut rollup.pss_bytes,
            "Anonymous" => &mut rollup.anonymous_bytes,
            "Private_Clean" => &mut rollup.private_clean_bytes,
            "Private_Dirty" => &mut rollup.private_dirty_bytes,
            "Shared_Clean" => &mut rollup.shared_clean_bytes,
            "Shared_Dirty" => &mut rollup.shared_dirty_bytes,
            "AnonHugePages" => &mut rollup.anon_huge_pages_bytes,
            "ShmemPmdMapped" => &mut rollup.shmem_huge_pages_bytes,
            "FilePmdMapped" => &mut rollup.file_huge_pages_bytes,
            "Private_Hugetlb" | "Shared_Hugetlb" => &mut rollup.hugetlb_bytes,
            "Swap" => &mut rollup.swap_bytes,
            _ => continue,
        };
        // Two lines add up to what is in pages of hugetlbfs; every other key is there once.
        *to = Some(to.unwrap_or(0).saturating_add(at.kib_as_bytes(key, value)?));
    }
    rollup.rss_bytes = rss_bytes.ok_or_else(|| ParseError::new(path, 1, "Rss", "missing"))?;
    Ok(rollup)
}

impl ProcRoot {
    /// Opens `/proc/PID/smaps`. The kernel takes the lock on the address space of that process while it writes, so that
    /// the process waits if it maps or unmaps memory in that time.
    ///
    /// # Errors
    /// When the process is gone or belongs to somebody else. A process that has ended but was not waited for has no
    /// mappings: the text is empty.
    pub fn open_smaps(&self, pid: u32) -> Result<Smaps<BufReader<File>>, LinuxError> {
        let path = self.file_of(pid, "smaps");
        let file = File::open(&path).map_err(|e| LinuxError::read(&path, e))?;
        Ok(parse_smaps(&path, BufReader::new(file)))
    }

    /// The mappings of a process without what is resident of them: quick, since the kernel does not walk over its pages.
    pub(crate) fn read_maps(&self, pid: u32) -> Result<Vec<Mapping>, LinuxError> {
        let path = self.file_of(pid, "maps");
        let file = File::open(&path).map_err(|e| LinuxError::read_of(self, pid, &path, e))?;
        parse_maps(&path, BufReader::new(file)).collect()
    }

    /// Reads `/proc/PID/smaps_rollup`; `None` where the kernel does not have it, or the process has no memory any more.
    ///
    /// # Errors
    /// When the process belongs to somebody else, or the text is not in the documented form.
    pub fn read_smaps_rollup(&self, pid: u32) -> Result<Option<SmapsRollup>, LinuxError> {
        match crate::root::optional(self.read_text_of(pid, "smaps_rollup"))? {
            Some((path, text)) => Ok(Some(parse_smaps_rollup(&path, &text)?)),
            None => Ok(None),
        }
    }
}
