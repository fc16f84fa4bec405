//! Two runs of a study side by side.

mod comparison;
mod data;
mod words;

pub use comparison::document;
pub use data::data;
