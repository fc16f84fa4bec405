//! What every crate needs when it reads a word from a user or shows one: each thing once, and nothing of what it is about.

pub mod condition;
pub mod duration;
pub mod file;
pub mod near;
pub mod percent;
pub mod redact;
pub mod size;
pub mod wrap;
