//! In which kind of pages the sample's entries lie.

use assay_model::PageKinds;

/// Files are droppable, but what a library has written of its data; all else is private, old objects in huge pages.
pub fn pages(path: &[&str], bytes: u64) -> PageKinds {
    let is_file = match path {
        ["code", .., last] => *last != "data",
        _ => path.contains(&"shared") || path.contains(&"index files"),
    };
    let is_huge = path.starts_with(&["Java heap", "old"]);
    PageKinds {
        private_bytes: if is_file { 0 } else { bytes },
        shared_bytes: 0,
        droppable_bytes: if is_file { bytes } else { 0 },
        huge_bytes: Some(if is_huge { bytes } else { 0 }),
    }
}
