//! The integration tests of this crate, linked as one program; each file is a module.

mod areas;
mod attached;
mod benchmark;
mod bisect;
mod budget;
mod builds;
mod capacity;
mod capacity_in_file;
mod duet;
mod emulated;
mod faults;
mod file_examples;
mod formats;
mod host_settings;
mod java_server;
mod not_here;
mod processes;
mod runs;
mod secrets;
mod sessions;
mod study_file;
mod study_value;
mod support;
