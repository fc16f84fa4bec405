//! Where objects lie one behind the other: the spaces of a heap cut at its regions, and the holes that threads keep for
//! their next objects.

use crate::{Hotspot, JavaHeap};
use assay_jdk::Collector;
use std::ops::Range;

/// Regions of G1 and Shenandoah: 1 MiB to 512 MiB.
const REGION_BYTES: Range<u64> = 1 << 17..1 << 33;
/// A thread's buffer; half a region at most.
const BUFFER_BYTES_MAX: u64 = 8 << 30;
/// Reserve behind a buffer: the processor prefetches beyond the allocation.
const RESERVE_BYTES_MAX: u64 = 64 << 10;

/// Addresses where objects lie without a gap, but for holes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObjectRange {
    pub(super) addresses: Range<u64>,
    /// Size of regions, when each object here begins a region of its own.
    pub(super) humongous: Option<u64>,
}

/// The unused part of a buffer from which a thread allocates. Between `buffer_start` and `start` are its objects; the last
/// of them may have no header yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hole {
    pub(super) buffer_start: u64,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// What is to be walked.
pub(super) struct Ground {
    pub(super) ranges: Vec<ObjectRange>,
    pub(super) holes: Vec<Hole>,
    /// Offset from an address to the other mappings of the same memory; 0 is the first.
    pub(super) views: Vec<u64>,
}

impl Ground {
    pub(super) fn of(hotspot: &Hotspot<'_>, heap: &JavaHeap) -> Ground {
        let first = heap.reserved.first().cloned().unwrap_or(0..0);
        let views = views(heap);
        let ranges = match heap.collector {
            Collector::Z => z_ranges(hotspot),
            collector => ranges(heap, &first, hotspot.region_bytes(collector)),
        };
        let mut holes = hotspot.allocation_holes();
        for hole in &mut holes {
            // A buffer's address may be one of another view.
            let ours = views.iter().find_map(|view| {
                let start = hole.buffer_start.checked_sub(*view)?;
                first.contains(&start).then_some(*view)
            });
            let view = ours.unwrap_or(0);
            hole.buffer_start -= view;
            hole.start -= view;
            hole.end -= view;
        }
        holes.sort_unstable_by_key(|hole| hole.start);
        // Of two that overlap, which cannot be, the first counts.
        let mut end = 0;
        holes.retain(|hole| {
            let is_apart = first.contains(&hole.buffer_start) && end <= hole.buffer_start;
            end = if is_apart { hole.end } else { end };
            is_apart
        });
        Ground { ranges, holes, views }
    }
}

/// Spaces, cut at the regions of the heap.
fn ranges(heap: &JavaHeap, first: &Range<u64>, region: Option<u64>) -> Vec<ObjectRange> {
    let mut ranges = Vec::new();
    for space in &heap.spaces {
        let Range { start, .. } = space.addresses;
        if !first.contains(&start) || space.top <= start {
            continue;
        }
        match region {
            Some(bytes) if space.name != "humongous" => {
                let mut at = start;
                while at < space.top {
                    let end = at.saturating_add(bytes).min(space.top);
                    ranges.push(ObjectRange { addresses: at..end, humongous: None });
                    at = end;
                }
            }
            humongous => ranges.push(ObjectRange { addresses: start..space.top, humongous }),
        }
    }
    ranges
}

/// ZGC's pages: a large one holds one object.
fn z_ranges(hotspot: &Hotspot<'_>) -> Vec<ObjectRange> {
    let pages = hotspot.z_page_grounds().unwrap_or_default();
    let range = |(addresses, is_large): (Range<u64>, bool)| ObjectRange {
        addresses,
        // There is no next object: the next region would be behind all addresses.
        humongous: is_large.then_some(1 << 62),
    };
    pages.into_iter().map(range).collect()
}

/// Distances from the first mapping of a heap to each: those of the first page with objects in each of them.
fn views(heap: &JavaHeap) -> Vec<u64> {
    let first_in = |range: &Range<u64>| {
        let mut inside =
            heap.spaces.iter().filter(|s| s.name != "free" && range.contains(&s.addresses.start));
        inside.next().map(|space| space.addresses.start)
    };
    let starts: Vec<u64> = heap.reserved.iter().filter_map(first_in).collect();
    match starts.first() {
        Some(first) => starts.iter().filter_map(|start| start.checked_sub(*first)).collect(),
        None => vec![0],
    }
}

impl Hotspot<'_> {
    /// Whether a collection stops the threads at this moment, by the collector's own word; `None` where it is not
    /// exported.
    pub fn is_collecting(&self) -> Option<bool> {
        let at = self.place(
            self.collected_heap()?,
            &[("CollectedHeap", "_is_stw_gc_active"), ("CollectedHeap", "_is_gc_active")],
        )?;
        Some(self.source().u8(at)? != 0)
    }

    /// How many collections have stopped the threads so far, at this very moment; `None` where it is not exported.
    pub fn collections_now(&self) -> Option<u32> {
        let at = self.place(self.collected_heap()?, &[("CollectedHeap", "_total_collections")])?;
        let mut bytes = [0; 4];
        self.source().read_anew(at, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    fn region_bytes(&self, collector: Collector) -> Option<u64> {
        let places: &[(&str, &str)] = match collector {
            Collector::G1 => &[("G1HeapRegion", "GrainBytes"), ("HeapRegion", "GrainBytes")],
            Collector::Shenandoah => &[("ShenandoahHeapRegion", "RegionSizeBytes")],
            _ => return None,
        };
        let bytes = self.source().word(self.structs().first_static_address(places)?)?;
        (bytes.is_power_of_two() && REGION_BYTES.contains(&bytes)).then_some(bytes)
    }

    /// The holes of all threads that run Java code.
    fn allocation_holes(&self) -> Vec<Hole> {
        let buffer = self.offset(&[("Thread", "_tlab"), ("JavaThread", "_tlab")]);
        let of = |field| self.offset(&[("ThreadLocalAllocBuffer", field)]);
        let layout = || Some((buffer?, of("_start")?, of("_top")?, of("_end")?));
        let threads = self.java_thread_addresses();
        let Some(((buffer, start, top, end), threads)) = layout().zip(threads) else {
            self.problem("objects", "where threads allocate is not exported by this release");
            return Vec::new();
        };
        let word_bytes = self.source().word_bytes();
        // Folklore: `_end` is where the next sample is taken when allocations are sampled; the true end is in the word
        // behind it, before the size that is wanted next.
        let has_true_end = of("_desired_size") == Some(end + 2 * word_bytes);
        let reserve = self.buffer_reserve();
        let hole = |thread: u64| {
            let word = |offset: u64| self.source().word(thread.checked_add(buffer)?.checked_add(offset)?);
            let (buffer_start, start) = (word(start)?, word(top)?);
            let end = if has_true_end { word(end + word_bytes)? } else { word(end)? };
            let is_possible = buffer_start != 0
                && buffer_start <= start
                && start <= end
                && end - buffer_start <= BUFFER_BYTES_MAX;
            is_possible.then(|| Hole { buffer_start, start, end: end.saturating_add(reserve) })
        };
        threads.into_iter().filter_map(hole).collect()
    }

    /// Reserve behind the end of a buffer: room for the smallest object that can fill a rest, unless that is one
    /// unit of alignment, and what the processor may read ahead.
    fn buffer_reserve(&self) -> u64 {
        let word_bytes = self.source().word_bytes();
        let is_compact = self.flags().bool("UseCompactObjectHeaders") == Some(true);
        let alignment = self.object_layout().alignment_bytes;
        let header = if word_bytes == 8 && is_compact { 8 } else { 2 * word_bytes };
        let smallest = header.next_multiple_of(alignment);
        let filler = if alignment < smallest { smallest } else { 0 };
        let ahead =
            self.structs().static_address("ThreadLocalAllocBuffer", "_reserve_for_allocation_prefetch");
        let ahead =
            ahead.and_then(|at| self.source().u32(at)).map_or(0, |words| u64::from(words) * word_bytes);
        let ahead = if RESERVE_BYTES_MAX < ahead { 0 } else { ahead };
        filler.max(ahead).next_multiple_of(alignment)
    }
}
