//! Garbage collections, as read from a GC log.

mod events;
mod figures;
mod record;
mod report;

pub use events::{GcEventsLine, GcHeading};
pub use figures::{Exposition, GC_FIGURES, GcFigure, gc_figure};
pub use record::{GcCpu, GcInstant, GcRecord, GcRecordKind, GcScope, GcSizes, GcSpace, GcTrouble};
pub use report::{
    GcComparison, GcCpuSum, GcDifference, GcDurations, GcFinding, GcJvm, GcLiveSet, GcMmu, GcPoint,
    GcReconciliation, GcReport, GcRow, GcSeries, GcSeverity, GcSource, GcSpaceUse, GcTrend, GcVerdict,
    NotUnderstood, StrangeShape,
};

use crate::{ModeRead, Problem};
use serde::{Deserialize, Serialize};

/// Kind of a collection event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcEventKind {
    /// Young collection, everything stopped.
    Young,
    /// G1 young collection that also takes old regions.
    Mixed,
    /// Full collection.
    Full,
    /// A short stop of a concurrent cycle (remark, cleanup).
    ConcurrentStop,
}

/// One stop of the application for collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GcEvent {
    /// Number that the log gives, `GC(n)`.
    pub id: u64,
    /// Kind.
    pub kind: GcEventKind,
    /// Cause in the JVM's words, for example `Allocation Failure`.
    pub cause: Option<String>,
    /// End of the pause on `CLOCK_MONOTONIC` (decorator `timenanos`); absent without that decorator.
    pub end_monotonic_ns: Option<u64>,
    /// End of the pause in seconds since the start of the JVM, from any decorator that gives it.
    pub end_uptime_s: Option<f64>,
    /// Length of the pause, nanoseconds, at the log's resolution (microseconds).
    pub pause_ns: u64,
    /// Heap in use before, bytes; exact where the log allows it (see the reader).
    pub before_bytes: Option<u64>,
    /// Heap in use after, bytes.
    pub after_bytes: Option<u64>,
    /// Heap capacity after, bytes.
    pub capacity_bytes: Option<u64>,
    /// Line of the log that ended the event, counted from 1.
    pub line: u64,
}

/// Where the heap lies in the address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapRange {
    /// First address.
    pub start_address: u64,
    /// Bytes reserved.
    pub reserved_bytes: u64,
}

/// A whole GC log as read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GcLog {
    /// JVM version as the log gives it.
    pub jvm: Option<String>,
    /// Collector in the JVM's words: `Serial`, `Parallel`, `G1`.
    pub collector: Option<String>,
    /// Reference mode that the log shows.
    pub mode: Option<ModeRead>,
    /// Heap range, from the compressed-oops line or the region lines.
    pub heap: Option<HeapRange>,
    /// Pauses in the order of the log.
    pub events: Vec<GcEvent>,
    /// Lines read.
    pub lines: u64,
    /// Lines that no rule accounts for.
    pub lines_not_understood: u64,
    /// What could not be read.
    pub problems: Vec<Problem>,
}
