//! From a Java object to its class and its size.

use super::mark::{MarkTrust, mark_trust};
use super::{ClassPointer, Names, ObjectLayout};
use crate::Hotspot;

/// Where the class begins in the header of a compact object (JDK 24 and later).
const CLASS_FROM_BIT: i64 = 42;
/// Of the layout helper: whether an instance's size needs another look, or the size is that of each instance.
const SLOW_PATH_BIT: i32 = 1;
/// Elements have 1, 2, 4 or 8 bytes.
const ELEMENT_LOG2_MAX: u32 = 3;

impl Hotspot<'_> {
    pub(crate) fn object_layout(&self) -> ObjectLayout {
        let (structs, source) = (self.structs(), self.source());
        let word_bytes = self.symbols().word_bytes();
        let alignment = self.flags().uint("ObjectAlignmentInBytes");
        let mirror_size = structs.static_address("java_lang_Class", "_oop_size_offset");
        let class_pointer = self.class_pointer();
        let is_compact = matches!(class_pointer, Some(ClassPointer::InMark { .. }));
        ObjectLayout {
            word_bytes,
            class_pointer,
            alignment_bytes: alignment.filter(|bytes| (8..=256).contains(bytes)).unwrap_or(8),
            mirror_size: mirror_size.and_then(|at| source.u32(at)).map(u64::from),
            references: is_compact.then(|| self.references()).flatten(),
        }
    }

    fn class_pointer(&self) -> Option<ClassPointer> {
        let (structs, source) = (self.structs(), self.source());
        let full = structs.first_offset(&[("oopDesc", "_metadata._klass")]);
        if self.symbols().word_bytes() == 4 {
            return full.map(ClassPointer::Full);
        }
        let of_narrow = |field| {
            structs.first_static_address(&[
                ("CompressedKlassPointers", field),
                ("CompressedKlassPointers", &format!("_narrow_klass.{field}")),
                ("Universe", &format!("_narrow_klass.{field}")),
            ])
        };
        let base = of_narrow("_base").and_then(|at| source.u64(at));
        let shift = of_narrow("_shift").and_then(|at| source.u32(at)).filter(|shift| *shift < 32);
        let narrow = base.zip(shift);
        if self.flags().bool("UseCompactObjectHeaders") == Some(true) {
            let (base, shift) = narrow?;
            let from_bit = structs.constant("markWord::klass_shift").unwrap_or(CLASS_FROM_BIT);
            let from_bit = u32::try_from(from_bit).ok().filter(|bit| *bit < 64)?;
            return Some(ClassPointer::InMark { from_bit, base, shift });
        }
        if self.flags().bool("UseCompressedClassPointers") == Some(false) {
            return full.map(ClassPointer::Full);
        }
        let (base, shift) = narrow?;
        // JDK 27 has no full ones, and so no union of both.
        let compressed = [("oopDesc", "_metadata._compressed_klass"), ("oopDesc", "_compressed_klass")];
        let offset = structs.first_offset(&compressed).or(full)?;
        Some(ClassPointer::Narrow { offset, base, shift })
    }
}

impl Names<'_> {
    /// The class of an object by its header; `None` when no class lies where the header points. An object whose header
    /// is borrowed for the moment (compact headers, while the collector moves it) has none either.
    pub fn klass_of_object(&self, object: u64) -> Option<u64> {
        let klass = self.class_pointer_of(object)?;
        self.class(klass).map(|_| klass)
    }

    fn class_pointer_of(&self, object: u64) -> Option<u64> {
        let decoded = |narrow: u64, base: u64, shift: u32| {
            let offset = narrow.checked_mul(1 << shift)?;
            if narrow == 0 { None } else { base.checked_add(offset) }
        };
        match self.object.class_pointer? {
            ClassPointer::Full(offset) => self.source.word(object.checked_add(offset)?),
            ClassPointer::Narrow { offset, base, shift } => {
                decoded(self.source.u32(object.checked_add(offset)?)?.into(), base, shift)
            }
            ClassPointer::InMark { from_bit, base, shift } => {
                decoded(self.object.class_in_mark(self.source.u64(object)?, from_bit)?, base, shift)
            }
        }
    }

    /// Whether what seems to be an object begins with its mark; `None` where the word there can be no mark. `is_in_heap` says whether a word
    /// is the address of an object. Sure where the class is in the mark, and of 32-bit JVMs, whose marks have no bits that are always zero.
    pub fn mark_trust(&self, object: u64, is_in_heap: impl Fn(u64) -> bool) -> Option<MarkTrust> {
        let is_in_mark = matches!(self.object.class_pointer, Some(ClassPointer::InMark { .. }));
        if self.object.word_bytes != 8 || is_in_mark {
            return Some(MarkTrust::Sure);
        }
        mark_trust(self.source.u64(object)?, is_in_heap)
    }

    /// Size of an object, rounding included. `None` when the address is not that of an object, or when the class
    /// does not give the size (a virtual thread's stack chunk).
    pub fn instance_bytes(&self, object: u64) -> Option<u64> {
        let class = self.class(self.class_pointer_of(object)?)?;
        let layout = class.layout_helper;
        let bytes = if layout < 0 {
            self.array_bytes(object, layout)?
        } else {
            match class.name.as_str() {
                "java.lang.Class" => self.mirror_bytes(object, layout)?,
                "jdk.internal.vm.StackChunk" => return None,
                _ => u64::from((layout & !SLOW_PATH_BIT).unsigned_abs()),
            }
        };
        (bytes != 0).then(|| bytes.checked_next_multiple_of(self.object.alignment_bytes)).flatten()
    }

    /// Of an array, the layout helper holds the header's size and the elements' (`Klass::_lh_*`): from bit 16 on, and
    /// from bit 0 on.
    fn array_bytes(&self, object: u64, layout: i32) -> Option<u64> {
        let header = (layout >> 16 & 0xff) as u64;
        let element_log2 = layout.cast_unsigned() & 0x3f;
        if ELEMENT_LOG2_MAX < element_log2 {
            return None;
        }
        let length_at = match self.object.class_pointer? {
            ClassPointer::Full(offset) => offset + self.object.word_bytes,
            ClassPointer::Narrow { offset, .. } => offset + 4,
            ClassPointer::InMark { .. } => 8,
        };
        let length = self.source.u32(object.checked_add(length_at)?)?.cast_signed();
        let length = u64::try_from(length).ok()?;
        header.checked_add(length << element_log2)
    }

    /// An object of class `java.lang.Class` holds the static fields of the class that it stands for, and its own size in
    /// words. `None` where the two do not fit.
    ///
    /// The collector may have moved the object away and others may lie over a part of the old copy: its header is still there,
    /// and any number where its size was. Held by `a_mirror_of_another_size_than_its_class_says_is_none`.
    fn mirror_bytes(&self, object: u64, layout: i32) -> Option<u64> {
        let words = self.source.u32(object.checked_add(self.object.mirror_size?)?)?;
        let bytes = u64::from(words) * self.object.word_bytes;
        let of = self.source.word(object.checked_add(self.mirrored?)?)?;
        // `InstanceMirrorKlass::instance_size`
        let expected = u64::from((layout & !SLOW_PATH_BIT).unsigned_abs()) + self.static_bytes(of)?;
        (bytes == expected.checked_next_multiple_of(self.object.alignment_bytes)?).then_some(bytes)
    }

    /// Bytes of the static fields of a class: 0 for a primitive type, which has no class, and for an array.
    ///
    /// Does not read the class's name: that of an archived class may lie in a page which the JVM has not touched yet. Three of 876 classes of JDK 28 had none. Held by `a_mirror_of_another_size_than_its_class_says_is_none`.
    fn static_bytes(&self, klass: u64) -> Option<u64> {
        if klass == 0 {
            return Some(0);
        }
        let layout = self.klass?;
        match self.source.u32(klass.checked_add(layout.layout_helper)?)?.cast_signed() {
            0 => None,
            ..0 => Some(0),
            _ => {
                let words = self.source.u32(klass.checked_add(layout.static_words?)?)?;
                Some(u64::from(words) * self.object.word_bytes)
            }
        }
    }
}
