//! What could not be read, and what can be claimed.

use serde::{Deserialize, Serialize};

/// Something that could not be read or understood; the rest of the result still holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What was being read: a file name, an observer, a URL.
    pub source: String,
    /// Line of that text, counted from 1, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// What is wrong, as a lower-case fragment.
    pub what: String,
}

impl Problem {
    /// A problem without a line number.
    pub fn new(source: impl Into<String>, what: impl Into<String>) -> Self {
        Problem { source: source.into(), line: None, what: what.into() }
    }

    /// A problem at a line, counted from 1.
    pub fn at_line(source: impl Into<String>, line: u64, what: impl Into<String>) -> Self {
        Problem { source: source.into(), line: Some(line), what: what.into() }
    }
}

/// A claim with its evidence, in plain words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name of the rule that made the claim, in kebab case.
    pub rule: String,
    /// The claim: one sentence.
    pub claim: String,
    /// What it rests on: figures with units, file and line.
    pub evidence: String,
}
