//! What may be missing, row by row.

pub mod files;
pub mod programs;
pub mod rungs;
