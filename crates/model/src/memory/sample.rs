//! One look at a process in short: areas only.

use super::Area;
use serde::{Deserialize, Serialize};

/// Resident bytes of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreaBytes {
    /// The area.
    #[serde(rename = "name", alias = "area")]
    pub area: Area,
    /// Resident bytes.
    pub resident_bytes: u64,
}

/// One look at a process. The areas add up to `rss_bytes` of the same scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySample {
    /// When, on `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// Σ of the mappings' resident bytes.
    pub rss_bytes: u64,
    /// Proportional set size, where the kernel gives it.
    pub pss_bytes: Option<u64>,
    /// Swapped-out bytes, where the kernel gives them.
    pub swap_bytes: Option<u64>,
    /// Resident bytes by area; an area that was not seen is not listed.
    pub areas: Vec<AreaBytes>,
}
