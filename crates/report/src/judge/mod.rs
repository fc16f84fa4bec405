//! A set of JVM flags on a server (`assay judge`).

mod data;
mod document;
mod words;

pub use data::data;
pub use document::document;
