//! The first lines of a source: which prefix they have, and which dialect they are written in.

use crate::contract::Dialect;
use crate::dialect::{Recogniser, is_of_collector};
use assay_lines::{Prefix, PrefixSearch};

/// Lines of a log that are examined before its form is decided.
const LINES_MAX: usize = 200;
/// Most lines of a collector have one of these; where none is, no prefix is tried, which takes a hundred times as long.
/// The last is how journald writes a message that it takes for bytes.
const WORDS: [&str; 8] = ["GC", "gc", "Using ", "afepoint", " stopped", "Pause ", "CMS", "\"MESSAGE\":["];

/// Looks at first lines.
#[derive(Debug, Default)]
pub(crate) struct Looking {
    recogniser: Recogniser,
    search: PrefixSearch,
    lines: usize,
}

impl Looking {
    /// Looks at the next line.
    pub fn look(&mut self, line: &str) {
        self.lines += 1;
        self.recogniser.look(line);
        if WORDS.iter().any(|word| memchr::memmem::find(line.as_bytes(), word.as_bytes()).is_some()) {
            self.search.look(line, &is_of_collector);
        }
    }

    /// Whether further lines need not be looked at.
    pub fn is_sure(&self) -> bool {
        self.search.is_sure() && (self.recogniser.is_sure() || self.prefix().is_some_and(|p| !p.is_empty()))
            || self.lines >= LINES_MAX
    }

    /// What stands before each line; absent where no line is a collector's.
    pub fn prefix(&self) -> Option<Prefix> {
        self.search.best()
    }

    /// Whether some line may be of a GC log.
    pub fn has_found(&self) -> bool {
        self.prefix().is_some() || self.recogniser.decide().is_some()
    }

    /// The prefix and the dialect of these lines.
    pub fn decide(&self, lines: &[String]) -> (Prefix, Option<Box<dyn Dialect>>) {
        let prefix = self.prefix().unwrap_or_default();
        if prefix.is_empty() {
            return (prefix, self.recogniser.decide());
        }
        let mut recogniser = Recogniser::default();
        for line in lines {
            prefix.strip(line).text.lines().for_each(|line| recogniser.look(line));
        }
        (prefix, recogniser.decide())
    }
}
