//! A share of RSS: entries that are large together, and have one owner.

use super::super::words::bytes;
use assay_model::{Area, MemoryEntry};
use std::collections::BTreeMap;

/// What is large together, and has one owner.
pub(super) struct Share<'a> {
    pub area: Area,
    /// The part of the area that is the owner, where its parts have owners of their own.
    pub part: Option<&'a str>,
    /// Resident memory, counted once however often it is mapped.
    pub memory_bytes: u64,
    pub entries: Vec<&'a MemoryEntry>,
}

impl Share<'_> {
    pub fn bytes(&self) -> String {
        bytes(self.memory_bytes)
    }

    /// The largest part below a depth of the paths, with its bytes: a holder, a file, a kind. None where nothing is below.
    pub fn largest(&self, depth: usize) -> Option<(String, u64)> {
        let mut parts: BTreeMap<&str, u64> = BTreeMap::new();
        for entry in &self.entries {
            let Some(part) = entry.path.get(depth) else { continue };
            let bytes = parts.entry(part).or_default();
            *bytes = bytes.saturating_add(entry.bytes_of_memory());
        }
        let largest = parts.into_iter().max_by_key(|(_, bytes)| *bytes);
        largest.map(|(part, bytes)| (part.to_owned(), bytes))
    }

    /// The same, as evidence: `most of it: symbols, 40.0 MiB`.
    pub fn most(&self, depth: usize) -> Option<String> {
        self.largest(depth).map(|(part, of)| format!("most of it: {part}, {}", bytes(of)))
    }
}
