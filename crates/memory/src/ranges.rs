//! Where each entry lies: its address ranges, for tools that know addresses and not causes.

use crate::address_map::{AddressMap, AddressRange};
use crate::entry_table::EntryId;
use assay_linux::PageMap;
use assay_model::{Problem, ResidentRange};
use std::collections::HashMap;

/// Ranges of all entries together. Blocks of malloc that lie next to each other and have one owner are one range; a heap of millions of small
/// blocks by many owners has more than a file should hold.
const RANGES_MAX: usize = 1 << 20;

/// The ranges of all entries.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    by_entry: HashMap<EntryId, Vec<(u64, u64, u64)>>,
    left_out: usize,
}

impl Ranges {
    /// Of what was painted, with the finer parts (blocks of malloc) over it; `nobody` has what is in no span. Only resident ones.
    pub(crate) fn of(
        mut address_map: AddressMap,
        finer: Vec<AddressRange>,
        pages: &PageMap,
        nobody: EntryId,
    ) -> Ranges {
        address_map.paint(finer);
        let rest = address_map.unpainted(pages);
        address_map.paint_beneath(rest.into_iter().map(|range| AddressRange::new(range, nobody)).collect());
        let mut ranges = Ranges::default();
        let mut number = 0;
        let spans = address_map.into_spans();
        let joined = spans.chunk_by(|a, b| a.entry == b.entry && a.addresses.end == b.addresses.start);
        for span in joined {
            let (Some(first), Some(last)) = (span.first(), span.last()) else { continue };
            let (start, end) = (first.addresses.start, last.addresses.end);
            let resident_bytes = pages.resident_bytes_in(start..end);
            if resident_bytes == 0 {
                continue;
            }
            number += 1;
            if RANGES_MAX < number {
                ranges.left_out += 1;
                continue;
            }
            ranges.by_entry.entry(first.entry).or_default().push((start, end, resident_bytes));
        }
        ranges
    }

    /// Those of the entries of one path.
    pub(crate) fn stored(&self, entries: &[EntryId]) -> Vec<ResidentRange> {
        let mut all: Vec<_> = entries.iter().filter_map(|entry| self.by_entry.get(entry)).flatten().collect();
        all.sort_unstable();
        let range = |(start, end, resident_bytes): &(u64, u64, u64)| ResidentRange {
            start: format!("{start:#x}"),
            end: format!("{end:#x}"),
            resident_bytes: *resident_bytes,
        };
        all.into_iter().map(range).collect()
    }

    /// That there were more than are listed.
    pub(crate) fn problem(&self) -> Option<Problem> {
        let what =
            || format!("{} address ranges are not listed: there are more than {RANGES_MAX}", self.left_out);
        (self.left_out != 0).then(|| Problem::new("ranges", what()))
    }
}
