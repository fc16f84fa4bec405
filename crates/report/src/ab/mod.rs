//! Two builds of a server side by side (`assay ab`).

mod data;
mod document;
mod words;

pub use data::data;
pub use document::document;
