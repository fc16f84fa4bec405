//! All tests of the crate as one program: each has its file.

mod compilers;
mod faults;
mod known_server;
mod real_log;
