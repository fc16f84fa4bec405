//! The answers of readers as one, with their findings in order.

use assay_findings::why;
use assay_model::{Finding, RuleId, WhyReport, schema};

/// The parts with what they found in order; `growth` is that of a record of memory.
pub fn ranked(parts: WhyReport, growth: Option<Finding<RuleId>>) -> WhyReport {
    let findings = why::rank(why::gather(&parts, growth));
    WhyReport { schema: schema::WHY.to_owned(), findings, ..parts }
}
