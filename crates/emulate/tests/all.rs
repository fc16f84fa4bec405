//! All tests of the crate as one program: each has its file.

mod guest;
mod models;
