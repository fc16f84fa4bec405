//! Bytes in use before and after a collection, from the finest lines that the log has for it, for the heap and its parts.

use super::heap_lines::{Change, Contiguous, Extent, HeapLine};
use super::timed::LineSizes;
use assay_model::{GcRecord, GcSizes, GcSpace};

/// What the lines of one collection say of the heap.
#[derive(Debug, Clone, Default)]
pub(super) struct HeapLines {
    before: Picture,
    after: Picture,
    drawing: Option<Side>,
    young: Option<Change>,
    eden: Option<Change>,
    survivor: Option<Change>,
    old: Option<Change>,
    /// Eden, survivor, old, humongous: before and after, in regions.
    regions: [Option<(u64, u64)>; 4],
    metaspace: Option<GcSizes>,
    class_space: Option<GcSizes>,
    cycle_capacity: Option<u64>,
    promoted: Option<u64>,
    /// Of the young generation, and of the old one or a heap without generations.
    live: [Option<u64>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Before,
    After,
}

/// Of generations and their spaces, in lines without addresses.
const KIB: u64 = 1 << 10;

impl HeapLines {
    /// Takes a line of this collection.
    pub fn take(&mut self, line: &HeapLine<'_>) {
        match *line {
            HeapLine::Before(_) => self.drawing = Some(Side::Before),
            HeapLine::After(_) => self.drawing = Some(Side::After),
            HeapLine::Space { space, used_bytes, capacity_bytes } => {
                if let Some(picture) = self.drawn() {
                    picture.take_space(space, used_bytes, capacity_bytes);
                }
            }
            HeapLine::Extent(extent) => {
                if let Some(picture) = self.drawn() {
                    picture.take_extent(&extent);
                }
            }
            HeapLine::Transition { is_old: true, whole, .. } => self.old = Some(whole),
            HeapLine::Transition { whole, eden, survivor, .. } => {
                (self.young, self.eden, self.survivor) = (Some(whole), eden, survivor);
            }
            HeapLine::Regions { kind, before, after } => {
                let index = ["Eden", "Survivor", "Old", "Humongous"].iter().position(|name| *name == kind);
                if let Some(index) = index {
                    self.regions[index] = Some((before, after));
                }
            }
            HeapLine::Metaspace { whole, class } => {
                self.metaspace = Some(changed(whole, KIB));
                self.class_space = class.flatten().map(|class| changed(class, KIB));
            }
            HeapLine::MetaspaceNow { used_bytes, committed_bytes, resolution_bytes } => {
                self.metaspace = Some(GcSizes {
                    before_bytes: None,
                    after_bytes: Some(used_bytes),
                    capacity_bytes: Some(committed_bytes),
                    resolution_bytes: Some(resolution_bytes),
                });
            }
            HeapLine::CycleCapacity(bytes) => self.cycle_capacity = Some(bytes),
            HeapLine::CyclePromoted(bytes) => self.promoted = Some(bytes),
            HeapLine::CycleLive { is_old, bytes } => self.live[usize::from(is_old)] = Some(bytes),
            HeapLine::RegionSize(_) | HeapLine::ClassSpace | HeapLine::Unneeded => {}
        }
    }

    fn drawn(&mut self) -> Option<&mut Picture> {
        match self.drawing? {
            Side::Before => Some(&mut self.before),
            Side::After => Some(&mut self.after),
        }
    }

    /// Whether the picture before was drawn, so that one after will follow, and has not come to its end.
    pub fn awaits_picture(&self) -> bool {
        self.drawing == Some(Side::Before) || (self.drawing == Some(Side::After) && !self.after.is_whole())
    }

    /// Gives a record what is known; `of_line` is what stands on its own line.
    pub fn fill(&self, record: &mut GcRecord, of_line: Option<LineSizes>, region_bytes: Option<u64>) {
        record.heap = self.finest(of_line);
        if record.heap.capacity_bytes.is_none() && record.heap.after_bytes.is_some() {
            record.heap.capacity_bytes = self.cycle_capacity;
        }
        record.promoted_bytes = self.promoted;
        // The mark of a young generation alone does not see all of the heap.
        let [young, old] = self.live;
        record.live_bytes = old.map(|old| old.saturating_add(young.unwrap_or(0)));
        self.fill_generations(record);
        if let Some(region_bytes) = region_bytes {
            self.fill_regions(record, region_bytes);
        }
        let outside = [(GcSpace::Metaspace, self.metaspace), (GcSpace::ClassSpace, self.class_space)];
        record.spaces.extend(outside.into_iter().filter_map(|(space, sizes)| Some((space, sizes?))));
    }

    /// The finest source that has both sides. Both come from the same one, since the difference of an exact value and a rounded one
    /// would be off by the rounding.
    fn finest(&self, of_line: Option<LineSizes>) -> GcSizes {
        if let (Some(before), Some(after)) = (self.before.used_bytes(), self.after.used_bytes()) {
            let capacity_bytes = self.after.capacity_bytes.or(of_line.and_then(|line| line.capacity_bytes));
            return GcSizes {
                before_bytes: Some(before),
                after_bytes: Some(after),
                capacity_bytes,
                resolution_bytes: Some(self.after.resolution_bytes()),
            };
        }
        if let Some(sum) = self.young.zip(self.old).and_then(|(young, old)| sum(young, old)) {
            return changed(sum, KIB);
        }
        of_line.map_or(GcSizes::default(), |line| GcSizes {
            before_bytes: Some(line.before_bytes),
            after_bytes: Some(line.after_bytes),
            capacity_bytes: line.capacity_bytes,
            resolution_bytes: Some(line.resolution_bytes),
        })
    }

    fn fill_generations(&self, record: &mut GcRecord) {
        let exact = |used: fn(&Picture) -> Option<(u64, u64)>| -> Option<GcSizes> {
            let ((before, _), (after, capacity)) = (used(&self.before)?, used(&self.after)?);
            Some(changed((before, after, Some(capacity)), 1))
        };
        let rounded = |change: Option<Change>| change.map(|change| changed(change, KIB));
        let parts = [
            (GcSpace::Young, exact(Picture::young).or(rounded(self.young))),
            (GcSpace::Eden, exact(|p| p.space(Contiguous::Eden)).or(rounded(self.eden))),
            (GcSpace::Survivor, exact(Picture::survivors).or(rounded(self.survivor))),
            (GcSpace::Old, exact(|p| p.space(Contiguous::Old)).or(rounded(self.old))),
        ];
        record.spaces.extend(parts.into_iter().filter_map(|(space, sizes)| Some((space, sizes?))));
    }

    /// G1 says how many regions a space has, not how full they are.
    fn fill_regions(&self, record: &mut GcRecord, region_bytes: u64) {
        let spaces = [GcSpace::Eden, GcSpace::Survivor, GcSpace::Old, GcSpace::Humongous];
        for (space, regions) in spaces.into_iter().zip(self.regions) {
            let Some((before, after)) = regions else { continue };
            let sizes = GcSizes {
                before_bytes: before.checked_mul(region_bytes),
                after_bytes: after.checked_mul(region_bytes),
                capacity_bytes: None,
                resolution_bytes: Some(region_bytes),
            };
            record.spaces.push((space, sizes));
        }
    }
}

fn changed((before, after, capacity): Change, resolution_bytes: u64) -> GcSizes {
    GcSizes {
        before_bytes: Some(before),
        after_bytes: Some(after),
        capacity_bytes: capacity,
        resolution_bytes: Some(resolution_bytes),
    }
}

fn sum(young: Change, old: Change) -> Option<Change> {
    let capacity = young.2.zip(old.2).and_then(|(young, old)| young.checked_add(old));
    Some((young.0.checked_add(old.0)?, young.1.checked_add(old.1)?, capacity))
}

/// The heap at one moment.
#[derive(Debug, Clone, Default)]
struct Picture {
    /// G1: the whole heap's line.
    whole_heap_bytes: Option<u64>,
    /// Serial, Parallel: eden, from, to, old, with their sizes. A torn log may lack one; then there is no sum.
    spaces: [Option<(u64, u64)>; 4],
    capacity_bytes: Option<u64>,
    /// A line came twice: two collections got mixed up, so that nothing here can be trusted.
    is_doubtful: bool,
}

impl Picture {
    fn take_space(&mut self, space: Contiguous, used_bytes: u64, capacity_bytes: u64) {
        let slot = &mut self.spaces[space as usize];
        self.is_doubtful |= slot.is_some();
        *slot = Some((used_bytes, capacity_bytes));
    }

    fn take_extent(&mut self, extent: &Extent) {
        let sum = self.capacity_bytes.unwrap_or(0).checked_add(extent.capacity_bytes);
        self.is_doubtful |= sum.is_none();
        self.capacity_bytes = sum;
        if extent.is_whole_heap {
            self.is_doubtful |= self.whole_heap_bytes.is_some();
            self.whole_heap_bytes = Some(extent.used_bytes);
        }
    }

    fn is_whole(&self) -> bool {
        self.whole_heap_bytes.is_some() || self.spaces.iter().all(Option::is_some)
    }

    fn space(&self, space: Contiguous) -> Option<(u64, u64)> {
        self.spaces[space as usize].filter(|_| !self.is_doubtful)
    }

    /// One of the two is empty between collections.
    fn survivors(&self) -> Option<(u64, u64)> {
        let (from, to) = (self.space(Contiguous::From)?, self.space(Contiguous::To)?);
        Some((from.0.checked_add(to.0)?, from.1))
    }

    /// The capacity is what the JVM calls so: eden and one survivor space.
    fn young(&self) -> Option<(u64, u64)> {
        let (eden, survivors) = (self.space(Contiguous::Eden)?, self.survivors()?);
        Some((eden.0.checked_add(survivors.0)?, eden.1.checked_add(survivors.1)?))
    }

    fn used_bytes(&self) -> Option<u64> {
        if self.is_doubtful {
            return None;
        }
        let sum_of_spaces =
            || self.spaces.iter().try_fold(0_u64, |sum, space| sum.checked_add(space.as_ref()?.0));
        self.whole_heap_bytes.or_else(sum_of_spaces)
    }

    fn resolution_bytes(&self) -> u64 {
        if self.whole_heap_bytes.is_some() { KIB } else { 1 }
    }
}
