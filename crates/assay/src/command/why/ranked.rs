//! The answers of readers as one: their findings in order, and where to look next.

use assay_findings::why;
use assay_model::{Finding, RuleId, WhyReport, schema};

/// The parts with what they found in order; `growth` is that of a record of memory.
pub fn ranked(
    parts: WhyReport,
    growth: Option<Finding<RuleId>>,
    next: impl FnOnce(&WhyReport) -> String,
) -> WhyReport {
    let findings = why::rank(why::gather(&parts, growth));
    let report = WhyReport { schema: schema::WHY.to_owned(), findings, ..parts };
    WhyReport { next: next(&report), ..report }
}
