//! All tests of the crate as one program: each has its file.

mod input;
mod j9;
mod jdk8;
mod locale;
mod matrix;
mod modes;
mod samples;
mod told;
