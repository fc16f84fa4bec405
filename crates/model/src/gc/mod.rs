//! Garbage collections, as read from a GC log.

mod events;
mod figures;
mod record;
mod report;

pub use events::{GcEventsLine, GcHeading};
pub use figures::{Exposition, GC_FIGURES, GcFigure, gc_figure};
pub use record::{GcAnomaly, GcCpu, GcInstant, GcPart, GcRecord, GcRecordKind, GcScope, GcSizes, GcSpace};
pub use report::{
    GcClock, GcCollection, GcComparison, GcCpuSum, GcDifference, GcDurations, GcJvm, GcLiveSet, GcMmu,
    GcPoint, GcReconciliation, GcReport, GcRow, GcSeries, GcSource, GcSpaceUse, GcTrend, GcVerdict,
    NotUnderstood, UnrecognizedLines,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the heap lies in the address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapRange {
    /// First address.
    pub start_address: u64,
    /// Bytes reserved.
    pub reserved_bytes: u64,
}
