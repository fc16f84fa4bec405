//! The Java object that stands for a thread: its class, and its name.

use super::{ThreadReader, is_shortened};
use crate::java_string::References;
use assay_jdk::Collector;
use assay_jdk::release::ThreadObject;

const STRING: &str = "java.lang.String";
/// The classes of its characters, since JDK 9 and before.
const CHARACTERS: [&str; 2] = ["[B", "[C"];
/// How often a name is read while a collector moves the objects that it consists of.
const READS_MAX: u32 = 8;

/// Where the objects are that lead to a thread's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadNamePath {
    /// Of class `java.lang.Thread`, or of a class below it.
    object: u64,
    name: Option<Name>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name {
    string: u64,
    /// `None`: there are none.
    characters: Option<u64>,
    /// Whether what leads to it may be out of date.
    may_be_old: bool,
}

impl ThreadReader<'_, '_> {
    /// The class of a thread's Java object.
    pub(super) fn java_class_of_thread(&self, thread: u64) -> Option<String> {
        self.java_class(self.java_object(self.references.as_ref()?, thread)?)
    }

    /// The class of a thread's Java object, and the thread's name.
    ///
    /// ZGC moves objects while the program runs, and soon gives their place to others: what was read counts when all of these objects
    /// were at the same place afterwards. Other collectors stop the program for that, but not who looks at it: what was read does not
    /// count when the thread has its object elsewhere afterwards.
    pub(super) fn java_class_and_name(&self, thread: u64, tid: u32) -> (Option<String>, Option<String>) {
        let is_moved_meanwhile = self.hotspot.collector() == Some(Collector::Z);
        let way = || {
            let todays = is_moved_meanwhile.then(|| References::of(self.hotspot)).flatten();
            let references = todays.or(self.references)?;
            Some((references, self.way(&references, thread)?))
        };
        let mut before = way();
        for _ in 0..READS_MAX {
            let Some((references, found)) = before else { break };
            let class = self.java_class(found.object);
            let name = found.name.and_then(|name| self.java_name(&references, name, class.is_some(), tid));
            if !is_moved_meanwhile {
                return if self.has_moved_object(thread) { (None, None) } else { (class, name) };
            }
            let after = way();
            if after.is_some_and(|(_, after)| after == found) {
                return (class, name);
            }
            before = after;
        }
        (None, None)
    }

    fn way(&self, references: &References, thread: u64) -> Option<ThreadNamePath> {
        let object = self.java_object(references, thread)?;
        Some(ThreadNamePath { object, name: self.name_of(references, object) })
    }

    fn name_of(&self, references: &References, object: u64) -> Option<Name> {
        let hotspot = self.hotspot;
        let string_at = object.checked_add(self.name_offset?)?;
        let string = hotspot.referred(references, string_at)?;
        let characters_at = hotspot.string_value(string)?;
        let may_be_old = |at| hotspot.source().word(at).is_none_or(|word| references.may_be_old(word));
        Some(Name {
            string,
            characters: hotspot.referred(references, characters_at),
            may_be_old: may_be_old(string_at) || may_be_old(characters_at),
        })
    }

    /// The object of class `java.lang.Thread`, or of a class below it, of a thread.
    fn java_object(&self, references: &References, thread: u64) -> Option<u64> {
        let source = self.hotspot.source();
        references.of_word(source, source.word(self.reference_to_object(thread)?)?)
    }

    /// Whether a thread refers to its object in another way than when that was read.
    fn has_moved_object(&self, thread: u64) -> bool {
        let source = self.hotspot.source();
        self.reference_to_object(thread).is_some_and(|at| source.word(at) != source.word_anew(at))
    }

    /// Where the reference to a thread's object lies.
    fn reference_to_object(&self, thread: u64) -> Option<u64> {
        let hotspot = self.hotspot;
        let place = hotspot.place(thread, &[("JavaThread", "_threadObj")])?;
        // A handle points at a word outside of the heap that refers to the object; in older releases the field did.
        let is_handle = hotspot.release()?.jvm.thread_object == ThreadObject::Handle;
        if is_handle { hotspot.source().word(place).filter(|handle| *handle != 0) } else { Some(place) }
    }

    fn java_class(&self, object: u64) -> Option<String> {
        let names = self.names.as_ref()?;
        names.class_of_klass(names.klass_of_object(object)?)
    }

    /// Folklore: ZGC leaves the reference to a name that it has moved as it was until the next collection, and so does the name with
    /// its characters; where they lead may be reused already, and is then no string, an empty one, or another. Where it is unknown where
    /// they are now, such a name must be the one that the kernel has. Held by: `every_thread_that_the_jvm_prints_has_its_role`.
    fn java_name(&self, references: &References, name: Name, has_class: bool, tid: u32) -> Option<String> {
        if has_class {
            let is_string = self.java_class(name.string).as_deref() == Some(STRING);
            let characters = self.java_class(name.characters?)?;
            if !is_string || !CHARACTERS.contains(&characters.as_str()) {
                return None;
            }
        }
        let text = self.hotspot.java_string(references, name.string).filter(|text| !text.contains('\0'))?;
        (!name.may_be_old || self.kernel_has(tid, &text)).then_some(text)
    }

    /// Whether the kernel's name of a thread is that of a Java thread of this name: its beginning, since JDK 28 the two ends of one that
    /// is too long. The first Java thread, and others that the program's own code attached, have one that says nothing: the process's.
    fn kernel_has(&self, tid: u32, name: &str) -> bool {
        let Some(kernel_name) = self.kernel_names.get(&tid).copied() else { return false };
        is_shortened(kernel_name, name) || self.process_name == Some(kernel_name)
    }
}
