//! All classes of a JVM: found by the lists of its class loaders, so that a word of the heap can be recognised
//! from a class pointer, and a class that is unloaded from one that is not.

use super::backed::Backed;
use crate::Hotspot;
use crate::names::{ClassPointer, ObjectLayout, external_name, is_text};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Mutex;

/// Class loaders; hidden classes have one each.
const LOADERS_MAX: usize = 1 << 20;
/// Classes whose facts are kept.
const CLASSES_MAX: usize = 1 << 18;
/// Fields of a class that are read here lie within so many bytes.
const CLASS_BYTES_MAX: u64 = 1024;
/// An instance: fields of 65,535 declarations in a chain of super classes are far less.
const INSTANCE_BYTES_MAX: u64 = 16 << 20;
/// Types of elements by their number in the class file format, from 4 on; references follow.
const ELEMENTS: &[u8; 9] = b"ZCFDBSIJL";
const PROBLEM: &str = "classes";

/// What objects of a class look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    /// Instances of one size.
    Instance {
        /// Size in bytes, alignment included.
        bytes: u64,
    },
    /// `java.lang.Class`: its objects hold the statics of the classes they stand for, and their own size.
    Mirror {
        /// Size in bytes without statics.
        bytes: u64,
    },
    /// A part of a virtual thread's stack: its objects hold their own size.
    StackChunk {
        /// Size in bytes of an empty one.
        bytes: u64,
    },
    /// Arrays.
    Array {
        /// Where the elements begin, in bytes.
        header_bytes: u64,
        /// Binary logarithm of an element's size in bytes.
        element_log2: u32,
        /// First letter of the element's type in class files: `I` for int, `L` for every reference.
        element: u8,
    },
}

/// A class of a running JVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeapClass {
    /// Where its structure is.
    pub address: u64,
    /// As the JVM spells it for people: `java.util.HashMap$Node`, `[I`, `[Ljava.lang.String;`.
    pub name: String,
    /// Its super class; `None` for `java.lang.Object`, and where it is not among the classes.
    pub super_class: Option<u32>,
    /// What its objects look like.
    pub kind: ClassKind,
    /// Whether it is in the archive of class data only: objects were archived with it, and nothing has loaded it.
    pub is_dormant: bool,
    super_address: u64,
    pub(super) name_symbol: u64,
}

/// The classes of a JVM.
pub struct HeapClasses<'m> {
    pub(super) backed: Backed<'m>,
    pub(super) layout: ClassLayout,
    pub(super) object: ObjectLayout,
    loaded: Vec<HeapClass>,
    by_address: HashMap<u64, u32>,
    archive: Range<u64>,
    /// Classes of the archive that were met in the heap without being loaded; their numbers follow those of the loaded.
    dormant: Mutex<Vec<HeapClass>>,
}

/// Where `Klass` and `Symbol` have their fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassLayout {
    layout_helper: u64,
    pub(super) name: u64,
    super_class: u64,
    next: u64,
    mirror: u64,
    /// All of the above are within so many bytes.
    span: u64,
    pub(super) symbol_length: u64,
    pub(super) symbol_body: u64,
}

impl ClassLayout {
    fn of(hotspot: &Hotspot<'_>) -> Option<ClassLayout> {
        let structs = hotspot.structs();
        let klass =
            |field| hotspot.offset(&[("Klass", field)]).filter(|offset| *offset < CLASS_BYTES_MAX - 8);
        let mut layout = ClassLayout {
            layout_helper: klass("_layout_helper")?,
            name: klass("_name")?,
            super_class: klass("_super")?,
            next: klass("_next_link")?,
            mirror: klass("_java_mirror")?,
            span: 0,
            symbol_length: structs.offset("Symbol", "_length").filter(|offset| *offset < 64)?,
            symbol_body: structs
                .first_offset(&[("Symbol", "_body"), ("Symbol", "_body[0]")])
                .filter(|offset| *offset < 64)?,
        };
        let ends = [layout.layout_helper, layout.name, layout.super_class, layout.next, layout.mirror];
        layout.span = ends.into_iter().max()? + 8;
        Some(layout)
    }
}

impl<'m> Hotspot<'m> {
    /// All loaded classes; `None` where the release does not export the lists (a problem says so).
    ///
    /// A class is known by the list of its class loader. On a running process a class that is loaded or unloaded
    /// meanwhile may be missing.
    pub fn heap_classes(&self) -> Option<HeapClasses<'m>> {
        let layout = ClassLayout::of(self);
        let head = self.static_pointer(&[("ClassLoaderDataGraph", "_head")]);
        let object = self.object_layout();
        let known = layout.zip(head).filter(|_| object.class_pointer.is_some());
        let Some((layout, head)) = known else {
            self.problem(
                PROBLEM,
                "this release does not export the lists of classes, or how objects point at them",
            );
            return None;
        };
        let mut classes = HeapClasses {
            backed: Backed::new(self.source()),
            layout,
            object,
            loaded: Vec::new(),
            by_address: HashMap::new(),
            archive: self.archive_bounds().unwrap_or(0..0),
            dormant: Mutex::default(),
        };
        classes.read_loaders(self, head);
        Some(classes)
    }
}

impl HeapClasses<'_> {
    /// How many there are by now. Classes of the archive that are met in the heap come behind the loaded ones.
    pub fn len(&self) -> usize {
        self.loaded.len() + self.dormant.lock().map_or(0, |dormant| dormant.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, by their numbers.
    pub fn all(&self) -> Vec<HeapClass> {
        let mut all = self.loaded.clone();
        if let Ok(dormant) = self.dormant.lock() {
            all.extend(dormant.iter().cloned());
        }
        all
    }

    pub(super) fn loaded(&self) -> &[HeapClass] {
        &self.loaded
    }

    /// The number of the class whose structure is at an address: a loaded one, or one of the archive.
    pub(super) fn number_at(&self, address: u64) -> Option<(u32, ClassKind)> {
        if let Some(number) = self.by_address.get(&address) {
            return Some((*number, self.loaded.get(*number as usize)?.kind));
        }
        if !self.archive.contains(&address) {
            return None;
        }
        let mut dormant = self.dormant.lock().ok()?;
        let first = self.loaded.len();
        let known = dormant.iter().position(|class| class.address == address);
        let at = match known {
            Some(at) => at,
            None => {
                if CLASSES_MAX <= dormant.len() {
                    return None;
                }
                let (mut class, _) = self.read_class(address, true)?;
                class.super_class = self.by_address.get(&class.super_address).copied();
                dormant.push(class);
                dormant.len() - 1
            }
        };
        Some((u32::try_from(first + at).ok()?, dormant.get(at)?.kind))
    }

    fn read_loaders(&mut self, hotspot: &Hotspot<'_>, head: u64) {
        let offset = |field| hotspot.offset(&[("ClassLoaderData", field)]);
        let offsets = offset("_next").zip(offset("_klasses"));
        let Some((next, klasses)) = offsets else {
            hotspot.problem(PROBLEM, "this release does not export the lists of classes");
            return;
        };
        let word =
            |at: u64, offset: u64| at.checked_add(offset).and_then(|at| self.backed.word(at)).unwrap_or(0);
        let (mut loaders, mut seen) = (HashSet::new(), HashSet::new());
        let (mut loaded, mut unread) = (Vec::new(), 0_u64);
        let mut data = head;
        while data != 0 && loaders.len() < LOADERS_MAX && loaders.insert(data) {
            let mut klass = word(data, klasses);
            while klass != 0
                && loaded.len() < CLASSES_MAX
                && seen.len() < 2 * CLASSES_MAX
                && seen.insert(klass)
            {
                match self.read_class(klass, false) {
                    Some((class, behind)) => {
                        loaded.push(class);
                        klass = behind;
                    }
                    None => {
                        unread += 1;
                        klass = word(klass, self.layout.next);
                    }
                }
            }
            data = word(data, next);
        }
        if unread != 0 {
            hotspot.problem(PROBLEM, format!("{unread} classes could not be read"));
        }
        if loaded.len() == CLASSES_MAX {
            hotspot.problem(PROBLEM, format!("there are more than {CLASSES_MAX} classes"));
        }
        self.by_address = loaded.iter().map(|class| class.address).zip(0..).collect();
        for class in &mut loaded {
            class.super_class = self.by_address.get(&class.super_address).copied();
        }
        self.loaded = loaded;
    }

    /// A class's facts, and the next class of its loader. A dormant class has no mirror.
    fn read_class(&self, address: u64, is_dormant: bool) -> Option<(HeapClass, u64)> {
        let word_bytes = self.object.word_bytes;
        if address == 0 || !address.is_multiple_of(word_bytes) {
            return None;
        }
        let mut bytes = [0; CLASS_BYTES_MAX as usize];
        let bytes = bytes.get_mut(..self.layout.span as usize)?;
        self.backed.read(address, bytes).ok()?;
        let word = |offset: u64| {
            let mut word = [0; 8];
            let from = bytes.get(offset as usize..(offset + word_bytes) as usize)?;
            word[..from.len()].copy_from_slice(from);
            Some(u64::from_le_bytes(word))
        };
        let helper = bytes.get(self.layout.layout_helper as usize..)?.first_chunk()?;
        let name_symbol = word(self.layout.name)?;
        let name = external_name(&self.symbol(name_symbol)?);
        let mirror = word(self.layout.mirror)?;
        if is_dormant && mirror != 0 && self.backed.word(mirror).is_some_and(|object| object != 0) {
            return None;
        }
        let class = HeapClass {
            address,
            kind: self.kind(i32::from_le_bytes(*helper), &name)?,
            name,
            super_class: None,
            is_dormant,
            super_address: word(self.layout.super_class)?,
            name_symbol,
        };
        Some((class, word(self.layout.next)?))
    }

    /// From the layout helper (`Klass::_lh_*`): of arrays it holds the header's size from bit 16 on, the element's type
    /// from bit 8 on and the size of elements from bit 0 on; of others the size of an instance, but for its lowest bit.
    fn kind(&self, helper: i32, name: &str) -> Option<ClassKind> {
        if helper < 0 {
            let bits = helper.cast_unsigned();
            let (header_bytes, element_log2) = (u64::from(bits >> 16 & 0xff), bits & 0x3f);
            let element = *ELEMENTS.get((bits >> 8 & 0xff).checked_sub(4)? as usize)?;
            let is_possible = element_log2 <= 3 && 8 <= header_bytes;
            return is_possible.then_some(ClassKind::Array { header_bytes, element_log2, element });
        }
        let bytes = u64::from((helper & !1).cast_unsigned());
        let bytes = bytes.checked_next_multiple_of(self.object.alignment_bytes)?;
        if INSTANCE_BYTES_MAX < bytes {
            return None;
        }
        Some(match name {
            "java.lang.Class" => ClassKind::Mirror { bytes },
            "jdk.internal.vm.StackChunk" => ClassKind::StackChunk { bytes },
            _ => ClassKind::Instance { bytes },
        })
    }

    /// The text of a symbol.
    pub(super) fn symbol(&self, address: u64) -> Option<String> {
        let body = address.checked_add(self.layout.symbol_body)?;
        let length = self.backed.u16(address.checked_add(self.layout.symbol_length)?)?;
        let mut text = vec![0; usize::from(length)];
        self.backed.read(body, &mut text).ok()?;
        is_text(&text).then(|| String::from_utf8_lossy(&text).into_owned())
    }

    /// The word with which objects point at a class, as it is in their header; `None` when none can point there.
    pub(super) fn pointer_to(&self, class: u64) -> Option<u64> {
        match self.object.class_pointer? {
            ClassPointer::Full(_) => Some(class),
            ClassPointer::Narrow { base, shift, .. } | ClassPointer::InMark { base, shift, .. } => {
                let offset = class.checked_sub(base)?;
                (offset.trailing_zeros() >= shift && offset >> shift <= u64::from(u32::MAX))
                    .then_some(offset >> shift)
            }
        }
    }

    /// The class that a word in a header points at.
    pub(super) fn pointed_at(&self, pointer: u64) -> Option<u64> {
        match self.object.class_pointer? {
            ClassPointer::Full(_) => Some(pointer),
            ClassPointer::Narrow { base, shift, .. } | ClassPointer::InMark { base, shift, .. } => {
                base.checked_add(pointer.checked_mul(1 << shift)?)
            }
        }
    }
}
