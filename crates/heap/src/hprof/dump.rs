//! A dump that is being read, and what is wrong with it.

use super::cursor::Cursor;
use super::fillers::References;
use super::header::{Header, Version};
use super::names::Names;
use super::tally::Tally;
use assay_model::Problem;

/// Problems of one dump that are listed.
pub(super) const PROBLEMS_MAX: usize = 64;

/// What is wrong with a dump.
pub(super) struct Problems {
    pub(super) source: String,
    pub(super) list: Vec<Problem>,
    pub(super) more: u64,
    /// Whether one of them is that objects are missing.
    pub(super) is_something_missing: bool,
}

impl Problems {
    /// Adds that something of the dump is missing, or could not be read.
    pub(super) fn add_missing(&mut self, what: impl Into<String>) {
        self.is_something_missing = true;
        self.add(what);
    }

    pub(super) fn add(&mut self, what: impl Into<String>) {
        if self.list.len() < PROBLEMS_MAX {
            self.list.push(Problem::new(self.source.as_str(), what));
        } else {
            self.more += 1;
        }
    }

    /// Adds what is said once however often it is met.
    pub(super) fn add_once(&mut self, what: &str) {
        if !self.list.iter().any(|problem| problem.text == what) {
            self.add(what);
        }
    }

    pub(super) fn into_list(mut self) -> Vec<Problem> {
        if self.more > 0 {
            let what = format!("and {} further problems", self.more);
            self.list.push(Problem::new(self.source, what));
        }
        self.list
    }
}

/// A dump that is being read, with identifiers of `ID` bytes.
pub(super) struct Dump<'a, const ID: usize> {
    pub(super) cursor: Cursor<'a>,
    pub(super) segment: Segment,
    /// Whether a sub-record has gone on in the next segment: then this writer cuts anywhere.
    pub(super) cuts_anywhere: bool,
    /// Version 1.0.
    pub(super) has_letters: bool,
    pub(super) is_android: bool,
    pub(super) names: Names,
    pub(super) tally: Tally,
    pub(super) problems: Problems,
    pub(super) unknown_records: u64,
}

/// The heap record that is being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) tag: u8,
    /// Its end as an offset; `u64::MAX` when it is not known.
    pub(super) end: u64,
}

/// Why a sub-record cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The dump has ended.
    Over,
    /// The segment has ended, and nothing continues it.
    Torn,
    /// It makes no sense.
    Damaged(String),
}

impl<'a, const ID: usize> Dump<'a, ID> {
    pub(super) fn new(
        cursor: Cursor<'a>,
        header: &Header,
        name: &str,
        references: Option<References>,
    ) -> Self {
        Dump {
            cursor,
            segment: Segment { tag: 0, end: 0 },
            cuts_anywhere: false,
            has_letters: header.version == Version::First,
            is_android: header.version == Version::Android,
            names: Names::default(),
            tally: Tally::new(references),
            problems: Problems {
                source: name.to_owned(),
                list: Vec::new(),
                more: 0,
                is_something_missing: false,
            },
            unknown_records: 0,
        }
    }
}
