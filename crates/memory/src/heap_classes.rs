//! Which classes the objects of the Java heap are of, garbage included; and where they begin, for a mark of the live ones.

use crate::jvm::Jvm;
use crate::live_heap::{self, FILLERS, Starts, StartsVisitor, Walked, mark};
use crate::options::MarkHeap;
use crate::owners::{NativeRoots, object_ranges, readable};
use assay_hotspot::{HeapClass, HeapClasses, HeapObject, ObjectVisitor};
use assay_linux::MemorySource;
use assay_model::{ClassObjects, HeapLive, Problem};
use std::collections::BTreeMap;

/// Classes that are kept.
pub(crate) const CLASSES_MAX: usize = 256;
/// Resident bytes of objects that are counted: 0.5 s for each GiB, on two processors.
const HEAP_BYTES_MAX: u64 = 2 << 30;
/// The JVM's counters of collections of young objects, which may move some old ones, and of the whole heap.
const COLLECTIONS: [&str; 2] = ["sun.gc.collector.0.invocations", "sun.gc.collector.1.invocations"];
/// What problems of a mark are about.
pub(crate) const LIVE: &str = "live objects";

/// The objects of a heap.
#[derive(Debug, Default)]
pub(crate) struct HeapObjects {
    /// The classes whose objects take most, the biggest first; absent where they were not counted.
    pub(crate) classes: Option<Vec<ClassObjects>>,
    /// What is alive; absent where no mark was asked for, or none could be made.
    pub(crate) live: Option<HeapLive>,
    pub(crate) problems: Vec<Problem>,
}

/// Objects and bytes by the number of the class, and where the objects are.
struct Counts<'s> {
    by_class: Vec<(u64, u64)>,
    starts: Option<StartsVisitor<'s>>,
}

impl ObjectVisitor for Counts<'_> {
    fn object(&mut self, object: &HeapObject) {
        let number = object.class as usize;
        if self.by_class.len() <= number {
            self.by_class.resize(number + 1, (0, 0));
        }
        let (objects, bytes) = &mut self.by_class[number];
        *objects += 1;
        *bytes = bytes.saturating_add(object.bytes);
        if let Some(starts) = &mut self.starts {
            starts.object(object);
        }
    }
}

/// Goes over all objects. On a running process those that were made or moved meanwhile may be missing.
///
/// `native_roots` gives what a mark needs to know of memory outside the heap.
pub(crate) fn count(
    source: &dyn MemorySource,
    jvm: &Jvm<'_>,
    mark_heap: MarkHeap,
    native_roots: impl FnOnce() -> NativeRoots,
) -> HeapObjects {
    let mut found = HeapObjects::default();
    let Some(heap) = jvm.heap.as_ref() else { return found };
    let resident =
        object_ranges(heap).into_iter().map(|range| source.readable_pages().resident_bytes_in(range));
    let resident_bytes = resident.fold(0, u64::saturating_add);
    if HEAP_BYTES_MAX < resident_bytes {
        found.not_marked("that takes too long in a heap of more than 2 GiB", mark_heap);
        return found;
    }
    if heap.spaces.is_empty() {
        // As with G1 of JDK 8: a walk would meet nothing, which is not the same as an empty heap.
        found.not_marked("it could not be read where the objects of this heap lie", mark_heap);
        return found;
    }
    let Some(classes) = jvm.hotspot.heap_classes() else {
        found.not_marked("this release does not export the lists of its classes", mark_heap);
        return found;
    };
    let starts = match starts(jvm, &classes, resident_bytes, mark_heap) {
        Ok(starts) => starts,
        Err(why) => {
            found.not_marked(why, mark_heap);
            None
        }
    };
    let before = collections(jvm);
    let visitor = || Counts { by_class: Vec::new(), starts: starts.as_ref().map(Starts::visitor) };
    let Some(walk) = jvm.hotspot.walk_objects(heap, &classes, &|| true, visitor) else { return found };
    let all = Walked { bytes: walk.bytes.object_bytes, objects: walk.objects };
    let (by_class, visitors): (Vec<_>, Vec<_>) =
        walk.visitors.into_iter().map(|counts| (counts.by_class, counts.starts)).unzip();
    found.classes = Some(most(&classes.all(), &by_class));
    if let Some(starts) = &starts {
        let visitors = visitors.into_iter().flatten().collect();
        let live = mark(source, jvm, &classes, (starts, visitors), all, (mark_heap, &native_roots()));
        if live.is_none() {
            found.not_marked("this release does not export where the fields of its classes are", mark_heap);
        }
        if live.as_ref().is_some_and(|live| live.is_partial) {
            found.not_marked("that takes too long for so many live objects", mark_heap);
        }
        found.live = live.filter(|live| mark_heap == MarkHeap::Always || !live.is_partial);
        let moved = [0, 1].map(|at| before[at] != collections(jvm)[at]);
        found.forget_what_moved(moved, mark_heap);
    }
    found
}

/// Where objects begin, for a mark, if one is to be made; why none can be that was asked for.
fn starts(
    jvm: &Jvm<'_>,
    classes: &HeapClasses<'_>,
    resident_bytes: u64,
    mark_heap: MarkHeap,
) -> Result<Option<Starts>, &'static str> {
    match mark_heap {
        MarkHeap::IfCheap if resident_bytes < live_heap::LARGE_HEAP_BYTES => Ok(None),
        MarkHeap::IfCheap => Ok(Starts::of(jvm, classes).ok()),
        MarkHeap::Always => Starts::of(jvm, classes).map(Some),
    }
}

fn collections(jvm: &Jvm<'_>) -> [Option<i64>; 2] {
    let counters = jvm.hotspot.perf_counters();
    COLLECTIONS.map(|name| counters.as_ref()?.number(name))
}

impl HeapObjects {
    /// Why no mark was made, where one was asked for.
    fn not_marked(&mut self, why: &str, mark_heap: MarkHeap) {
        if mark_heap == MarkHeap::Always {
            self.problems.push(Problem::new(LIVE, format!("what is alive was not marked: {why}")));
        }
    }

    /// A collection fell into the mark: what lies where objects were is something else.
    fn forget_what_moved(&mut self, [is_young, is_whole]: [bool; 2], mark_heap: MarkHeap) {
        let what = match mark_heap {
            MarkHeap::IfCheap if is_young || is_whole => {
                self.live = None;
                return;
            }
            MarkHeap::Always if is_whole => {
                self.live = None;
                "the whole heap was collected while its live objects were marked: what is alive is not known"
            }
            MarkHeap::Always if is_young => {
                "young objects were collected while the live ones were marked: some may be missing"
            }
            _ => return,
        };
        self.problems.push(Problem::new(LIVE, what));
    }
}

fn most(classes: &[HeapClass], by_class: &[Vec<(u64, u64)>]) -> Vec<ClassObjects> {
    let mut by_name: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (number, class) in classes.iter().enumerate() {
        if FILLERS.contains(&class.name.as_str()) {
            continue;
        }
        for (objects, bytes) in by_class.iter().filter_map(|counts| counts.get(number)) {
            let sum = by_name.entry(readable(&class.name)).or_default();
            *sum = (sum.0.saturating_add(*objects), sum.1.saturating_add(*bytes));
        }
    }
    let of = |(class, (objects, bytes))| ClassObjects { class, objects, bytes };
    let mut most: Vec<ClassObjects> = by_name.into_iter().filter(|(_, sum)| sum.0 != 0).map(of).collect();
    most.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));
    most.truncate(CLASSES_MAX);
    most
}
