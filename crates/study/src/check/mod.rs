//! What can be wrong in a study whatever machine it runs on, and the defaults of what it leaves out. All mistakes are collected before
//! anything starts.

pub(crate) mod attached;
pub(crate) mod capacity;
pub(crate) mod checked;
pub(crate) mod combinations;
mod each_jdk;
pub(crate) mod emulation;
pub(crate) mod faults;
mod read;
pub(crate) mod variants;
