//! Options as people write them: in a line, in a command, in files of many kinds.

mod file;
mod line;

pub use file::{WrittenOption, options_in_file};
pub use line::{options_in_words, words_of};
