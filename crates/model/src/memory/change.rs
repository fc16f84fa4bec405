//! What changed between two snapshots: what `assay memory diff A B --json` prints.

use super::{FigureSource, GrowthVerdict};
use crate::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Growth from one snapshot to a later one, explained by cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryChange {
    /// `assay.memory-change/3`
    pub schema: String,
    /// The process, if both snapshots are of the same.
    pub pid: Option<u32>,
    /// Time from the first snapshot to the second; absent when they are from different machines or boots.
    pub elapsed_ns: Option<u64>,
    /// RSS of the first snapshot.
    pub before_bytes: u64,
    /// RSS of the second snapshot.
    pub after_bytes: u64,
    /// Of the change: bytes that causes with a known owner explain.
    pub explained_bytes: i64,
    /// Share of the change that is explained, 0 to 1; absent when nothing changed.
    pub explained_share: Option<f64>,
    /// Causes, the biggest growth first; those that shrank are last.
    pub causes: Vec<Cause>,
    /// Whether it grows on, over the record that both snapshots are from; absent where they are not from one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub growth: Option<GrowthVerdict>,
    /// What could not be compared.
    pub problems: Vec<Problem>,
}

/// One cause of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// Path of the entry, or of the branch whose entries grew together.
    pub path: Vec<String>,
    /// Resident bytes in the first snapshot.
    pub before_bytes: u64,
    /// Resident bytes in the second snapshot.
    pub after_bytes: u64,
    /// Growth in number (blocks, threads, buffers), where they are counted.
    pub count_change: Option<i64>,
    /// How it was established.
    pub source: FigureSource,
    /// The cause in plain words, and what to check next.
    pub explanation: String,
}

impl Cause {
    /// Growth, negative when it shrank.
    pub fn change_bytes(&self) -> i64 {
        self.after_bytes.cast_signed() - self.before_bytes.cast_signed()
    }
}
