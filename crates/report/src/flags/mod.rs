//! What releases of the JDK make of options: a column for each release, and the reasons.

mod data;
mod document;
mod remarks;

pub use data::data;
pub use document::document;
