//! Finds glibc's arenas without symbols.
//!
//! Both pointers of an empty bin lead back to the bin. Few structures do that 127 times in a row, and only `main_arena`
//! is also a member of a ring of arenas. Held by: `the_main_arena_is_where_the_debug_information_says`.

use super::layout::{BINS, StateLayout};
use super::reader::little_endian;
use assay_linux::{Mapping, MemorySource};
use std::collections::HashSet;
use std::ops::Range;

/// The C library's data is not larger than this.
const DATA_BYTES_MAX: u64 = 8 << 20;
/// glibc makes at most eight arenas for each processor.
const ARENAS_MAX: usize = 1 << 16;
/// `malloc_state.flags`, behind `mutex`, and the flag of an arena whose memory is not in one piece.
const FLAGS_OFFSET: u64 = 4;
const NONCONTIGUOUS: u32 = 2;
/// Places that look like an empty bin.
const EMPTY_BINS_MAX: usize = 4096;

/// One `malloc_state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// Its address.
    pub address: u64,
    /// The top chunk.
    pub top: u64,
    /// Bytes got from the kernel, as glibc counts them.
    pub system_bytes: u64,
    /// Heads of the lists of fast chunks.
    pub fast: Vec<u64>,
    /// Whether the break could not grow once, so that parts of the main arena were mapped.
    pub is_scattered: bool,
}

/// All arenas of a process, the main one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arenas {
    /// The layout that holds.
    pub layout: StateLayout,
    /// The arenas in the order of the ring.
    pub states: Vec<State>,
    /// Whether the ring was whole.
    pub is_closed: bool,
}

/// The writable data of the object that holds malloc: `.data` and `.bss`, as far as they are resident.
pub(crate) struct Data {
    base: u64,
    bytes: Vec<u8>,
    word: u64,
}

impl Data {
    /// Reads the writable mappings of an object, given by its name, and the anonymous memory directly behind (`.bss`).
    pub(crate) fn of(source: &dyn MemorySource, object: &Mapping) -> Vec<Data> {
        let mut found: Vec<Range<u64>> = Vec::new();
        for mapping in source.mappings() {
            let is_own = mapping.inode == object.inode
                && mapping.device == object.device
                && mapping.name == object.name
                && mapping.inode != 0;
            let is_behind = found.last().is_some_and(|last| last.end == mapping.addresses.start)
                && (mapping.name.is_empty() || mapping.name.starts_with("[anon:"));
            if mapping.permissions[..2] != *b"rw" || !(is_own || is_behind) {
                continue;
            }
            match found.last_mut() {
                Some(last) if last.end == mapping.addresses.start => last.end = mapping.addresses.end,
                _ => found.push(mapping.addresses.clone()),
            }
        }
        found.into_iter().map(|range| Data::read(source, &range)).collect()
    }

    fn read(source: &dyn MemorySource, range: &Range<u64>) -> Data {
        let end = range.end.min(range.start.saturating_add(DATA_BYTES_MAX));
        let mut bytes = vec![0; (end - range.start) as usize];
        for part in source.pages().resident_in(range.start..end) {
            let to = &mut bytes[(part.start - range.start) as usize..(part.end - range.start) as usize];
            if source.read(part.start, to).is_err() {
                to.fill(0);
            }
        }
        Data { base: range.start, bytes, word: source.word_bytes() }
    }

    /// The word at an address, if the address is inside.
    pub(crate) fn word(&self, at: u64) -> Option<u64> {
        let from = usize::try_from(at.checked_sub(self.base)?).ok()?;
        let bytes = self.bytes.get(from..from.checked_add(self.word as usize)?)?;
        Some(little_endian(bytes))
    }

    /// 32 bits at an address, if the address is inside.
    pub(crate) fn u32(&self, at: u64) -> Option<u32> {
        let from = usize::try_from(at.checked_sub(self.base)?).ok()?;
        let bytes = self.bytes.get(from..from.checked_add(4)?)?;
        Some(little_endian(bytes) as u32)
    }

    /// Addresses of all words.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> + use<> {
        (self.base..self.base + self.bytes.len() as u64).step_by(self.word as usize)
    }
}

/// Finds the main arena in the data of the C library, and from it the others.
///
/// With a wrong layout the ring does not close: one that does is taken before any that does not.
pub(crate) fn find(source: &dyn MemorySource, data: &[Data]) -> Option<Arenas> {
    let mut broken: Option<Arenas> = None;
    for data in data {
        for (layout, address) in candidates(data) {
            match ring(source, layout, address) {
                Some(arenas) if arenas.is_closed => return Some(arenas),
                Some(arenas) if broken.as_ref().is_none_or(|b| b.states.len() < arenas.states.len()) => {
                    broken = Some(arenas);
                }
                _ => {}
            }
        }
    }
    broken
}

/// Where a main arena may be, by its bins.
fn candidates(data: &Data) -> Vec<(StateLayout, u64)> {
    let layouts = StateLayout::candidates(data.word);
    let pair = 2 * data.word;
    let is_empty_bin = |at: &u64| {
        let to = at.wrapping_sub(pair);
        data.word(*at) == Some(to) && data.word(*at + data.word) == Some(to)
    };
    let mut tried = HashSet::new();
    let mut found = Vec::new();
    for empty in data.addresses().filter(is_empty_bin).take(EMPTY_BINS_MAX) {
        // It may be any of the bins: those in front of it may hold chunks.
        let bins = (0..BINS).filter_map(|bin| empty.checked_sub(bin * pair));
        for bins in bins.filter(|bins| tried.insert(*bins)) {
            let addresses =
                layouts.iter().filter_map(|layout| Some((*layout, bins.checked_sub(layout.bins)?)));
            found.extend(addresses.filter(|(layout, address)| is_main_arena(data, *layout, *address)));
        }
    }
    found
}

/// Whether all bins agree: either both pointers lead back to the bin, or neither does.
fn is_main_arena(data: &Data, layout: StateLayout, address: u64) -> bool {
    // The cheapest test first: the ring.
    data.word(address + layout.next()).is_some_and(|next| next != 0)
        && (0..BINS).all(|bin| {
            let at = address + layout.bins + bin * 2 * layout.word;
            let empty = layout.empty_bin(address, bin);
            match (data.word(at), data.word(at + layout.word)) {
                (Some(forward), Some(backward)) => {
                    forward != 0 && backward != 0 && (forward == empty) == (backward == empty)
                }
                _ => false,
            }
        })
}

/// Follows `next` until it comes back to the main arena. A ring that breaks elsewhere than at its first member is kept
/// as far as it goes.
fn ring(source: &dyn MemorySource, layout: StateLayout, main: u64) -> Option<Arenas> {
    let mut states = vec![read_state(source, layout, main)?];
    let mut seen = HashSet::from([main]);
    let mut at = main;
    loop {
        let next = source.word(at.checked_add(layout.next())?);
        let is_closed = next == Some(main);
        if !is_closed
            && let Some(next) = next
            && states.len() < ARENAS_MAX
            && seen.insert(next)
            && let Some(state) = read_state(source, layout, next)
        {
            states.push(state);
            at = next;
            continue;
        }
        return (is_closed || 1 < states.len()).then_some(Arenas { layout, states, is_closed });
    }
}

/// Reads an arena.
fn read_state(source: &dyn MemorySource, layout: StateLayout, address: u64) -> Option<State> {
    if !address.is_multiple_of(layout.word) {
        return None;
    }
    let word = |offset: u64| source.word(address.checked_add(offset)?);
    let fast = (0..layout.fast_bins).map(|i| word(layout.fast + i * layout.word)).collect::<Option<_>>()?;
    let flags = source.u32(address.checked_add(FLAGS_OFFSET)?)?;
    Some(State {
        address,
        top: word(layout.top())?,
        system_bytes: word(layout.system_mem())?,
        fast,
        is_scattered: flags & NONCONTIGUOUS != 0,
    })
}
