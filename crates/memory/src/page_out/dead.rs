//! Which whole pages of a process are dead: nobody reads their contents again.
//!
//! A page is taken only if all of it is dead, it is resident, private and belongs to no file. Of a transparent huge page all or nothing is
//! taken, since the kernel would split it. That a running process takes such a page into use between the scan and the call loses nothing:
//! its contents are kept, and it pays a fault.

use crate::page_kinds::cut;
use crate::snapshot::Snapshot;
use assay_allocators::BlockState;
use assay_linux::{Mapping, MemorySource};
use assay_model::DeadMemory;
use std::ops::Range;

/// The allocators keep their own links in the first words of a free block: glibc four, jemalloc and tcmalloc one.
const LINKS_BYTES: u64 = 32;
/// glibc keeps the size of a free block in its last word.
const FOOT_BYTES: u64 = 8;
/// A function may use so much below the stack pointer without moving it (the ABI of x86-64; arm64 has none).
const RED_ZONE_BYTES: u64 = 128;
/// Entries of a page table: a huge page is as many pages.
const TABLE_ENTRY_BYTES: u64 = 8;

/// The dead pages of one kind, in the order of their addresses, without overlap.
pub(super) fn dead_pages(
    source: &dyn MemorySource,
    seen: &Snapshot<'_>,
    memory: DeadMemory,
) -> Vec<Range<u64>> {
    let mut dead = match memory {
        DeadMemory::Freed => freed(seen),
        DeadMemory::StaleStacks => stale_stacks(seen),
        DeadMemory::FreeHeap => free_heap(seen),
        DeadMemory::Other => Vec::new(),
    };
    dead.sort_unstable_by_key(|range| range.start);
    let page_bytes = source.pages().page_bytes();
    let mut pages = Vec::new();
    let mut end = 0;
    for range in &dead {
        let whole = whole_multiples(range, page_bytes);
        let whole = whole.start.max(end)..whole.end;
        if whole.start < whole.end {
            end = whole.end;
            resident_pages(source, &whole, &mut pages);
        }
    }
    pages
}

fn freed(seen: &Snapshot<'_>) -> Vec<Range<u64>> {
    let freed = seen.survey.blocks.iter().filter(|block| block.state != BlockState::Used);
    freed
        .map(|block| block.addresses())
        .map(|block| block.start.saturating_add(LINKS_BYTES)..block.end.saturating_sub(FOOT_BYTES))
        .collect()
}

fn stale_stacks(seen: &Snapshot<'_>) -> Vec<Range<u64>> {
    let below = |stack: &Range<u64>| stack.start..stack.end.saturating_sub(RED_ZONE_BYTES);
    seen.stale_stacks.iter().map(below).collect()
}

fn free_heap(seen: &Snapshot<'_>) -> Vec<Range<u64>> {
    let heap = seen.jvm.as_ref().and_then(|jvm| jvm.heap.as_ref());
    let spaces = heap.iter().flat_map(|heap| &heap.spaces);
    spaces.map(|space| space.top..space.addresses.end).collect()
}

/// The resident pages of a range that can be paged out.
fn resident_pages(source: &dyn MemorySource, whole: &Range<u64>, pages: &mut Vec<Range<u64>>) {
    let page_map = source.pages();
    let page_bytes = page_map.page_bytes();
    let huge_page_bytes = page_bytes.saturating_mul(page_bytes / TABLE_ENTRY_BYTES);
    let mappings = source.mappings();
    let runs = page_map.runs();
    let first = runs.partition_point(|run| run.addresses.end <= whole.start);
    for run in runs[first..].iter().take_while(|run| run.addresses.start < whole.end) {
        if run.is_file {
            continue;
        }
        let part = run.addresses.start.max(whole.start)..run.addresses.end.min(whole.end);
        let first = mappings.partition_point(|mapping| mapping.addresses.end <= part.start);
        let of_part = mappings[first..].iter().take_while(|mapping| mapping.addresses.start < part.end);
        for mapping in of_part.filter(|mapping| is_private_memory(mapping)) {
            let part = part.start.max(mapping.addresses.start)..part.end.min(mapping.addresses.end);
            cut(part, page_map.huge().unwrap_or_default(), |part, is_huge| {
                let part = if is_huge { whole_multiples(&part, huge_page_bytes) } else { part };
                if part.start < part.end {
                    pages.push(part);
                }
            });
        }
    }
}

fn is_private_memory(mapping: &Mapping) -> bool {
    mapping.permissions[1] == b'w' && mapping.permissions[3] == b'p' && !mapping.is_file()
}

/// The multiples of a size that lie wholly in a range; empty (start behind end) where there are none.
fn whole_multiples(range: &Range<u64>, bytes: u64) -> Range<u64> {
    range.start.checked_next_multiple_of(bytes).unwrap_or(u64::MAX)..range.end - range.end % bytes
}

#[cfg(test)]
mod tests {
    use super::whole_multiples;

    #[test]
    fn only_pages_that_are_wholly_inside_count() {
        assert!(whole_multiples(&(1..4095), 4096).is_empty());
        assert_eq!(whole_multiples(&(0..4096), 4096), 0..4096);
        assert_eq!(whole_multiples(&(1..12_289), 4096), 4096..12_288);
        assert!(whole_multiples(&(u64::MAX - 1..u64::MAX), 4096).is_empty());
    }
}
