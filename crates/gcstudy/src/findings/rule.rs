//! What rules are made of.

use assay_model::{GcFinding, GcReport, GcRule, GcSeverity};
pub(super) use assay_text::size::rounded_signed as size;

/// A rule.
pub(super) type Rule = fn(&GcReport) -> Option<GcFinding>;

/// A finding, to which what to change is added where there is something.
pub(super) fn finding(
    rule: GcRule,
    severity: GcSeverity,
    claim: impl Into<String>,
    evidence: impl Into<String>,
) -> GcFinding {
    GcFinding {
        rule,
        severity,
        claim: claim.into(),
        evidence: evidence.into(),
        at: Vec::new(),
        change: None,
        brings: None,
    }
}

/// What is added to a finding.
pub(super) trait With {
    fn at(self, places: impl IntoIterator<Item = (usize, u64)>) -> Self;
    fn change(self, change: impl Into<String>, brings: impl Into<String>) -> Self;
}

impl With for GcFinding {
    fn at(mut self, places: impl IntoIterator<Item = (usize, u64)>) -> Self {
        self.at = places.into_iter().collect();
        self
    }

    fn change(mut self, change: impl Into<String>, brings: impl Into<String>) -> Self {
        (self.change, self.brings) = (Some(change.into()), Some(brings.into()));
        self
    }
}

/// Where things of this name stand.
pub(super) fn places(report: &GcReport, name: &str) -> Vec<(usize, u64)> {
    report.places.get(name).cloned().unwrap_or_default()
}

/// The collector of the last JVM.
pub(super) fn collector(report: &GcReport) -> Option<&str> {
    report.jvms.last()?.collector.as_deref()
}

/// Whether a collector moves objects while the application runs, so that its pauses do not grow with the heap.
pub(super) fn is_pauseless(report: &GcReport) -> bool {
    matches!(collector(report), Some("Z" | "Shenandoah"))
}

/// The largest heap that the last JVM may have, bytes.
pub(super) fn heap_max(report: &GcReport) -> Option<f64> {
    report.jvms.last()?.heap_bytes_max.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64)
}

/// Number of pauses with a cause, their sum in milliseconds, and where the longest of them is.
pub(super) type Caused = (u64, f64, Option<(usize, u64)>);

/// Pauses with a cause.
pub(super) fn caused(report: &GcReport, cause: &str) -> Option<Caused> {
    let row = report.pauses_by_cause.iter().find(|row| row.name == cause)?;
    Some((row.durations.count, row.durations.total_ms, row.durations.max_at))
}
