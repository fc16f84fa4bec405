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

#[cfg(test)]
mod tests {
    use super::*;

    fn record(line: &str) -> Option<GcRecord> {
        serde_json::from_str::<StoredGcLine>(line).expect("a stored line").into_record()
    }

    #[test]
    fn lines_of_every_version_are_read() {
        let before = r#"{"id":7,"kind":"full","cause":"System.gc()","end_monotonic_ns":2642225000002,"end_uptime_s":0.13,
            "pause_ns":918000,"before_bytes":100,"after_bytes":10,"capacity_bytes":200,"line":13}"#;
        let old = record(before).expect("a pause");
        assert_eq!(
            (old.kind, old.scope, old.duration_ns),
            (GcRecordKind::Pause, Some(GcScope::Full), Some(918_000))
        );
        assert_eq!((old.end.monotonic_ns, old.end.uptime_ns), (Some(2_642_225_000_002), Some(130_000_000)));
        assert_eq!(
            (old.heap.before_bytes, old.heap.after_bytes, old.cycle_id),
            (Some(100), Some(10), Some(7))
        );
        let stop = record(&before.replace("full", "concurrent-stop")).expect("a stop");
        assert_eq!((stop.kind, stop.scope), (GcRecordKind::Pause, None));

        assert_eq!(record(r#"{"kind":"schema","schema":"assay.gc-events/2"}"#), None);
        assert_eq!(record(r#"{"kind":"source","source":0,"name":"gc.log"}"#), None);
        let now = GcRecord {
            duration_ns: Some(5),
            ..GcRecord::new(GcRecordKind::Concurrent, "Concurrent Mark", 0, 3)
        };
        assert_eq!(record(&serde_json::to_string(&now).expect("a line")), Some(now));
    }
}
