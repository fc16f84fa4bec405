//! All tests of the crate as one program: each has its file.

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
