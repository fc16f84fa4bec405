//! All tests of the crate as one program: each has its file.

mod against_jdk;
mod hostile;
