//! One snapshot of a process in short: areas only.

use super::AreaBytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One snapshot of a process. The areas add up to `rss_bytes` of the same scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySample {
    /// When, on `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// Σ of the mappings' resident bytes.
    pub rss_bytes: u64,
    /// Proportional set size, where the kernel gives it.
    pub pss_bytes: Option<u64>,
    /// Swapped-out bytes, where the kernel gives them.
    pub swap_bytes: Option<u64>,
    /// Resident bytes by area; an area that was not found is not listed.
    pub areas: Vec<AreaBytes>,
}
