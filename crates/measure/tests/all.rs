//! The integration tests of this crate, linked as one program; each file is a module.

mod compilers;
mod faults;
mod known_server;
mod real_log;
