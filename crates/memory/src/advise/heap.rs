//! How much heap a limit has room for, by what a process within a control group was charged for beside its heap.

use super::bounds::part_of;
use super::parts::{MemoryPart, resident};
use assay_model::{Area, MemoryReport, MemorySample};

/// Beyond what was charged: starts of one process differ by 1 to 2 %.
const MARGIN_PERCENT: u64 = 3;
const MARGIN_BYTES: u64 = 2 << 20;
/// A burst before the snapshot, such as of JIT compilers, counts up to this part of what was charged.
const BURST_PERCENT_MAX: u64 = 25;
/// Heaps are whole MiB: collectors round to their regions.
const HEAP_UNIT_BYTES: u64 = 1 << 20;
/// Less than this no JVM starts with, whatever the collector: regions and spaces have a least size.
const HEAP_BYTES_MIN: u64 = 8 << 20;

/// What the control group of a process is charged for beside its Java heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BesideHeap {
    /// Resident Java heap, each page once: ZGC before JDK 21 maps it three times.
    pub heap_bytes: u64,
    /// Charged beside it, without page cache, at the most that was seen.
    pub beside_bytes: u64,
    /// The charge without page cache, when the snapshot was taken.
    pub needed_bytes: u64,
    /// Code and files in memory that other groups are charged for, since they used them first.
    pub charged_elsewhere_bytes: u64,
}

/// From a snapshot of a process, and samples before it. Absent where the group's charge is not known.
pub fn beside_heap(snapshot: &MemoryReport, samples: &[MemorySample]) -> Option<BesideHeap> {
    let group = snapshot.cgroup.as_ref()?;
    let cache = group.file_bytes?.saturating_sub(group.shmem_bytes.unwrap_or(0));
    let needed_bytes = group.current_bytes?.saturating_sub(cache);
    let heap_bytes = resident(snapshot, MemoryPart::Heap);
    let now = needed_bytes.saturating_sub(heap_bytes);
    let of_sample = |sample: &MemorySample| {
        let heap = sample.areas.iter().find(|of| of.area == Area::JavaHeap).map_or(0, |of| of.resident_bytes);
        sample.rss_bytes.saturating_sub(heap)
    };
    let most = samples.iter().map(of_sample).max().unwrap_or(0);
    let last = samples.last().map_or(0, of_sample);
    let burst = most.saturating_sub(last).min(part_of(now, BURST_PERCENT_MAX));
    let droppable =
        snapshot.entries.iter().filter_map(|entry| entry.pages).map(|pages| pages.droppable_bytes);
    let mapped: u64 = droppable.fold(0, u64::saturating_add);
    Some(BesideHeap {
        heap_bytes,
        beside_bytes: now.saturating_add(burst),
        needed_bytes,
        charged_elsewhere_bytes: mapped.saturating_sub(cache),
    })
}

/// The largest heap that a limit holds beside so much else; absent where that is less than a JVM starts with.
pub fn heap_within(limit_bytes: u64, beside_bytes: u64) -> Option<u64> {
    let heap = limit_bytes.checked_sub(limit_of(0, beside_bytes))? / HEAP_UNIT_BYTES * HEAP_UNIT_BYTES;
    (HEAP_BYTES_MIN <= heap).then_some(heap)
}

/// The limit that holds this heap and so much else.
pub fn limit_of(heap_bytes: u64, beside_bytes: u64) -> u64 {
    heap_bytes.saturating_add(part_of(beside_bytes, 100 + MARGIN_PERCENT)).saturating_add(MARGIN_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heap_is_what_the_rest_leaves_and_too_little_is_none() {
        let mib = |mib: u64| mib << 20;
        assert_eq!(heap_within(mib(205), mib(100)), Some(mib(100)));
        assert_eq!(limit_of(mib(100), mib(100)), mib(205));
        assert_eq!(heap_within(mib(113), mib(100)), Some(mib(8)));
        assert_eq!((heap_within(mib(112), mib(100)), heap_within(mib(50), mib(100))), (None, None));
        assert_eq!(heap_within(u64::MAX, u64::MAX), None);
    }
}
