//! What of the Java heap is alive: a mark from outside, from all roots through all objects.
//!
//! The JVM is not asked and runs nothing. Statics, thread-locals and threads are read as what they are, everything else outside the heap
//! by what looks like a reference into it, so that rather too much is found alive than too little. A process that runs changes meanwhile:
//! objects that were made or moved since the walk are missed, which are young ones.

mod bits;
mod flood;
mod pages;
mod roots;

use crate::jvm::Jvm;
use crate::options::MarkHeap;
use crate::owners::{NativeRoots, object_ranges, readable};
use assay_hotspot::{Collector, HeapClass, HeapClasses, HeapObject, ObjectForm};
use assay_linux::MemorySource;
use assay_model::{ClassObjects, HeapHolder, HeapLive};
use bits::HeapBits;
use flood::{Flood, Flooded};
use pages::Pages;
use roots::{Met, Roots};
use std::collections::HashMap;

/// From here on going over all objects takes so long that a mark of a few adds little.
pub(crate) const LARGE_HEAP_BYTES: u64 = 128 << 20;
/// Pages that are read at most: all of the heap so many times, of a GiB of it. Objects that lie far apart make pages be read again.
const READS_PER_PAGE: u64 = 4;
const PAGES_MAX: u64 = (1 << 30) / PAGE_BYTES;
/// Of a cheap mark: pages and objects of every JVM, and one in so many of the heap's on top.
const CHEAP_READS: u64 = 4096;
const CHEAP_READS_PART: u64 = 16;
const CHEAP_OBJECTS: u64 = 100_000;
const CHEAP_OBJECTS_PART: u64 = 8;
const PAGE_BYTES: u64 = 4096;
/// Holders that are kept, and classes of each.
const HOLDERS_MAX: usize = 128;
const CLASSES_MAX: usize = 8;
/// What the collector fills gaps with.
pub(crate) const FILLERS: [&str; 2] = ["jdk.internal.vm.FillerObject", "[Ljdk.internal.vm.FillerElement;"];
const WEAK: [&str; 2] = ["java.lang.ref.WeakReference", "java.lang.ref.PhantomReference"];
const SUPERS_MAX: usize = 64;

/// The beginnings of all objects, as a walk over the heap meets them.
pub(crate) struct Starts {
    bits: HeapBits,
    /// Whether a class, by its number, is that of threads.
    is_thread: Vec<bool>,
    /// Whether it is one with which the collector fills gaps: nothing refers to its objects, but their beginnings are known.
    is_filler: Vec<bool>,
}

/// What one thread of the walk met.
pub(crate) struct StartsVisitor<'s> {
    starts: &'s Starts,
    met: Met,
}

impl Starts {
    /// For a heap that can be marked. An error says why it cannot: ZGC and Shenandoah move objects while the program runs.
    pub(crate) fn of(jvm: &Jvm<'_>, classes: &HeapClasses<'_>) -> Result<Starts, &'static str> {
        const NO_RANGE: &str = "it could not be read where the objects of this heap lie";
        let heap = jvm.heap.as_ref().ok_or(NO_RANGE)?;
        let stands = [Collector::G1, Collector::Serial, Collector::Parallel, Collector::Epsilon];
        let is_64_bit = jvm.hotspot.symbols().word_bytes() == 8;
        if !is_64_bit {
            return Err("that is done for 64-bit JVMs");
        }
        if !stands.contains(&heap.collector) {
            return Err(
                "that is done for G1, Serial, Parallel and Epsilon, which leave objects where they are long enough",
            );
        }
        let ranges = object_ranges(heap);
        let start = ranges.iter().map(|range| range.start).min().ok_or(NO_RANGE)?;
        let end = ranges.iter().map(|range| range.end).max().ok_or(NO_RANGE)?;
        let all = classes.all();
        let is_thread =
            (0..all.len() as u32).map(|class| is_below(&all, class, &["java.lang.Thread"])).collect();
        let is_filler = all.iter().map(|class| FILLERS.contains(&class.name.as_str())).collect();
        let bits = HeapBits::new(start..end).ok_or("its addresses lie too far apart")?;
        Ok(Starts { bits, is_thread, is_filler })
    }

    pub(crate) fn visitor(&self) -> StartsVisitor<'_> {
        StartsVisitor { starts: self, met: Met::default() }
    }
}

impl StartsVisitor<'_> {
    pub(crate) fn object(&mut self, object: &HeapObject) {
        if self.starts.is_filler.get(object.class as usize) == Some(&true) {
            return;
        }
        self.starts.bits.set(object.address);
        if let ObjectForm::Mirror { of: Some(class) } = object.form {
            self.met.mirrors.push((object.address, class));
        } else if self.starts.is_thread.get(object.class as usize) == Some(&true) {
            self.met.threads.push(object.address);
        }
    }
}

/// Whether a class is one of these, or below one.
fn is_below(classes: &[HeapClass], class: u32, names: &[&str]) -> bool {
    let supers = std::iter::successors(Some(class), |class| classes.get(*class as usize)?.super_class);
    supers
        .take(SUPERS_MAX)
        .filter_map(|class| classes.get(class as usize))
        .any(|class| names.contains(&class.name.as_str()))
}

/// The objects that a walk met, live or not.
#[derive(Clone, Copy)]
pub(crate) struct Walked {
    pub(crate) bytes: u64,
    pub(crate) objects: u64,
}

impl Walked {
    /// Pages and objects that a mark may look at.
    fn most(self, mark_heap: MarkHeap) -> (u64, u64) {
        let pages = self.bytes / PAGE_BYTES + 1;
        match mark_heap {
            MarkHeap::Always => (READS_PER_PAGE * pages.min(PAGES_MAX), u64::MAX),
            MarkHeap::IfCheap => {
                (CHEAP_READS + pages / CHEAP_READS_PART, CHEAP_OBJECTS + self.objects / CHEAP_OBJECTS_PART)
            }
        }
    }
}

/// Marks the objects of a heap; `None` where the JVM does not export what that needs.
pub(crate) fn mark(
    source: &dyn MemorySource,
    jvm: &Jvm<'_>,
    heap_classes: &HeapClasses<'_>,
    (starts, visitors): (&Starts, Vec<StartsVisitor<'_>>),
    all: Walked,
    (mark_heap, native_roots): (MarkHeap, &NativeRoots),
) -> Option<HeapLive> {
    let classes = heap_classes.all();
    let mut fields = jvm.hotspot.field_reader(heap_classes)?;
    let reference = classes.iter().find(|class| class.name == "java.lang.ref.Reference")?;
    let referent =
        fields.fields_of(reference)?.into_iter().find(|field| field.name == "referent")?.offset_bytes;
    let numbers: HashMap<u64, u32> = classes.iter().map(|class| class.address).zip(0..).collect();
    let weak_at = |class: &HeapClass| {
        let number = numbers.get(&class.address)?;
        is_below(&classes, *number, &WEAK).then_some(referent)
    };
    let reader = jvm.hotspot.object_reader(heap_classes)?;
    let references = jvm.hotspot.references()?;
    let pages = Pages::new(source);
    let mut flood =
        Flood::new(&starts.bits, reader, references, pages, (&classes, weak_at), all.most(mark_heap))?;
    let mut met = Met::default();
    for visitor in visitors {
        met.mirrors.extend(visitor.met.mirrors);
        met.threads.extend(visitor.met.threads);
    }
    let mut roots = Roots {
        flood: &mut flood,
        fields,
        classes: &classes,
        held: Default::default(),
        locals: HashMap::new(),
        unsure_bytes: 0,
    };
    roots.follow(source, jvm, met, native_roots);
    let (held, unsure_bytes) = (roots.held, roots.unsure_bytes);
    let live_bytes = held.values().fold(0u64, |sum, flooded| sum.saturating_add(flooded.bytes));
    let mut holders: Vec<HeapHolder> = held
        .into_iter()
        .map(|((kind, name), flooded)| HeapHolder {
            kind,
            name,
            objects: flooded.objects,
            bytes: flooded.bytes,
            classes: most(&flooded, &classes),
        })
        .collect();
    holders.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    holders.truncate(HOLDERS_MAX);
    let dead_bytes = all.bytes.saturating_sub(live_bytes);
    Some(HeapLive { live_bytes, unsure_bytes, dead_bytes, is_partial: flood.is_over(), holders })
}

/// The classes that take most.
fn most(flooded: &Flooded, classes: &[HeapClass]) -> Vec<ClassObjects> {
    let name =
        |class: &u32| classes.get(*class as usize).map_or_else(String::new, |class| readable(&class.name));
    let of = |(class, (objects, bytes)): (&u32, &(u64, u64))| ClassObjects {
        class: name(class),
        objects: *objects,
        bytes: *bytes,
    };
    let mut most: Vec<ClassObjects> = flooded.by_class.iter().map(of).collect();
    most.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));
    most.truncate(CLASSES_MAX);
    most
}
