//! What collectors of logs put before each line: found once by the first lines of an input, then taken off every line.
//!
//! A prefix is a chain of [`element::Element`]s, the outermost first, so that collectors may stand behind each other: `docker compose logs
//! --timestamps` is a service and a time, a line of syslog a priority, a time and a tag, Docker's file a JSON object.

mod chain;
mod element;
mod json;
mod search;
mod stripped;
mod time;

pub use chain::Prefix;
pub use search::PrefixSearch;
pub use stripped::Stripped;
pub use time::take_time;

#[cfg(test)]
mod tests;
