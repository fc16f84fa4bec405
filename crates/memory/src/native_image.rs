//! Programs and libraries that GraalVM compiled ahead of time: Java without HotSpot.

use assay_linux::{Mapping, MemorySource};
use object::{Object, ReadCache};
use std::collections::BTreeSet;

/// The section with the objects that the image begins with. Stripping leaves it alone.
const IMAGE_HEAP: &str = ".svm_heap";
/// Files that are looked into.
const FILES_MAX: usize = 64;

/// The first mapped file that is a native image.
pub(crate) fn find(source: &dyn MemorySource) -> Option<&str> {
    let mut seen = BTreeSet::new();
    let code = source.mappings().iter().filter(|mapping| mapping.is_executable() && mapping.is_file());
    let mut files =
        code.filter(|mapping| seen.insert((mapping.device.clone(), mapping.inode))).take(FILES_MAX);
    files
        .find(|mapping| has_image_heap(source, mapping).unwrap_or(false))
        .map(|mapping| mapping.name.as_str())
}

fn has_image_heap(source: &dyn MemorySource, mapping: &Mapping) -> Option<bool> {
    let cache = ReadCache::new(source.open_mapped_file(mapping).ok()?);
    let file = object::File::parse(&cache).ok()?;
    Some(file.section_by_name(IMAGE_HEAP).is_some())
}
