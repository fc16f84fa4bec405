//! Reference modes of heaps that are there: of a running process, and what to do about a wanted heap size.
//!
//! Which mode a heap size gets is computed by [`assay_jdk::modes`].

#[cfg(target_os = "linux")]
mod address_map;
mod advice;
mod footprint_ratios;
#[cfg(target_os = "linux")]
mod running;

#[cfg(target_os = "linux")]
pub use address_map::{StoppedJvm, classes_in_log, protected_page_in_log};
pub use advice::{WantedHeap, advise, rules};
pub use footprint_ratios::FootprintRatios;
#[cfg(target_os = "linux")]
pub use running::mode_of_process;
