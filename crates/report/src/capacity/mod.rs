//! A capacity: the load that a server sustains within its limits.

mod attribution_picture;
mod charts;
mod curve_picture;
mod data;
mod lines;
mod report;
mod tables;
mod words;

pub use attribution_picture::{draw as late_picture, key as late_key};
pub use data::rates as data;
pub use report::document;
pub use tables::causes as late_table;
pub use words::cause as late_cause;
