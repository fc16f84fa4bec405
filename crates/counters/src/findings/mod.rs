//! What an account of CPU time shows to be wrong: claims, each with its figures and what to do about it.
//!
//! A rule is one value: what it says in general, its thresholds, and a function from the account to findings, which stays silent unless the
//! figures support it. Nothing is claimed of a figure that is absent, of an estimate the end of its interval counts, and of what the kernel
//! only counts together nothing is claimed by kind. To add a rule: write it in the file of its group, name it in the group's `RULES`, and
//! give `tests/findings.rs` an account that has what it speaks of and one that just has not.

mod calls;
mod carriers;
mod collector;
mod compilers;
mod exceptions;
mod kernel;
mod places;
mod pools;
mod rule;
mod run_queue;
mod stacks;
mod threads;
mod words;

pub use compilers::COMPILERS_SHARE_MAX;

use assay_model::{Explanation, Threshold, TimeReport};
use rule::{Found, Rule};

/// CPU time below which an account says nothing.
const CPU: Threshold = Threshold::seconds("cpu", 0.5);

/// Rules on CPU time, by what they speak of.
static GROUPS: &[&[&Rule]] = &[
    run_queue::RULES,
    collector::RULES,
    compilers::RULES,
    threads::RULES,
    kernel::RULES,
    calls::RULES,
    exceptions::RULES,
    places::RULES,
];

fn all() -> impl Iterator<Item = &'static Rule> {
    of_cpu_time().chain(carriers::RULES.iter().copied())
}

fn of_cpu_time() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().copied().flatten().copied()
}

/// What each rule says in general.
pub fn rules() -> Vec<Explanation> {
    all().map(Rule::explained).collect()
}

/// From how much CPU time on a finding is made, in words.
pub fn least_cpu() -> String {
    format!(
        "An account of less than {CPU} of CPU time has findings on carriers of virtual threads alone, which wait."
    )
}

/// What follows from an account: the gravest first, of these what concerns the most CPU time.
pub fn findings(report: &TimeReport) -> Vec<Found> {
    let judged = |rule: &'static Rule| (rule.judge)(report);
    let mut found: Vec<Found> = carriers::RULES.iter().copied().flat_map(judged).collect();
    if CPU.value * 1e9 <= report.process.cpu_ns as f64 {
        found.extend(of_cpu_time().flat_map(judged));
    }
    Found::sort(&mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_each_rule_name_its_thresholds() {
        let mistakes: Vec<String> = all().flat_map(Rule::mistakes).collect();
        assert_eq!(mistakes, [""; 0]);
    }
}
