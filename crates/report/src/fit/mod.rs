//! The smallest container, or the smallest value of an option (`assay fit`).

mod data;
mod document;
mod picture;
mod tables;
mod words;

pub use data::data;
pub use document::document;
