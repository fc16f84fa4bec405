//! The one record of what a collector did, whatever JVM wrote it and in whatever form.

use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of the event that a record describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcRecordKind {
    /// The application stood still for the collector.
    Pause,
    /// A whole concurrent cycle, from its beginning to its end, pauses within it included.
    Cycle,
    /// A concurrent phase of a cycle.
    Concurrent,
    /// One thread waited for memory, or for a page that was being moved.
    Stall,
    /// The application stood still for whatever the JVM does at a safepoint. That of a collection holds its pause.
    Safepoint,
    /// Why a cycle begins, where the log says so apart from the cycle.
    Trigger,
    /// The JVM had no memory left and threw, or ended.
    OutOfMemory,
}

impl GcRecordKind {
    /// The name used in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            GcRecordKind::Pause => "pause",
            GcRecordKind::Cycle => "cycle",
            GcRecordKind::Concurrent => "concurrent",
            GcRecordKind::Stall => "stall",
            GcRecordKind::Safepoint => "safepoint",
            GcRecordKind::Trigger => "trigger",
            GcRecordKind::OutOfMemory => "out-of-memory",
        }
    }
}

/// What a pause or cycle collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcScope {
    /// The young generation, or the nursery.
    Young,
    /// The young generation and part of the old one: G1's mixed collections, J9's partial ones.
    Mixed,
    /// The old generation alone.
    Old,
    /// All of the heap, stop-the-world.
    Full,
    /// The heap of a collector without generations, or all of them in one concurrent cycle.
    Whole,
}

/// When something was, on the clocks that the log has. A clock that it has not is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcInstant {
    /// On `CLOCK_MONOTONIC`, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub monotonic_ns: Option<u64>,
    /// Since the start of this JVM, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uptime_ns: Option<u64>,
    /// Since 1970 in UTC, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unix_ns: Option<i64>,
    /// Smallest step of the finest of these, nanoseconds: no rate may claim more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resolution_ns: Option<u64>,
}

/// Bytes in use before and after, and the capacity after. Values that the log does not have are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcSizes {
    /// In use before, bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before_bytes: Option<u64>,
    /// In use after, bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after_bytes: Option<u64>,
    /// Capacity (committed) after, bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub capacity_bytes: Option<u64>,
    /// Smallest step of these, bytes: 1 where they are exact, 1 MiB on the line of a pause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resolution_bytes: Option<u64>,
}

/// A part of the heap, or metaspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcSpace {
    /// The young generation whole; J9's nursery.
    Young,
    /// Where objects are made.
    Eden,
    /// Where young ones survive.
    Survivor,
    /// The old or tenured generation.
    Old,
    /// G1's objects that are larger than half a region; J9's large-object area.
    Humongous,
    /// Metaspace whole; the permanent generation before JDK 8.
    Metaspace,
    /// The part of it that compressed class pointers reach.
    ClassSpace,
}

/// CPU time of a pause or phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcCpu {
    /// In user mode, all threads, nanoseconds.
    pub user_ns: u64,
    /// In the kernel, all threads, nanoseconds.
    pub sys_ns: u64,
    /// Time that passed meanwhile as this line of the log has it, nanoseconds; absent where it is not said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub real_ns: Option<u64>,
    /// Smallest step, nanoseconds: HotSpot counts in 10 ms, so that only sums mean anything; J9 in µs.
    pub resolution_ns: u64,
}

closed! {
    /// What went wrong in a collection.
    GcAnomaly {
        /// G1 found no room for survivors: `(Evacuation Failure)`, `to-space exhausted`.
        EvacuationFailure = "evacuation-failure",
        /// The old generation had no room for what was to be promoted: `promotion failed`, J9's `scavenge aborted`.
        PromotionFailed = "promotion-failed",
        /// The concurrent collector did not finish in time: CMS' `concurrent mode failure`.
        ConcurrentModeFailure = "concurrent-mode-failure",
        /// Shenandoah ended the cycle in a pause: `Pause Degenerated GC`.
        Degenerated = "degenerated",
        /// A concurrent cycle was given up: `Concurrent Mark Abort`, `concurrent mode interrupted`.
        Aborted = "aborted",
        /// The JVM was held back by a thread in a JNI critical section: `GCLocker Initiated GC`, `Waiting for GCLocker`.
        CriticalSection = "critical-section",
    }
}

closed! {
    /// A part of a pause that may take most of it, and that an option or the program brings about.
    GcPart {
        /// From the stacks of threads and other roots into the heap: G1's `Ext Root Scanning`.
        RootScan = "root-scan",
        /// Soft, weak, final and phantom references: `Reference Processing`, `Ref Proc`.
        References = "references",
        /// `String Dedup Fixup`.
        StringDeduplication = "string-deduplication",
    }
}

/// Something that the collector did: a pause, a cycle, a phase, a stall, a safepoint, a trigger.
///
/// The same for every collector and JVM. A field is absent when the log does not say; it is never zero instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcRecord {
    /// Its kind.
    pub kind: GcRecordKind,
    /// Its name, in the JVM's words without numbers, cause and sizes: `Pause Young (Normal)`, `Pause Mark Start`,
    /// `Concurrent Mark`, `Allocation Stall`, the operation of a safepoint, `scavenge`. A row in the tables for each.
    pub phase: String,
    /// What it collects.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scope: Option<GcScope>,
    /// Cause in the JVM's words: `Allocation Failure`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
    /// Number that the log gives: `GC(n)`; J9's `id` of the cycle.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cycle_id: Option<u64>,
    /// Its end.
    pub end: GcInstant,
    /// How long it took, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ns: Option<u64>,
    /// Smallest step of that, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_resolution_ns: Option<u64>,
    /// Time until all threads stood still, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_to_safepoint_ns: Option<u64>,
    /// The whole heap.
    #[serde(default)]
    pub heap: GcSizes,
    /// Its parts, and metaspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spaces: Vec<(GcSpace, GcSizes)>,
    /// CPU time of the collector's threads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<GcCpu>,
    /// Threads that collected.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workers: Option<u64>,
    /// Bytes that the application allocated since the record before, where the log says so itself (J9).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub allocated_bytes: Option<u64>,
    /// Bytes that went to the old generation, where the log says so itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub promoted_bytes: Option<u64>,
    /// Bytes that a mark of the whole heap found live, where the log says so itself (Z).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub live_bytes: Option<u64>,
    /// The thread that waited, or that allocated most.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thread: Option<String>,
    /// Parts of a pause, where the log has such lines, nanoseconds each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<(GcPart, u64)>,
    /// What went wrong, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anomalies: Vec<GcAnomaly>,
    /// Index of the source in which it ended, counted from 0 in the order in which they were read.
    pub source: usize,
    /// First line of it, counted from 1 in its source; that of the next one when it began in the source before.
    pub first_line: u64,
    /// The line that ended it.
    pub line: u64,
}

impl GcRecord {
    /// A record of which only this is known.
    pub fn new(kind: GcRecordKind, phase: impl Into<String>, source: usize, line: u64) -> Self {
        GcRecord {
            kind,
            phase: phase.into(),
            scope: None,
            cause: None,
            cycle_id: None,
            end: GcInstant::default(),
            duration_ns: None,
            duration_resolution_ns: None,
            time_to_safepoint_ns: None,
            heap: GcSizes::default(),
            spaces: Vec::new(),
            cpu: None,
            workers: None,
            allocated_bytes: None,
            promoted_bytes: None,
            live_bytes: None,
            thread: None,
            parts: Vec::new(),
            anomalies: Vec::new(),
            source,
            first_line: line,
            line,
        }
    }

    /// Sizes of one part of the heap.
    pub fn space(&self, space: GcSpace) -> Option<&GcSizes> {
        self.spaces.iter().find(|(name, _)| *name == space).map(|(_, sizes)| sizes)
    }
}
