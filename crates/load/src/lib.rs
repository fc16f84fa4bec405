//! The load generator.
pub mod arrivals;
mod clock;
mod error;
mod interval_log;
pub mod recorder;
pub mod schedule;
#[cfg(test)]
mod testing;
mod timeline;
pub use error::LoadError;
pub use interval_log::IntervalLogs;
pub use timeline::CompletionTimeline;
