//! What a rule is made of, and from which size on a finding matters.

use assay_model::{Finding, MemoryReport, RuleId, Threshold};

/// What a rule finds.
pub(crate) type Found = Finding<RuleId>;

/// A rule about one snapshot.
pub(super) type Rule = assay_model::Rule<Judge>;

/// What judges a snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judge {
    judge: fn(&MemoryReport) -> Option<Found>,
    /// Whether what the finding would bring lowers the limit that the process needs.
    pub lowers_limit: bool,
}

impl Judge {
    /// Of memory that a limit holds only as long as it is resident.
    pub const fn of(judge: fn(&MemoryReport) -> Option<Found>) -> Judge {
        Judge { judge, lowers_limit: true }
    }

    /// Of memory with a hard bound, for which a limit provides, used or not.
    pub const fn of_bounded(judge: fn(&MemoryReport) -> Option<Found>) -> Judge {
        Judge { judge, lowers_limit: false }
    }

    /// The finding, if there is one.
    pub fn judge(self, report: &MemoryReport) -> Option<Found> {
        (self.judge)(report)
    }
}

/// What is smaller is not worth a restart: a burst of compilation alone moves as much.
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
        "What could be given back or avoided is worth a finding from {LEAST} and {LEAST_SHARE} of RSS on."
    )
}

/// A finding with what to do about it, and the bytes that this would bring.
pub(crate) fn finding<J>(
    rule: &assay_model::Rule<J>,
    claim: String,
    evidence: String,
    setting: String,
    gain_bytes: Option<u64>,
) -> Found {
    Found { gain_bytes, ..rule.finding(claim, evidence).to_do(setting) }
}
