//! All tests of the crate as one program: each has its file.

mod capacity;
mod coverage;
mod steady;
mod virtual_study;
