//! glibc's malloc: arenas, heaps and chunks (`malloc/malloc.c`, `malloc/arena.c`).
//!
//! Nothing but the C library's data leads to the arenas: no symbol is needed. Facts about the layouts are in
//! [`layout`], [`settings`] and [`cached`]; each is chosen by what fits, not by the version's number. Tested with real programs on
//! x86-64 with glibc 2.31, 2.36, 2.41 and 2.43, and on i386 with 2.36; other releases only as their structures are documented.

mod arena;
mod cached;
mod heap;
mod heaps;
mod layout;
mod mapped;
mod reader;
mod regions;
mod settings;
mod trim;
mod version;
mod walk;
#[cfg(test)]
mod walk_tests;

use crate::{Arena, Block, BlockState, HeapKind, HeapRange, Survey};
use arena::{Arenas, Data};
use assay_linux::{Mapping, MemorySource};
use assay_model::{Allocator, ArenaFacts, Problem};
use heap::Heap;
use layout::Sizes;
use reader::ForwardReader;
use settings::Settings;
use std::ops::Range;

/// Looks for arenas while none is found, or not all of them.
const LOOKS_MAX: usize = 3;

/// Walks the malloc of the C library, or of a program that has it linked in. Nothing when no arena is found.
pub(crate) fn survey(
    source: &dyn MemorySource,
    object: &Mapping,
    not_malloc: &[Range<u64>],
) -> Option<Survey> {
    let (data, arenas) = arenas(source, object)?;
    let version = version::read(source, object);
    let number = version.as_deref().and_then(version::number);
    let settings = settings::find(&data, source.word_bytes(), number);
    let mut survey = Survey { allocator: Some(Allocator::Glibc), version, ..Survey::default() };
    if settings.is_none() {
        survey.problems.push(Problem::new("glibc", "malloc's settings (mp_) were not found"));
    }
    if !arenas.is_closed {
        survey.problems.push(Problem::new("glibc", "the ring of arenas does not close: some may be missing"));
    }
    let mut not_malloc: Vec<_> = not_malloc.iter().filter(|range| range.start < range.end).cloned().collect();
    not_malloc.sort_by_key(|range| range.start);
    merge_overlaps(&mut not_malloc);
    Walk { source, arenas: &arenas, settings, sizes: sizes(source, object) }
        .into_survey(&not_malloc, &mut survey);
    Some(survey)
}

/// The arenas, with the data that they were found in. Where a thread changed a bin while it was copied the main arena looks like
/// none, and the next look is another: on a busy machine one look in some hundred lost all of malloc to that.
fn arenas(source: &dyn MemorySource, object: &Mapping) -> Option<(Vec<Data>, Arenas)> {
    let mut broken = None;
    for _ in 0..LOOKS_MAX {
        let data = Data::of(source, object);
        match arena::find(source, &data) {
            Some(arenas) if arenas.is_closed => return Some((data, arenas)),
            Some(arenas) => broken = Some((data, arenas)),
            None => {}
        }
    }
    broken
}

/// Alignment of malloc. i386 is the one 32-bit machine here whose alignment is four pointers (since 2.26).
fn sizes(source: &dyn MemorySource, object: &Mapping) -> Sizes {
    let word = source.word_bytes();
    let is_i386 = word == 4 && version::is_i386(source, object).unwrap_or(true);
    Sizes { word, align: if word == 8 || is_i386 { 16 } else { 8 } }
}

struct Walk<'a> {
    source: &'a dyn MemorySource,
    arenas: &'a Arenas,
    settings: Option<Settings>,
    sizes: Sizes,
}

impl Walk<'_> {
    fn into_survey(self, not_malloc: &[Range<u64>], survey: &mut Survey) {
        let settings = self.settings.as_ref();
        let heaps =
            heaps::of_all(self.source, self.arenas, self.sizes, settings, not_malloc, &mut survey.problems);
        let (heaps, noted) = self.walk(heaps, survey);
        // Since 2.43 a thread's cache may hold mapped chunks, too.
        self.add_mapped(not_malloc, survey);
        let cached = cached::mark(self.source, self.arenas, self.sizes, &noted, &mut survey.blocks);
        if cached.broken_lists != 0 {
            let what = format!("{} fast bins could not be followed to their end", cached.broken_lists);
            survey.problems.push(Problem::new("glibc", what));
        }
        self.count(&heaps, survey);
        let layout = self.arenas.layout;
        for state in &self.arenas.states {
            let addresses = state.address..state.address.saturating_add(layout.bytes());
            if !survey.ranges.iter().any(|range| range.addresses.contains(&addresses.start)) {
                survey.ranges.push(HeapRange { addresses, kind: HeapKind::Metadata });
            }
        }
        survey.ranges.sort_by_key(|range| range.addresses.start);
    }

    /// Walks all heaps, which then end where malloc's memory does, and notes which blocks may be caches of threads.
    fn walk(&self, mut heaps: Vec<Heap>, survey: &mut Survey) -> (Vec<Heap>, Vec<u64>) {
        let mut noted = Vec::new();
        let cache_sizes = cached::cache_sizes(self.sizes);
        for heap in &mut heaps {
            let state = &self.arenas.states[usize::from(heap.segment.arena)];
            let mut memory = HeapMemory {
                source: self.source,
                window: ForwardReader::new(self.source),
                top_at: state.address + self.arenas.layout.top(),
                heap: heap.addresses.start..heap.segment.end,
            };
            let result = walk::walk(&mut memory, self.sizes, &heap.segment, &cache_sizes, &mut survey.blocks);
            noted.extend(result.noted);
            if heap.segment.is_main {
                heap.addresses.end = result.end.max(heap.addresses.start);
            }
            let kind = if heap.segment.is_main { HeapKind::Main } else { HeapKind::Secondary };
            for addresses in mapped::without(&heap.addresses, &result.foreign) {
                survey.ranges.push(HeapRange { addresses, kind });
            }
            survey.not_walkable.extend(result.gaps);
            survey.retries += u64::from(result.retries);
            survey.read_again_bytes += memory.window.read_again_bytes();
        }
        (heaps, noted)
    }

    /// Sums by arena, in one pass over all blocks.
    fn count(&self, heaps: &[Heap], survey: &mut Survey) {
        let mut facts: Vec<ArenaFacts> =
            self.arenas.states.iter().enumerate().map(|(i, state)| new_facts(i, state)).collect();
        let brk = self.source.mappings().iter().filter(|m| m.name == "[heap]").map(|m| m.addresses.end).max();
        let pages = self.source.pages();
        let huge = self.settings.map_or(0, |settings| settings.huge_page_bytes);
        let top_step_bytes = pages.page_bytes().max(huge);
        let trim = trim::Trim { pages, sizes: self.sizes, top_step_bytes, brk };
        for heap in heaps {
            let facts = &mut facts[usize::from(heap.segment.arena)];
            let first = survey.blocks.count_ending_by(0, heap.addresses.start);
            let indices = first..first + survey.blocks.count_ending_by(first, heap.addresses.end);
            let own = survey.blocks.range(indices).filter(|block| block.arena == heap.segment.arena);
            let blocks = own.inspect(|block| self.count_block(block, facts));
            let gain_bytes = trim.gain_bytes(blocks, heap.segment.is_main);
            add(&mut facts.trim_gain_bytes, gain_bytes);
        }
        survey.trim_gain_bytes = Some(facts.iter().filter_map(|facts| facts.trim_gain_bytes).sum());
        let states = self.arenas.states.iter();
        survey.arenas =
            states.zip(facts).map(|(state, facts)| Arena { address: state.address, facts }).collect();
    }

    fn count_block(&self, block: &Block, facts: &mut ArenaFacts) {
        // glibc's books count whole chunks.
        let chunk = block.bytes + self.sizes.word;
        match block.state {
            BlockState::Used => facts.used_bytes += block.bytes,
            BlockState::Binned => add(&mut facts.bins_bytes, chunk),
            BlockState::Fast => add(&mut facts.fast_bins_bytes, chunk),
            BlockState::ThreadCache => add(&mut facts.thread_cache_bytes, chunk),
            BlockState::Top => add(&mut facts.top_bytes, chunk + self.sizes.word),
        }
        if block.state != BlockState::Used {
            add(&mut facts.freed_resident_bytes, self.source.pages().resident_bytes_in(block.addresses()));
        }
    }

    /// Adds the mapped chunks, which lie between the heaps.
    fn add_mapped(&self, not_malloc: &[Range<u64>], survey: &mut Survey) {
        let mut taken: Vec<_> = survey.ranges.iter().map(|range| range.addresses.clone()).collect();
        taken.extend_from_slice(not_malloc);
        taken.sort_by_key(|range| range.start);
        merge_overlaps(&mut taken);
        let mapped =
            mapped::find(self.source, self.sizes, self.settings.as_ref(), &taken, &mut survey.problems);
        let ranges =
            mapped.iter().map(|m| HeapRange { addresses: m.addresses.clone(), kind: HeapKind::Mapped });
        survey.ranges.extend(ranges);
        if survey.blocks.is_full() {
            survey.not_walkable.extend(mapped.into_iter().map(|m| m.addresses));
        } else {
            let blocks: Vec<Block> = mapped.into_iter().map(|m| m.block).collect();
            survey.blocks.insert(&blocks);
        }
    }
}

fn new_facts(index: usize, state: &arena::State) -> ArenaFacts {
    ArenaFacts {
        index: index as u32,
        system_bytes: state.system_bytes,
        used_bytes: 0,
        bins_bytes: Some(0),
        fast_bins_bytes: Some(0),
        thread_cache_bytes: Some(0),
        top_bytes: Some(0),
        freed_resident_bytes: Some(0),
        trim_gain_bytes: Some(0),
    }
}

fn add(sum: &mut Option<u64>, bytes: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(bytes));
}

/// Makes sorted ranges disjoint, so that the last of them that begins before a place is the one that ends last too.
fn merge_overlaps(ranges: &mut Vec<Range<u64>>) {
    ranges.dedup_by(|next, last| {
        let overlaps = next.start <= last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
}

/// The memory of one heap, and the arena's pointer to its top.
struct HeapMemory<'a> {
    source: &'a dyn MemorySource,
    window: ForwardReader<'a>,
    top_at: u64,
    heap: Range<u64>,
}

impl walk::Headers for HeapMemory<'_> {
    fn header(&mut self, chunk: u64) -> Option<[u64; 2]> {
        self.window.two_words(chunk)
    }

    fn refresh(&mut self) {
        self.window.refresh();
    }

    fn next_readable(&self, at: u64, end: u64) -> Option<u64> {
        self.window.next_readable(at, end)
    }

    fn top(&mut self) -> Option<u64> {
        self.source.word(self.top_at).filter(|top| self.heap.contains(top))
    }
}
