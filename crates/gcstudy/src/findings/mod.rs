//! Rules: what a report shows that its reader should know or do.
//!
//! A rule is one value: what it says in general, its thresholds, and a pure function of the report that judges. A value that the log lacks
//! gives no finding. Thresholds stand beside the rule with their source; where none is named they are ours. To add a rule: write it in the
//! file of its group, name it in the group's `RULES`, and give `tests.rs` a report that has what it speaks of.

mod collectors;
mod full;
mod jvm;
mod leak;
mod log;
mod often;
mod parts;
mod pauses;
mod rank;
mod room;
mod rule;
mod safepoints;
mod young;

use assay_model::{Explanation, GcReport};
use rule::{Found, Rule};

/// All rules, by what they speak of.
static GROUPS: &[&[&Rule]] = &[
    room::RULES,
    full::RULES,
    young::RULES,
    parts::RULES,
    collectors::RULES,
    pauses::RULES,
    safepoints::RULES,
    jvm::RULES,
    log::RULES,
];

fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().copied().flatten().copied()
}

/// What each rule says in general.
pub fn rules() -> Vec<Explanation> {
    all().map(Rule::explained).collect()
}

/// All findings, the gravest first, then causes before symptoms.
pub(super) fn findings(report: &GcReport) -> Vec<Found> {
    let mut findings: Vec<Found> = all().filter_map(|rule| (rule.judge)(report)).collect();
    rank::rank(report, &mut findings);
    leak::advise_no_more_heap(&mut findings);
    findings
}

#[cfg(test)]
mod causes_tests;
#[cfg(test)]
mod tests;
