//! The integration tests of this crate, linked as one program; each file is a module.

mod heap_in_the_way;
mod hprof_hostile;
mod hprof_memory;
mod hprof_samples;
mod hprof_synthetic;
mod hprof_truth;
mod hprof_writer;
mod layout;
mod live_dump;
mod live_histogram;
mod predict_detect;
mod predict_histogram;
mod predict_sums;
mod predict_support;
