//! How a trial measures: windows of load, a search for the capacity, a program that measures itself, or counts in an emulated guest.
//!
//! A procedure gets a server that answers, or a program that was started, and knows nothing of how that came to be, nor of the
//! order of trials. All of them measure with the same window: load, observations during it, one judge.

mod benchmark;
mod capacity;
mod emulated;
mod windows;

pub use benchmark::{Benchmark, OwnLoad};
pub use capacity::CapacitySearch;
pub use emulated::Emulated;
pub use windows::Windows;
