//! Rules: what a report shows that its reader should know or do.
//!
//! Each rule is a pure function of the report. What the log does not tell gives no finding. Thresholds stand beside the rule with their
//! source; where none is named they are ours.

mod collectors;
mod full;
mod jvm;
mod log;
mod pauses;
mod room;
mod safepoints;

use assay_model::{GcFinding, GcReport, GcSeverity};
use assay_text::size::rounded_signed as size;

/// A rule.
type Rule = fn(&GcReport) -> Option<GcFinding>;

/// All findings, the gravest first, then in the order of the rules.
pub(super) fn findings(report: &GcReport) -> Vec<GcFinding> {
    let groups = [
        room::RULES,
        full::RULES,
        collectors::RULES,
        pauses::RULES,
        safepoints::RULES,
        jvm::RULES,
        log::RULES,
    ];
    let mut findings: Vec<GcFinding> = groups.into_iter().flatten().filter_map(|rule| rule(report)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// A finding, to which what to change is added where there is something.
fn finding(
    rule: &str,
    severity: GcSeverity,
    claim: impl Into<String>,
    evidence: impl Into<String>,
) -> GcFinding {
    GcFinding {
        rule: rule.to_owned(),
        severity,
        claim: claim.into(),
        evidence: evidence.into(),
        at: Vec::new(),
        change: None,
        brings: None,
    }
}

/// What is added to a finding.
trait With {
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
fn places(report: &GcReport, name: &str) -> Vec<(usize, u64)> {
    report.places.get(name).cloned().unwrap_or_default()
}

/// The collector of the last JVM.
fn collector(report: &GcReport) -> Option<&str> {
    report.jvms.last()?.collector.as_deref()
}

/// Whether a collector moves objects while the application runs, so that its pauses do not grow with the heap.
fn is_pauseless(report: &GcReport) -> bool {
    matches!(collector(report), Some("Z" | "Shenandoah"))
}

/// The largest heap that the last JVM may have, bytes.
fn heap_max(report: &GcReport) -> Option<f64> {
    report.jvms.last()?.heap_bytes_max.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64)
}

/// Number of pauses with a cause, their sum in milliseconds, and where the longest of them is.
type Caused = (u64, f64, Option<(usize, u64)>);

/// Pauses with a cause.
fn caused(report: &GcReport, cause: &str) -> Option<Caused> {
    let row = report.pauses_by_cause.iter().find(|row| row.name == cause)?;
    Some((row.durations.count, row.durations.total_ms, row.durations.max_at))
}

#[cfg(test)]
mod tests;
