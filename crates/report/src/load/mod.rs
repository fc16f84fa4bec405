//! A load: response times by percentile and over time, operations, status codes, the slowest requests, what injectors did.

mod counts;
mod data;
mod document;
mod operations;
mod over_time;
mod sentences;
mod times;

pub use data::data;
pub use document::document;
