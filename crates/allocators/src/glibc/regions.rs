//! Parts of the main arena that were mapped, since the break could not grow: something lay in its way, as the Java heap
//! may above a program that is not position-independent (`sysmalloc`, `MMAP_AS_MORECORE_SIZE`).
//!
//! Nothing says where they are, but free chunks and the top lie in them. They begin at a page, and the chain of chunks
//! from there leads to the top, or to the fence that malloc put up when it left them.

use super::arena::{Arenas, State};
use super::heap::Heap;
use super::layout::{FLAGS, PREV_INUSE, Sizes};
use super::mapped::without;
use super::reader::ForwardReader;
use super::walk::Segment;
use assay_linux::{Mapping, MemorySource};
use std::ops::Range;

/// Headers that are read in search of regions: bounds its time.
const HEADERS_MAX: u64 = 1 << 25;
/// Pages that are tried.
const PAGES_MAX: u64 = 1 << 20;
/// Regions begin at a multiple of it.
const PAGE_BYTES: u64 = 4096;
/// Words in the arena's bins.
const BIN_WORDS: u64 = 2 * super::layout::BINS;

/// Finds the regions: first in mappings that hold something the main arena's lists lead to, then, while they do not yet
/// add up to what the arena got from the kernel, in other anonymous memory. `brk` is what the break has grown.
pub(crate) fn find(
    source: &dyn MemorySource,
    arenas: &Arenas,
    state: &State,
    sizes: Sizes,
    brk: Option<&Range<u64>>,
    not_malloc: &[Range<u64>],
) -> Vec<Heap> {
    let layout = arenas.layout;
    let bins = (0..BIN_WORDS).filter_map(|i| source.word(state.address + layout.bins + i * layout.word));
    let mut leads: Vec<u64> = bins.chain(state.fast.iter().copied()).chain([state.top]).collect();
    leads.sort_unstable();
    let has_lead = |mapping: &Mapping| {
        let lead = leads.partition_point(|lead| *lead < mapping.addresses.start);
        leads.get(lead).is_some_and(|lead| *lead < mapping.addresses.end)
    };
    let mut search =
        Search { window: ForwardReader::new(source), sizes, top: state.top, headers: 0, pages: 0 };
    let mut missing = state.system_bytes.saturating_sub(brk.map_or(0, |brk| brk.end - brk.start));
    let mut found = Vec::new();
    for is_led_to in [true, false] {
        let mappings = source.mappings().iter().filter(|m| is_candidate(m, brk) && has_lead(m) == is_led_to);
        for mapping in mappings {
            for free in without(&mapping.addresses, not_malloc) {
                if missing == 0 {
                    return found;
                }
                let regions = search.regions(&free);
                missing = regions.iter().fold(missing, |missing, region| {
                    missing.saturating_sub(region.addresses.end - region.addresses.start)
                });
                found.extend(regions);
            }
        }
    }
    found
}

/// Anonymous memory beside the break.
fn is_candidate(mapping: &Mapping, brk: Option<&Range<u64>>) -> bool {
    mapping.permissions == *b"rw-p"
        && mapping.inode == 0
        && mapping.rss_bytes != 0
        && mapping.name != "[heap]"
        && mapping.name != "[stack]"
        && brk.is_none_or(|brk| !brk.contains(&mapping.addresses.start))
}

struct Search<'a> {
    window: ForwardReader<'a>,
    sizes: Sizes,
    top: u64,
    headers: u64,
    pages: u64,
}

impl Search<'_> {
    /// The regions in a memory range.
    fn regions(&mut self, free: &Range<u64>) -> Vec<Heap> {
        let mut found = Vec::new();
        let mut at = free.start;
        while let Some(readable) = self.window.next_readable(at, free.end) {
            let Some(page) = readable.max(at).checked_next_multiple_of(PAGE_BYTES) else { break };
            self.pages += 1;
            if HEADERS_MAX < self.headers || PAGES_MAX < self.pages || free.end <= page {
                break;
            }
            at = page;
            match self.region(at, free.end) {
                Some(end) => {
                    let Some(first) = self.sizes.first_chunk(at) else { break };
                    let segment = Segment { first, end, is_main: true, arena: 0 };
                    found.push(Heap { segment, addresses: at..end });
                    at = end;
                }
                None => at += PAGE_BYTES,
            }
        }
        found
    }

    /// The end of the region that begins at a page; nothing if none does.
    fn region(&mut self, start: u64, limit: u64) -> Option<u64> {
        let header = self.sizes.header();
        let mut at = self.sizes.first_chunk(start)?;
        let mut last = None;
        loop {
            self.headers += 1;
            let [before, word] = self.window.two_words(at)?;
            let (size, flags) = (word & !FLAGS, word & FLAGS);
            let next = at.checked_add(size).filter(|next| *next <= limit)?;
            // A chunk behind a free one says how long that is. The first one has none before it.
            let fits = flags == PREV_INUSE || flags == 0 && last == Some(before);
            if !fits || HEADERS_MAX < self.headers {
                return None;
            }
            if at == self.top {
                return (header <= size).then_some(next);
            }
            if size == header {
                let [_, behind] = self.window.two_words(next)?;
                return (behind == header | PREV_INUSE).then_some(next + header);
            }
            if size < self.sizes.chunk_min() || !size.is_multiple_of(self.sizes.align) {
                return None;
            }
            last = Some(size);
            at = next;
        }
    }
}
