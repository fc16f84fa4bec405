//! ZGC's heap: pages of 2 MiB and multiples of it, at offsets that are mapped once or, before JDK 21 and in the mode
//! without generations of 21 to 23 (whose types begin with `X`), three times.
//!
//! The page table gives the offsets that hold objects. It has a word for each 2 MiB that the heap could ever use, most of
//! which were never touched: only resident parts of it are read. Mapped memory in no page is free.

mod forwardings;

pub(crate) use forwardings::{Forwardings, Moved};

use super::Spaces;
use crate::Hotspot;
use crate::fields::Spelling;
use std::ops::Range;

/// Words of the page table: 2 MiB each, for 64 TiB of offsets.
const GRANULES_MAX: u64 = 32 << 20;
/// Pages in use.
const PAGES_MAX: usize = 1 << 20;
/// Entries that are not pages, until the table is given up.
const STRANGERS_MAX: usize = 1000;
/// Views of the heap.
const VIEWS_MAX: usize = 3;

/// Where offset 0 of the heap is mapped, each view once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ZViews {
    offset_mask: u64,
    starts: [Option<u64>; VIEWS_MAX],
}

impl ZViews {
    /// The offset that is mapped at an address; `None` outside the heap.
    #[inline]
    pub(crate) fn offset_of(&self, address: u64) -> Option<u64> {
        let start = address & !self.offset_mask;
        (start != 0 && self.starts.contains(&Some(start))).then_some(address & self.offset_mask)
    }
}

/// A page: offsets from the start of the heap.
struct Page {
    offsets: Range<u64>,
    top: u64,
    name: &'static str,
    /// Whether it holds one object only.
    is_large: bool,
}

/// The names of ZGC's types: `Z`, or `X` for the mode without generations of JDK 21 to 23.
struct Names {
    collected_heap: &'static str,
    heap: &'static str,
    page_table: &'static str,
    granule_map: &'static str,
    page: &'static str,
    memory: &'static str,
    globals: &'static str,
    granule_shift: &'static str,
    offset_mask: &'static str,
    metadata_mask: &'static str,
    finalizable: &'static str,
    forwarding_table: &'static str,
    forwarding_map: &'static str,
    forwarding: &'static str,
    forwarding_entries: &'static str,
}

const Z: Names = Names {
    collected_heap: "ZCollectedHeap",
    heap: "ZHeap",
    page_table: "ZPageTable",
    granule_map: "ZGranuleMapForPageTable",
    page: "ZPage",
    memory: "ZVirtualMemory",
    globals: "ZGlobalsForVMStructs",
    granule_shift: "ZGranuleSizeShift",
    offset_mask: "_ZAddressOffsetMask",
    metadata_mask: "_ZAddressMetadataMask",
    finalizable: "_ZAddressMetadataFinalizable",
    forwarding_table: "ZForwardingTable",
    forwarding_map: "ZGranuleMapForForwarding",
    forwarding: "ZForwarding",
    forwarding_entries: "ZAttachedArrayForForwarding",
};

const X: Names = Names {
    collected_heap: "XCollectedHeap",
    heap: "XHeap",
    page_table: "XPageTable",
    granule_map: "XGranuleMapForPageTable",
    page: "XPage",
    memory: "XVirtualMemory",
    globals: "XGlobalsForVMStructs",
    granule_shift: "XGranuleSizeShift",
    offset_mask: "_XAddressOffsetMask",
    metadata_mask: "_XAddressMetadataMask",
    finalizable: "_XAddressMetadataFinalizable",
    forwarding_table: "XForwardingTable",
    forwarding_map: "XGranuleMapForForwarding",
    forwarding: "XForwarding",
    forwarding_entries: "XAttachedArrayForForwarding",
};

const PAGE_TABLE: &[Spelling<'_>] = &[("ZHeap", "_pagetable")];
/// Until JDK 12 what depends on the processor alone is exported as constants.
const CONSTANT_OFFSET_MASK: &str = "ZAddressOffsetMask";
const CONSTANT_GRANULE_SHIFT: &str = "ZPageSizeMinShift";
/// Entries of the page table then have a flag in their lowest bit.
const OLD_PAGE_TABLE: &str = "ZAddressRangeMapForPageTable";

impl<'m> Hotspot<'m> {
    pub(super) fn z_heap(&self) -> Option<Spaces<'_, 'm>> {
        let names = self.z_names();
        let offset_mask = self.z_offset_mask(names)?;
        let mut views = self.z_views(names, offset_mask)?;
        views.retain(|view| view.start < view.end);
        let (starts, reserved): (Vec<u64>, Vec<_>) =
            views.into_iter().filter_map(|view| Some((view.start, self.mapped_span(&view)?))).unzip();
        let pages = self.z_pages(names, offset_mask)?;
        let mut spaces = Spaces::new(self, reserved.clone());
        for start in starts {
            for page in &pages {
                let at = |offset| start.checked_add(offset);
                spaces.push(page.name, at(page.offsets.start)?, at(page.top)?, at(page.offsets.end)?);
            }
        }
        let inside =
            |range: &Range<u64>| reserved.iter().any(|r| r.start <= range.start && range.end <= r.end);
        for mapping in self.source().mappings() {
            if !mapping.is_inaccessible() && inside(&mapping.addresses) {
                spaces.push_rest(mapping.addresses.clone());
            }
        }
        Some(spaces)
    }

    /// From the start of each page to its top, in the first of the views, and whether it holds one object only.
    pub(crate) fn z_page_grounds(&self) -> Option<Vec<(Range<u64>, bool)>> {
        let names = self.z_names();
        let offset_mask = self.z_offset_mask(names)?;
        let views = self.z_views(names, offset_mask)?;
        let start = views.iter().find(|view| self.mapped_span(view).is_some())?.start;
        let pages = self.z_pages(names, offset_mask)?;
        let ground = |page: &Page| {
            let (from, top) = (start.checked_add(page.offsets.start)?, start.checked_add(page.top)?);
            Some((from..top, page.is_large))
        };
        Some(pages.iter().filter_map(ground).collect())
    }

    /// Whether this is the mode without generations of JDK 21 to 23.
    fn z_names(&self) -> &'static Names {
        let has_both = self.structs().offset("XHeap", "_page_table").is_some();
        if has_both && self.flags().bool("ZGenerational") != Some(true) { &X } else { &Z }
    }

    fn z_global(&self, names: &Names, field: &str) -> Option<u64> {
        let globals = self.static_pointer(&[(names.globals, "_instance_p")])?;
        let place = self.pointer(globals, &[(names.globals, field)])?;
        self.source().word(place)
    }

    fn z_offset_mask(&self, names: &Names) -> Option<u64> {
        let constant = || self.structs().constant(CONSTANT_OFFSET_MASK).map(i64::cast_unsigned);
        self.z_global(names, names.offset_mask).or_else(constant)
    }

    /// Where the table of pages has its first word, and how many bytes of the heap each word stands for, as a binary logarithm.
    fn z_page_words(&self, names: &Names, table: u64) -> Option<(u64, u32)> {
        let map = self.place(table, &[(names.page_table, "_map")])?;
        let words = self.pointer(map, &[(names.granule_map, "_map"), (OLD_PAGE_TABLE, "_map")])?;
        let constant = |name| self.structs().constant(name);
        let shift = constant(names.granule_shift).or_else(|| constant(CONSTANT_GRANULE_SHIFT))?;
        let shift = u32::try_from(shift).ok().filter(|shift| (12..40).contains(shift))?;
        Some((words, shift))
    }

    /// The table of pages of JDK 11 and 12: a word for each granule that the heap could ever use.
    pub(crate) fn old_z_page_table(&self) -> Option<Range<u64>> {
        self.structs().offset(OLD_PAGE_TABLE, "_map")?;
        let table =
            self.place(self.place(self.collected_heap()?, &[(Z.collected_heap, "_heap")])?, PAGE_TABLE)?;
        let (words, shift) = self.z_page_words(&Z, table)?;
        let count = (self.z_offset_mask(&Z)? >> shift).checked_add(1)?;
        Some(words..words.checked_add(count.min(GRANULES_MAX) * 8)?)
    }

    /// The addresses at which offset 0 is mapped, each with the addresses that belong to it.
    fn z_views(&self, names: &Names, offset_mask: u64) -> Option<Vec<Range<u64>>> {
        let size = offset_mask.checked_add(1)?;
        if self.structs().offset(OLD_PAGE_TABLE, "_map").is_some() {
            // Marked twice, and remapped: each bit behind the offset chooses a view.
            let view = |bit: u32| Some(size.checked_shl(bit)?..size.checked_shl(bit)?.checked_add(size)?);
            return (0..VIEWS_MAX as u32).map(view).collect();
        }
        let Some(metadata) = self.z_global(names, names.metadata_mask) else {
            // With generations: addresses without metadata, above a bit that is the first behind the offset.
            return Some(std::iter::once(size..size.checked_mul(2)?).collect());
        };
        // Without: the metadata bits choose the view. Finalizable is a mark on pointers, not a view.
        let mut bits = metadata & !self.z_global(names, names.finalizable)?;
        let mut views = Vec::new();
        while bits != 0 && views.len() < VIEWS_MAX {
            let start = 1u64 << bits.trailing_zeros();
            views.push(start..start.checked_add(size)?);
            bits &= bits - 1;
        }
        Some(views)
    }

    /// The views, where this release exports them.
    pub(crate) fn z_view_starts(&self) -> Option<ZViews> {
        let names = self.z_names();
        let offset_mask = self.z_offset_mask(names)?;
        let mut starts = [None; VIEWS_MAX];
        for (start, view) in starts.iter_mut().zip(self.z_views(names, offset_mask)?) {
            *start = Some(view.start);
        }
        Some(ZViews { offset_mask, starts })
    }

    /// From the first to the last mapping in a range. In ranges of terabytes above 4 TiB there is nothing else.
    fn mapped_span(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let inside =
            |m: &&assay_linux::Mapping| range.start <= m.addresses.start && m.addresses.end <= range.end;
        let mut mappings = self.source().mappings().iter().filter(inside);
        let first = mappings.next()?;
        Some(first.addresses.start..mappings.next_back().unwrap_or(first).addresses.end)
    }

    fn z_pages(&self, names: &Names, offset_mask: u64) -> Option<Vec<Page>> {
        let heap = self.place(self.collected_heap()?, &[(names.collected_heap, "_heap")])?;
        let table = self.place(heap, &[(names.heap, "_page_table"), PAGE_TABLE[0]])?;
        let (map, shift) = self.z_page_words(names, table)?;
        let flags = u64::from(self.structs().offset(OLD_PAGE_TABLE, "_map").is_some());
        // JDK 24 made the table as small as the heap's reserve; its size is private, before that it follows from the mask.
        let size = self.field(table, &[(names.page_table, "_map._size")]);
        let granules = size.unwrap_or((offset_mask >> shift) + 1).min(GRANULES_MAX);
        let (mut pages, mut strangers) = (Vec::new(), 0);
        let mut end = 0;
        let mut buffer = [0; 4096];
        for part in self.source().pages().resident_in(map..map.checked_add(granules * 8)?) {
            let mut at = part.start.next_multiple_of(8);
            while at < part.end && pages.len() < PAGES_MAX && strangers < STRANGERS_MAX {
                let bytes = (part.end - at).min(buffer.len() as u64) as usize / 8 * 8;
                if bytes == 0 || self.source().read(at, &mut buffer[..bytes]).is_err() {
                    break;
                }
                for (i, word) in buffer[..bytes].as_chunks::<8>().0.iter().enumerate() {
                    let offset = ((at - map) / 8 + i as u64) << shift;
                    let page = u64::from_le_bytes(*word) & !flags;
                    if page == 0 || offset < end {
                        continue;
                    }
                    // A page is in the table from its first granule on.
                    match self.z_page(names, page, offset_mask).filter(|page| page.offsets.start == offset) {
                        Some(page) => {
                            end = page.offsets.end;
                            pages.push(page);
                        }
                        None => strangers += 1,
                    }
                }
                at += bytes as u64;
            }
        }
        if strangers != 0 {
            self.problem("Java heap", "invalid entries of the page table were left out");
        }
        Some(pages)
    }

    fn z_page(&self, names: &Names, page: u64, offset_mask: u64) -> Option<Page> {
        let memory = self.place(page, &[(names.page, "_virtual")])?;
        let start = self.field(memory, &[(names.memory, "_start")])?;
        // JDK 25 keeps the size instead of the end.
        let size: &[Spelling<'_>] = &[(names.memory, "_size")];
        let end = match self.structs().first_offset(size) {
            Some(_) => start.checked_add(self.field(memory, size)?)?,
            None => self.field(memory, &[(names.memory, "_end")])?,
        };
        let top = self.field(page, &[(names.page, "_top")])?;
        if end <= start || offset_mask < end - 1 || !(start..=end).contains(&top) {
            return None;
        }
        let byte = |field| self.source().u8(self.place(page, &[(names.page, field)])?);
        // `ZGenerationId`: young, old. `ZPageAge`: eden, survivors, old.
        let name = match (byte("_generation_id"), byte("_age")) {
            (Some(0), Some(0)) => "eden",
            (Some(0), Some(_)) => "survivor",
            (Some(1), _) => "old",
            _ => "objects",
        };
        // `ZPageType`, before JDK 22 `ZPageTypeLarge`: small, medium, large.
        let is_large = byte("_type") == Some(2);
        Some(Page { offsets: start..end, top, name, is_large })
    }
}
