//! Resident memory of a process by area, from its mappings and the range of its Java heap.
//!
//! The areas add up to the kernel's resident bytes exactly, by construction: every mapping's `Rss` goes into one area,
//! or into two that share it without remainder. What mappings alone cannot tell is in
//! [`assay_model::Area::NativeAnonymous`], which says so.

mod layout;
#[cfg(test)]
mod live_tests;
mod sample;

pub use sample::{MemoryError, sample};
