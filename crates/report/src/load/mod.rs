//! A load: response times by percentile, operations, the rate over time, what injectors did.

mod counts;
mod data;
mod document;
mod sentences;
mod times;

pub use data::data;
pub use document::document;
