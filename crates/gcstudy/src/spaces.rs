//! Parts of the heap: the last and the largest in the log.

use assay_model::{GcRecord, GcSpace, GcSpaceUse};
use std::collections::BTreeMap;

/// How much of each part was used.
#[derive(Debug, Clone, Default)]
pub(super) struct Spaces {
    by_space: BTreeMap<GcSpace, GcSpaceUse>,
}

impl Spaces {
    /// Takes the sizes of a record.
    pub fn add(&mut self, record: &GcRecord) {
        for (space, sizes) in &record.spaces {
            let seen = self.by_space.entry(*space).or_default();
            seen.last_bytes = sizes.after_bytes.or(seen.last_bytes);
            seen.max_bytes = seen.max_bytes.max(sizes.before_bytes).max(sizes.after_bytes);
            seen.capacity_bytes_max = seen.capacity_bytes_max.max(sizes.capacity_bytes);
        }
    }

    /// The table.
    pub fn table(&self) -> BTreeMap<GcSpace, GcSpaceUse> {
        self.by_space.clone()
    }
}
