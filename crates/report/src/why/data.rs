//! The raw rows: a finding each, in the order of their cost.

use assay_kit::document::{Data, Value};
use assay_model::{RuleId, WhyFinding, WhyReport};

/// The name of a column, and what stands in it.
type Column = (&'static str, fn(&WhyFinding) -> Value);

/// A row for each finding.
pub fn data(report: &WhyReport) -> Data {
    let columns: [Column; 9] = [
        ("reader", |one| one.reader.word().into()),
        ("rule", |one| one.finding.rule.as_str().into()),
        ("severity", |one| one.finding.severity.word().into()),
        ("stands_out", |one| one.stands_out.into()),
        ("cost_of", |one| one.cost.map(|cost| cost.of.word()).into()),
        ("cost_share", |one| one.cost.map(|cost| cost.share).into()),
        ("follows_from", |one| one.follows_from.as_ref().map(RuleId::as_str).into()),
        ("claim", |one| one.finding.claim.clone().into()),
        ("step", |one| Some(one.finding.command()).filter(|step| !step.is_empty()).into()),
    ];
    Data::of(&report.findings, columns)
}
