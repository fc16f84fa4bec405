//! The integration tests of this crate, linked as one program; each file is a module.

mod collected;
mod input;
mod j9;
mod jdk8;
mod locale;
mod matrix;
mod modes;
mod native_image;
mod samples;
mod told;
