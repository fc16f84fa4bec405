//! Mistakes in a study that are the same on every machine, and defaults of missing keys. All mistakes are collected before anything
//! starts.

mod attached;
pub(crate) mod builds;
pub(crate) mod capacity;
pub(crate) mod checked;
mod claims;
pub(crate) mod combinations;
pub(crate) mod commits;
mod duet;
mod each_jdk;
pub(crate) mod emulation;
mod factors;
pub(crate) mod faults;
pub(crate) mod guest;
pub(crate) mod layout;
mod processes;
mod program;
mod read;
mod replicas;
pub(crate) mod variants;
