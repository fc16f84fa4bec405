//! Which Java object a pointer in the heap belongs to.

use super::rules::of_java_class;
use crate::entry_table::{EntryId, EntryTable};
use crate::jvm::Jvm;
use assay_hotspot::MarkTrust;
use assay_model::{Area, FigureSource};
use std::ops::Range;

/// How far before a pointer the object that holds it may begin, if it is not an array.
pub(super) const OBJECT_BYTES: u64 = 256;
/// The same for arrays of addresses, as off-heap caches keep them. Once an array is found, all of it is known.
pub(super) const ARRAY_BYTES: u64 = 64 << 10;
/// No object that holds an address is larger, but arrays of numbers and the mirrors of classes, which hold their statics.
/// Other bytes may look like the header of an object of any size, which would take all pointers behind them for its own:
/// in one of fifty JVMs with 4,000 buffers most of these had a symbol or an array of references for a holder.
const INSTANCE_BYTES_MAX: u64 = 4 << 10;
/// Looks at what may be an object that one search takes: where most pointers have no holder, looking farther costs most.
const LOOKUPS_MAX: u32 = 1 << 18;

/// A search for the objects around addresses, which come in rising order.
pub(super) struct Holders<'a, 'm> {
    jvm: &'a Jvm<'m>,
    /// No object begins before.
    start: u64,
    reach_bytes: u64,
    /// Whether it is references that lie in the objects, and not addresses.
    is_of_references: bool,
    lookups_left: u32,
    last: Option<(Range<u64>, u64)>,
}

impl<'a, 'm> Holders<'a, 'm> {
    pub(super) fn new(jvm: &'a Jvm<'m>, start: u64, reach_bytes: u64) -> Self {
        Holders { jvm, start, reach_bytes, is_of_references: false, lookups_left: LOOKUPS_MAX, last: None }
    }

    /// For addresses of references.
    pub(super) fn of_references(jvm: &'a Jvm<'m>, start: u64) -> Self {
        Holders { is_of_references: true, ..Holders::new(jvm, start, ARRAY_BYTES) }
    }

    /// The class of the object around an address.
    pub(super) fn klass_at(&mut self, address: u64) -> Option<u64> {
        self.object_at(address).map(|(_, klass)| klass)
    }

    /// The object around an address, and its class: the nearest one before it that reaches that far.
    pub(super) fn object_at(&mut self, address: u64) -> Option<(Range<u64>, u64)> {
        if let Some((object, klass)) = &self.last
            && object.contains(&address)
        {
            return Some((object.clone(), *klass));
        }
        let names = &self.jvm.names;
        let reach_bytes = if self.lookups_left == 0 { OBJECT_BYTES } else { self.reach_bytes };
        // Behind the object found last: another lies between.
        let behind = self.last.as_ref().map_or(0, |(object, _)| object.end);
        let earliest = address.saturating_sub(reach_bytes).max(self.start).max(behind);
        let mut object = address & !7;
        let mut unsure = None;
        while earliest <= object {
            self.lookups_left = self.lookups_left.saturating_sub(1);
            if let Some((end, klass)) = self.object_from(object).filter(|(end, _)| address < *end) {
                let found = Some((object..end, klass));
                match names.mark_trust(object, |word| self.is_in_heap(word)) {
                    Some(MarkTrust::Sure) => {
                        self.last = found;
                        return self.last.clone();
                    }
                    // Unless it lies in an object.
                    Some(MarkTrust::Unsure) => unsure = unsure.or(found),
                    None => {}
                }
            }
            let Some(before) = object.checked_sub(8) else { break };
            object = before;
        }
        self.last = unsure.or_else(|| self.last.take());
        self.last.clone().filter(|(object, _)| object.contains(&address))
    }

    /// The end of what may be an object, and its class.
    fn object_from(&self, object: u64) -> Option<(u64, u64)> {
        let names = &self.jvm.names;
        let klass = names.klass_of_object(object)?;
        let end = object.checked_add(names.instance_bytes(object)?)?;
        (end - object <= INSTANCE_BYTES_MAX || self.may_be_large(klass)).then_some((end, klass))
    }

    fn is_in_heap(&self, address: u64) -> bool {
        let reserved = self.jvm.heap.iter().flat_map(|heap| &heap.reserved);
        reserved.into_iter().any(|range| range.contains(&address))
    }

    fn may_be_large(&self, klass: u64) -> bool {
        let name = self.jvm.names.class_of_klass(klass);
        let is_large = |name: &str| match name.strip_prefix('[') {
            Some(element) => (element.len() == 1) != self.is_of_references,
            None => name == "java.lang.Class",
        };
        name.is_some_and(|name| is_large(&name))
    }
}

/// The entry for native memory of a class's objects.
pub(super) fn entry_of_class(class: &str, entries: &mut EntryTable) -> EntryId {
    if let Some((area, entry)) = of_java_class(class) {
        return entries.entry(area, &[entry], FigureSource::Pointers);
    }
    entries.entry(Area::Buffers, &[kind_of_class(class)], FigureSource::Pointers)
}

/// Memory that the JDK allocated for a buffer, and frees: what `MaxDirectMemorySize` counts.
pub(crate) const DIRECT_BUFFERS: &str = "java.nio.DirectByteBuffer";
/// Memory that a buffer leads to and that somebody else allocated: native code that hands out a buffer as its handle (`NewDirectByteBuffer`),
/// with all that the handle's memory leads to, or a library that manages buffers itself.
pub(crate) const BEHIND_BUFFERS: &str = "native memory behind java.nio.DirectByteBuffer";
/// The place of a holder where there is none in the heap: the buffers are dead, unless a stack or native code holds them.
pub(crate) const NO_HOLDER: &str = "no object holds it";
/// The same of a process that ran on meanwhile: a list that grew may have its array on a page that was not there when reading began.
pub(crate) const NO_HOLDER_SEEN: &str = "perhaps no object holds it";

/// Whether what stands in the place of a holder says that there is none.
pub(crate) fn is_no_holder(holder: &str) -> bool {
    [NO_HOLDER, NO_HOLDER_SEEN].contains(&holder)
}

/// The kind of memory that objects of a class hold.
pub(super) fn kind_of_class(class: &str) -> String {
    let name = readable(class);
    if is_of_program(class) {
        return name;
    }
    // What frees a buffer's memory alone shows that the JDK allocated it.
    if class.starts_with("java.nio.") && class.contains("Deallocator") {
        return DIRECT_BUFFERS.to_owned();
    }
    // The cleaner of a buffer, a reference to an inflater's stream: what people know of the JDK is the class around it.
    match name.split('$').next() {
        Some(outer) if outer.starts_with("java.nio.Direct") => BEHIND_BUFFERS.to_owned(),
        Some(outer) if outer.starts_with("jdk.internal.foreign") => {
            "java.lang.foreign.MemorySegment".to_owned()
        }
        Some(outer) => outer.to_owned(),
        None => name,
    }
}

/// Classes of the JDK that are an answer themselves: who looks for the holder finds what to do in their name.
const JDK_HOLDERS: [(&str, &str); 6] = [
    // What each thread keeps of the buffers through which it reads and writes.
    (NIO_THREAD_CACHE, NIO_THREAD_CACHE),
    // The inflaters that an open jar keeps for the next entry; of JDK 8 and of its subclasses the object itself has them.
    ("java.util.zip.ZipFile$CleanableResource", OPEN_JARS),
    (OPEN_JARS, OPEN_JARS),
    ("java.util.jar.JarFile", OPEN_JARS),
    ("sun.net.www.protocol.jar.URLJarFile", OPEN_JARS),
    ("java.lang.ThreadLocal$ThreadLocalMap", "java.lang.ThreadLocal"),
];

/// Holds the buffers that I/O on heap buffers leaves in each thread.
pub(crate) const NIO_THREAD_CACHE: &str = "sun.nio.ch.Util$BufferCache";
/// Holds the inflaters of open jars and other zip files, for their next entries.
pub(crate) const OPEN_JARS: &str = "java.util.zip.ZipFile";

/// The holder that an object of this class is, if it is one: a class of the program, or one of the JDK that people can act on.
pub(super) fn holder_of_class(class: &str) -> Option<&str> {
    let of_jdk = || JDK_HOLDERS.iter().find(|(name, _)| *name == class).map(|(_, holder)| *holder);
    if is_of_program(class) { Some(class) } else { of_jdk() }
}

/// Beginnings of the names of the JDK's own classes.
const OF_JDK: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// Whether a class is one of the program or its libraries. Arrays are nobody's.
pub(crate) fn is_of_program(class: &str) -> bool {
    !class.starts_with('[') && !class.ends_with("[]") && OF_JDK.iter().all(|start| !class.starts_with(start))
}

/// The name of a class as it is written in a program: `[J` is `long[]`, and code in `App` that has no name is `App`.
pub(crate) fn readable(class: &str) -> String {
    let class = class.split("$$Lambda").next().unwrap_or(class);
    let element = class.trim_start_matches('[');
    let dimensions = class.len() - element.len();
    let element = match element {
        _ if dimensions == 0 => element,
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        _ => element.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(element),
    };
    format!("{element}{}", "[]".repeat(dimensions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_named_as_programs_write_them() {
        let names = [
            ("[J", "long[]"),
            ("[[I", "int[][]"),
            ("[Ljava.lang.Object;", "java.lang.Object[]"),
            ("java.util.zip.Inflater", "java.util.zip.Inflater"),
            ("J", "J"),
            ("app.Cache$Entry", "app.Cache$Entry"),
            ("app.Cache$$Lambda$14/0x00007f0001", "app.Cache"),
            ("[", "[]"),
        ];
        for (class, name) in names {
            assert_eq!(readable(class), name);
        }
    }
}
