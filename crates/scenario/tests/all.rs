//! The integration tests of this crate, linked as one program; each file is a module. `allocations` is a program of its own: it replaces
//! the global allocator.

mod access_log_page;
mod access_log_seeds;
mod any_access_log;
mod documentation;
mod mix;
