//! Where ZGC has moved objects to.
//!
//! When it begins to move the objects of some pages, each of these has a table of its objects' old and new addresses, until the next
//! collection has corrected every reference to them. A reference that nobody followed meanwhile has the old address, which may be
//! another object's already: the JVM looks the new one up when it meets such a reference, and so does this.
//!
//! Known of JDK 17 and later, by what they export for debuggers; of the generations, the layout pack gives their offsets.

use super::{Names, VIEWS_MAX};
use crate::Hotspot;
use crate::fields::Spelling;
use assay_linux::MemorySource;
use std::ops::Range;

/// Objects of a page of 2 MiB have two entries each, of which one stays empty, and 8 bytes at least.
const ENTRIES_MAX: u64 = 1 << 19;
/// Entries that are looked at for an object. A table is half empty, so that few are next to each other.
const PROBES_MAX: u64 = 4096;
const ENTRY_BYTES: u64 = 8;
/// Parts of an entry (`zForwardingEntry.hpp`, since JDK 13): whether it is set, the new offset, and the object's number in its page.
const IS_SET: u64 = 1;
const OFFSET_SHIFT: u32 = 1;
const OFFSET_BITS: u32 = 45;
const NUMBER_SHIFT: u32 = 46;

/// Which objects a table of pages is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Those of the young generation; all, where there are no generations.
    Young,
    /// Those of the old generation.
    Old,
}

/// The tables of objects that were moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Forwardings {
    /// A pointer for each granule of the heap, to the forwarding of its page.
    young: u64,
    old: Option<u64>,
    granule_shift: u32,
    offset_mask: u64,
    /// Where offset 0 of the heap is mapped.
    views: [Option<u64>; VIEWS_MAX],
    layout: Layout,
}

/// Where a forwarding has its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    start: u64,
    end: End,
    alignment_shift: u64,
    length: u64,
    entries: u64,
}

/// JDK 25 keeps a page's size instead of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    At(u64),
    Size(u64),
}

impl Hotspot<'_> {
    /// `None`: this release does not export their location, or another collector is used.
    pub(crate) fn z_forwardings(&self) -> Option<Forwardings> {
        let names = self.z_names();
        let heap = self.place(self.collected_heap()?, &[(names.collected_heap, "_heap")])?;
        let table_of = |owner: u64, spelling: Spelling<'_>| {
            let table = self.place(owner, &[spelling])?;
            let map = self.place(table, &[(names.forwarding_table, "_map")])?;
            self.pointer(map, &[(names.forwarding_map, "_map")])
        };
        let generation = |field| {
            let generation = self.place(heap, &[(names.heap, field)])?;
            table_of(generation, ("ZGeneration", "_forwarding_table"))
        };
        let (young, old) = match table_of(heap, (names.heap, "_forwarding_table")) {
            Some(table) => (table, None),
            None => (generation("_young")?, Some(generation("_old")?)),
        };
        let offset_mask = self.z_offset_mask(names)?;
        let mut views = [None; VIEWS_MAX];
        // Objects are copied by way of the last one.
        for (place, view) in views.iter_mut().zip(self.z_views(names, offset_mask)?.into_iter().rev()) {
            *place = Some(view.start);
        }
        let granule_shift = u32::try_from(self.structs().constant(names.granule_shift)?).ok();
        let granule_shift = granule_shift.filter(|shift| (12..40).contains(shift))?;
        let layout = self.forwarding_layout(names)?;
        Some(Forwardings { young, old, granule_shift, offset_mask, views, layout })
    }

    fn forwarding_layout(&self, names: &Names) -> Option<Layout> {
        let structs = self.structs();
        let page = structs.offset(names.forwarding, "_virtual")?;
        let of_page = |field| structs.offset(names.memory, field).map(|offset| page + offset);
        let entries = structs.offset(names.forwarding, "_entries")?;
        Some(Layout {
            start: of_page("_start")?,
            end: of_page("_size").map(End::Size).or_else(|| of_page("_end").map(End::At))?,
            alignment_shift: structs.offset(names.forwarding, "_object_alignment_shift")?,
            length: entries + structs.offset(names.forwarding_entries, "_length")?,
            entries: structs.size_of(names.forwarding)?.next_multiple_of(ENTRY_BYTES),
        })
    }
}

impl Forwardings {
    /// The number of the granule at an offset.
    pub(crate) fn granule_of(&self, offset: u64) -> u64 {
        offset >> self.granule_shift
    }

    /// Whether objects at an offset may have moved, of either generation: unless it is known that they have not.
    pub(crate) fn may_have(&self, source: &dyn MemorySource, offset: u64) -> bool {
        let old = self.old.map(|_| Moved::Old);
        let mut generations = std::iter::once(Moved::Young).chain(old);
        generations.any(|moved| self.forwarding_of(source, moved, offset) != Some(0))
    }

    /// Whether the page of an address was chosen to be emptied; `None` where that is unknown.
    pub(crate) fn has(&self, source: &dyn MemorySource, moved: Moved, address: u64) -> Option<bool> {
        self.forwarding_of(source, moved, address & self.offset_mask).map(|forwarding| forwarding != 0)
    }

    /// Where the object is now that had this address when objects of a generation were last moved. `None` where that is unknown.
    pub(crate) fn now_at(&self, source: &dyn MemorySource, moved: Moved, address: u64) -> Option<u64> {
        let offset = address & self.offset_mask;
        let now = match self.forwarding_of(source, moved, offset)? {
            0 => offset,
            forwarding => self.layout.look_up(source, forwarding, offset)?,
        };
        if self.offset_mask < now {
            return None;
        }
        self.views.iter().flatten().map(|view| view | now).find(|address| source.word(*address).is_some())
    }

    /// The forwarding of the page at an offset; 0 where it has none. `None` where that is unknown: a part of the table that was never
    /// written when the process was opened may have been since. Held by: `names_are_right_while_the_collector_moves_them`.
    fn forwarding_of(&self, source: &dyn MemorySource, moved: Moved, offset: u64) -> Option<u64> {
        let table = match moved {
            Moved::Young => self.young,
            Moved::Old => self.old?,
        };
        let at = table.checked_add((offset >> self.granule_shift) * ENTRY_BYTES)?;
        source.u64(at).or_else(|| is_untouched(source, at..at.checked_add(ENTRY_BYTES)?).then_some(0))
    }
}

/// Whether memory of a process that stands still was never written, and so is zero: until a collection moves objects, the table is not.
/// Held by: `holders_are_found_where_no_object_was_ever_moved`.
fn is_untouched(source: &dyn MemorySource, addresses: Range<u64>) -> bool {
    let stands_still = source.earlier_variables().is_empty();
    let mapping = source.mappings().iter().find(|mapping| mapping.addresses.contains(&addresses.start));
    let is_in_memory =
        mapping.is_some_and(|mapping| mapping.swap_bytes == Some(0) && !mapping.is_inaccessible());
    stands_still && is_in_memory && source.pages().resident_bytes_in(addresses) == 0
}

impl Layout {
    /// The new offset of the object that was at an offset: the same while it was not moved yet.
    fn look_up(&self, source: &dyn MemorySource, forwarding: u64, offset: u64) -> Option<u64> {
        let word = |offset: u64| source.u64(forwarding.checked_add(offset)?);
        let page = self.page(&word)?;
        let shift = u32::try_from(word(self.alignment_shift)?).ok()?;
        let length = word(self.length)?;
        if !page.contains(&offset) || ENTRIES_MAX < length || !length.is_power_of_two() {
            return None;
        }
        let number = (offset - page.start).checked_shr(shift)?;
        if 1 << (u64::BITS - NUMBER_SHIFT) <= number {
            return None;
        }
        let first = u64::from(hash(number as u32));
        for probe in 0..length.min(PROBES_MAX) {
            let at = (first + probe) & (length - 1);
            let entry = word(self.entries.checked_add(at * ENTRY_BYTES)?)?;
            if entry & IS_SET == 0 {
                return Some(offset);
            }
            if entry >> NUMBER_SHIFT == number {
                return Some(entry >> OFFSET_SHIFT & ((1 << OFFSET_BITS) - 1));
            }
        }
        None
    }

    /// Offsets of the page that a forwarding is about.
    fn page(&self, word: &impl Fn(u64) -> Option<u64>) -> Option<Range<u64>> {
        let start = word(self.start)?;
        let end = match self.end {
            End::At(offset) => word(offset)?,
            End::Size(offset) => start.checked_add(word(offset)?)?,
        };
        Some(start..end)
    }
}

/// Where in a table the search for an object begins: Thomas Wang's hash of 32 bits (`zHash.inline.hpp`).
fn hash(number: u32) -> u32 {
    let key = (!number).wrapping_add(number << 15);
    let key = key ^ key >> 12;
    let key = key.wrapping_add(key << 2);
    let key = key ^ key >> 4;
    let key = key.wrapping_mul(2057);
    key ^ key >> 16
}
