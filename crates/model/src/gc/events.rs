//! Lines of the file that `assay gc --events` writes, and of a trial's `gc.ndjson`.

use super::{GcJvm, GcRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line: of a file or a JVM, or a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum GcEventsLine {
    /// Which file or JVM the records are of.
    Heading(GcHeading),
    /// Something that the collector did.
    Record(Box<GcRecord>),
}

/// What `source` and `line` of records stand for. Its `kind` is none of a record's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum GcHeading {
    /// The first line of a trial's file.
    Schema {
        /// [`crate::schema::GC_EVENTS`]
        schema: String,
    },
    /// A file, before its first record; once more when rotation gave a file that is followed another name.
    Source {
        /// Index, as records have it.
        source: usize,
        /// File name, member of an archive, or `standard input`.
        name: String,
    },
    /// A JVM: of it are the records from its `source` and `line` on, up to those of the next. It is written when all is known of it,
    /// which is behind its records; while a log is followed, whenever more is known: the last line of the same place counts.
    Jvm(Box<GcJvm>),
}

impl GcEventsLine {
    /// The record on this line; absent where it is a heading.
    pub fn into_record(self) -> Option<GcRecord> {
        match self {
            GcEventsLine::Heading(_) => None,
            GcEventsLine::Record(record) => Some(*record),
        }
    }
}
