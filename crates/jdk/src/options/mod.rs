//! Options of the JVM: which flags a release has, and what it makes of those that it is given.

mod history;
mod judge;
mod listed;
mod parse;

pub use history::{FlagInRelease, FlagState, flag_in, flag_names, table_releases};
pub use judge::{judge_options, starts_with};
pub use listed::{ListedFlag, listed_flags};
