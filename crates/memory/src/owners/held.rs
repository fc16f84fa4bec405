//! Which class of the program holds the native memory of Java objects.
//!
//! Blocks are held by wrappers that everybody uses: a direct buffer, the stream of an inflater. People look for
//! the class that keeps it: the first one of the program on the way from the wrapper back to a root, through lists, maps and
//! arrays. Each step back is a pass over the heap for references to the objects of the step before.

use super::holders::{ARRAY_BYTES, Holders, is_of_program, kind_of_class, readable};
use super::index::Target;
use super::roots::object_ranges;
use super::rules::of_java_class;
use super::search::Search;
use crate::entry_table::{EntryId, EntryTable};
use crate::jvm::Jvm;
use crate::windows::{WindowBuffer, windows};
use assay_hotspot::References;
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
/// Objects through which no way leads back to a holder: they belong to all, or keep nothing alive.
const NO_HOLDERS: [&str; 8] = [
    "java.lang.ref.",
    "jdk.internal.ref.",
    "sun.misc.Cleaner",
    "java.lang.Thread",
    "java.lang.Module",
    "java.lang.ClassLoader",
    "jdk.internal.loader.",
    "java.security.",
];

/// An object on the way.
#[derive(Default)]
struct VisitedObject {
    /// Index of the name of the class that holds it.
    name: Option<usize>,
    /// Those of the step before that it refers to.
    leads_to: Vec<u64>,
}

/// An object that holds the address of a block.
struct Wrapper {
    kind: String,
    blocks: Vec<u32>,
    /// Of those blocks and of all that they lead to: a deflater's first block is small.
    bytes: u64,
}

/// Names the holder of each block that belongs to a Java object: beneath the kind of the object, the class that holds it.
pub(super) fn name_holders(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let Some(heap) = &jvm.heap else { return };
    let ranges = object_ranges(heap);
    let wrappers = wrappers(search, jvm, &ranges, entries);
    if wrappers.is_empty() {
        return;
    }
    let mut way = HolderSearch { jvm, met: HashMap::new(), names: Vec::new(), numbers: HashMap::new() };
    for address in wrappers.keys() {
        way.met.insert(*address, VisitedObject::default());
    }
    if let Some(references) = jvm.hotspot.references() {
        let left = way.go_back(search.source, &ranges, &references, &wrappers);
        search.problems.extend(left.map(|(bytes, steps)| {
            let what = format!(
                "{bytes} bytes that Java objects keep are shown without their holder: it is more than {steps} objects away"
            );
            Problem::new(PROBLEM, what)
        }));
    }
    // Of several objects that know a block, one whose holder is known speaks for it.
    let mut order: Vec<_> = wrappers.iter().map(|(at, wrapper)| (way.name_of(*at), *at, wrapper)).collect();
    order.sort_unstable_by_key(|(name, at, _)| (name.is_none(), *at));
    let mut renamed = HashSet::new();
    for (name, _, wrapper) in order {
        let path: Vec<&str> = std::iter::once(wrapper.kind.as_str()).chain(name).collect();
        let entry = entries.entry(Area::Buffers, &path, FigureSource::Pointers);
        for block in &wrapper.blocks {
            if renamed.insert(*block) {
                search.rename(*block, entry);
            }
        }
    }
}

/// The objects that hold addresses of blocks which belong to Java objects, by their own addresses.
fn wrappers(
    search: &mut Search<'_>,
    jvm: &Jvm<'_>,
    ranges: &[Range<u64>],
    entries: &EntryTable,
) -> BTreeMap<u64, Wrapper> {
    let is_java_s =
        |entry: EntryId| entries.keys().get(entry.index()).is_some_and(|key| key.area == Area::Buffers);
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
            let wrapper = wrappers.entry(object.start).or_insert_with(|| Wrapper {
                kind: kind_of_class(&class),
                blocks: Vec::new(),
                bytes: 0,
            });
            wrapper.blocks.push(block);
        });
    }
    let mut seen = HashSet::new();
    for wrapper in wrappers.values_mut() {
        wrapper.bytes = wrapper.blocks.iter().map(|block| search.bytes_from(*block, &mut seen)).sum();
    }
    wrappers
}

/// The way back from objects to those that hold them.
struct HolderSearch<'a, 'm> {
    jvm: &'a Jvm<'m>,
    met: HashMap<u64, VisitedObject>,
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl HolderSearch<'_, '_> {
    fn name_of(&self, object: u64) -> Option<&str> {
        self.met.get(&object)?.name.map(|number| self.names[number].as_str())
    }

    /// Goes back step by step, until each object has a holder or there is none to be found. Where the steps end before: the bytes
    /// that have none yet, and how many steps there were.
    fn go_back(
        &mut self,
        source: &dyn MemorySource,
        ranges: &[Range<u64>],
        references: &References,
        wrappers: &BTreeMap<u64, Wrapper>,
    ) -> Option<(u64, usize)> {
        let resident = |range: &Range<u64>| source.readable_pages().resident_bytes_in(range.clone());
        let heap_bytes = ranges.iter().map(resident).fold(0, u64::saturating_add).max(1);
        let steps = STEPS_MAX.min((READ_BYTES_MAX / heap_bytes) as usize);
        let of_jdk = || wrappers.iter().filter(|(_, wrapper)| !is_of_program(&wrapper.kind));
        let all_bytes: u64 = wrappers.values().map(|wrapper| wrapper.bytes).sum();
        let enough_bytes = LEFT_BYTES_MIN.max(all_bytes / LEFT_SHARE_MIN);
        let mut step: Vec<u64> = of_jdk().map(|(at, _)| *at).collect();
        let left_bytes = |way: &Self| -> u64 {
            of_jdk().filter(|(at, _)| way.name_of(**at).is_none()).map(|(_, wrapper)| wrapper.bytes).sum()
        };
        for _ in 0..steps {
            if step.is_empty() || left_bytes(self) < enough_bytes {
                return None;
            }
            let wanted = SoughtObjects::new(references, &step);
            let mut fresh = Vec::new();
            for range in ranges {
                let found = wanted.find(source, range);
                let mut holders = Holders::of_references(self.jvm, range.start);
                for (place, target) in found {
                    if let Some((object, klass)) = holders.object_at(place) {
                        self.meet(&object, klass, place, target, &mut fresh);
                    }
                }
            }
            fresh.retain(|object| self.met.get(object).is_some_and(|met| met.name.is_none()));
            step = fresh;
        }
        let left = left_bytes(self);
        (!step.is_empty() && enough_bytes <= left).then_some((left, steps))
    }

    /// An object that refers to one of the step before.
    fn meet(&mut self, object: &Range<u64>, klass: u64, place: u64, target: u64, fresh: &mut Vec<u64>) {
        let names = &self.jvm.names;
        let Some(class) = names.class_of_klass(klass) else { return };
        if object.start == target || self.met.get(&target).is_none_or(|met| met.name.is_some()) {
            return;
        }
        if class == "java.lang.Class" {
            // A static field.
            let of = names.class_of_mirror(object.start).filter(|class| is_of_program(class));
            of.into_iter().for_each(|class| self.name(target, &class));
        } else if names.is_weak_at(klass, place - object.start) {
            // It keeps nothing alive.
        } else if is_of_program(&class) {
            self.name(target, &class);
        } else if NO_HOLDERS
            .iter()
            .all(|start| !class.starts_with(start) || class.starts_with("java.lang.ThreadLocal"))
        {
            let is_new = !self.met.contains_key(&object.start);
            if is_new && OBJECTS_MAX <= self.met.len() {
                return;
            }
            let met = self.met.entry(object.start).or_default();
            met.leads_to.push(target);
            match met.name {
                Some(name) => self.spread(target, name),
                None if is_new => fresh.push(object.start),
                None => {}
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

/// Objects that are looked for, as they are referred to.
struct SoughtObjects<'a> {
    references: &'a References,
    words: HashMap<u64, u64>,
    /// Passes the words of all, and few others.
    bits: Vec<u64>,
}

impl<'a> SoughtObjects<'a> {
    const BITS: u32 = 20;

    fn new(references: &'a References, objects: &[u64]) -> SoughtObjects<'a> {
        let words: HashMap<u64, u64> =
            objects.iter().filter_map(|object| Some((references.word_of(*object)?, *object))).collect();
        let mut bits = vec![0; 1 << (Self::BITS - 6)];
        for word in words.keys() {
            let bit = Self::bit(*word);
            bits[bit / 64] |= 1 << (bit % 64);
        }
        SoughtObjects { references, words, bits }
    }

    fn bit(word: u64) -> usize {
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::BITS)) as usize
    }

    /// References to them in a range, with the object that each refers to, in the order of their addresses.
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
            let word = self.references.without_colour(word);
            let bit = Self::bit(word);
            if self.bits[bit / 64] >> (bit % 64) & 1 != 0
                && let Some(object) = self.words.get(&word)
            {
                found.push((start + at as u64, *object));
            }
        };
        if self.references.bytes() == 4 {
            let words = bytes.as_chunks::<4>().0.iter().map(|word| u64::from(u32::from_le_bytes(*word)));
            words.enumerate().filter(|(_, word)| *word != 0).for_each(|(i, word)| visit(4 * i, word));
        } else {
            let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            words.enumerate().filter(|(_, word)| *word != 0).for_each(|(i, word)| visit(8 * i, word));
        }
    }
}
