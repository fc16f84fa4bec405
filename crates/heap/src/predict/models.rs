//! The models that a heap is weighed in.

use assay_jdk::Release;
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

/// Whether objects have compact headers.
pub(super) fn is_compact(name: ModelName) -> bool {
    matches!(name, ModelName::Compact | ModelName::CompactAlign16 | ModelName::Compact64)
}

pub(super) fn total_bytes(models: &[ModelFootprint], name: ModelName) -> Option<u64> {
    models.iter().find(|model| model.name == name).map(|model| model.total_bytes)
}
