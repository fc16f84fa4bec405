//! Heaps of regions of equal size: G1 and Shenandoah.

use super::Spaces;
use crate::Hotspot;
use crate::fields::Spelling;

/// Regions of a heap. G1 aims at 2,048; 16 TiB of its largest regions are 524,288.
const REGIONS_MAX: u64 = 1 << 20;
/// Pointers to regions that are read at a time.
const POINTERS_PER_READ: u64 = 512;

// G1's types got its name in front in JDK 23.
const BOTTOM: &[Spelling<'_>] =
    &[("G1HeapRegion", "_bottom"), ("HeapRegion", "_bottom"), ("Space", "_bottom")];
const END: &[Spelling<'_>] = &[("G1HeapRegion", "_end"), ("HeapRegion", "_end"), ("Space", "_end")];
const TOP: &[Spelling<'_>] =
    &[("G1HeapRegion", "_top"), ("HeapRegion", "_top"), ("G1ContiguousSpace", "_top")];
const TYPE: &[Spelling<'_>] = &[("G1HeapRegion", "_type"), ("HeapRegion", "_type")];
const TAG: &[Spelling<'_>] = &[("G1HeapRegionType", "_tag"), ("HeapRegionType", "_tag")];
const REGIONS: &[Spelling<'_>] = &[("G1HeapRegionManager", "_regions"), ("HeapRegionManager", "_regions")];
const COMMITTED: &[Spelling<'_>] =
    &[("G1HeapRegionManager", "_committed_map"), ("HeapRegionManager", "_committed_map")];

/// `ShenandoahHeapRegion::RegionState` of JDK 11, in its order. JDK 11 exports neither these constants nor the region's fields; later
/// releases export both. Held by: hotspot/heap `shenandoah_s_regions_add_up_to_what_the_jvm_prints`
const STATES_OF_11: [&str; 10] = [
    "_empty_uncommitted",
    "_empty_committed",
    "_regular",
    "_humongous_start",
    "_humongous_cont",
    "_pinned_humongous_start",
    "_cset",
    "_pinned",
    "_pinned_cset",
    "_trash",
];

impl<'m> Hotspot<'m> {
    pub(super) fn g1_heap(&self) -> Option<Spaces<'_, 'm>> {
        let manager = self.place(self.collected_heap()?, &[("G1CollectedHeap", "_hrm")])?;
        let table = self.place(manager, REGIONS)?;
        let regions = self.pointer(table, &[("G1HeapRegionTable", "_base")])?;
        let count = self.field(table, &[("G1HeapRegionTable", "_length")])?;
        let kinds = RegionKinds::of(self);
        let (bottom, end, top) = (self.offset(BOTTOM)?, self.offset(END)?, self.offset(TOP)?);
        let tag = self.offset(TYPE)?.checked_add(self.offset(TAG)?)?;
        let mut committed = CommittedRegions::of(self, manager);
        let mut spaces = Spaces::new(self, vec![self.reserved_heap()?]);
        self.each_pointer(regions, count, |index, region| {
            // A region that was given back keeps its object.
            if committed.is_committed(index) == Some(false) {
                return Some(());
            }
            let word = |offset| self.source().word(region.checked_add(offset)?);
            let start = word(bottom)?;
            let name = kinds.name(self.source().u32(region.checked_add(tag)?)?);
            let top = if name == "free" { start } else { word(top)? };
            spaces.push(name, start, top, word(end)?);
            Some(())
        });
        Some(spaces)
    }

    pub(super) fn shenandoah_heap(&self) -> Option<Spaces<'_, 'm>> {
        let heap = self.collected_heap()?;
        let regions = self.pointer(heap, &[("ShenandoahHeap", "_regions")])?;
        let count = self.field(heap, &[("ShenandoahHeap", "_num_regions")])?;
        let offset = |field| self.offset(&[("ShenandoahHeapRegion", field)]);
        let (bottom, end, top) = (offset("_bottom")?, offset("_end")?, offset("_top")?);
        let state = offset("_state")?;
        let states = self.shenandoah_states()?;
        let is_state = |state: u32, names: &[&str]| {
            states.iter().any(|(name, value)| *value == i64::from(state) && names.contains(name))
        };
        let affiliations = self.affiliations(heap);
        let mut spaces = Spaces::new(self, vec![self.reserved_heap()?]);
        self.each_pointer(regions, count, |index, region| {
            let word = |offset| self.source().word(region.checked_add(offset)?);
            let state = self.source().u32(region.checked_add(state)?)?;
            if is_state(state, &["_empty_uncommitted"]) {
                return Some(());
            }
            let start = word(bottom)?;
            let is_free = is_state(state, &["_empty_committed", "_trash"]);
            let humongous = ["_humongous_start", "_humongous_cont", "_pinned_humongous_start"];
            let name = match affiliations.and_then(|at| self.source().u8(at.checked_add(index)?)) {
                _ if is_free => "free",
                _ if is_state(state, &humongous) => "humongous",
                // `ShenandoahAffiliation`: free, young, old.
                Some(1) => "eden",
                Some(2) => "old",
                _ => "objects",
            };
            let top = if is_free { start } else { word(top)? };
            spaces.push(name, start, top, word(end)?);
            Some(())
        });
        Some(spaces)
    }

    /// The states of a region, by name and value.
    fn shenandoah_states(&self) -> Option<Vec<(&'static str, i64)>> {
        let exported = |name: &'static str| {
            Some((name, self.structs().constant(&format!("ShenandoahHeapRegion::{name}"))?))
        };
        let states: Vec<_> = STATES_OF_11.into_iter().filter_map(exported).collect();
        if states.is_empty() && self.pack()?.feature() == 11 {
            return Some(STATES_OF_11.into_iter().zip(0..).collect());
        }
        Some(states)
    }

    /// Which generation each region belongs to, a byte for each region; Shenandoah in its generational mode.
    fn affiliations(&self, heap: u64) -> Option<u64> {
        let is_generational = self.flags().text("ShenandoahGCMode") == Some("generational");
        let at = is_generational.then(|| self.pointer(heap, &[("ShenandoahHeap", "_affiliations")]));
        at.flatten()
    }

    /// Calls `use_region` with index and pointer of each region that there is.
    fn each_pointer(&self, table: u64, count: u64, mut use_region: impl FnMut(u64, u64) -> Option<()>) {
        if REGIONS_MAX < count {
            self.problem("Java heap", format!("more than {REGIONS_MAX} regions: {count}"));
        }
        let word_bytes = self.source().word_bytes();
        let mut buffer = vec![0; (POINTERS_PER_READ * word_bytes) as usize];
        let mut index = 0;
        let count = count.min(REGIONS_MAX);
        while index < count {
            let pointers = (count - index).min(POINTERS_PER_READ);
            let block = &mut buffer[..(pointers * word_bytes) as usize];
            let at = table.checked_add(index * word_bytes);
            let is_read = at.is_some_and(|at| self.source().read(at, block).is_ok());
            // The table reaches as far as the heap may grow; regions that never were have untouched pages.
            if !is_read {
                block.fill(0);
                for (i, word) in block.chunks_exact_mut(word_bytes as usize).enumerate() {
                    let at = table.checked_add((index + i as u64) * word_bytes);
                    if at.is_none_or(|at| self.source().read(at, word).is_err()) {
                        word.fill(0);
                    }
                }
            }
            for (i, word) in block.chunks_exact(word_bytes as usize).enumerate() {
                let mut bytes = [0; 8];
                bytes[..word.len()].copy_from_slice(word);
                let region = u64::from_le_bytes(bytes);
                if region != 0 && use_region(index + i as u64, region).is_none() {
                    self.problem("Java heap", "a region could not be read");
                }
            }
            index += pointers;
        }
    }
}

/// G1's kinds of regions: tags and masks are exported, and differ between releases.
struct RegionKinds {
    free: u32,
    survivor: u32,
    young: u32,
    humongous: u32,
    archive: u32,
    old: u32,
}

impl RegionKinds {
    fn of(hotspot: &Hotspot<'_>) -> RegionKinds {
        let constant = |name: &str| {
            let of = |type_name| hotspot.structs().constant(&format!("{type_name}::{name}"));
            let value = of("G1HeapRegionType").or_else(|| of("HeapRegionType"));
            value.and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
        };
        RegionKinds {
            free: constant("FreeTag"),
            survivor: constant("SurvTag"),
            young: constant("YoungMask"),
            humongous: constant("HumongousMask"),
            archive: constant("ArchiveMask"),
            old: constant("OldMask"),
        }
    }

    fn name(&self, tag: u32) -> &'static str {
        if tag == self.free {
            "free"
        } else if tag & self.archive != 0 {
            "archive"
        } else if tag & self.humongous != 0 {
            "humongous"
        } else if tag == self.survivor {
            "survivor"
        } else if tag & self.young != 0 {
            "eden"
        } else if tag & self.old != 0 {
            "old"
        } else {
            "objects"
        }
    }
}

/// G1's bitmap of the regions that are committed, which only the layout pack knows.
struct CommittedRegions<'h, 'm> {
    hotspot: &'h Hotspot<'m>,
    map: Option<u64>,
    bits: u64,
    /// The word read last.
    word: Option<(u64, u64)>,
}

impl<'h, 'm> CommittedRegions<'h, 'm> {
    fn of(hotspot: &'h Hotspot<'m>, manager: u64) -> Self {
        let map = hotspot.place(manager, COMMITTED);
        let of = |field| map.and_then(|map| hotspot.field(map, &[("G1CommittedRegionMap", field)]));
        CommittedRegions {
            hotspot,
            map: of("_active._map"),
            bits: of("_active._size").unwrap_or(0),
            word: None,
        }
    }

    /// `None` where it is not known.
    fn is_committed(&mut self, index: u64) -> Option<bool> {
        let map = self.map?;
        if self.bits <= index {
            return None;
        }
        let word = index / 64;
        if self.word.is_none_or(|(at, _)| at != word) {
            self.word = Some((word, self.hotspot.source().u64(map.checked_add(word * 8)?)?));
        }
        let (_, bits) = self.word?;
        Some(bits >> (index % 64) & 1 != 0)
    }
}
