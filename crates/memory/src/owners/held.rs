//! Which class of the program holds the native memory of Java objects.
//!
//! Blocks are held by wrappers that everybody uses: a direct buffer, the stream of an inflater. People look for
//! the class that keeps it: the first one of the program on the way from the wrapper back to a root, through lists, maps and
//! arrays, or one of the JDK that says what to do, such as a thread's cache of buffers. Each step back is a pass over the heap for references to the objects of the step before.

use super::holders::{
    ARRAY_BYTES, BEHIND_BUFFERS, DIRECT_BUFFERS, Holders, NIO_THREAD_CACHE, NO_HOLDER, NO_HOLDER_SEEN,
    holder_of_class, is_of_program, kind_of_class, readable,
};
use super::index::Target;
use super::outside::{HeldFromOutside, held_from_outside};
use super::roots::object_ranges;
use super::rules::{Owner, of_java_class, of_tag};
use super::search::Search;
use crate::entry_table::{EntryId, EntryKey, EntryTable};
use crate::jvm::Jvm;
use crate::windows::{WindowBuffer, windows};
use assay_hotspot::{Collector, ReferencePlaces};
use assay_linux::MemorySource;
use assay_model::{Area, FigureSource, Problem};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// Steps back. A value of a map within a map takes eight.
const STEPS_MAX: usize = 10;
/// Bytes of the heap that all steps together read: 1.4 s of CPU time at most.
const READ_BYTES_MAX: u64 = 4 << 30;
/// Bytes without a holder, absolute and as a part of all, below which no further step is made.
const LEFT_BYTES_MIN: u64 = 256 << 10;
const LEFT_SHARE_MIN: u64 = 50;
/// Objects of all steps.
const OBJECTS_MAX: usize = 1 << 20;
/// References of one step.
const REFERENCES_MAX: usize = 1 << 22;
const PROBLEM: &str = "holders";
/// Objects that refer to what frees memory, and keep nothing alive.
const KEEPS_NOTHING: [&str; 4] =
    ["java.lang.ref.", "jdk.internal.ref.", "sun.misc.Cleaner", "java.nio.BufferCleaner"];
/// Objects that belong to all, so that no way leads back through them to a holder.
const NO_HOLDERS: [&str; 5] = [
    "java.lang.Thread",
    "java.lang.Module",
    "java.lang.ClassLoader",
    "jdk.internal.loader.",
    "java.security.",
];
/// Of these one does.
const THREAD_LOCAL: &str = "java.lang.ThreadLocal";

/// What holds the native part of both in JDK 8: who refers to it shows which it is.
const ZIP_STREAM: &str = "java.util.zip.ZStreamRef";
const ZIP_STREAMS: [&str; 2] = ["java.util.zip.Inflater", "java.util.zip.Deflater"];

/// An object on the way.
#[derive(Default)]
struct VisitedObject {
    /// Index of the name of the class that holds it.
    name: Option<usize>,
    /// Whether something of the JDK keeps it that is not garbage: a thread, a class, a loader.
    is_held: bool,
    /// Those of the step before that it refers to.
    leads_to: Vec<u64>,
}

/// How a search for holders ended.
enum SearchEnd {
    /// All that refers to the objects was followed.
    Whole,
    /// So little was left that it was left.
    Enough,
    /// After so many steps, with so many bytes without a holder.
    CutOff { left_bytes: u64, steps: usize },
}

/// An object that holds the address of a block.
struct Wrapper {
    kind: String,
    /// It is one of the JDK's: people look for the class of the program that keeps it.
    is_of_jdk: bool,
    /// It frees the memory, and is no reason for it to stay.
    only_frees: bool,
    blocks: Vec<u32>,
    /// Of those blocks and of all that they lead to: a deflater's first block is small.
    bytes: u64,
}

/// Names the holder of each block that belongs to a Java object: beneath the kind of the object, the class that holds it.
pub(super) fn name_holders(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let Some(heap) = &jvm.heap else { return };
    let ranges = object_ranges(heap);
    let references = jvm.hotspot.references();
    let places = references.map(|references| ReferencePlaces::new(search.source, references));
    let wrappers = wrappers(search, jvm, &ranges, places.as_ref(), entries);
    if wrappers.is_empty() {
        return;
    }
    let mut way = HolderSearch::new(jvm);
    for place in wrappers.keys() {
        way.met.insert(*place, VisitedObject::default());
    }
    let mut no_holder = None;
    if let Some((references, places)) = references.zip(places) {
        let wanted = (references.bytes(), &places);
        let mut end = way.go_back(search.source, &ranges, wanted, &wrappers);
        // A list that grew meanwhile has another array than the one that was met: once more, for what nobody seems to hold.
        if matches!(end, SearchEnd::Whole) && way.is_any_lost(&wrappers) {
            end = way.go_back(search.source, &ranges, wanted, &wrappers);
        }
        let is_sought = |place| way.met.contains_key(&place);
        for of in held_from_outside(search, jvm, entries, wanted, is_sought) {
            way.hold_from_outside(&of, wrappers.contains_key(&of.place));
        }
        let is_all = wrappers.len() < OBJECTS_MAX && !is_swapped(search.source, &ranges);
        let is_all = is_all && stood_still(search.source, jvm);
        let is_of_one_moment = ranges.iter().all(|range| search.source.is_of_one_moment(range));
        let none = if is_of_one_moment { NO_HOLDER } else { NO_HOLDER_SEEN };
        no_holder = (is_all && matches!(end, SearchEnd::Whole)).then_some(none);
        if let SearchEnd::CutOff { left_bytes, steps } = end {
            let what = format!(
                "{left_bytes} bytes that Java objects keep are shown without their holder: it is more than {steps} objects away"
            );
            search.problems.push(Problem::new(PROBLEM, what));
        }
    }
    rename(search, &way, &wrappers, no_holder, entries);
}

/// Gives the blocks of each wrapper the name of its holder, and the dead ones `no_holder`, where that can be said.
fn rename(
    search: &mut Search<'_>,
    way: &HolderSearch<'_, '_>,
    wrappers: &BTreeMap<u64, Wrapper>,
    no_holder: Option<&'static str>,
    entries: &mut EntryTable,
) {
    // What frees a buffer does not keep it.
    let keeping = wrappers.iter().filter(|(at, wrapper)| !wrapper.only_frees && way.is_held(**at));
    let held: HashSet<u32> = keeping.flat_map(|(_, wrapper)| &wrapper.blocks).copied().collect();
    // Of several objects that know a block, one whose holder is known speaks for it.
    let mut order: Vec<_> = wrappers.iter().map(|(at, wrapper)| (way.name_of(*at), at, wrapper)).collect();
    order.sort_unstable_by_key(|(name, at, _)| (name.is_none(), *at));
    let mut renamed = HashSet::new();
    for (name, place, wrapper) in order {
        let by_holder = way.kinds.get(place).filter(|_| wrapper.kind == ZIP_STREAM);
        let kind = match name {
            // Those of JDK 25 have no cleaner: the cache frees them.
            Some(NIO_THREAD_CACHE) => DIRECT_BUFFERS,
            _ => by_holder.unwrap_or(&wrapper.kind).as_str(),
        };
        for block in &wrapper.blocks {
            if renamed.insert(*block) {
                let is_dead = kind == DIRECT_BUFFERS && !held.contains(block);
                let holder = name.or(no_holder.filter(|_| is_dead));
                let path: Vec<&str> = std::iter::once(kind).chain(holder).collect();
                search.rename(*block, entries.entry(Area::Buffers, &path, FigureSource::Pointers));
            }
        }
    }
}

/// Whether no object moved while the heap was read: then one that nothing refers to has no holder, as far as the heap was read. Z and
/// Shenandoah move objects while the threads run, and correct references later.
fn stood_still(source: &dyn MemorySource, jvm: &Jvm<'_>) -> bool {
    let moves_in_stops =
        !matches!(jvm.hotspot.collector(), Some(Collector::Z | Collector::Shenandoah) | None);
    let has_not_collected = || jvm.collections.is_some() && jvm.collections == jvm.hotspot.collections_now();
    moves_in_stops && (source.earlier_variables().is_empty() || has_not_collected())
}

/// Whether some of the objects were swapped out, so that what they refer to is unknown.
fn is_swapped(source: &dyn MemorySource, ranges: &[Range<u64>]) -> bool {
    let swapped = source.mappings().iter().filter(|m| m.swap_bytes.is_some_and(|bytes| bytes != 0));
    let mut swapped = swapped.map(|m| &m.addresses);
    swapped.any(|m| ranges.iter().any(|range| range.start < m.end && m.start < range.end))
}

/// The objects that hold addresses of blocks which belong to Java objects, by their places.
fn wrappers(
    search: &mut Search<'_>,
    jvm: &Jvm<'_>,
    ranges: &[Range<u64>],
    places: Option<&ReferencePlaces<'_>>,
    entries: &EntryTable,
) -> BTreeMap<u64, Wrapper> {
    let by_tag = tag_of_java_memory(jvm);
    let is_java_s = |entry: EntryId| {
        let is_tagged = |key: &EntryKey| {
            key.source == FigureSource::Nmt
                && by_tag.is_some_and(|(area, name)| key.area == area && key.below == [name])
        };
        entries.keys().get(entry.index()).is_some_and(|key| key.area == Area::Buffers || is_tagged(key))
    };
    let mut wrappers: BTreeMap<u64, Wrapper> = BTreeMap::new();
    for range in ranges {
        let mut holders = Holders::new(jvm, range.start, ARRAY_BYTES);
        search.for_each_word_again(range.clone(), |index, owners, address, word| {
            let Some(Target::Start(block)) = index.target(word) else { return };
            if !owners.get(block).is_some_and(is_java_s) || OBJECTS_MAX <= wrappers.len() {
                return;
            }
            let Some((object, klass)) = holders.object_at(address) else { return };
            let Some(class) = jvm.names.class_of_klass(klass) else { return };
            // Such an object, a class or a thread, points at the JVM's own structures: it is not a buffer.
            if of_java_class(&class).is_some() {
                return;
            }
            // Where nothing is known of references, addresses stand for places.
            let place = places.map_or(Some(object.start), |places| places.of_object(object.start));
            let Some(place) = place else { return };
            let wrapper = wrappers.entry(place).or_insert_with(|| Wrapper {
                kind: kind_of_class(&class),
                is_of_jdk: !is_of_program(&class),
                only_frees: kind_of_class(&class) == DIRECT_BUFFERS,
                blocks: Vec::new(),
                bytes: 0,
            });
            wrapper.blocks.push(block);
        });
    }
    // The buffer of memory that the JDK frees.
    let of_jdk = wrappers.values().filter(|wrapper| wrapper.only_frees);
    let of_jdk: HashSet<u32> = of_jdk.flat_map(|wrapper| &wrapper.blocks).copied().collect();
    let mut seen = HashSet::new();
    for wrapper in wrappers.values_mut() {
        if wrapper.kind == BEHIND_BUFFERS && wrapper.blocks.iter().any(|block| of_jdk.contains(block)) {
            wrapper.kind = DIRECT_BUFFERS.to_owned();
        }
        wrapper.bytes = wrapper.blocks.iter().map(|block| search.bytes_from(*block, &mut seen)).sum();
    }
    wrappers
}

/// The tag that memory of Java objects has besides the one of its own: JDK 8 calls what `Unsafe` allocates internal, and has no block of
/// the other tag.
fn tag_of_java_memory(jvm: &Jvm<'_>) -> Option<Owner> {
    let of_unsafe = jvm.nmt.counters.iter().find(|counters| counters.tag == "Other")?;
    (of_unsafe.malloc_count == 0).then(|| of_tag("Internal"))
}

/// The way back from objects to those that hold them.
struct HolderSearch<'a, 'm> {
    jvm: &'a Jvm<'m>,
    met: HashMap<u64, VisitedObject>,
    names: Vec<String>,
    numbers: HashMap<String, usize>,
    /// The meaning of objects whose own class does not show it, by who refers to them.
    kinds: HashMap<u64, String>,
    /// Some references or objects were left out, since there were too many.
    is_cut_off: bool,
}

impl<'a, 'm> HolderSearch<'a, 'm> {
    fn new(jvm: &'a Jvm<'m>) -> Self {
        let (met, names, numbers, kinds) = (HashMap::new(), Vec::new(), HashMap::new(), HashMap::new());
        HolderSearch { jvm, met, names, numbers, kinds, is_cut_off: false }
    }

    fn name_of(&self, object: u64) -> Option<&str> {
        self.met.get(&object)?.name.map(|number| self.names[number].as_str())
    }

    /// Whether objects that nothing seems to hold have something that refers to them.
    fn is_any_lost(&self, wrappers: &BTreeMap<u64, Wrapper>) -> bool {
        let mut met = self.met.values().filter(|met| met.name.is_none() && !met.is_held);
        met.any(|met| met.leads_to.iter().any(|to| wrappers.contains_key(to) && !self.is_held(*to)))
    }

    fn is_held(&self, object: u64) -> bool {
        self.met.get(&object).is_some_and(|met| met.is_held || met.name.is_some())
    }

    /// Goes back step by step, until each object has a holder or there is none to be found.
    fn go_back(
        &mut self,
        source: &dyn MemorySource,
        ranges: &[Range<u64>],
        (reference_bytes, places): (u64, &ReferencePlaces<'_>),
        wrappers: &BTreeMap<u64, Wrapper>,
    ) -> SearchEnd {
        let resident = |range: &Range<u64>| source.readable_pages().resident_bytes_in(range.clone());
        let heap_bytes = ranges.iter().map(resident).fold(0, u64::saturating_add).max(1);
        let steps = STEPS_MAX.min((READ_BYTES_MAX / heap_bytes) as usize);
        let of_jdk = || wrappers.iter().filter(|(_, wrapper)| wrapper.is_of_jdk);
        let all_bytes: u64 = wrappers.values().map(|wrapper| wrapper.bytes).sum();
        let enough_bytes = LEFT_BYTES_MIN.max(all_bytes / LEFT_SHARE_MIN);
        let nameless = of_jdk().filter(|(place, _)| self.name_of(**place).is_none());
        let mut step: Vec<u64> = nameless.map(|(place, _)| *place).collect();
        let left_bytes = |way: &Self| -> u64 {
            of_jdk().filter(|(at, _)| way.name_of(**at).is_none()).map(|(_, wrapper)| wrapper.bytes).sum()
        };
        for _ in 0..steps {
            if step.is_empty() && !self.is_cut_off {
                return SearchEnd::Whole;
            }
            if step.is_empty() || left_bytes(self) < enough_bytes {
                return SearchEnd::Enough;
            }
            let wanted = SoughtObjects::new(reference_bytes, places, step);
            let mut fresh = Vec::new();
            for range in ranges {
                let found = wanted.find(source, range);
                self.is_cut_off |= REFERENCES_MAX <= found.len();
                let mut holders = Holders::of_references(self.jvm, range.start);
                for (address, target) in found {
                    if let Some((object, klass)) = holders.object_at(address)
                        && let Some(place) = places.of_object(object.start)
                    {
                        let met = MetObject { address: object.start, place, klass };
                        self.meet(&met, address - object.start, target, &mut fresh);
                    }
                }
            }
            fresh.retain(|object| self.met.get(object).is_some_and(|met| met.name.is_none()));
            step = fresh;
        }
        match left_bytes(self) {
            _ if step.is_empty() && !self.is_cut_off => SearchEnd::Whole,
            left_bytes if left_bytes < enough_bytes => SearchEnd::Enough,
            left_bytes => SearchEnd::CutOff { left_bytes, steps },
        }
    }

    /// An object that refers to one of the step before, by the field at an offset.
    fn meet(&mut self, object: &MetObject, offset: u64, target: u64, fresh: &mut Vec<u64>) {
        let names = &self.jvm.names;
        let Some(class) = names.class_of_klass(object.klass) else { return };
        if object.place == target || self.met.get(&target).is_none_or(|met| met.name.is_some()) {
            return;
        }
        if ZIP_STREAMS.contains(&class.as_str()) {
            self.kinds.entry(target).or_insert_with(|| class.clone());
        }
        if class == "java.lang.Class" {
            // A static field.
            match names.class_of_mirror(object.address).filter(|class| is_of_program(class)) {
                Some(class) => self.name(target, &class),
                None => self.hold(target),
            }
        } else if names.is_weak_at(object.klass, offset) {
            // It keeps nothing alive.
        } else if let Some(holder) = holder_of_class(&class) {
            self.name(target, holder);
        } else if KEEPS_NOTHING.iter().any(|start| class.starts_with(start)) {
            // Not the memory, but the duty to free it.
        } else if NO_HOLDERS.iter().any(|start| class.starts_with(start)) && !class.starts_with(THREAD_LOCAL)
        {
            self.hold(target);
        } else {
            let is_new = !self.met.contains_key(&object.place);
            if is_new && OBJECTS_MAX <= self.met.len() {
                self.is_cut_off = true;
                return;
            }
            let met = self.met.entry(object.place).or_default();
            met.leads_to.push(target);
            let (name, is_held) = (met.name, met.is_held);
            if is_held {
                self.hold(target);
            }
            match name {
                Some(name) => self.spread(target, name),
                None if is_new => fresh.push(object.place),
                None => {}
            }
        }
    }

    /// Something outside the heap holds an object. A stack that leads to a buffer itself may be at work with it for a moment: then it
    /// is no more than held.
    fn hold_from_outside(&mut self, of: &HeldFromOutside, is_wrapper: bool) {
        if of.is_sure || !is_wrapper {
            self.name(of.place, &of.holder);
        } else {
            self.hold(of.place);
        }
    }

    /// What is held holds what it leads to.
    fn hold(&mut self, object: u64) {
        let mut left = vec![object];
        while let Some(object) = left.pop() {
            if let Some(met) = self.met.get_mut(&object)
                && !met.is_held
            {
                met.is_held = true;
                left.extend_from_slice(&met.leads_to);
            }
        }
    }

    fn name(&mut self, object: u64, class: &str) {
        let name = readable(class);
        let next = self.names.len();
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        self.spread(object, number);
    }

    /// What is held by a class holds what it leads to.
    fn spread(&mut self, object: u64, name: usize) {
        let mut left = vec![object];
        while let Some(object) = left.pop() {
            if let Some(met) = self.met.get_mut(&object)
                && met.name.is_none()
            {
                met.name = Some(name);
                left.extend_from_slice(&met.leads_to);
            }
        }
    }
}

/// An object that was found on the way.
struct MetObject {
    address: u64,
    place: u64,
    klass: u64,
}

/// Objects that are looked for, by their places.
struct SoughtObjects<'a> {
    reference_bytes: u64,
    places: &'a ReferencePlaces<'a>,
    wanted: HashSet<u64>,
    /// Passes all of them, and few others.
    bits: Vec<u64>,
}

impl<'a> SoughtObjects<'a> {
    const BITS: u32 = 20;

    fn new(reference_bytes: u64, places: &'a ReferencePlaces<'a>, objects: Vec<u64>) -> SoughtObjects<'a> {
        let mut bits = vec![0; 1 << (Self::BITS - 6)];
        for place in &objects {
            let bit = Self::bit(*place);
            bits[bit / 64] |= 1 << (bit % 64);
        }
        SoughtObjects { reference_bytes, places, wanted: objects.into_iter().collect(), bits }
    }

    fn bit(place: u64) -> usize {
        (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::BITS)) as usize
    }

    /// References to them in a range: the address of each, and the place of the object, in the order of their addresses.
    fn find(&self, source: &dyn MemorySource, range: &Range<u64>) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        let mut buffer = WindowBuffer::default();
        for window in source.readable_pages().resident_in(range.clone()).flat_map(windows) {
            if REFERENCES_MAX <= found.len() {
                break;
            }
            if let Some(bytes) = buffer.read(source, &window) {
                self.find_in(bytes, window.start, &mut found);
            }
        }
        found
    }

    fn find_in(&self, bytes: &[u8], start: u64, found: &mut Vec<(u64, u64)>) {
        let mut visit = |at: usize, word: u64| {
            let Some(place) = self.places.of_word(word) else { return };
            let bit = Self::bit(place);
            if self.bits[bit / 64] >> (bit % 64) & 1 != 0 && self.wanted.contains(&place) {
                found.push((start + at as u64, place));
            }
        };
        if self.reference_bytes == 4 {
            let words = bytes.as_chunks::<4>().0.iter().map(|word| u64::from(u32::from_le_bytes(*word)));
            words.enumerate().filter(|(_, word)| *word != 0).for_each(|(i, word)| visit(4 * i, word));
        } else {
            let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            words.enumerate().filter(|(_, word)| *word != 0).for_each(|(i, word)| visit(8 * i, word));
        }
    }
}
