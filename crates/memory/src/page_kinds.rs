//! What kind of page each resident byte lies in: runs of pages that are of one kind, and sums by kind.

use assay_linux::{Mapping, MemorySource, PageMap};
use assay_model::{Area, PageKinds};
use std::ops::Range;

/// Private, shared and droppable, each in small or in huge pages.
pub(crate) const KINDS: usize = 6;
const PRIVATE: usize = 0;
const SHARED: usize = 1;
const DROPPABLE: usize = 2;
/// What is added to a kind in huge pages.
const HUGE: usize = 3;

/// Resident pages of one kind next to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KindRun {
    pub(crate) addresses: Range<u64>,
    /// Index of the kind, below [`KINDS`].
    pub(crate) kind: usize,
}

/// Bytes by kind.
pub(crate) type ByKind = [u64; KINDS];

/// The resident pages of a process as runs of one kind, in the order of their addresses.
pub(crate) fn kind_runs(source: &dyn MemorySource) -> Vec<KindRun> {
    let shared =
        source.mappings().iter().filter(|mapping| mapping.rss_bytes != 0 && is_shared_memory(mapping));
    let shared: Vec<Range<u64>> = shared.map(|mapping| mapping.addresses.clone()).collect();
    let huge = source.pages().huge().unwrap_or_default();
    let mut runs = Vec::with_capacity(source.pages().runs().len());
    for run in source.pages().runs() {
        let mut push = |part: Range<u64>, kind| {
            cut(part, huge, |addresses, is_huge| {
                runs.push(KindRun { addresses, kind: kind + if is_huge { HUGE } else { 0 } });
            });
        };
        if run.is_file {
            cut(run.addresses.clone(), &shared, |part, is_shared| {
                push(part, if is_shared { SHARED } else { DROPPABLE });
            });
        } else {
            push(run.addresses.clone(), PRIVATE);
        }
    }
    runs
}

/// The same of pages that are those of files, where their kind does not matter.
pub(crate) fn file_runs(pages: &PageMap) -> Vec<KindRun> {
    let run = |addresses: &Range<u64>| KindRun { addresses: addresses.clone(), kind: DROPPABLE };
    pages.runs().iter().map(|of| run(&of.addresses)).collect()
}

/// Whether pages of a mapping are memory that stays until the file or segment is deleted, and that other mappings may show, too.
fn is_shared_memory(mapping: &Mapping) -> bool {
    ["/dev/shm/", "/dev/zero", "/memfd:", "/SYSV"].iter().any(|start| mapping.name.starts_with(start))
}

/// Cuts a range at the ends of others, which are in the order of their addresses; says of each part whether it is in one of them.
pub(crate) fn cut(whole: Range<u64>, by: &[Range<u64>], mut part: impl FnMut(Range<u64>, bool)) {
    let mut at = whole.start;
    let first = by.partition_point(|range| range.end <= whole.start);
    for range in by[first..].iter().take_while(|range| range.start < whole.end) {
        if at < range.start {
            part(at..range.start, false);
            at = range.start;
        }
        let end = range.end.min(whole.end);
        if at < end {
            part(at..end, true);
            at = end;
        }
    }
    if at < whole.end {
        part(at..whole.end, false);
    }
}

/// The stored form of sums; `knows_huge` says whether the kernel said which pages are huge.
pub(crate) fn stored(sums: &ByKind, area: Area, knows_huge: bool) -> PageKinds {
    let both = |kind: usize| sums[kind] + sums[kind + HUGE];
    let of_files = both(DROPPABLE);
    // What is there belongs to the kernel, or to a file that no disk has.
    let droppable_bytes = if area == Area::Other { 0 } else { of_files };
    PageKinds {
        private_bytes: both(PRIVATE),
        shared_bytes: both(SHARED) + (of_files - droppable_bytes),
        droppable_bytes,
        huge_bytes: knows_huge.then(|| sums[HUGE..].iter().sum()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_and_beside_other_ranges_are_the_whole() {
        let parts = |whole: Range<u64>, by: &[Range<u64>]| {
            let mut parts = Vec::new();
            cut(whole, by, |part, is_in| parts.push((part.start, part.end, is_in)));
            parts
        };
        let by = [2..4, 4..6, 10..20];
        assert_eq!(
            parts(0..12, &by),
            [(0, 2, false), (2, 4, true), (4, 6, true), (6, 10, false), (10, 12, true)]
        );
        assert_eq!(parts(3..5, &by), [(3, 4, true), (4, 5, true)]);
        assert_eq!(parts(6..10, &by), [(6, 10, false)]);
        assert_eq!(parts(30..31, &by), [(30, 31, false)]);
        assert_eq!(parts(12..14, &[]), [(12, 14, false)]);
    }

    #[test]
    fn the_kinds_of_all_pages_add_up_and_huge_ones_are_of_them() {
        let sums = [1, 2, 4, 8, 16, 32];
        let kinds = stored(&sums, Area::Code, true);
        assert_eq!((kinds.private_bytes, kinds.shared_bytes, kinds.droppable_bytes), (9, 18, 36));
        assert_eq!(kinds.huge_bytes, Some(56));
        assert_eq!(stored(&sums, Area::Code, false).huge_bytes, None);
        let beside = stored(&sums, Area::Other, true);
        assert_eq!((beside.private_bytes, beside.shared_bytes, beside.droppable_bytes), (9, 54, 0));
    }
}
