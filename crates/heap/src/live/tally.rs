//! Objects counted by class, as they are met.

use crate::{ArrayLengths, PrimitiveKind};
use assay_hotspot::{HeapObject, ObjectForm, ObjectVisitor};

/// Objects of a class.
#[derive(Debug, Default)]
pub(super) struct OfClass {
    pub(super) objects: u64,
    pub(super) bytes: u64,
    pub(super) lengths: Option<Box<ArrayLengths>>,
    /// Size of the object of class `java.lang.Class` that stands for it, if it was met.
    pub(super) mirror_bytes: Option<u64>,
}

/// What one thread of a walk met.
#[derive(Debug, Default)]
pub(super) struct Tally {
    classes: Vec<OfClass>,
    /// Mirrors of no class: of primitive types, and of classes that were unloaded.
    pub(super) other_mirrors: u64,
}

impl Tally {
    /// Of a class by its number.
    #[inline]
    fn of(&mut self, class: u32) -> &mut OfClass {
        let class = class as usize;
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, OfClass::default);
        }
        &mut self.classes[class]
    }

    /// What all threads met.
    pub(super) fn joined(tallies: Vec<Tally>) -> Tally {
        let mut all = Tally::default();
        for tally in tallies {
            all.other_mirrors += tally.other_mirrors;
            for (class, of) in (0..).zip(tally.classes) {
                let sum = all.of(class);
                sum.objects += of.objects;
                sum.bytes += of.bytes;
                sum.mirror_bytes = sum.mirror_bytes.or(of.mirror_bytes);
                match (&mut sum.lengths, of.lengths) {
                    (Some(lengths), Some(more)) => lengths.add_all(&more),
                    (empty @ None, more) => *empty = more,
                    (Some(_), None) => {}
                }
            }
        }
        all
    }

    /// Takes what was met of a class.
    pub(super) fn take(&mut self, class: usize) -> OfClass {
        self.classes.get_mut(class).map(std::mem::take).unwrap_or_default()
    }
}

impl ObjectVisitor for Tally {
    #[inline]
    fn object(&mut self, object: &HeapObject) {
        let of = self.of(object.class);
        of.objects += 1;
        of.bytes += object.bytes;
        match object.form {
            ObjectForm::Instance | ObjectForm::StackChunk => {}
            ObjectForm::Array { length } => {
                // The element kind is the class's, and is filled in at the end.
                of.lengths.get_or_insert_with(|| Box::new(ArrayLengths::new(None))).add(length);
            }
            ObjectForm::Mirror { of: Some(mirrored) } => self.of(mirrored).mirror_bytes = Some(object.bytes),
            ObjectForm::Mirror { of: None } => self.other_mirrors += 1,
        }
    }
}

/// The type of elements or fields by its letter in class files; `None` for references.
pub(super) fn primitive(letter: u8) -> Option<PrimitiveKind> {
    Some(match letter {
        b'Z' => PrimitiveKind::Boolean,
        b'C' => PrimitiveKind::Char,
        b'F' => PrimitiveKind::Float,
        b'D' => PrimitiveKind::Double,
        b'B' => PrimitiveKind::Byte,
        b'S' => PrimitiveKind::Short,
        b'I' => PrimitiveKind::Int,
        b'J' => PrimitiveKind::Long,
        _ => return None,
    })
}
