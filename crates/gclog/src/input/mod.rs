//! Where logs come from: files, rotated sets, folders, gzip, zip, standard input; and a log that is still written.
//!
//! [`find`] makes sets of what was named, each the log of one server in the order of time; [`read_set`] reads one through a
//! [`GcStream`](crate::GcStream) with a buffer of fixed size. [`Follower`] goes on reading what is appended.
//!
//! Whether something is packed is told by its first bytes and not by its name. Archives are unpacked as a stream, so that one which
//! pretends to be small costs time and not memory.

mod find;
mod follow;
mod head;
mod open;
mod order;

pub use find::{Found, find};
pub use follow::{Follower, Part, Polled};

use crate::stream::{GcSink, GcStream};
use assay_model::Problem;
use open::Input;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What is read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// What standing for itself means standard input.
pub const STANDARD_INPUT: &str = "-";

/// Nothing can be read.
#[derive(Debug, Error)]
pub enum InputError {
    /// What was named is not there, or may not be read.
    #[error("cannot read {path}: {source}")]
    Open {
        /// What was named.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A pipe, folder or device cannot be followed.
    #[error(
        "cannot follow {path}: it is no regular file, and only such a file can be rotated or emptied\n  \
         without --follow a pipe is read until its end: assay gc {path}"
    )]
    NoFileToFollow {
        /// What was named.
        path: String,
    },
    /// A folder or archive holds no log.
    #[error("{path} holds no GC log: {looked_at} looked at")]
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
    /// A member of a zip archive, by its index.
    Member(PathBuf, usize),
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
    /// What the set is called: the file, or what its files have in common.
    pub name: String,
    /// Its files, the oldest first.
    pub parts: Vec<LogPart>,
}

/// Reads a set from its first byte to its last. What cannot be read is a problem told to the sink, and the rest is read.
pub fn read_set(set: &LogSet, sink: &mut dyn GcSink) {
    let mut stream = GcStream::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    for part in &set.parts {
        stream.begin_source(&part.name, sink);
        let read = Input::open(&part.origin).and_then(|mut input| {
            input.with_reader(&mut |reader| stream.feed_from(reader, &mut buffer, sink).map(drop))
        });
        if let Err(error) = read {
            sink.problem(Problem::new(part.name.clone(), open::in_words(&error)));
        }
        stream.end_source(sink);
    }
    stream.finish(sink);
}

/// The folder that holds a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
