//! Reading the page map of a process: which of its pages are resident.
//!
//! Two ways: the call `PAGEMAP_SCAN` (Linux 6.7), which gives runs of pages and marks the kernel's shared page of zeros,
//! and the older file of 8-byte entries, which gives page frame numbers to root only.
//! `Documentation/admin-guide/mm/pagemap.rst`, `include/uapi/linux/fs.h`.
//!
//! Folklore:
//! - `Rss` in `smaps` counts every present page that is not the page of zeros. Both ways hold that to the
//!   byte on a process that stands still: `the_page_map_of_a_stopped_child_is_its_rss_mapping_by_mapping`.
//! - Pages of hugetlbfs are present in both, but no part of `Rss`; they are kept apart (`is_hugetlb`).
//! - A page map is asked for only where `smaps` shows resident bytes: ZGC reserves terabytes, and without the call one
//!   would read 8 bytes for each of their pages. Pages of device mappings (`VM_PFNMAP`) drop out by the same rule.
//! - The call says where its walk ended. After more than 512 regions that is where the kernel's own buffer was last full, although the walk
//!   went on: `a_huge_page_behind_more_regions_than_the_kernel_notes_at_a_time_is_found_once`. The end of the last region is nearer.
//! - Before Linux 6.17 the call does not mark the huge page of zeros (an anonymous huge page that was only read).

use crate::{LinuxError, Mapping, PageMap, PageRun, ProcRoot};
use assay_model::Problem;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Entries of the page map that are read at a time; more lie in one second-level page table than are ever needed.
const ENTRIES_PER_READ: u64 = 8192;
/// Entries read in all: 8 TiB of addresses, 16 GiB of entries. Reading stops earlier where `Rss` is reached.
const ENTRIES_MAX: u64 = 1 << 31;
const PRESENT: u64 = 1 << 63;
const FILE: u64 = 1 << 61;
const FRAME: u64 = (1 << 55) - 1;
/// Bit 24 of `/proc/kpageflags`: a page of zeros, small or huge.
const FRAME_IS_ZERO: u64 = 1 << 24;

/// `_IOWR('f', 16, struct pm_scan_arg)`, 96 bytes.
// The C libraries disagree about the type of a request.
const PAGEMAP_SCAN: libc::Ioctl = 0xc060_6610_u32 as libc::Ioctl;
const CATEGORY_FILE: u64 = 1 << 2;
const CATEGORY_PRESENT: u64 = 1 << 3;
const CATEGORY_PFNZERO: u64 = 1 << 5;
/// Mapped as one huge page.
const CATEGORY_HUGE: u64 = 1 << 6;
/// What may lie between parts that one call reads: the walk over it costs less than a call.
const GAP_BYTES_MAX: u64 = 16 << 20;
/// Regions that one call may return: 96 KiB.
const REGIONS_PER_CALL: usize = 4096;

/// `struct pm_scan_arg`
#[repr(C)]
#[derive(Default)]
struct ScanArguments {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    regions_len: u64,
    pages_max: u64,
    category_inverted: u64,
    category_mask: u64,
    category_any_of: u64,
    return_mask: u64,
}

/// `struct page_region`
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ScanRegion {
    start: u64,
    end: u64,
    categories: u64,
}

/// How a page map is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// The call, or the entries where the kernel does not have it.
    Any,
    /// The entries, also where there is the call.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests hold the older way against the newer one"))]
    Entries,
}

/// The resident pages, and apart from them those of hugetlbfs, which `Rss` does not count.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) resident: PageMap,
    pub(crate) hugetlb: PageMap,
    pub(crate) problems: Vec<Problem>,
}

/// Reads which pages of the mappings are resident.
pub(crate) fn read_pages(
    proc: &ProcRoot,
    pid: u32,
    mappings: &[Mapping],
    method: Method,
) -> Result<Pages, LinuxError> {
    let path = proc.file_of(pid, "pagemap");
    let failed = |e| LinuxError::read_of(proc, pid, &path, e);
    let file = File::open(&path).map_err(failed)?;
    let mut reader = Reader::new(proc, file, method);
    let page_bytes = reader.page_bytes;
    let (mut resident, mut hugetlb) = (Found::default(), Found::default());
    for parts in near(&neighbours(mappings, |m| m.rss_bytes != 0)) {
        reader.read(parts, &mut resident).map_err(failed)?;
    }
    for parts in near(&neighbours(mappings, has_hugetlb)) {
        reader.read(parts, &mut hugetlb).map_err(failed)?;
    }
    resident.runs.shrink_to_fit();
    let huge = reader.has_scan.then_some(resident.huge);
    Ok(Pages {
        resident: PageMap::new(resident.runs, page_bytes).with_huge(huge),
        hugetlb: PageMap::new(hugetlb.runs, page_bytes),
        problems: reader.entries.problems(&path, page_bytes),
    })
}

/// All present pages of a process that stands still; `None` where the kernel does not have the call.
///
/// `smaps` says which of them count, and can be read at the same time on another processor.
pub(crate) fn read_present(proc: &ProcRoot, pid: u32) -> Result<Option<Present>, LinuxError> {
    let mappings = proc.read_maps(pid)?;
    let path = proc.file_of(pid, "pagemap");
    let failed = |e| LinuxError::read_of(proc, pid, &path, e);
    let mut reader = Reader::new(proc, File::open(&path).map_err(failed)?, Method::Any);
    let mut found = Found::default();
    // The call does not take the kernel's own addresses, such as those of `[vsyscall]`.
    for parts in near(&neighbours(&mappings, |m| m.addresses.end <= i64::MAX.cast_unsigned())) {
        match reader.scan(parts, &mut found) {
            Err(e) if is_unknown_call(&e) => return Ok(None),
            done => done.map_err(failed)?,
        }
    }
    Ok(Some(Present { found, page_bytes: reader.page_bytes }))
}

/// Pages that are present.
pub(crate) struct Present {
    found: Found,
    page_bytes: u64,
}

/// Pages that were found, in the order of their addresses.
#[derive(Default)]
struct Found {
    runs: Vec<PageRun>,
    /// Those of them that are mapped as huge pages; the older way does not say.
    huge: Vec<Range<u64>>,
}

impl Present {
    /// What [`read_pages`] gives for these mappings.
    pub(crate) fn of(&self, mappings: &[Mapping]) -> Pages {
        Pages {
            resident: self.within(mappings, |m| m.rss_bytes != 0),
            hugetlb: self.within(mappings, has_hugetlb),
            problems: Vec::new(),
        }
    }

    fn within(&self, mappings: &[Mapping], wanted: impl Fn(&Mapping) -> bool) -> PageMap {
        let (mut runs, mut first) = (Vec::new(), 0);
        let (mut huge, mut first_huge) = (Vec::new(), 0);
        let all = &self.found;
        for ResidentPart { addresses, .. } in neighbours(mappings, wanted) {
            first += all.runs[first..].partition_point(|run| run.addresses.end <= addresses.start);
            for run in all.runs[first..].iter().take_while(|run| run.addresses.start < addresses.end) {
                push(&mut runs, both(&run.addresses, &addresses), run.is_file);
            }
            first_huge += all.huge[first_huge..].partition_point(|part| part.end <= addresses.start);
            let within = all.huge[first_huge..].iter().take_while(|part| part.start < addresses.end);
            huge.extend(within.map(|part| both(part, &addresses)));
        }
        PageMap::new(runs, self.page_bytes).with_huge(Some(huge))
    }
}

fn has_hugetlb(mapping: &Mapping) -> bool {
    mapping.hugetlb_bytes.is_some_and(|bytes| bytes != 0)
}

/// A kernel before 6.7 (or one that imitates Linux) does not know the call.
fn is_unknown_call(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL | libc::ENOSYS))
}

/// Mappings that lie next to each other as one range, so that one call does for all; with their resident bytes.
fn neighbours(mappings: &[Mapping], wanted: impl Fn(&Mapping) -> bool) -> Vec<ResidentPart> {
    let mut parts: Vec<ResidentPart> = Vec::new();
    for mapping in mappings.iter().filter(|m| wanted(m)) {
        let bytes = mapping.rss_bytes.saturating_add(mapping.hugetlb_bytes.unwrap_or(0));
        match parts.last_mut() {
            Some(part) if part.addresses.end == mapping.addresses.start => {
                part.addresses.end = mapping.addresses.end;
                part.resident_bytes = part.resident_bytes.saturating_add(bytes);
            }
            // A process that changes while `smaps` is read may show a range twice: the first one counts.
            Some(part) if mapping.addresses.start < part.addresses.end => {}
            _ => parts.push(ResidentPart { addresses: mapping.addresses.clone(), resident_bytes: bytes }),
        }
    }
    parts
}

/// Parts with little between them, which one call reads: each call waits for the lock on the address space. With 30,000
/// guarded stacks in a process whose 16 threads map and unmap, a look took 20 s, two thirds of them for that.
fn near(parts: &[ResidentPart]) -> impl Iterator<Item = &[ResidentPart]> {
    parts.chunk_by(|part, next| next.addresses.start.saturating_sub(part.addresses.end) <= GAP_BYTES_MAX)
}

struct ResidentPart {
    addresses: Range<u64>,
    resident_bytes: u64,
}

struct Reader {
    file: File,
    page_bytes: u64,
    regions: Vec<ScanRegion>,
    has_scan: bool,
    entries: Entries,
}

impl Reader {
    fn new(proc: &ProcRoot, file: File, method: Method) -> Reader {
        Reader {
            file,
            page_bytes: rustix::param::page_size() as u64,
            regions: vec![ScanRegion::default(); REGIONS_PER_CALL],
            has_scan: method == Method::Any,
            entries: Entries::new(proc),
        }
    }

    fn read(&mut self, parts: &[ResidentPart], found: &mut Found) -> io::Result<()> {
        if self.has_scan {
            match self.scan(parts, found) {
                Err(e) if is_unknown_call(&e) => self.has_scan = false,
                done => return done,
            }
        }
        parts
            .iter()
            .try_for_each(|part| self.entries.read(&self.file, part, self.page_bytes, &mut found.runs))
    }

    fn scan(&mut self, parts: &[ResidentPart], to: &mut Found) -> io::Result<()> {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(()) };
        let (mut at, end) = (first.addresses.start, last.addresses.end);
        while at < end {
            let mut arguments = ScanArguments {
                size: size_of::<ScanArguments>() as u64,
                start: at,
                end,
                regions: self.regions.as_mut_ptr() as u64,
                regions_len: self.regions.len() as u64,
                category_inverted: CATEGORY_PFNZERO,
                category_mask: CATEGORY_PRESENT | CATEGORY_PFNZERO,
                return_mask: CATEGORY_FILE | CATEGORY_HUGE,
                ..ScanArguments::default()
            };
            #[expect(unsafe_code, reason = "no library wraps this call")]
            // SAFETY: the arguments are of the size that they state, and the kernel writes at most `regions_len`
            // regions to `regions`, which is that long; every bit pattern is a valid region.
            let found = unsafe { libc::ioctl(self.file.as_raw_fd(), PAGEMAP_SCAN, &raw mut arguments) };
            let found = usize::try_from(found).map_err(|_| io::Error::last_os_error())?;
            for region in self.regions.iter().take(found) {
                let is_file = region.categories & CATEGORY_FILE != 0;
                let first = parts.partition_point(|part| part.addresses.end <= region.start);
                for ResidentPart { addresses, .. } in
                    parts[first..].iter().take_while(|part| part.addresses.start < region.end)
                {
                    let pages = both(&(region.start..region.end), addresses);
                    push(&mut to.runs, pages.clone(), is_file);
                    if region.categories & CATEGORY_HUGE != 0 {
                        to.huge.push(pages);
                    }
                }
            }
            let walked = self.regions[..found].last().map_or(0, |last| last.end).max(arguments.walk_end);
            if walked <= at {
                return Err(io::Error::other("the kernel's walk over the page map does not move on"));
            }
            at = walked;
        }
        Ok(())
    }
}

/// What two ranges that overlap have in common.
fn both(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
}

/// Adds pages to runs that are in the order of their addresses.
fn push(runs: &mut Vec<PageRun>, addresses: Range<u64>, is_file: bool) {
    match runs.last_mut() {
        Some(run) if addresses.start < run.addresses.end => {}
        Some(run) if run.addresses.end == addresses.start && run.is_file == is_file => {
            run.addresses.end = addresses.end;
        }
        _ if addresses.is_empty() => {}
        _ => runs.push(PageRun { addresses, is_file }),
    }
}

/// The older way, and the pages that it could not classify.
struct Entries {
    /// `/proc/kpageflags`, for root.
    flags: Option<File>,
    /// Frame of the page of zeros that was met last: most of them are the same.
    zero_frame: Option<u64>,
    buffer: Vec<u8>,
    read: u64,
    /// Anonymous pages that may have been pages of zeros.
    undecided_pages: u64,
    skipped_bytes: u64,
}

impl Entries {
    fn new(proc: &ProcRoot) -> Self {
        Entries {
            flags: File::open(proc.path().join("kpageflags")).ok(),
            zero_frame: None,
            buffer: Vec::new(),
            read: 0,
            undecided_pages: 0,
            skipped_bytes: 0,
        }
    }

    fn read(
        &mut self,
        file: &File,
        part: &ResidentPart,
        page_bytes: u64,
        runs: &mut Vec<PageRun>,
    ) -> io::Result<()> {
        let Range { start, end } = part.addresses;
        let (mut page, end_page) = (start / page_bytes, end / page_bytes);
        let mut found_bytes = 0;
        // `smaps` counted all of it, unless the process has grown since.
        while page < end_page && found_bytes < part.resident_bytes {
            let entries = (end_page - page).min(ENTRIES_PER_READ);
            if ENTRIES_MAX < self.read + entries {
                self.skipped_bytes = self.skipped_bytes.saturating_add((end_page - page) * page_bytes);
                break;
            }
            self.read += entries;
            self.buffer.resize(entries as usize * 8, 0);
            file.read_exact_at(&mut self.buffer, page * 8)?;
            let buffer = std::mem::take(&mut self.buffer);
            for (entry, number) in buffer.as_chunks::<8>().0.iter().zip(page..) {
                let entry = u64::from_ne_bytes(*entry);
                if entry & PRESENT == 0 || (entry & FILE == 0 && self.is_zero(entry & FRAME)) {
                    continue;
                }
                found_bytes += page_bytes;
                push(runs, number * page_bytes..(number + 1) * page_bytes, entry & FILE != 0);
            }
            self.buffer = buffer;
            page += entries;
        }
        Ok(())
    }

    /// Whether an anonymous page is the kernel's own page of zeros. Frame 0: the kernel hides it.
    fn is_zero(&mut self, frame: u64) -> bool {
        if self.zero_frame == Some(frame) {
            return true;
        }
        let mut flags = [0; 8];
        let file = self.flags.as_ref().filter(|_| frame != 0);
        if file.is_none_or(|file| file.read_exact_at(&mut flags, frame * 8).is_err()) {
            self.undecided_pages += 1;
            return false;
        }
        let is_zero = u64::from_ne_bytes(flags) & FRAME_IS_ZERO != 0;
        if is_zero {
            self.zero_frame = Some(frame);
        }
        is_zero
    }

    fn problems(&self, path: &std::path::Path, page_bytes: u64) -> Vec<Problem> {
        let source = || path.display().to_string();
        let mut problems = Vec::new();
        if self.undecided_pages != 0 {
            let what = format!(
                "this kernel does not show which of {} bytes of anonymous pages are its shared page of zeros, \
                    which the RSS does not count. Linux 6.7 does, and older ones show it to root",
                self.undecided_pages * page_bytes
            );
            problems.push(Problem::new(source(), what));
        }
        if self.skipped_bytes != 0 {
            let what = format!("{} bytes of addresses were not scanned: too many", self.skipped_bytes);
            problems.push(Problem::new(source(), what));
        }
        problems
    }
}

#[cfg(test)]
mod tests;
