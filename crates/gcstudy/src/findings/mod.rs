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
mod rule;
mod safepoints;

use assay_model::{Finding, GcReport, GcRule};

/// All findings, the gravest first, then in the order of the rules.
pub(super) fn findings(report: &GcReport) -> Vec<Finding<GcRule>> {
    let groups = [
        room::RULES,
        full::RULES,
        collectors::RULES,
        pauses::RULES,
        safepoints::RULES,
        jvm::RULES,
        log::RULES,
    ];
    let mut findings: Vec<Finding<GcRule>> =
        groups.into_iter().flatten().filter_map(|rule| rule(report)).collect();
    Finding::sort(&mut findings);
    findings
}

#[cfg(test)]
mod tests;
