//! What could not be read, understood or done.

use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that could not be read, understood or done; the rest of the result still holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Its subject: a file name, an observer, a URL, the id of a metric.
    pub about: String,
    /// Line of that text, counted from 1, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// What code may react to.
    #[serde(default)]
    pub reason: Reason,
    /// What is wrong, for people: a lower-case fragment. No code reads it.
    pub text: String,
}

closed! {
    /// The reasons that code reacts to. All others are `Other`.
    Reason {
        /// The load generator, not the server, was late or the limit.
        LoadGenerator = "load-generator",
        /// The stacks of virtual threads lie in a heap, and are not counted.
        StacksOfVirtualThreads = "stacks-of-virtual-threads",
    }
}

impl Problem {
    /// A problem that no code reacts to, without a line number.
    pub fn new(about: impl Into<String>, text: impl Into<String>) -> Self {
        Problem::because(Reason::Other, about, text)
    }

    /// A problem that code reacts to, without a line number.
    pub fn because(reason: Reason, about: impl Into<String>, text: impl Into<String>) -> Self {
        Problem { about: about.into(), line: None, reason, text: text.into() }
    }

    /// The subject of each of `problems`, with its line, and its text: the two columns of every list of them.
    pub fn listed<'a>(problems: impl IntoIterator<Item = &'a Problem>) -> Vec<(String, String)> {
        let about = |p: &Problem| match p.line {
            Some(line) => format!("{}, line {line}", p.about),
            None => p.about.clone(),
        };
        problems.into_iter().map(|p| (about(p), p.text.clone())).collect()
    }

    /// A problem at a line, counted from 1.
    pub fn at_line(about: impl Into<String>, line: u64, text: impl Into<String>) -> Self {
        Problem { line: Some(line), ..Problem::new(about, text) }
    }
}
