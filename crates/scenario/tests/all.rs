//! The tests of the crate as one program: each has its file. Only `allocations` is apart, which counts those of its whole process.

mod access_log_page;
mod documentation;
mod mix;
