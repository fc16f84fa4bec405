//! The integration tests of this crate, linked as one program; each file is a module.

mod guest;
mod models;
