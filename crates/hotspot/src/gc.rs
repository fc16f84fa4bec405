//! The collector's own tables, where they lie outside malloc's heap.
//!
//! Card tables are found by exported structures. The others are found from the objects of the heap, whose layout only
//! the layout pack knows; only mapped memory outside of the Java heap is accepted.

mod tables;
mod z_tables;

use crate::Hotspot;
use crate::fields::Spelling;
use assay_model::FigureSource;
use std::ops::Range;

/// Tables of a JVM; G1 and ZGC have ten.
const TABLES_MAX: usize = 1000;

/// A table of the collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcTable {
    /// `card table`, `mark bitmap`, `block offset table`, `card counts`, `forwarding table`, `mark stack`...
    pub name: String,
    /// Its addresses, reserved ones included.
    pub addresses: Range<u64>,
    /// How it was found.
    pub known_from: FigureSource,
}

impl Hotspot<'_> {
    /// The collector's own tables that lie outside malloc's heap, sorted, without overlap. A table whose place no layout pack
    /// gives is missing, and a problem says so.
    pub fn gc_tables(&self) -> Vec<GcTable> {
        let mut tables = Tables { hotspot: self, heap: self.heap_ranges(), found: Vec::new() };
        tables.find_all();
        tables.finish()
    }

    fn heap_ranges(&self) -> Vec<Range<u64>> {
        self.heap().map(|heap| heap.reserved).unwrap_or_default()
    }
}

/// Tables while they are found.
struct Tables<'h, 'm> {
    hotspot: &'h Hotspot<'m>,
    heap: Vec<Range<u64>>,
    found: Vec<GcTable>,
}

impl Tables<'_, '_> {
    /// Adds a table, if all of it is mapped and nothing of it is Java heap. `None` says that it was not to be read.
    fn push(&mut self, name: &str, addresses: Option<Range<u64>>, known_from: FigureSource) {
        let Some(addresses) = addresses else {
            self.hotspot.problem("GC structures", format!("the {name} could not be found"));
            return;
        };
        if addresses.is_empty() {
            // Nothing was needed of it so far.
            return;
        }
        // The JVM reserves whole pages.
        let page_bytes = self.hotspot.source().pages().page_bytes();
        let start = addresses.start / page_bytes * page_bytes;
        let end = addresses.end.checked_next_multiple_of(page_bytes).unwrap_or(addresses.end);
        let overlaps_heap = self.heap.iter().any(|heap| heap.start < end && start < heap.end);
        let is_possible = !overlaps_heap && self.is_mapped(start..end);
        if !is_possible || self.found.len() == TABLES_MAX {
            self.hotspot.problem("GC structures", format!("a {name} in an impossible place was left out"));
        } else {
            self.found.push(GcTable { name: name.to_owned(), addresses: start..end, known_from });
        }
    }

    /// Between the boundaries in two fields of an object.
    fn push_bounds(&mut self, name: &str, object: Option<u64>, low: Spelling<'_>, high: Spelling<'_>) {
        let hotspot = self.hotspot;
        let bounds = object
            .and_then(|object| Some(hotspot.pointer(object, &[low])?..hotspot.pointer(object, &[high])?));
        self.push(name, bounds, FigureSource::Symbols);
    }

    /// From the address in a field of an object on, as many elements as another field says.
    fn push_array(
        &mut self,
        name: &str,
        object: Option<u64>,
        start: Spelling<'_>,
        count: Spelling<'_>,
        element_bytes: u64,
    ) {
        let hotspot = self.hotspot;
        let bounds = object.and_then(|object| {
            let start = hotspot.pointer(object, &[start])?;
            let bytes = hotspot.field(object, &[count])?.checked_mul(element_bytes)?;
            Some(start..start.checked_add(bytes)?)
        });
        self.push(name, bounds, FigureSource::Symbols);
    }

    fn is_mapped(&self, addresses: Range<u64>) -> bool {
        let mappings = self.hotspot.source().mappings();
        let first = mappings.partition_point(|m| m.addresses.end <= addresses.start);
        let mut reached = addresses.start;
        for mapping in &mappings[first..] {
            if reached < mapping.addresses.start || addresses.end <= reached {
                break;
            }
            reached = mapping.addresses.end;
        }
        addresses.end <= reached
    }

    /// Sorts, and leaves out what another table covers already: G1's card table is found twice.
    fn finish(mut self) -> Vec<GcTable> {
        self.found.sort_by_key(|t| (t.addresses.start, u64::MAX - t.addresses.end));
        let mut kept: Vec<GcTable> = Vec::new();
        for mut table in self.found {
            let reached = kept.last().map_or(0, |last| last.addresses.end);
            table.addresses.start = table.addresses.start.max(reached);
            if table.addresses.start < table.addresses.end {
                kept.push(table);
            }
        }
        kept
    }
}
