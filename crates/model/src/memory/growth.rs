//! Whether memory grows, and of what: the verdict over the snapshots of a record.

use crate::Estimate;
use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// A verdict over a series of snapshots.
    GrowthKind {
        /// Something grows on, by an interval that excludes zero.
        Growing = "growing",
        /// Nothing grows any more; it may have grown before.
        LevelledOff = "levelled-off",
        /// The Java heap grows and falls with collections, and what is left after them does not grow: garbage, not a leak.
        Garbage = "garbage",
        /// The snapshots allow none of these.
        TooShort = "too-short",
    }
}

closed! {
    /// The bytes of which growth is judged.
    GrowthGround {
        /// Resident bytes of entries.
        Resident = "resident",
        /// Bytes of objects of the Java heap that a root leads to.
        LiveObjects = "live-objects",
        /// Bytes of the Java heap that collections left.
        AfterCollections = "after-collections",
    }
}

/// The verdict over a series of snapshots of one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthVerdict {
    /// The verdict.
    pub kind: GrowthKind,
    /// Snapshots that it rests on: of the process that ran last, of one depth.
    pub snapshots: u64,
    /// Time from the first of them to the last.
    pub elapsed_ns: u64,
    /// Each thing that grows, the fastest first; empty with another verdict.
    pub growing: Vec<Grower>,
    /// After how much longer a record will tell; absent where this one does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub come_back_after_ns: Option<u64>,
    /// What the verdict rests on, a sentence each.
    pub evidence: Vec<String>,
}

/// A thing that grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Grower {
    /// From the area to the owner: as the path of a cause; in the Java heap, the holder.
    pub path: Vec<String>,
    /// Whose bytes were counted.
    pub ground: GrowthGround,
    /// Growth in bytes a second since then. The interval excludes zero.
    pub rate_bytes_per_s: Estimate,
    /// Wall-clock time of the snapshot from which on it grows, RFC 3339.
    pub since: String,
    /// That snapshot, counted from the end of the series: so long ago.
    pub since_ns: u64,
    /// Bytes at that snapshot.
    pub before_bytes: u64,
    /// Bytes at the last one.
    pub after_bytes: u64,
    /// What it is, and what to check next.
    pub explanation: String,
}
