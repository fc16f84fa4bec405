//! All tests of the crate as one program: each has its file.

mod forms;
mod recorded;
mod time;
