//! The integration tests of this crate, linked as one program; each file is a module.

mod containers;
mod find;
mod flags;
mod modes;
