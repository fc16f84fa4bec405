//! The integration tests of this crate, linked as one program; each file is a module.

mod forms;
mod pages;
mod sample;
