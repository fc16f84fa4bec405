//! The address space as spans, each given to an entry; and the sums of resident bytes over it.
//!
//! Layers are painted one over the other, the most reliable ones last. The blocks of malloc's heap, which may be
//! millions, are not painted but taken out when the bytes are counted.

use crate::entry_table::EntryId;
use crate::page_kinds::{ByKind, KINDS, KindRun};
use assay_linux::PageMap;
use std::ops::Range;

/// An address range with its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AddressRange {
    pub(crate) addresses: Range<u64>,
    pub(crate) entry: EntryId,
}

impl AddressRange {
    pub(crate) fn new(addresses: Range<u64>, entry: EntryId) -> AddressRange {
        AddressRange { addresses, entry }
    }
}

/// Spans in the order of their addresses, without overlap.
#[derive(Debug, Default)]
pub(crate) struct AddressMap {
    spans: Vec<AddressRange>,
}

impl AddressMap {
    /// Paints a layer over what is there. Within the layer, the span that starts first wins an overlap.
    pub(crate) fn paint(&mut self, mut layer: Vec<AddressRange>) {
        layer.retain(|span| span.addresses.start < span.addresses.end);
        layer.sort_by_key(|span| span.addresses.start);
        let mut reached = 0;
        for span in &mut layer {
            span.addresses.start = span.addresses.start.max(reached);
            reached = reached.max(span.addresses.end);
        }
        layer.retain(|span| span.addresses.start < span.addresses.end);
        if layer.is_empty() {
            return;
        }
        let below = std::mem::take(&mut self.spans);
        self.spans = Vec::with_capacity(below.len() + layer.len());
        let mut above = layer.into_iter().peekable();
        for mut span in below {
            while let Some(next) = above.peek() {
                if span.addresses.end <= next.addresses.start {
                    break;
                }
                if span.addresses.start < next.addresses.start {
                    let front = span.addresses.start..next.addresses.start;
                    self.spans.push(AddressRange::new(front, span.entry));
                }
                span.addresses.start = span.addresses.start.max(next.addresses.end.min(span.addresses.end));
                if span.addresses.end < next.addresses.end {
                    // The layer's span reaches on, over the next one below.
                    break;
                }
                self.spans.extend(above.next());
            }
            if span.addresses.start < span.addresses.end {
                self.spans.push(span);
            }
        }
        self.spans.extend(above);
        debug_assert!(self.spans.windows(2).all(|w| w[0].addresses.end <= w[1].addresses.start));
    }

    /// Paints a layer beneath what is there: only where nothing is painted yet.
    pub(crate) fn paint_beneath(&mut self, layer: Vec<AddressRange>) {
        let above = std::mem::take(&mut self.spans);
        self.paint(layer);
        self.paint(above);
    }

    pub(crate) fn into_spans(self) -> Vec<AddressRange> {
        self.spans
    }

    /// The entry at an address.
    #[cfg(test)]
    fn entry_at(&self, address: u64) -> Option<EntryId> {
        let after = self.spans.partition_point(|span| span.addresses.end <= address);
        self.spans.get(after).filter(|span| span.addresses.start <= address).map(|span| span.entry)
    }

    /// The resident parts that are in no span.
    pub(crate) fn unpainted(&self, pages: &PageMap) -> Vec<Range<u64>> {
        let mut parts = Vec::new();
        let mut next = 0;
        for run in pages.runs() {
            let Range { mut start, end } = run.addresses;
            while next < self.spans.len() && self.spans[next].addresses.end <= start {
                next += 1;
            }
            let mut at = next;
            while start < end {
                match self.spans.get(at) {
                    Some(span) if span.addresses.start <= start => {
                        start = span.addresses.end.max(start);
                        at += 1;
                    }
                    Some(span) if span.addresses.start < end => {
                        parts.push(start..span.addresses.start);
                        start = span.addresses.start;
                    }
                    _ => {
                        parts.push(start..end);
                        start = end;
                    }
                }
            }
        }
        parts
    }

    /// Resident bytes by entry; `nobody` gets what is in no span.
    pub(crate) fn add_up<'a>(&'a self, runs: &'a [KindRun], nobody: EntryId) -> Adding<'a> {
        // Nobody has all at first, and the spans are taken out of that.
        let mut adding =
            Adding { spans: &[], runs, overlap: 0..0, entry: nobody, kind: 0, nobody, sums: Vec::new() };
        for run in runs {
            adding.add(nobody, run.kind, run.addresses.end - run.addresses.start);
        }
        for span in &self.spans {
            adding.take(span.addresses.clone(), span.entry);
        }
        Adding { spans: &self.spans, runs, overlap: 0..0, ..adding }
    }
}

/// Sums of resident bytes by entry and kind of page, which finer parts of the spans are taken out of.
pub(crate) struct Adding<'a> {
    /// From the first on that ends behind what was taken last.
    spans: &'a [AddressRange],
    /// The same of the resident pages.
    runs: &'a [KindRun],
    /// Where the first span and the first run overlap: nearly every block lies there.
    overlap: Range<u64>,
    /// Of the first span.
    entry: EntryId,
    /// Of the first run.
    kind: usize,
    nobody: EntryId,
    sums: Vec<ByKind>,
}

impl Adding<'_> {
    fn add(&mut self, entry: EntryId, kind: usize, bytes: u64) {
        if self.sums.len() <= entry.index() {
            self.sums.resize(entry.index() + 1, [0; KINDS]);
        }
        self.sums[entry.index()][kind] += bytes;
    }

    /// Gives a part to an entry, whatever span it lies in, and returns how much of it is resident. Parts come in the order of
    /// their addresses, without overlap.
    #[inline]
    pub(crate) fn take(&mut self, part: Range<u64>, entry: EntryId) -> u64 {
        if self.overlap.start <= part.start && part.end <= self.overlap.end {
            let bytes = part.end - part.start;
            self.give(self.entry, entry, self.kind, bytes);
            return bytes;
        }
        self.go_to(part.start);
        self.take_piecewise(part, entry)
    }

    fn go_to(&mut self, address: u64) {
        while self.spans.first().is_some_and(|span| span.addresses.end <= address) {
            self.spans = &self.spans[1..];
        }
        while self.runs.first().is_some_and(|run| run.addresses.end <= address) {
            self.runs = &self.runs[1..];
        }
        if let ([span, ..], [run, ..]) = (self.spans, self.runs) {
            let (span_addresses, addresses) = (&span.addresses, &run.addresses);
            self.overlap = span_addresses.start.max(addresses.start)..span_addresses.end.min(addresses.end);
            (self.entry, self.kind) = (span.entry, run.kind);
        }
    }

    fn take_piecewise(&mut self, part: Range<u64>, entry: EntryId) -> u64 {
        let (spans, runs) = (self.spans, self.runs);
        let mut taken = 0;
        let mut span = 0;
        for run in runs.iter().take_while(|run| run.addresses.start < part.end) {
            let mut start = run.addresses.start.max(part.start);
            let end = run.addresses.end.min(part.end);
            while start < end {
                while spans.get(span).is_some_and(|span| span.addresses.end <= start) {
                    span += 1;
                }
                let (from, until) = match spans.get(span) {
                    Some(span) if span.addresses.start <= start => (span.entry, span.addresses.end),
                    Some(span) => (self.nobody, span.addresses.start),
                    None => (self.nobody, end),
                };
                let bytes = until.min(end) - start;
                self.give(from, entry, run.kind, bytes);
                taken += bytes;
                start += bytes;
            }
        }
        taken
    }

    #[inline]
    fn give(&mut self, from: EntryId, to: EntryId, kind: usize, bytes: u64) {
        // It was added before.
        self.sums[from.index()][kind] -= bytes;
        self.add(to, kind, bytes);
    }

    /// The sums, by [`EntryId::index`].
    pub(crate) fn into_sums(self) -> Vec<ByKind> {
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry_table::EntryTable;
    use crate::ranges::Ranges;
    use assay_linux::PageRun;
    use assay_model::{Area, FigureSource};
    use proptest::prelude::*;

    fn entries() -> Vec<EntryId> {
        let mut table = EntryTable::default();
        (0..8).map(|i| table.entry(Area::Other, &[i.to_string()], FigureSource::Kernel)).collect()
    }

    proptest! {
        /// Against an array with a cell for every address.
        #[test]
        fn painting_and_adding_up_are_those_of_an_array(
            layers in prop::collection::vec(prop::collection::vec((0u64..300, 1u64..60, 0usize..8), 0..12), 0..5),
            parts in prop::collection::vec((0u64..20, 1u64..20), 0..12),
            runs in prop::collection::vec((0u64..4, 1u64..5, 0..KINDS), 0..12),
        ) {
            let entries = entries();
            let nobody = entries[7];
            let mut cells = vec![None; 1024];
            let mut address_map = AddressMap::default();
            for layer in layers {
                let mut layer: Vec<AddressRange> =
                    layer.into_iter().map(|(at, n, entry)| AddressRange::new(at..at + n, entries[entry])).collect();
                layer.sort_by_key(|span| span.addresses.start);
                let mut fresh: Vec<Option<EntryId>> = vec![None; 1024];
                for span in &layer {
                    for cell in span.addresses.clone() {
                        fresh[cell as usize].get_or_insert(span.entry);
                    }
                }
                for (cell, entry) in cells.iter_mut().zip(fresh) {
                    *cell = entry.or(*cell);
                }
                address_map.paint(layer);
            }
            let mut at = 0;
            let mut finer = Vec::new();
            let mut fine = cells.clone();
            for (gap, bytes) in parts {
                finer.push(AddressRange::new(at + gap..at + gap + bytes, entries[0]));
                for cell in at + gap..at + gap + bytes {
                    fine[cell as usize] = Some(entries[0]);
                }
                at += gap + bytes;
            }
            let mut at = 0;
            let mut resident = Vec::new();
            let mut kinds = Vec::new();
            for (gap, pages, kind) in runs {
                let start = at + gap * 16;
                at = start + pages * 16;
                resident.push(PageRun { addresses: start..at, is_file: false });
                kinds.push(KindRun { addresses: start..at, kind });
            }
            let pages = PageMap::new(resident, 16);
            let mut expected = vec![[0; KINDS]; 8];
            let mut unpainted = 0;
            for run in &kinds {
                for cell in run.addresses.clone() {
                    expected[fine[cell as usize].unwrap_or(nobody).index()][run.kind] += 1;
                    unpainted += u64::from(cells[cell as usize].is_none());
                    prop_assert_eq!(address_map.entry_at(cell), cells[cell as usize]);
                }
            }
            let mut adding = address_map.add_up(&kinds, nobody);
            for part in &finer {
                let taken = adding.take(part.addresses.clone(), part.entry);
                prop_assert_eq!(taken, pages.resident_bytes_in(part.addresses.clone()));
            }
            let mut sums = adding.into_sums();
            sums.resize(8, [0; KINDS]);
            prop_assert_eq!(sums.iter().flatten().sum::<u64>(), pages.resident_bytes());
            prop_assert_eq!(&sums, &expected);
            let gaps = address_map.unpainted(&pages);
            prop_assert_eq!(gaps.iter().map(|gap| gap.end - gap.start).sum::<u64>(), unpainted);
            let ranges = Ranges::of(address_map, finer, &pages, nobody);
            prop_assert!(ranges.problem().is_none());
            for entry in entries {
                let stored = ranges.stored(&[entry]);
                let listed: u64 = stored.iter().map(|range| range.resident_bytes).sum();
                prop_assert_eq!(listed, expected[entry.index()].iter().sum::<u64>(), "{:?}", stored);
            }
        }
    }
}
