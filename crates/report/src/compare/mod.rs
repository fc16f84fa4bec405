//! Two runs of a study side by side.

mod comparison;
mod data;
pub(crate) mod voice;
mod words;

pub use comparison::document;
pub use data::data;
