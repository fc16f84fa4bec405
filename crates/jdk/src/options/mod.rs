//! Options of the JVM: which flags a release has, and what it makes of those that it is given.

mod alike;
mod attempt;
mod groups;
mod harmless;
mod heap;
mod history;
mod judge;
mod listed;
mod parse;
mod written;

pub use alike::AlikeOptions;
pub use attempt::{JvmHere, Verdict, judge_by_table, judge_here};
pub use groups::{group_of, set_the_same};
pub use heap::max_heap_bytes;
pub use history::{FlagInRelease, FlagState, ListedRange, flag_in, flag_names, table_releases};
pub use judge::{judge_options, prevents, starts_with};
pub use listed::{ListedFlag, listed_flags, listed_ranges};
pub use written::{WrittenOption, options_in_file, options_in_words, words_of};
