//! All tests of the crate as one program: each has its file.

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
mod target;
mod unprivileged;
