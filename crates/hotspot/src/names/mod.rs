//! Names of classes, for those who own memory: from a class's structure or from an object.

mod mark;
mod objects;
mod symbol;

pub use mark::MarkTrust;
pub(crate) use symbol::is_text;

use crate::Hotspot;
use crate::java_string::References;
use assay_linux::MemorySource;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Classes whose facts are kept.
const CLASSES_MAX: usize = 1 << 18;
const PROBLEM: &str = "names";
/// The variable in which the JVM keeps where a `java.lang.ref.Reference` has its referent; JDK 14 put the underscore in front.
const REFERENT: [&str; 2] =
    ["_ZN23java_lang_ref_Reference16_referent_offsetE", "_ZN23java_lang_ref_Reference15referent_offsetE"];
/// Super classes of one class.
const SUPER_CLASSES_MAX: usize = 64;

/// Reads names of classes. Facts of a class are read once and kept; the rest is read when asked.
pub struct Names<'m> {
    source: &'m dyn MemorySource,
    symbol: Option<SymbolLayout>,
    klass: Option<KlassLayout>,
    object: ObjectLayout,
    mirrored: Option<u64>,
    referent: Option<u64>,
    classes: Mutex<HashMap<u64, Option<Arc<Class>>>>,
}

/// Where `Symbol` has its fields.
#[derive(Debug, Clone, Copy)]
struct SymbolLayout {
    /// Absent in releases where hash and count are apart (JDK 8).
    hash_and_count: Option<u64>,
    length: u64,
    body: u64,
}

/// Where `Klass` has its fields.
#[derive(Debug, Clone, Copy)]
struct KlassLayout {
    layout_helper: u64,
    name: u64,
    super_class: Option<u64>,
    /// Of a class that has instances: how many words its static fields take.
    static_words: Option<u64>,
}

/// How objects point at their class, and what arrays look like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectLayout {
    pub(crate) word_bytes: u64,
    pub(crate) class_pointer: Option<ClassPointer>,
    /// Objects are aligned to this.
    pub(crate) alignment_bytes: u64,
    /// Where an object of class `java.lang.Class` holds its size in words.
    pub(crate) mirror_size: Option<u64>,
    /// Tells references from headers, where these are compact; see [`ObjectLayout::class_in_mark`].
    pub(crate) references: Option<References>,
}

impl ObjectLayout {
    /// What the first word of an object with a compact header says of its class; `None` for a reference.
    ///
    /// To a small heap all references of ZGC have the same upper bits. As a class pointer they lead to one place of the class space, 16 MiB
    /// from its start, which is where the program's own classes begin: each element of an array looked like an object. Held by:
    /// `holders_are_found_where_headers_are_compact_and_references_coloured`.
    #[inline]
    pub(crate) fn class_in_mark(&self, mark: u64, from_bit: u32) -> Option<u64> {
        let is_reference = self.references.as_ref().is_some_and(|references| references.is_coloured(mark));
        (!is_reference).then_some(mark >> from_bit)
    }
}

/// How an object points at its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClassPointer {
    /// A whole word at this offset.
    Full(u64),
    /// 32 bits at this offset: base and shift.
    Narrow { offset: u64, base: u64, shift: u32 },
    /// The upper bits of the first word: from which bit on; base and shift.
    InMark { from_bit: u32, base: u64, shift: u32 },
}

/// Facts of a class.
#[derive(Debug, PartialEq, Eq)]
struct Class {
    /// As the JVM spells it for people: `java.nio.DirectByteBuffer`, `[I`.
    name: String,
    layout_helper: i32,
}

impl<'m> Hotspot<'m> {
    /// Names of classes and symbols. Names that the release does not export are missing, and a problem says so.
    pub fn names(&self) -> Names<'m> {
        let structs = self.structs();
        let symbol = || {
            Some(SymbolLayout {
                hash_and_count: structs.offset("Symbol", "_hash_and_refcount"),
                length: structs.offset("Symbol", "_length")?,
                body: structs.first_offset(&[("Symbol", "_body"), ("Symbol", "_body[0]")])?,
            })
        };
        let klass = || {
            Some(KlassLayout {
                layout_helper: structs.offset("Klass", "_layout_helper")?,
                name: structs.offset("Klass", "_name")?,
                super_class: structs.offset("Klass", "_super"),
                static_words: structs.offset("InstanceKlass", "_static_field_size"),
            })
        };
        let names = Names {
            source: self.source(),
            symbol: symbol(),
            klass: klass(),
            object: self.object_layout(),
            mirrored: structs
                .static_address("java_lang_Class", "_klass_offset")
                .and_then(|at| self.source().u32(at))
                .map(u64::from),
            referent: REFERENT.iter().find_map(|variable| self.java_offset(variable)),
            classes: Mutex::default(),
        };
        if names.symbol.is_none() || names.klass.is_none() {
            self.problem(PROBLEM, "this release exports another structure of classes: owners have no names");
        }
        names
    }
}

impl Names<'_> {
    /// The external name of a class, for example `java.nio.DirectByteBuffer` or `[Ljava.lang.String;`, as a class
    /// histogram spells it. `None` when no class lies there.
    pub fn class_of_klass(&self, klass: u64) -> Option<String> {
        self.class(klass).map(|class| class.name.clone())
    }

    /// The external name of the class that an object of class `java.lang.Class` stands for; `None` for primitive types.
    pub fn class_of_mirror(&self, object: u64) -> Option<String> {
        self.class_of_klass(self.source.word(object.checked_add(self.mirrored?)?)?)
    }

    /// Whether the field at an offset of objects of a class keeps nothing alive: the referent of a `java.lang.ref.Reference`.
    pub fn is_weak_at(&self, klass: u64, offset: u64) -> bool {
        if self.referent != Some(offset) {
            return false;
        }
        let above = |klass: &u64| {
            let at = klass.checked_add(self.klass?.super_class?)?;
            self.source.word(at).filter(|klass| *klass != 0)
        };
        std::iter::successors(Some(klass), above)
            .take(SUPER_CLASSES_MAX)
            .any(|klass| self.class(klass).is_some_and(|class| class.name == "java.lang.ref.Reference"))
    }

    fn class(&self, klass: u64) -> Option<Arc<Class>> {
        if let Ok(classes) = self.classes.lock()
            && let Some(class) = classes.get(&klass)
        {
            return class.clone();
        }
        let class = self.read_class(klass).map(Arc::new);
        if let Ok(mut classes) = self.classes.lock()
            && classes.len() < CLASSES_MAX
        {
            classes.insert(klass, class.clone());
        }
        class
    }

    fn read_class(&self, klass: u64) -> Option<Class> {
        let layout = self.klass?;
        if klass == 0 || !klass.is_multiple_of(self.object.word_bytes) {
            return None;
        }
        let layout_helper = self.source.u32(klass.checked_add(layout.layout_helper)?)?.cast_signed();
        let name = external_name(&self.symbol_named(klass, layout)?);
        self.ends_in_object(klass, layout).then_some(Class { name, layout_helper })
    }

    fn symbol_named(&self, klass: u64, layout: KlassLayout) -> Option<String> {
        self.symbol_at(self.source.word(klass.checked_add(layout.name)?)?)
    }

    /// Whether the way from a class to its super classes ends in `java.lang.Object`, as that of each class, interface and array does. Where
    /// objects were (ZGC leaves them where it has moved them away), any number may look like a class pointer, and much of the metaspace refers
    /// to symbols where a class has its name: buffers were "held by `()Z`". Held by: `nothing_but_classes_is_taken_for_a_class`.
    fn ends_in_object(&self, klass: u64, layout: KlassLayout) -> bool {
        let Some(super_class) = layout.super_class else { return true };
        let mut last = klass;
        for _ in 0..SUPER_CLASSES_MAX {
            match last.checked_add(super_class).and_then(|at| self.source.word(at)) {
                Some(0) => return self.symbol_named(last, layout).as_deref() == Some("java/lang/Object"),
                Some(above) if above.is_multiple_of(self.object.word_bytes) => last = above,
                _ => return false,
            }
        }
        false
    }
}

/// The name for people from the JVM's own.
///
/// Folklore: a hidden class is `a/b/C+0x00007f...` inside and `a.b.C/0x00007f...` outside. Held by:
/// `names_are_spelt_as_for_people`.
pub(crate) fn external_name(internal: &str) -> String {
    match internal.rsplit_once('+') {
        Some((class, address)) if address.starts_with("0x") => {
            format!("{}/{address}", class.replace('/', "."))
        }
        _ => internal.replace('/', "."),
    }
}

#[cfg(test)]
mod tests {
    use super::external_name;

    #[test]
    fn names_are_spelt_as_for_people() {
        assert_eq!(external_name("java/nio/DirectByteBuffer"), "java.nio.DirectByteBuffer");
        assert_eq!(external_name("[Ljava/lang/String;"), "[Ljava.lang.String;");
        assert_eq!(external_name("a/Lambda$14+0x00007f0001"), "a.Lambda$14/0x00007f0001");
        assert_eq!(external_name("a/b+c"), "a.b+c");
    }
}
