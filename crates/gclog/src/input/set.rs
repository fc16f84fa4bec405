//! What is read: a log as a set of files, and what can be wrong with what was named.

use super::aside::PutAside;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What is read at once.
pub(super) const BUFFER_BYTES: usize = 256 << 10;

/// What standing for itself means standard input.
pub const STANDARD_INPUT: &str = "-";

/// Nothing can be read.
#[derive(Debug, Error)]
pub enum InputError {
    /// A named input does not exist, or may not be read.
    #[error("cannot read {path}: {source}")]
    Open {
        /// What was named.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A pipe, folder or device cannot be followed.
    #[error(
        "cannot follow {path}: it is not a regular file, and only such a file can be rotated or emptied\n  \
         without --follow a pipe is read until its end: assay gc {path}"
    )]
    NoFileToFollow {
        /// What was named.
        path: String,
    },
    /// A folder or archive holds no log.
    #[error("{path} holds no GC log: {looked_at} checked")]
    NoLog {
        /// The folder or archive.
        path: String,
        /// How many files it holds, in words.
        looked_at: String,
    },
    /// Standard input was named twice.
    #[error("standard input (-) was named more than once")]
    StandardInputTwice,
}

/// Where a part lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A regular file: may be opened more than once.
    File(PathBuf),
    /// A pipe or device that was named: read once, from front to back.
    Once(PathBuf),
    /// Standard input.
    StandardInput,
    /// Standard input, put aside.
    Aside(PutAside),
    /// A member of an archive, by its index.
    Member(PathBuf, usize),
    /// A member of the archive that standard input is.
    MemberAside(PutAside, usize),
}

/// One file of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPart {
    /// How it is named in the report.
    pub name: String,
    pub(crate) origin: Origin,
}

impl LogPart {
    /// A regular file, called `name` in the report.
    pub fn file(name: impl Into<String>, path: impl Into<PathBuf>) -> LogPart {
        LogPart { name: name.into(), origin: Origin::File(path.into()) }
    }
}

/// Files that are one log, in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSet {
    /// Name of the set: the file, or the common part of its files' names.
    pub name: String,
    /// Its files, the oldest first.
    pub parts: Vec<LogPart>,
}

/// The folder that holds a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
