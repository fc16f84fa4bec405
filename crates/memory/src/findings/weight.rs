//! What a finding is made of, and from which size on it matters.

use assay_model::{Finding, MemoryReport, MemoryRule, Severity};

/// What is smaller is not worth a restart: a burst of compilation alone moves as much.
pub(super) const GAIN_BYTES_MIN: u64 = 4 << 20;

/// In a process of some GiB the same holds for a hundredth of it.
pub(super) const GAIN_SHARE_MIN: u64 = 100;

/// Whether so many bytes are worth a claim in this process.
pub(super) fn matters(report: &MemoryReport, bytes: u64) -> bool {
    GAIN_BYTES_MIN.max(report.rss_bytes / GAIN_SHARE_MIN) <= bytes
}

/// A finding with what to do about it, and the bytes that this would bring.
pub(crate) fn finding(
    rule: MemoryRule,
    claim: String,
    evidence: String,
    setting: String,
    gain_bytes: Option<u64>,
) -> Finding<MemoryRule> {
    Finding { gain_bytes, ..Finding::measured(rule, severity(rule), claim, evidence).to_do(setting) }
}

/// What ends a process or slows it down for good hurts; what only shows where memory is costs nothing.
fn severity(rule: MemoryRule) -> Severity {
    match rule {
        MemoryRule::NearLimit | MemoryRule::CodeCacheNearlyFull => Severity::Error,
        MemoryRule::MappedFiles | MemoryRule::UnknownLarge => Severity::Note,
        _ => Severity::Warning,
    }
}
