//! Lines of the file that `assay gc --events` writes, and of a trial's `gc.ndjson`.

use super::{GcInstant, GcJvm, GcRecord, GcRecordKind, GcScope, GcSizes};
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

/// A line of a trial's `gc.ndjson`, of this version or an earlier one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum StoredGcLine {
    /// Since `assay.gc-events/2`.
    Line(GcEventsLine),
    /// Before.
    V1(GcPauseV1),
}

impl StoredGcLine {
    /// The record on this line; absent where it is a heading.
    pub fn into_record(self) -> Option<GcRecord> {
        match self {
            StoredGcLine::Line(GcEventsLine::Heading(_)) => None,
            StoredGcLine::Line(GcEventsLine::Record(record)) => Some(*record),
            StoredGcLine::V1(pause) => Some(pause.into()),
        }
    }
}

/// A pause as a trial's `gc.ndjson` had it before `assay.gc-events/2`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GcPauseV1 {
    id: u64,
    kind: KindV1,
    cause: Option<String>,
    end_monotonic_ns: Option<u64>,
    end_uptime_s: Option<f64>,
    pause_ns: u64,
    before_bytes: Option<u64>,
    after_bytes: Option<u64>,
    capacity_bytes: Option<u64>,
    line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindV1 {
    Young,
    Mixed,
    Full,
    ConcurrentStop,
}

impl From<GcPauseV1> for GcRecord {
    fn from(pause: GcPauseV1) -> Self {
        let (phase, scope) = match pause.kind {
            KindV1::Young => ("Pause Young", Some(GcScope::Young)),
            KindV1::Mixed => ("Pause Young (Mixed)", Some(GcScope::Mixed)),
            KindV1::Full => ("Pause Full", Some(GcScope::Full)),
            KindV1::ConcurrentStop => ("Pause of a concurrent cycle", None),
        };
        GcRecord {
            scope,
            cause: pause.cause,
            cycle_id: Some(pause.id),
            end: GcInstant {
                monotonic_ns: pause.end_monotonic_ns,
                uptime_ns: pause.end_uptime_s.map(|s| (s * 1e9).round() as u64),
                ..GcInstant::default()
            },
            duration_ns: Some(pause.pause_ns),
            heap: GcSizes {
                before_bytes: pause.before_bytes,
                after_bytes: pause.after_bytes,
                capacity_bytes: pause.capacity_bytes,
                resolution_bytes: None,
            },
            ..GcRecord::new(GcRecordKind::Pause, phase, 0, pause.line)
        }
    }
}
