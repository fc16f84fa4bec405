//! The models that a heap is weighed in.

use assay_jdk::Release;
use assay_jdk::release::OptionState;
use assay_model::{HeapModel, ModelFootprint, ModelName};

/// Release whose rules are used where neither the heap nor the user names one: the newest whose rules are known.
pub fn jdk_default() -> u32 {
    Release::newest().feature
}

/// Every model by the rules of a release; those with compact headers by the rules of the first release whose JVMs have them as
/// a product option at least.
pub fn models(jdk: u32) -> Vec<HeapModel> {
    let of = |name: ModelName| HeapModel {
        name,
        jdk: if is_compact(name) { jdk.max(compact_since()) } else { jdk },
    };
    ModelName::ALL.into_iter().map(of).collect()
}

/// First release whose JVMs have compact headers as a product option.
pub(super) fn compact_since() -> u32 {
    Release::product_since("UseCompactObjectHeaders")
}

/// Whether JVMs of the model's release can have it: before 15 those without compressed references had full class pointers, and since 27 none
/// has these.
pub(super) fn is_in_release(model: HeapModel) -> bool {
    let release = Release::of(model.jdk);
    match model.name {
        ModelName::Bits64CompressedClassPointers => release.modes.class_pointers_stay_compressed,
        ModelName::Bits64 => release.option("UseCompressedClassPointers") != OptionState::Absent,
        _ => true,
    }
}

/// Whether objects have compact headers.
pub(super) fn is_compact(name: ModelName) -> bool {
    matches!(name, ModelName::Compact | ModelName::CompactAlign16 | ModelName::Compact64)
}

pub(super) fn total_bytes(models: &[ModelFootprint], name: ModelName) -> Option<u64> {
    models.iter().find(|model| model.name == name).map(|model| model.total_bytes)
}
