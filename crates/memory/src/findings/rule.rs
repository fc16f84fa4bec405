//! The parts of a rule, and the size from which on a finding matters.

use super::words::sum;
use assay_model::{Change, Finding, MemoryReport, RuleId, Severity, Threshold};

/// What a rule finds.
pub(crate) type Found = Finding<RuleId>;

/// A rule about one snapshot.
pub(super) type Rule = assay_model::Rule<Judge>;

/// What judges a snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judge {
    judge: fn(&MemoryReport) -> Option<Found>,
    /// The entries that its findings speak of, by their paths.
    is_about: fn(&[String]) -> bool,
    /// Whether what the finding would bring lowers the limit that the process needs.
    pub lowers_limit: bool,
}

impl Judge {
    /// Of memory that a limit holds only as long as it is resident.
    pub const fn of(judge: fn(&MemoryReport) -> Option<Found>) -> Judge {
        Judge { judge, is_about: |_| false, lowers_limit: true }
    }

    /// Of memory with a hard bound, for which a limit provides, used or not.
    pub const fn of_bounded(judge: fn(&MemoryReport) -> Option<Found>) -> Judge {
        Judge { judge, is_about: |_| false, lowers_limit: false }
    }

    /// The same; its findings speak of these entries, so that no general finding does.
    pub const fn about(self, is_about: fn(&[String]) -> bool) -> Judge {
        Judge { is_about, ..self }
    }

    /// Whether its findings speak of the entry at a path.
    pub fn is_about(self, path: &[String]) -> bool {
        (self.is_about)(path)
    }

    /// The finding, if there is one. Where it does not say itself how many resident bytes it speaks of, its entries do.
    pub fn judge(self, report: &MemoryReport) -> Option<Found> {
        let found = (self.judge)(report)?;
        let of_entries = || Some(sum(report, self.is_about)).filter(|bytes| *bytes != 0);
        Some(Found { resident_bytes: found.resident_bytes.or_else(of_entries), ..found })
    }
}

/// From this share of RSS on memory costs something.
const GRAVE_SHARE: Threshold = Threshold::percent("grave_share", 5.0);

/// A finding as grave as its share of the process's memory is large. One that speaks of no resident bytes (a limit that is near, memory in
/// swap) has the severity of its rule.
pub(super) fn graded(found: Found, memory_bytes: u64) -> Found {
    let severity = match found.resident_bytes {
        None => found.severity,
        Some(bytes) if bytes < GRAVE_SHARE.share_of(memory_bytes) => Severity::Note,
        Some(_) => Severity::Warning,
    };
    Found { severity, ..found }
}

/// A smaller share is not worth a restart: a burst of compilation alone moves as much.
const LEAST: Threshold = Threshold::bytes("least", 4 << 20);

/// In a process of some GiB the same holds for a hundredth of it.
const LEAST_SHARE: Threshold = Threshold::percent("least_share", 1.0);

/// Whether so many bytes are worth a claim in this process.
pub(super) fn matters(report: &MemoryReport, bytes: u64) -> bool {
    LEAST.whole().max(LEAST_SHARE.share_of(report.bytes_of_memory())) <= bytes
}

/// The same in words.
pub(super) fn least() -> String {
    format!(
        "Reclaimable or avoidable memory is a finding from {LEAST} and {LEAST_SHARE} of RSS on. Findings are \
            ordered by their resident bytes. Those of {GRAVE_SHARE} of RSS or more are warnings, smaller \
            ones notes."
    )
}

/// A finding with what to do about it, and the bytes that this would bring.
pub(crate) fn finding<J>(
    rule: &assay_model::Rule<J>,
    claim: String,
    evidence: String,
    step: impl Into<Change>,
    gain_bytes: Option<u64>,
) -> Found {
    Found { gain_bytes, ..rule.finding(claim, evidence).to_do(step) }
}
