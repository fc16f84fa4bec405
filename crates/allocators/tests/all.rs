//! The integration tests of this crate, linked as one program; each file is a module.

mod blocks_program;
mod glibc;
mod glibc_jvm;
mod glibc_releases;
mod glibc_running;
mod glibc_trim;
mod jemalloc;
mod preloaded;
mod synthetic;
mod tcmalloc;
