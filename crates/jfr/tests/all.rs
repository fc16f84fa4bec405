//! The integration tests of this crate, linked as one program; each file is a module.

mod against_jdk;
mod hostile;
