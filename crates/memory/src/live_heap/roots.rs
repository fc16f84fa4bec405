//! From where objects are held: static fields, thread-locals, threads, and everything else outside the heap that leads into it.
//!
//! The order decides whose an object is that several roots lead to: what a program's static field holds is that field's, although a
//! thread works with it at the moment.

use super::flood::{Flood, Flooded};
use crate::jvm::Jvm;
use crate::owners::{NativeRoots, is_of_program, readable};
use crate::stacks::{stack_in_use, without_numbers};
use crate::windows::{WindowBuffer, windows};
use assay_hotspot::{ClassKind, Collector, FieldReader, HeapClass, JvmThread};
use assay_linux::MemorySource;
use assay_model::{HolderKind, ThreadKind};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// What a static field holds below this has no name of its own.
const NAMED_BYTES: u64 = 64 << 10;
/// Static fields of a class: 65,535 at most.
const STATICS_BYTES_MAX: u64 = 65_535 * 8;
/// Elements of a thread's table of thread-locals that are looked at.
const LOCALS_MAX: u64 = 1 << 16;
/// Names of what has none of its own.
const SMALL_STATICS: &str = "(many, less than 64 KiB each)";
const NATIVE: &str = "(references)";
/// What native code holds by references that it made itself.
const NATIVE_CODE: &str = "(JNI references)";
/// Regions of G1 begin at multiples of it.
const REGION_BYTES_MIN: u64 = 1 << 20;

/// What roots of one name lead to.
pub(super) type Held = BTreeMap<(HolderKind, String), Flooded>;

/// Objects that the walk over the heap met and that are roots, or lead to them.
#[derive(Default)]
pub(super) struct Met {
    /// Mirrors, with the number of the class for which each stands.
    pub(super) mirrors: Vec<(u64, u32)>,
    /// Objects of `java.lang.Thread` and of classes below it.
    pub(super) threads: Vec<u64>,
}

/// Where `java.lang.Thread` and its thread-locals have their fields.
struct ThreadFields {
    /// The address of the JVM's own structure; 0 once the thread has ended.
    native: u64,
    locals: Vec<u64>,
    table: u64,
    value: u64,
    referent: u64,
}

impl ThreadFields {
    fn of(classes: &[HeapClass], fields: &mut FieldReader<'_, '_>) -> Option<ThreadFields> {
        let mut offset = |class: &str, field: &str| {
            let class = classes.iter().find(|of| of.name == class)?;
            let fields = fields.fields_of(class)?;
            fields.iter().find(|of| of.name == field && !of.is_static).map(|of| of.offset_bytes)
        };
        let locals = ["threadLocals", "inheritableThreadLocals"];
        Some(ThreadFields {
            native: offset("java.lang.Thread", "eetop")?,
            locals: locals.iter().filter_map(|field| offset("java.lang.Thread", field)).collect(),
            table: offset("java.lang.ThreadLocal$ThreadLocalMap", "table")?,
            value: offset("java.lang.ThreadLocal$ThreadLocalMap$Entry", "value")?,
            referent: offset("java.lang.ref.Reference", "referent")?,
        })
    }
}

/// A thread that runs.
struct LiveThread {
    object: u64,
    /// Without numbers.
    name: String,
    /// Whether it is not one that the JDK started for itself.
    is_of_program: bool,
}

/// Follows all roots, one after the other.
pub(super) struct Roots<'r, 'a, 'c, 'm> {
    pub(super) flood: &'r mut Flood<'a, 'c, 'm>,
    pub(super) fields: FieldReader<'c, 'm>,
    pub(super) classes: &'r [HeapClass],
    pub(super) held: Held,
    /// The static fields that have the objects of `ThreadLocal`.
    pub(super) locals: HashMap<u64, String>,
    /// Bytes of what only words lead to that look like references, of all bytes that are held.
    pub(super) unsure_bytes: u64,
}

impl Roots<'_, '_, '_, '_> {
    pub(super) fn follow(
        &mut self,
        source: &dyn MemorySource,
        jvm: &Jvm<'_>,
        mut met: Met,
        native_roots: &NativeRoots,
    ) {
        let name = |number: &u32| self.classes.get(*number as usize).map_or("", |class| class.name.as_str());
        // Objects move, and what two fields lead to must be the same field's each time.
        met.mirrors.sort_unstable_by(|a, b| name(&a.1).cmp(name(&b.1)));
        let (of_program, of_jdk): (Vec<_>, Vec<_>) =
            met.mirrors.into_iter().partition(|(_, class)| is_of_program(name(class)));
        let threads = self.threads(jvm, &met.threads);
        // Threads lead to each other by their groups.
        threads.iter().for_each(|thread| self.flood.set_apart(thread.object));
        for (mirror, class) in of_program {
            self.statics(mirror, class);
        }
        for thread in &threads {
            self.thread_locals(thread.object, &thread.name);
        }
        let (of_program, of_jdk_s): (Vec<_>, Vec<_>) =
            threads.into_iter().partition(|thread| thread.is_of_program);
        self.thread_objects(of_program);
        for thread in jvm.threads.iter().filter(|thread| thread.kind == ThreadKind::Java) {
            if let Some(stack) = stack_in_use(source, thread) {
                let bytes = self.words(source, stack, (HolderKind::Thread, &name_of(thread)));
                self.unsure_bytes = self.unsure_bytes.saturating_add(bytes);
            }
        }
        self.thread_objects(of_jdk_s);
        for (mirror, class) in of_jdk {
            self.statics(mirror, class);
        }
        for block in &native_roots.references {
            self.words(source, block.clone(), (HolderKind::Native, NATIVE_CODE));
        }
        if !self.flood.is_over() {
            self.outside_heap(source, jvm, native_roots);
        }
    }

    fn hold(&mut self, kind: HolderKind, name: String, flooded: Flooded) {
        if flooded.objects != 0 {
            self.held.entry((kind, name)).or_default().merge(flooded);
        }
    }

    /// The static fields of a class, behind the fields of its mirror.
    fn statics(&mut self, mirror: u64, class: u32) {
        let Some(object) = self.flood.object(mirror) else { return };
        let kind = self.classes.get(object.class as usize).map(|class| class.kind);
        let Some(ClassKind::Mirror { bytes: own_bytes }) = kind else { return };
        let step = self.flood.reference_bytes();
        // Its own fields: the loader of the class, and what reflection keeps.
        self.fields_at(mirror, (8, own_bytes.min(object.bytes)), None);
        let end = object.bytes.min(own_bytes.saturating_add(STATICS_BYTES_MAX));
        let mut offset = own_bytes;
        while offset + step <= end {
            self.fields_at(mirror, (offset, offset + step), Some(class));
            offset += step;
        }
        let flooded = self.flood.take(mirror);
        self.hold(HolderKind::StaticField, SMALL_STATICS.to_owned(), flooded);
    }

    /// What fields of a mirror lead to.
    fn fields_at(&mut self, mirror: u64, (from, to): (u64, u64), class: Option<u32>) {
        let step = self.flood.reference_bytes();
        let mut offset = from;
        while offset + step <= to {
            if let Some(target) = self.flood.referred(mirror + offset) {
                if let Some(name) =
                    class.filter(|_| self.is_thread_local(target)).and_then(|class| self.field(class, offset))
                {
                    self.locals.insert(target, name);
                }
                let flooded = self.flood.take(target);
                let name = class.filter(|_| NAMED_BYTES <= flooded.bytes);
                let name = name.and_then(|class| self.field(class, offset));
                self.hold(HolderKind::StaticField, name.unwrap_or_else(|| SMALL_STATICS.to_owned()), flooded);
            }
            offset += step;
        }
    }

    fn is_thread_local(&mut self, object: u64) -> bool {
        let class = self.flood.object(object).map(|object| object.class);
        let supers = std::iter::successors(class, |class| self.classes.get(*class as usize)?.super_class);
        supers.take(SUPERS_MAX).any(|class| {
            self.classes.get(class as usize).is_some_and(|class| class.name == "java.lang.ThreadLocal")
        })
    }

    /// The static field at an offset, with its class.
    fn field(&mut self, class: u32, offset: u64) -> Option<String> {
        let class = self.classes.get(class as usize)?;
        let fields = self.fields.fields_of(class)?;
        let is_reference = |descriptor| matches!(descriptor, b'L' | b'[');
        let mut statics = fields.iter().filter(|field| field.is_static && is_reference(field.descriptor));
        let field = statics.find(|field| field.offset_bytes == offset)?;
        Some(format!("{}.{}", readable(&class.name), field.name))
    }

    fn thread_objects(&mut self, threads: Vec<LiveThread>) {
        for thread in threads {
            let flooded = self.flood.take_apart(thread.object);
            self.hold(HolderKind::Thread, thread.name, flooded);
        }
    }

    /// Threads that run, in the order of their names.
    fn threads(&mut self, jvm: &Jvm<'_>, objects: &[u64]) -> Vec<LiveThread> {
        let Some(fields) = ThreadFields::of(self.classes, &mut self.fields) else { return Vec::new() };
        let known: HashMap<u64, &JvmThread> =
            jvm.threads.iter().map(|thread| (thread.address, thread)).collect();
        let mut threads = Vec::new();
        for object in objects {
            let native = object.checked_add(fields.native).and_then(|at| self.flood.word(at));
            if let Some(thread) = native.and_then(|native| known.get(&native)) {
                let class = thread.java_class.as_deref().unwrap_or_default();
                threads.push(LiveThread {
                    object: *object,
                    name: name_of(thread),
                    is_of_program: thread.kind == ThreadKind::Java
                        && !OF_JDK.iter().any(|start| class.starts_with(start)),
                });
            }
        }
        threads.sort_unstable_by(|a, b| a.name.cmp(&b.name).then(a.object.cmp(&b.object)));
        threads
    }

    /// What the thread-locals of a thread hold, each by the field that has its `ThreadLocal`, or by the class of what it holds.
    fn thread_locals(&mut self, thread: u64, name: &str) {
        let Some(fields) = ThreadFields::of(self.classes, &mut self.fields) else { return };
        for map in fields.locals.clone() {
            let Some(table) = self.referred(thread, map).and_then(|map| self.referred(map, fields.table))
            else {
                continue;
            };
            let Some(array) = self.flood.object(table) else { continue };
            let Some(ClassKind::Array { header_bytes, .. }) =
                self.classes.get(array.class as usize).map(|class| class.kind)
            else {
                continue;
            };
            let step = self.flood.reference_bytes();
            for index in 0..(array.bytes.saturating_sub(header_bytes) / step).min(LOCALS_MAX) {
                let Some(entry) = self.referred(table, header_bytes + index * step) else { continue };
                let Some(value) = self.referred(entry, fields.value) else { continue };
                let field =
                    self.referred(entry, fields.referent).and_then(|key| self.locals.get(&key).cloned());
                let class =
                    self.flood.object(value).and_then(|object| self.classes.get(object.class as usize));
                let what = field.or_else(|| class.map(|class| readable(&class.name)));
                let flooded = self.flood.take(value);
                let of = if name == NAMELESS { "of a thread" } else { "of" };
                let name = what.map_or_else(|| name.to_owned(), |what| format!("{what} {of} {name}"));
                self.hold(HolderKind::ThreadLocal, name, flooded);
            }
        }
    }

    fn referred(&mut self, object: u64, offset: u64) -> Option<u64> {
        self.flood.referred(object.checked_add(offset)?)
    }

    /// Words that look like references: of a stack, of a table of references. Gives the bytes to which they lead.
    fn words(
        &mut self,
        source: &dyn MemorySource,
        range: Range<u64>,
        (kind, name): (HolderKind, &str),
    ) -> u64 {
        let mut bytes = 0_u64;
        for word in words_into(source, range, self.flood.starts.range()) {
            let flooded = self.flood.take(word);
            bytes = bytes.saturating_add(flooded.bytes);
            self.hold(kind, name.to_owned(), flooded);
        }
        bytes
    }

    /// Everything else that is written to: structures of the JVM, references of native code, references in compiled code.
    fn outside_heap(&mut self, source: &dyn MemorySource, jvm: &Jvm<'_>, native_roots: &NativeRoots) {
        let heap = jvm.heap.iter().flat_map(|heap| heap.reserved.iter().cloned());
        let tables = jvm.gc_tables.iter().map(|table| table.addresses.clone());
        // Its structure of each region has where that begins, which is where an object begins, too.
        let is_g1 = jvm.heap.as_ref().is_some_and(|heap| heap.collector == Collector::G1);
        let stacks = jvm.threads.iter().filter_map(|thread| thread.stack.clone());
        let of_others = native_roots.without.iter().cloned();
        let apart = joined(heap.chain(tables).chain(stacks).chain(of_others).collect());
        for mapping in source.mappings().iter().filter(|mapping| mapping.permissions[1] == b'w') {
            for part in without(&mapping.addresses, &apart) {
                let words = words_into(source, part, self.flood.starts.range());
                for word in words.into_iter().filter(|word| !(is_g1 && word.is_multiple_of(REGION_BYTES_MIN)))
                {
                    let flooded = self.flood.take(word);
                    self.unsure_bytes = self.unsure_bytes.saturating_add(flooded.bytes);
                    self.hold(HolderKind::Native, NATIVE.to_owned(), flooded);
                }
            }
        }
    }
}

/// Ranges in their order; those that overlap are one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// What is left of a range without others, which are sorted and apart from each other.
fn without(range: &Range<u64>, others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut parts = Vec::new();
    let mut at = range.start;
    let first = others.partition_point(|other| other.end <= range.start);
    for other in others[first..].iter().take_while(|other| other.start < range.end) {
        parts.push(at..other.start.max(at));
        at = at.max(other.end);
    }
    parts.push(at..range.end.max(at));
    parts.retain(|part| part.start < part.end);
    parts
}

/// The name of a thread whose name is not known: until JDK 8 nothing exported leads to it.
const NAMELESS: &str = "without a name";

/// The name of a thread without numbers: those of a pool are one holder.
fn name_of(thread: &JvmThread) -> String {
    without_numbers(thread.name.as_deref().unwrap_or(NAMELESS))
}

/// Of a class's chain of super classes: longer ones are not real.
const SUPERS_MAX: usize = 64;
/// Beginnings of the classes of threads that the JDK starts for itself. Those of pools are the program's.
const OF_JDK: [&str; 2] = ["jdk.internal.misc.InnocuousThread", "java.lang.ref."];

/// The aligned words of a range that lie in another one.
fn words_into(source: &dyn MemorySource, range: Range<u64>, into: &Range<u64>) -> Vec<u64> {
    let mut words = Vec::new();
    let mut buffer = WindowBuffer::default();
    for window in source.readable_pages().resident_in(range).flat_map(windows) {
        if let Some(bytes) = buffer.read(source, &window) {
            let (whole, _) = bytes.as_chunks::<8>();
            words.extend(
                whole.iter().map(|word| u64::from_le_bytes(*word)).filter(|word| into.contains(word)),
            );
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{joined, without};

    #[test]
    fn what_is_left_of_a_range_lies_between_the_others() {
        let left = |others: &[(u64, u64)]| -> Vec<(u64, u64)> {
            let others = joined(others.iter().map(|(start, end)| *start..*end).collect());
            without(&(10..50), &others).into_iter().map(|part| (part.start, part.end)).collect()
        };
        assert_eq!(left(&[(0, 12), (20, 30), (25, 28), (45, 60), (70, 80)]), [(12, 20), (30, 45)]);
        assert_eq!(left(&[]), [(10, 50)]);
        assert_eq!(left(&[(0, 100)]), []);
    }
}
