//! Which commit made a server slower: the answer, how probable each commit is, and the comparisons.

mod data;
mod document;

pub use data::data;
pub use document::document;
