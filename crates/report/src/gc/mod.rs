//! GC logs: what one says, what differs between two, and one that is followed; metrics for OpenMetrics.

mod comparison;
mod data;
mod digest;
mod input;
mod jvms;
mod length_pictures;
mod live;
mod log;
mod openmetrics;
mod pauses;
mod several;
mod sizes;
mod timeline_picture;
mod words;

pub use comparison::document as comparison;
pub use data::{comparison as comparison_data, log as data};
pub use digest::digest;
pub use live::{line, screen};
pub use log::document;
pub use openmetrics::{
    CONTENT_TYPE as OPENMETRICS_CONTENT_TYPE, GcFamily, families as openmetrics_families,
    render as openmetrics,
};
pub use several::{LogRow, log_row, several};
pub use words::headline;
