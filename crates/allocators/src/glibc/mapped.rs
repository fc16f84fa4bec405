//! Chunks that are mappings of their own: large blocks, from `M_MMAP_THRESHOLD` on.
//!
//! They are in no list. The kernel merges them with their neighbours, so that they begin at any page of anonymous memory;
//! malloc's count of them (`mp_`) says how many there must be. Until 2.42 such a chunk reaches to the end of its mapping; since
//! 2.43 its size leaves out a header's length there, and a flag beside the distance says that its pages are huge ones.
//! Held by: `every_block_that_the_program_holds_is_found`, on each of these releases.

use super::layout::{FLAGS, IS_MMAPPED, Sizes};
use super::reader::ForwardReader;
use super::settings::Settings;
use crate::{Block, BlockState, NO_ARENA};
use assay_linux::{Mapping, MemorySource};
use assay_model::Problem;
use std::ops::Range;

/// Mapped chunks: `n_mmaps_max` is 65536 unless it was set.
const CHUNKS_MAX: usize = 1 << 20;
/// Alignments that a caller may ask for: up to 1 GiB.
const ALIGNMENT_BITS: Range<u32> = 4..31;
/// In the distance from the beginning of the mapping: its pages are huge ones (`MMAP_HP`, since 2.43).
const HUGE: u64 = 1;
/// Candidates too many, of which one set is left out whose bytes explain the difference.
const SURPLUS_MAX: usize = 64;

/// One mapped chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapped {
    /// The mapping.
    pub addresses: Range<u64>,
    /// What was handed out.
    pub block: Block,
}

/// Looks at the first words of every page of anonymous memory that nobody else claims: `taken` is sorted.
pub(crate) fn find(
    source: &dyn MemorySource,
    sizes: Sizes,
    settings: Option<&Settings>,
    taken: &[Range<u64>],
    problems: &mut Vec<Problem>,
) -> Vec<Mapped> {
    if settings.is_some_and(|settings| settings.mapped == 0) {
        return Vec::new();
    }
    let mut window = ForwardReader::new(source);
    let mut found = Vec::new();
    let anonymous = source.mappings().iter().filter(|m| is_anonymous(m));
    for mapping in anonymous {
        for free in without(&mapping.addresses, taken) {
            search(source, &mut window, sizes, &free, &mut found);
        }
    }
    match settings {
        Some(settings) => check(&mut found, settings, problems),
        None if !found.is_empty() => problems.push(Problem::new(
            "glibc",
            format!("{} mapped chunks found, but malloc's own count of them was not", found.len()),
        )),
        None => {}
    }
    found
}

fn is_anonymous(mapping: &Mapping) -> bool {
    let is_named = !(mapping.name.is_empty() || mapping.name.starts_with("[anon"));
    mapping.permissions == *b"rw-p" && mapping.rss_bytes != 0 && !is_named && mapping.inode == 0
}

/// The parts of a range that are not taken.
pub(crate) fn without(range: &Range<u64>, taken: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut free = Vec::new();
    let mut at = range.start;
    let first = taken.partition_point(|t| t.end <= range.start);
    for taken in taken[first..].iter().take_while(|t| t.start < range.end) {
        if at < taken.start {
            free.push(at..taken.start);
        }
        at = at.max(taken.end);
    }
    if at < range.end {
        free.push(at..range.end);
    }
    free
}

fn search(
    source: &dyn MemorySource,
    window: &mut ForwardReader<'_>,
    sizes: Sizes,
    free: &Range<u64>,
    found: &mut Vec<Mapped>,
) {
    let page = source.pages().page_bytes();
    let Some(mut at) = free.start.checked_next_multiple_of(page) else { return };
    while at < free.end && found.len() < CHUNKS_MAX {
        let Some(readable) = window.next_readable(at, free.end) else { return };
        if readable != at {
            let Some(next) = readable.checked_next_multiple_of(page) else { return };
            at = next;
            continue;
        }
        let chunk = window.two_words(at).and_then(|words| chunk_at(source, sizes, at, free.end, words));
        at += match chunk {
            Some(mapped) => {
                let bytes = mapped.addresses.end - mapped.addresses.start;
                found.push(mapped);
                bytes
            }
            None => page,
        };
    }
}

/// A chunk in a mapping that begins at a page: nothing before it but the distance, whole pages long, and marked as mapped.
fn chunk_at(source: &dyn MemorySource, sizes: Sizes, at: u64, end: u64, words: [u64; 2]) -> Option<Mapped> {
    let place = MappingRange { sizes, page: source.pages().page_bytes(), at, end };
    let moved = |lead: u64| {
        let chunk = at.checked_add(lead)?;
        place.mapped(lead, [source.word(chunk)?, source.word(chunk.checked_add(sizes.word)?)?])
    };
    // On i386 the first chunk of a mapping keeps a distance, so that what it hands out is aligned to 16 bytes; it is
    // then noted as the size before.
    let Some(whole) = place.mapped(0, words) else {
        let lead = sizes.first_chunk(at)? - at;
        return (lead != 0).then(|| moved(lead)).flatten();
    };
    let is_same = |moved: &Mapped| moved.addresses == whole.addresses;
    let moved = aligned_leads(sizes, &whole.addresses).find_map(|lead| moved(lead).filter(is_same));
    Some(moved.unwrap_or(whole))
}

/// Where the chunk may begin, if more than malloc's own alignment was asked for: the first head stays where it was. Until 2.42 a
/// chunk had to fit in front.
fn aligned_leads(sizes: Sizes, mapping: &Range<u64>) -> impl Iterator<Item = u64> {
    let Range { start: at, end } = *mapping;
    let leads = ALIGNMENT_BITS.filter_map(move |bits| {
        let alignment = 1_u64 << bits;
        let user = at.checked_add(sizes.header())?;
        let lead = user.checked_next_multiple_of(alignment)? - user;
        Some([lead, lead.checked_add(alignment)?])
    });
    leads.flatten().filter(move |lead| *lead != 0 && *lead < end - at)
}

/// Where a mapping may begin, and what it may not reach beyond.
struct MappingRange {
    sizes: Sizes,
    page: u64,
    at: u64,
    end: u64,
}

impl MappingRange {
    /// The chunk with this head, so far behind the beginning of its mapping: it notes that distance as the size before.
    fn mapped(&self, lead: u64, [before, size]: [u64; 2]) -> Option<Mapped> {
        let MappingRange { sizes, page, at, end } = *self;
        let (bytes, flags) = (size & !FLAGS, size & FLAGS);
        if flags != IS_MMAPPED || bytes < sizes.chunk_min() {
            return None;
        }
        // The omission at the end distinguishes the releases: only with one of them is the mapping whole pages long.
        let (left_out, usable) =
            [(0, bytes - sizes.header()), (sizes.header(), bytes - sizes.word)].into_iter().find(
                |(left_out, _)| lead.saturating_add(bytes).saturating_add(*left_out).is_multiple_of(page),
            )?;
        let distance = if left_out == 0 { before } else { before & !HUGE };
        let all = lead.checked_add(bytes)?.checked_add(left_out)?;
        let fits = distance == lead && all <= end.saturating_sub(at);
        let address = at.checked_add(lead)?.checked_add(sizes.header())?;
        let header_bytes = sizes.header() as u8;
        let block = Block { address, bytes: usable, state: BlockState::Used, header_bytes, arena: NO_ARENA };
        fits.then(|| Mapped { addresses: at..at + all, block })
    }
}

/// Compares the findings with malloc's own count. An excess that explains the difference to the byte is left
/// out: old contents of memory may look like a chunk.
fn check(found: &mut Vec<Mapped>, settings: &Settings, problems: &mut Vec<Problem>) {
    let length = |m: &Mapped| m.addresses.end - m.addresses.start;
    let sum = |found: &[Mapped]| found.iter().map(length).sum::<u64>();
    let (count, bytes) = (found.len(), sum(found));
    let surplus = count.saturating_sub(settings.mapped as usize);
    if let Some(excess) = bytes.checked_sub(settings.mapped_bytes)
        && (1..=SURPLUS_MAX).contains(&surplus)
        && let Some(drop) = pick(found, surplus, excess)
    {
        let mut index = 0;
        found.retain(|_| {
            index += 1;
            !drop.contains(&(index - 1))
        });
    }
    let (count, bytes) = (found.len(), sum(found));
    if count != settings.mapped as usize || bytes != settings.mapped_bytes {
        let (mapped, mapped_bytes) = (settings.mapped, settings.mapped_bytes);
        problems.push(Problem::new(
            "glibc",
            format!("{count} mapped chunks of {bytes} B found, malloc counts {mapped} of {mapped_bytes} B"),
        ));
    }
}

/// Chunks whose sizes add up to the excess: one, or two, or all of equal size.
fn pick(found: &[Mapped], surplus: usize, excess: u64) -> Option<Vec<usize>> {
    let length = |index: &usize| found[*index].addresses.end - found[*index].addresses.start;
    let unique = |picked: Vec<usize>| (picked.len() == surplus).then_some(picked);
    match surplus {
        1 => unique((0..found.len()).filter(|i| length(i) == excess).collect()),
        2 => {
            let pairs =
                (0..found.len().min(1024)).flat_map(|i| (i + 1..found.len().min(1024)).map(move |j| (i, j)));
            let mut pairs = pairs.filter(|(i, j)| length(i) + length(j) == excess);
            let first = pairs.next()?;
            pairs.next().is_none().then(|| vec![first.0, first.1])
        }
        _ => unique((0..found.len()).filter(|i| length(i) * surplus as u64 == excess).collect()),
    }
}
