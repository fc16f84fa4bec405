//! Which memory of a process is copied before it is looked at, and how much room there is for it.
//!
//! A snapshot reads memory of one moment: the JVM's structures, malloc's heap, class metadata, stacks, variables. All of it
//! lies in private memory that may be written, and is copied, but for the parts of the Java heap without objects. Memory that
//! cannot change (files, code) is read when it is asked for. So are Java objects, where they are many: they say which class holds
//! native memory, and that changes slowly.

use crate::options::ReadOptions;
use assay_hotspot::{JavaHeap, Space};
use assay_linux::{CopiedMemory, CopyRoom, LiveProcess, MemorySource, ProcRoot, SysRoot};
use assay_model::{MemoryCopy, Problem, SnapshotDepth};
use std::ops::Range;

/// Java objects are copied with the rest up to so many resident bytes.
const HEAP_COPIED_BYTES_MAX: u64 = 256 << 20;
/// Growth that is allowed between the snapshot, which determines the size of the copy, and the copy.
const GROWTH_BYTES: u64 = 16 << 20;
const GROWTH_SHARE: u64 = 16;
/// The copy takes no more than this part of the memory that can be had.
const AVAILABLE_SHARE: u64 = 2;

/// The ranges of a process to copy, determined before it is stopped.
pub(crate) struct CopyPlan {
    /// The Java heap, where it is not copied; in the order of the addresses.
    apart: Vec<Range<u64>>,
    /// What is to be copied if the process stays as it is.
    expected_bytes: u64,
    room_bytes: u64,
}

impl CopyPlan {
    /// Of a process with this heap. `available_bytes` is what Assay can have for it.
    pub(crate) fn new(
        source: &dyn MemorySource,
        heap: Option<&JavaHeap>,
        options: &ReadOptions,
        available_bytes: u64,
    ) -> CopyPlan {
        let mut whole = heap.map(|heap| heap.reserved.clone()).unwrap_or_default();
        whole.sort_by_key(|range| range.start);
        let room_bytes_max = options.copy_bytes_max.min(available_bytes / AVAILABLE_SHARE);
        let bytes_without = |apart: &[Range<u64>]| resident_bytes(source, &ranges_without(apart, source));
        let of = |apart: Vec<Range<u64>>, expected_bytes: u64| {
            let bytes = bytes_without(&apart);
            let room_bytes = bytes.saturating_add(bytes / GROWTH_SHARE + GROWTH_BYTES);
            CopyPlan { apart, expected_bytes, room_bytes }
        };
        // Where nobody looks for owners, no object is read.
        let is_read = options.depth != Some(SnapshotDepth::Structures);
        let with_heap = (is_read && resident_bytes(source, &whole) <= HEAP_COPIED_BYTES_MAX)
            .then(|| of(Vec::new(), bytes_without(&unused(heap, source))));
        let with_heap = with_heap.filter(|plan| plan.room_bytes <= room_bytes_max);
        let plan = with_heap.unwrap_or_else(|| {
            let expected_bytes = bytes_without(&whole);
            of(whole, expected_bytes)
        });
        CopyPlan { room_bytes: plan.room_bytes.min(room_bytes_max), ..plan }
    }

    /// The room for the copy: made before the process is stopped, since that takes longer than copying.
    pub(crate) fn room(&self) -> CopyRoom {
        CopyRoom::of(self.room_bytes, self.expected_bytes)
    }

    /// Copies what is to be copied of a process that was stopped with this heap.
    pub(crate) fn copy(&self, process: LiveProcess, heap: Option<&JavaHeap>, room: CopyRoom) -> CopiedMemory {
        let unused = if self.apart.is_empty() { unused(heap, &process) } else { self.apart.clone() };
        let ranges = ranges_without(&unused, &process);
        CopiedMemory::copy(process, &ranges, room)
    }

    /// What was copied, in the stored form, after a snapshot of this depth at a heap with these objects.
    pub(crate) fn report(
        copied: &CopiedMemory,
        depth: SnapshotDepth,
        objects: &[Range<u64>],
        problems: &mut Vec<Problem>,
    ) -> MemoryCopy {
        let left_out_bytes = copied.left_out_bytes();
        if left_out_bytes != 0 {
            let what = format!(
                "{left_out_bytes} bytes did not fit into the copy of {} bytes and were read later. Free \
                    memory on this machine, or in assay's control group",
                copied.copied_bytes()
            );
            problems.push(Problem::new("copy", what));
        }
        let read = objects.iter().filter(|_| depth == SnapshotDepth::Owners);
        let parts = read.flat_map(|range| copied.readable_pages().resident_in(range.clone()));
        let later = parts.filter(|part| !copied.holds(part));
        MemoryCopy {
            copied_bytes: copied.copied_bytes(),
            copy_ns: copied.copying_ns(),
            left_out_bytes,
            heap_read_later_bytes: later.map(|part| part.end - part.start).sum(),
        }
    }
}

/// Whole pages of the heap's spaces in which no object lies: nobody reads them.
fn unused(heap: Option<&JavaHeap>, source: &dyn MemorySource) -> Vec<Range<u64>> {
    let page_bytes = source.pages().page_bytes();
    let behind = |space: &Space| Some(space.top.checked_next_multiple_of(page_bytes)?..space.addresses.end);
    let spaces = heap.into_iter().flat_map(|heap| &heap.spaces);
    spaces.filter_map(behind).filter(|range| range.start < range.end).collect()
}

/// Private memory that may be written, without what is left apart.
fn ranges_without(apart: &[Range<u64>], source: &dyn MemorySource) -> Vec<Range<u64>> {
    let is_copied = |permissions: &[u8; 4]| permissions[1] == b'w' && permissions[3] == b'p';
    let mappings = source.mappings().iter().filter(|m| {
        is_copied(&m.permissions) && m.rss_bytes.saturating_add(m.hugetlb_bytes.unwrap_or(0)) != 0
    });
    let mut ranges = Vec::new();
    for mapping in mappings {
        let Range { mut start, end } = mapping.addresses;
        let first = apart.partition_point(|range| range.end <= start);
        for apart in apart[first..].iter().take_while(|range| range.start < end) {
            if start < apart.start {
                ranges.push(start..apart.start);
            }
            start = start.max(apart.end);
        }
        if start < end {
            ranges.push(start..end);
        }
    }
    ranges
}

fn resident_bytes(source: &dyn MemorySource, ranges: &[Range<u64>]) -> u64 {
    ranges
        .iter()
        .map(|range| source.readable_pages().resident_bytes_in(range.clone()))
        .fold(0, u64::saturating_add)
}

/// Memory that Assay can have: the machine's, and that of the control group that it runs in. Beyond, the kernel would end a
/// process of that group, and that may be the one that is looked at.
pub(crate) fn available_bytes(proc: &ProcRoot) -> u64 {
    let machine = proc.read_meminfo().ok().and_then(|info| info.available_bytes).unwrap_or(u64::MAX);
    let group = proc.read_cgroups(&SysRoot::default(), None).ok();
    let group = group.and_then(|groups| groups.read_memory(proc, &mut Vec::new()).ok().flatten());
    let left = group.and_then(|group| {
        let droppable_bytes = group.inactive_file_bytes.unwrap_or(0);
        Some(group.limit_bytes?.saturating_sub(group.current_bytes?.saturating_sub(droppable_bytes)))
    });
    left.map_or(machine, |left| left.min(machine))
}
