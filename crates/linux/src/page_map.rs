//! Which pages of a process are resident, as runs of equal pages in the order of their addresses.

use std::ops::Range;

/// Equal pages next to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRun {
    /// Addresses, multiples of the page size, the end excluded.
    pub addresses: Range<u64>,
    /// Whether the pages belong to a file or to shared memory rather than being anonymous.
    pub is_file: bool,
}

/// The resident pages of a process: present, and not the kernel's shared page of zeros, as `Rss` in `smaps` counts them.
///
/// A run takes 24 bytes, so that the worst case (every other page is resident) is 3 MiB for each GiB of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageMap {
    runs: Vec<PageRun>,
    page_bytes: u64,
    /// Parts of the runs that lie in huge pages; `None` where the kernel does not say.
    huge: Option<Vec<Range<u64>>>,
}

/// The smallest pages of the processors that JVMs run on.
pub(crate) const PAGE_BYTES_MIN: u64 = 4096;

/// Without a resident page.
impl Default for PageMap {
    fn default() -> Self {
        PageMap::new(Vec::new(), PAGE_BYTES_MIN)
    }
}

impl PageMap {
    /// From runs in the order of their addresses, without overlap, of pages of a size that is not 0.
    pub fn new(runs: Vec<PageRun>, page_bytes: u64) -> Self {
        debug_assert!(page_bytes != 0);
        debug_assert!(runs.windows(2).all(|pair| pair[0].addresses.end <= pair[1].addresses.start));
        PageMap { runs, page_bytes, huge: None }
    }

    /// With the pages of another map, none of which are in this one.
    pub(crate) fn with(&self, others: &PageMap) -> PageMap {
        let mut runs = [&self.runs[..], &others.runs].concat();
        runs.sort_unstable_by_key(|run| run.addresses.start);
        PageMap { huge: self.huge.clone(), ..PageMap::new(runs, self.page_bytes) }
    }

    /// The same, with the parts that lie in huge pages, in the order of their addresses.
    pub(crate) fn with_huge(self, huge: Option<Vec<Range<u64>>>) -> PageMap {
        PageMap { huge, ..self }
    }

    /// The parts that lie in transparent huge pages, in the order of their addresses; `None` where the kernel does not say.
    pub fn huge(&self) -> Option<&[Range<u64>]> {
        self.huge.as_deref()
    }

    /// Size of a page, never 0.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// All runs.
    pub fn runs(&self) -> &[PageRun] {
        &self.runs
    }

    /// Resident bytes in all.
    pub fn resident_bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.addresses.end - run.addresses.start).sum()
    }

    /// The resident parts of a range, cut at its ends, not at pages.
    pub fn resident_in(&self, addresses: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let first = self.runs.partition_point(|run| run.addresses.end <= addresses.start);
        self.runs[first..]
            .iter()
            .take_while(move |run| run.addresses.start < addresses.end)
            .map(move |run| run.addresses.start.max(addresses.start)..run.addresses.end.min(addresses.end))
    }

    /// Resident bytes of a range, to the byte.
    pub fn resident_bytes_in(&self, addresses: Range<u64>) -> u64 {
        self.resident_in(addresses).map(|part| part.end - part.start).sum()
    }

    /// Whether every page that the range touches is resident.
    pub fn is_resident(&self, addresses: Range<u64>) -> bool {
        let bytes = addresses.end.saturating_sub(addresses.start);
        bytes == self.resident_bytes_in(addresses)
    }
}
