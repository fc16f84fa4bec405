//! What a finding is made of, and from which size on it matters.

use assay_model::{MemoryFinding, MemoryReport, MemoryRule};

/// What is smaller is not worth a restart: a burst of compilation alone moves as much.
pub(super) const GAIN_BYTES_MIN: u64 = 4 << 20;

/// In a process of some GiB the same holds for a hundredth of it.
pub(super) const GAIN_SHARE_MIN: u64 = 100;

/// Whether so many bytes are worth a claim in this process.
pub(super) fn matters(report: &MemoryReport, bytes: u64) -> bool {
    GAIN_BYTES_MIN.max(report.rss_bytes / GAIN_SHARE_MIN) <= bytes
}

pub(super) fn finding(
    rule: MemoryRule,
    claim: String,
    evidence: String,
    setting: String,
    gain_bytes: Option<u64>,
) -> MemoryFinding {
    MemoryFinding { rule, claim, evidence, setting, gain_bytes, is_at_least: false }
}
