//! The memory of tcmalloc's own tables: leaves of the page table, spans, caches of threads.
//!
//! It is got from the kernel in chunks of 8 MiB that nothing lists (gperftools 2.10, `MetaDataAlloc`), and handed out
//! from their start in pieces of at least 128 KiB. So a chunk is known by what lies in it: it begins with the gap between
//! spans and mappings, if a table lies near there, and reaches 8 MiB far, or up to the end of the gap.

use super::span::Span;
use crate::{HeapKind, HeapRange};
use assay_linux::MemorySource;
use std::ops::Range;

const CHUNK_BYTES: u64 = 8 << 20;
/// How far from a chunk's start its first known table may lie: behind pieces of tables that the survey does not know.
const FIRST_TABLE_AT_MAX: u64 = 1 << 20;
const PAGE_BYTES: u64 = 4096;

/// All memory of the allocator: spans, handed out whole or cut, and the tables.
pub(super) fn ranges(
    source: &dyn MemorySource,
    spans: &[Span],
    tables: &[Range<u64>],
    not_malloc: &[Range<u64>],
) -> Vec<HeapRange> {
    let mut ranges: Vec<HeapRange> = Vec::new();
    for span in spans {
        let kind = if span.is_one_block() { HeapKind::Mapped } else { HeapKind::Secondary };
        match ranges.last_mut() {
            Some(last)
                if last.addresses.end == span.addresses.start
                    && last.kind == kind
                    && kind == HeapKind::Secondary =>
            {
                last.addresses.end = span.addresses.end;
            }
            _ => ranges.push(HeapRange { addresses: span.addresses.clone(), kind }),
        }
    }
    let mut tables = tables.to_vec();
    tables.sort_unstable_by_key(|table| table.start);
    let mut not_malloc = not_malloc.to_vec();
    not_malloc.sort_unstable_by_key(|range| range.start);
    let chunks = chunks(source, &ranges, &tables, &not_malloc);
    ranges.extend(chunks.into_iter().map(|addresses| HeapRange { addresses, kind: HeapKind::Metadata }));
    ranges.sort_unstable_by_key(|range| range.addresses.start);
    ranges
}

/// The chunks, in order and without overlap. `spans` and `tables` are in order.
fn chunks(
    source: &dyn MemorySource,
    spans: &[HeapRange],
    tables: &[Range<u64>],
    not_malloc: &[Range<u64>],
) -> Vec<Range<u64>> {
    let mut chunks: Vec<Range<u64>> = Vec::new();
    for table in tables {
        match chunks.last_mut() {
            Some(last) if table.end <= last.end => continue,
            _ => {}
        }
        let Some(gap) = gap_around(source, spans, not_malloc, table.start) else { continue };
        let known = chunks.last().map_or(0, |last| last.end);
        let start = gap.start.max(known);
        let is_near = table.start.saturating_sub(start) <= FIRST_TABLE_AT_MAX;
        let start = if is_near { start } else { table.start / PAGE_BYTES * PAGE_BYTES };
        let end = start.saturating_add(CHUNK_BYTES).max(table.end).min(gap.end);
        if start < end {
            chunks.push(start..end);
        }
    }
    chunks
}

/// The range around an address that is mapped alike, and in which neither a span nor foreign memory lies.
fn gap_around(
    source: &dyn MemorySource,
    spans: &[HeapRange],
    not_malloc: &[Range<u64>],
    address: u64,
) -> Option<Range<u64>> {
    let mappings = source.mappings();
    let mapping = mappings.get(mappings.partition_point(|mapping| mapping.addresses.end <= address))?;
    let mut gap = mapping.addresses.clone();
    if !gap.contains(&address) || mapping.is_file() {
        return None;
    }
    let next = spans.partition_point(|range| range.addresses.start <= address);
    cut(&mut gap, address, next.checked_sub(1).map(|before| &spans[before].addresses));
    cut(&mut gap, address, spans.get(next).map(|range| &range.addresses));
    let next = not_malloc.partition_point(|range| range.start <= address);
    cut(&mut gap, address, next.checked_sub(1).map(|before| &not_malloc[before]));
    cut(&mut gap, address, not_malloc.get(next));
    gap.contains(&address).then_some(gap)
}

/// Cuts a neighbour off.
fn cut(gap: &mut Range<u64>, address: u64, neighbour: Option<&Range<u64>>) {
    match neighbour {
        Some(before) if before.start <= address => gap.start = gap.start.max(before.end),
        Some(behind) => gap.end = gap.end.min(behind.start),
        None => {}
    }
}
