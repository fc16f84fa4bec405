//! The load generator.
pub mod arrivals;
mod clock;
mod cookies;
mod error;
mod interval_log;
mod nearest;
pub mod recorder;
mod response;
mod scenario;
pub mod schedule;
mod session;
#[cfg(test)]
mod testing;
mod timeline;
mod url;
pub use error::LoadError;
pub use interval_log::IntervalLogs;
pub use scenario::Scenario;
pub use timeline::CompletionTimeline;
