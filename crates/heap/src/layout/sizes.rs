//! Sizes that all objects of a model share.

use crate::FieldKind;
use assay_jdk::Release;
use assay_jdk::release::OptionState;
use assay_model::{HeapModel, ModelName};

/// Sizes that hold for every object of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of a reference.
    pub reference_bytes: u64,
    /// Bytes of an object's header, up to where fields may begin.
    pub header_bytes: u64,
    /// Sizes of objects are multiples of this.
    pub alignment_bytes: u64,
}

impl Sizes {
    /// Of a model.
    pub fn of(model: HeapModel) -> Sizes {
        let (reference_bytes, header_bytes, alignment_bytes) = match model.name {
            ModelName::Bits32 => (4, 8, 8),
            ModelName::Compressed => (4, 12, 8),
            ModelName::CompressedAlign16 => (4, 12, 16),
            ModelName::CompressedAlign32 => (4, 12, 32),
            ModelName::Bits64CompressedClassPointers => (8, 12, 8),
            ModelName::Bits64 => (8, 16, 8),
            ModelName::Compact => (4, 8, 8),
            ModelName::CompactAlign16 => (4, 8, 16),
            ModelName::Compact64 => (8, 8, 8),
            ModelName::OpenJ9Compressed => (4, 4, 8),
            ModelName::OpenJ9Full => (8, 8, 8),
        };
        Sizes { reference_bytes, header_bytes, alignment_bytes }
    }

    /// Bytes of a field or element.
    pub fn bytes_of(&self, kind: FieldKind) -> u64 {
        match kind {
            FieldKind::Primitive(primitive) => primitive.bytes(),
            FieldKind::Reference => self.reference_bytes,
        }
    }
}

/// Whether sizes of a model are an estimate, or rules of the JVM.
pub fn is_estimate(model: ModelName) -> bool {
    matches!(model, ModelName::OpenJ9Compressed | ModelName::OpenJ9Full)
}

/// Whether JVMs of the model's release can have it: before 15 those without compressed references had full class pointers, and since 27 none
/// has these.
pub fn is_in_release(model: HeapModel) -> bool {
    let release = Release::of(model.jdk);
    match model.name {
        ModelName::Bits64CompressedClassPointers => release.modes.class_pointers_stay_compressed,
        ModelName::Bits64 => release.option("UseCompressedClassPointers") != OptionState::Absent,
        _ => true,
    }
}
