//! What is wrong with a scenario file, and where.

use std::ops::Range;

/// Collects mistakes with their places.
pub(crate) struct Mistakes<'a> {
    pub text: &'a str,
    pub source: &'a str,
    pub found: Vec<String>,
}

impl Mistakes<'_> {
    pub fn add(&mut self, span: &Range<usize>, what: impl std::fmt::Display) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        self.found.push(format!("{}:{line}: {what}", self.source));
    }
}
