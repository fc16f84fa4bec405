//! All tests of the crate as one program: each has its file.

mod find;
mod flags;
mod modes;
