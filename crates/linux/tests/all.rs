//! The integration tests of this crate, linked as one program; each file is a module.

mod cgroup;
mod connections;
mod copied_memory;
mod freeze;
mod freeze_jvm;
mod kernel_figures;
mod live;
mod live_process;
mod mapped_file;
mod parse;
mod pmap;
mod target;
mod thread_call;
mod unprivileged;
