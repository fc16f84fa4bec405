//! The integration tests of this crate, linked as one program; each file is a module.

mod aarch64;
mod guest;
mod models;
