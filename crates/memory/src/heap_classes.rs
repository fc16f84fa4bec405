//! Which classes the objects of the Java heap are of, garbage included.

use crate::jvm::Jvm;
use crate::owners::{object_ranges, readable};
use assay_hotspot::{HeapObject, ObjectVisitor};
use assay_linux::MemorySource;
use assay_model::ClassObjects;
use std::collections::BTreeMap;

/// Classes that are kept.
pub(crate) const CLASSES_MAX: usize = 256;
/// Resident bytes of objects that are counted: 0.5 s for each GiB, on two processors.
const HEAP_BYTES_MAX: u64 = 2 << 30;
/// What the collector fills gaps with.
const FILLERS: [&str; 2] = ["jdk.internal.vm.FillerObject", "[Ljdk.internal.vm.FillerElement;"];

/// Objects and bytes by the number of the class.
#[derive(Default)]
struct Counts(Vec<(u64, u64)>);

impl ObjectVisitor for Counts {
    fn object(&mut self, object: &HeapObject) {
        let number = object.class as usize;
        if self.0.len() <= number {
            self.0.resize(number + 1, (0, 0));
        }
        let (objects, bytes) = &mut self.0[number];
        *objects += 1;
        *bytes = bytes.saturating_add(object.bytes);
    }
}

/// The classes whose objects take most, the biggest first; `None` where they were not counted. On a running process objects that were
/// made or moved meanwhile may be missing.
pub(crate) fn count(source: &dyn MemorySource, jvm: &Jvm<'_>) -> Option<Vec<ClassObjects>> {
    let heap = jvm.heap.as_ref()?;
    let resident =
        object_ranges(heap).into_iter().map(|range| source.readable_pages().resident_bytes_in(range));
    if HEAP_BYTES_MAX < resident.fold(0, u64::saturating_add) {
        return None;
    }
    let classes = jvm.hotspot.heap_classes()?;
    let walk = jvm.hotspot.walk_objects(heap, &classes, &|| true, Counts::default)?;
    let mut by_name: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (number, class) in classes.all().iter().enumerate() {
        if FILLERS.contains(&class.name.as_str()) {
            continue;
        }
        for (objects, bytes) in walk.visitors.iter().filter_map(|counts| counts.0.get(number)) {
            let sum = by_name.entry(readable(&class.name)).or_default();
            *sum = (sum.0.saturating_add(*objects), sum.1.saturating_add(*bytes));
        }
    }
    let of = |(class, (objects, bytes))| ClassObjects { class, objects, bytes };
    let mut most: Vec<ClassObjects> = by_name.into_iter().filter(|(_, sum)| sum.0 != 0).map(of).collect();
    most.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));
    most.truncate(CLASSES_MAX);
    Some(most)
}
