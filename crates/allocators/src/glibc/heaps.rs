//! The heaps of each arena: where a walk begins and ends, and which memory belongs to them.

use super::arena::{Arenas, State};
use super::heap::Heap;
use super::layout::Sizes;
use super::regions;
use super::settings::Settings;
use super::walk::Segment;
use assay_linux::{Mapping, MemorySource};
use assay_model::Problem;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Heaps in one memory range.
const HEAPS_MAX: usize = 1 << 20;

/// All heaps in the order of their addresses; `not_malloc` is sorted. Heaps that overlap with one before are left out, and said to be.
pub(crate) fn of_all(
    source: &dyn MemorySource,
    arenas: &Arenas,
    sizes: Sizes,
    settings: Option<&Settings>,
    not_malloc: &[Range<u64>],
    problems: &mut Vec<Problem>,
) -> Vec<Heap> {
    let mut heaps = Vec::new();
    if let Some(main) = arenas.states.first() {
        let by_brk = main_heap(source, main, sizes, settings, arenas, problems);
        if main.is_scattered {
            let brk = by_brk.as_ref().map(|heap| heap.addresses.start..heap.segment.end);
            heaps.extend(regions::find(source, arenas, main, sizes, brk.as_ref(), not_malloc));
        }
        heaps.extend(by_brk);
    }
    secondary_heaps(source, arenas, sizes, &mut heaps, problems);
    heaps.sort_by_key(|heap| heap.addresses.start);
    let mut end = 0;
    heaps.retain(|heap| {
        let is_behind = end <= heap.addresses.start;
        if is_behind {
            end = heap.addresses.end;
        } else {
            problems.push(Problem::new(
                "glibc",
                format!("heap at {:#x} overlaps with another one: left out", heap.addresses.start),
            ));
        }
        is_behind
    });
    heaps
}

/// The mapping that holds an address, if it can be written.
fn writable(source: &dyn MemorySource, at: u64) -> Option<&Mapping> {
    let mappings = source.mappings();
    let index = mappings.partition_point(|m| m.addresses.end <= at);
    mappings.get(index).filter(|m| m.addresses.start <= at && m.permissions[..2] == *b"rw")
}

/// The end of the writable memory that goes on from an address without a gap, over several mappings: advice such as that
/// on huge pages splits them.
fn writable_end(source: &dyn MemorySource, at: u64, limit: u64) -> Option<u64> {
    let mappings = source.mappings();
    let index = mappings.partition_point(|m| m.addresses.end <= at);
    let mut end = None;
    for mapping in &mappings[index..] {
        let is_next = mapping.addresses.start <= end.unwrap_or(at);
        if !is_next || mapping.permissions[..2] != *b"rw" || end.is_some_and(|end| limit <= end) {
            break;
        }
        end = Some(mapping.addresses.end);
    }
    end.map(|end| end.min(limit))
}

/// The heap that `brk` grows: from where the break was when malloc began.
fn main_heap(
    source: &dyn MemorySource,
    state: &State,
    sizes: Sizes,
    settings: Option<&Settings>,
    arenas: &Arenas,
    problems: &mut Vec<Problem>,
) -> Option<Heap> {
    // Before anything was handed out, the top is the unsorted bin.
    let unused = arenas.layout.empty_bin(state.address, 0);
    if state.top == unused || state.system_bytes == 0 {
        return None;
    }
    let base = settings.map(|s| s.sbrk_base).filter(|base| writable(source, *base).is_some());
    let brk = source.mappings().iter().find(|m| m.name == "[heap]").map(|m| m.addresses.start);
    let start = base.or(brk);
    let reachable = |start: &u64| {
        let end = writable_end(source, *start, u64::MAX)?;
        let has_top = *start < state.top && state.top < end;
        (has_top || state.is_scattered).then_some((*start, end))
    };
    let Some((start, end)) = start.as_ref().and_then(reachable) else {
        if !state.is_scattered {
            let what = format!("the main arena's top {:#x} is in no heap", state.top);
            problems.push(Problem::new("glibc", what));
        }
        return None;
    };
    let top_end = if (start..end).contains(&state.top) {
        let size = source.word(state.top.checked_add(sizes.word)?)? & !super::layout::FLAGS;
        state.top.checked_add(size).filter(|top_end| *top_end <= end).unwrap_or(end)
    } else {
        end
    };
    Some(Heap {
        // The top of a running program may have moved up since it was read: the mapping is the limit.
        segment: Segment { first: sizes.first_chunk(start)?, end, is_main: true, arena: 0 },
        addresses: start..top_end.max(start),
    })
}

/// All heaps of the secondary arenas: aligned memory whose first word leads to an arena of the ring.
///
/// The chain from the heap of the top back to the first one is not followed: while threads run, the heap of the top may
/// be newer than what could be read, and the whole chain would be lost with it.
fn secondary_heaps(
    source: &dyn MemorySource,
    arenas: &Arenas,
    sizes: Sizes,
    heaps: &mut Vec<Heap>,
    problems: &mut Vec<Problem>,
) {
    let others = arenas.states.iter().enumerate().skip(1).take(usize::from(u16::MAX) - 1);
    let by_address: HashMap<u64, u16> = others.map(|(i, state)| (state.address, i as u16)).collect();
    let Some(span) = span(source, arenas, sizes) else { return };
    let mut seen = HashSet::new();
    let mut starts = HashSet::new();
    for mapping in source.mappings().iter().filter(|m| m.permissions[..2] == *b"rw" && m.rss_bytes != 0) {
        let Some(first) = mapping.addresses.start.checked_next_multiple_of(span) else { continue };
        // Only resident memory can be a head, which keeps a huge mapping from taking long.
        for part in source.pages().resident_in(first..mapping.addresses.end.max(first)) {
            let Some(first) = part.start.checked_next_multiple_of(span) else { continue };
            starts.extend((first..part.end).step_by(span as usize).take(HEAPS_MAX));
        }
    }
    for at in starts.into_iter().filter(|at| *at != 0) {
        let Some(arena) = source.word(at).and_then(|word| by_address.get(&word).copied()) else { continue };
        let state = &arenas.states[usize::from(arena)];
        if let Some(heap) = secondary_heap(source, arenas, state, arena, sizes, at, span) {
            seen.insert(arena);
            heaps.push(heap);
        }
    }
    let lost = by_address.values().filter(|arena| !seen.contains(arena)).count();
    if lost != 0 {
        problems.push(Problem::new("glibc", format!("no heap was found for {lost} arenas")));
    }
}

/// How far apart heaps are aligned: an arena lies close behind the beginning of its first heap.
fn span(source: &dyn MemorySource, arenas: &Arenas, sizes: Sizes) -> Option<u64> {
    let others = &arenas.states[1..];
    let is_of = |state: &State, span: &u64| {
        let first = state.address & !(span - 1);
        first != 0 && state.address - first <= 16 * sizes.word && source.word(first) == Some(state.address)
    };
    // The smallest: a heap that is aligned to more is aligned to less too.
    sizes.heap_spans().iter().copied().find(|span| others.iter().any(|state| is_of(state, span)))
}

/// `heap_info`: arena, heap before, bytes in use, bytes that can be written, and since 2.35 the size of its pages.
///
/// The first heap shows how long it is, 32 or 48 bytes: the arena lies directly behind.
fn secondary_heap(
    source: &dyn MemorySource,
    arenas: &Arenas,
    state: &State,
    arena: u16,
    sizes: Sizes,
    at: u64,
    span: u64,
) -> Option<Heap> {
    let first_heap = state.address & !(span - 1);
    let info_bytes = state.address - first_heap;
    let size = source.word(at.checked_add(2 * sizes.word)?)?;
    let accessible = source.word(at.checked_add(3 * sizes.word)?)?;
    if span < size || size < info_bytes || 16 * sizes.word < info_bytes {
        return None;
    }
    let limit = at.checked_add(accessible.clamp(size, span))?;
    let end = writable_end(source, at, limit)?;
    let behind = if at == first_heap { state.address + arenas.layout.bytes() } else { at + info_bytes };
    // Not `size`: while threads run, it grows and shrinks.
    let segment = Segment { first: sizes.first_chunk(behind)?, end, is_main: false, arena };
    Some(Heap { segment, addresses: at..end })
}
