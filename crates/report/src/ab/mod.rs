//! Two builds of a server side by side (`assay ab`).

mod data;
mod document;
mod words;

pub use data::data;
pub use document::document;
pub(crate) use document::{effects, figures};
pub(crate) use words::{clause, visible};
