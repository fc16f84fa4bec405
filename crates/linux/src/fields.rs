//! Numbers and `Key: value kB` lines, the two forms that most of the kernel's files use.

use crate::ParseError;
use std::path::Path;
use std::str::FromStr;

/// Where a piece of text stands, for the message if it cannot be read.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) path: &'a Path,
    pub(crate) line: u64,
}

impl At<'_> {
    pub(crate) fn error(self, item: &str, what: impl Into<String>) -> ParseError {
        ParseError::new(self.path, self.line, item, what)
    }

    /// A decimal number.
    pub(crate) fn number<T: FromStr>(self, item: &str, text: Option<&str>) -> Result<T, ParseError> {
        let text = text.ok_or_else(|| self.error(item, "missing"))?;
        text.trim().parse().map_err(|_| self.error(item, format!("not a number: {:?}", shortened(text))))
    }

    /// A number of kibibytes, with or without the unit `kB`, as bytes.
    pub(crate) fn kib_as_bytes(self, item: &str, text: &str) -> Result<u64, ParseError> {
        let digits = text.trim();
        let kib: u64 = self.number(item, Some(digits.strip_suffix("kB").unwrap_or(digits)))?;
        kib.checked_mul(1024).ok_or_else(|| self.error(item, "larger than 2^64 bytes"))
    }
}

/// The lines of a file with their numbers, counted from 1.
pub(crate) fn lines<'a>(path: &'a Path, text: &'a str) -> impl Iterator<Item = (At<'a>, &'a str)> {
    text.lines().zip(1..).map(move |(content, line)| (At { path, line }, content))
}

/// The start of a text from outside, for a message.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}
