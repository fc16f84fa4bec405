//! What memory pressure does to the processes of a trial over time, and what Assay pages out of them.

use crate::DeadMemory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Swap at one instant of a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SwapSample {
    /// When, on `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// Memory of the trial's processes that lies in swap; absent where the kernel does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_bytes: Option<u64>,
    /// Pages that the machine swapped in per second since the sample before.
    pub in_pages_per_s: f64,
    /// Pages that it swapped out, likewise.
    pub out_pages_per_s: f64,
    /// Share of the time since then for which a task of the machine waited for memory, percent; absent without pressure figures (PSI).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_percent: Option<f64>,
}

/// Dead memory that was paged out of a process of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialPageOut {
    /// The process: its role in the trial.
    pub role: String,
    /// What was paged out.
    pub memory: Vec<DeadMemory>,
    /// When it began, on `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// How long looking and writing took, nanoseconds; the process ran on meanwhile.
    pub took_ns: u64,
    /// Resident bytes in whole dead pages.
    pub predicted_bytes: u64,
    /// Bytes of them that were not resident directly after; absent where nothing could be paged out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paged_out_bytes: Option<u64>,
    /// Why nothing was paged out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
