//! Tables of ZGC: with a word for each 2 MiB that the heap could ever use.

use super::Tables;
use crate::fields::Spelling;
use assay_model::FigureSource;
use std::ops::Range;

/// An entry of the table from addresses to physical memory (JDK 24 and later).
const PHYSICAL_ENTRY_BYTES: u64 = 4;

impl Tables<'_, '_> {
    pub(super) fn z(&mut self) {
        let hotspot = self.hotspot;
        // The mode without generations of JDK 21 to 23 has types of its own.
        let is_x = hotspot.structs().offset("XHeap", "_page_table").is_some()
            && hotspot.flags().bool("ZGenerational") != Some(true);
        let (collected, heap_type) =
            if is_x { ("XCollectedHeap", "XHeap") } else { ("ZCollectedHeap", "ZHeap") };
        let heap = hotspot.collected_heap().and_then(|heap| hotspot.place(heap, &[(collected, "_heap")]));
        let part = |field| heap.and_then(|heap| hotspot.place(heap, &[(heap_type, field)]));
        if let Some(table) = hotspot.old_z_page_table() {
            self.push("page table", Some(table), FigureSource::VmStructs);
            return self.push("mark stacks", self.old_z_mark_stacks(), FigureSource::Symbols);
        }
        let table_type = if is_x { "XPageTable" } else { "ZPageTable" };
        self.push_granules("page table", part("_page_table"), table_type);
        let forwardings = if is_x { "XForwardingTable" } else { "ZForwardingTable" };
        if part("_forwarding_table").is_some() {
            self.push_granules("forwarding table", part("_forwarding_table"), forwardings);
        }
        for generation in ["_young", "_old"] {
            if let Some(generation) = part(generation) {
                let table = hotspot.place(generation, &[("ZGeneration", "_forwarding_table")]);
                self.push_granules("forwarding table", table, forwardings);
                self.push_mark_stacks(Some(generation), "ZGeneration");
            }
        }
        self.push_mark_stacks(heap, heap_type);
        let [map, size] =
            ["_map", "_size"].map(|f| format!("_page_allocator._physical._physical_mappings.{f}"));
        if hotspot.offset(&[(heap_type, &map)]).is_some() {
            self.push_array(
                "physical table",
                heap,
                (heap_type, &map),
                (heap_type, &size),
                PHYSICAL_ENTRY_BYTES,
            );
        }
    }

    /// Before JDK 12 the space for mark stacks begins at an address of its own, touched up to its end, with the first free place within.
    fn old_z_mark_stacks(&self) -> Option<Range<u64>> {
        let hotspot = self.hotspot;
        let heap = hotspot.place(hotspot.collected_heap()?, &[("ZCollectedHeap", "_heap")])?;
        let of =
            |field: &str| hotspot.pointer(heap, &[("ZHeap", &format!("_mark._allocator._space.{field}"))]);
        let (top, end) = (of("_top")?, of("_end")?);
        let mapping = hotspot.source().mappings().iter().find(|mapping| mapping.addresses.end == end)?;
        (mapping.addresses.start <= top && top <= end).then(|| mapping.addresses.clone())
    }

    fn push_granules(&mut self, name: &str, table: Option<u64>, type_name: &str) {
        let (map, size): (Spelling<'_>, Spelling<'_>) = ((type_name, "_map._map"), (type_name, "_map._size"));
        self.push_array(name, table, map, size, self.hotspot.source().word_bytes());
    }

    /// Space for mark stacks, which JDK 24 gave to malloc.
    fn push_mark_stacks(&mut self, object: Option<u64>, type_name: &str) {
        let start = (type_name, "_mark._allocator._space._start");
        if self.hotspot.offset(&[start]).is_some() {
            self.push_bounds("mark stacks", object, start, (type_name, "_mark._allocator._space._end"));
        }
    }
}
