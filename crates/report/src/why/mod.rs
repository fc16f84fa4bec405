//! What is wrong, by every reader that can say: the costliest first, the first safe step, where to look next.

mod data;
mod document;
mod words;

pub use data::data;
pub use document::document;
