//! What an account of CPU time shows to be wrong: claims, each with its figures and what to do about it.
//!
//! A rule is a function from the account to findings, and stays silent unless the figures support it. Nothing is claimed of a figure that
//! is absent, of an estimate the end of its interval counts, and of what the kernel only counts together nothing is claimed by kind. To add
//! a rule: write the function, put it into [`RULES`], and give `tests/findings.rs` an account that has what it speaks of and one that just
//! has not.

mod calls;
mod collector;
mod kernel;
mod places;
mod run_queue;
mod threads;
mod words;

pub use threads::COMPILERS_SHARE_MAX;

use assay_model::{Finding, TimeReport, TimeRule};

/// CPU time below which an account says nothing.
const CPU_NS_MIN: u64 = 500_000_000;

type Rule = fn(&TimeReport) -> Vec<Finding<TimeRule>>;

/// All rules.
const RULES: [Rule; 13] = [
    run_queue::overloaded,
    run_queue::softirq,
    collector::throttled,
    collector::too_many_threads,
    threads::busy_wait,
    threads::hand_over,
    threads::still_compiling,
    kernel::faults,
    kernel::calls,
    calls::one_kind,
    places::faults_in_one_place,
    places::carriers_blocked,
    places::false_sharing,
];

/// What follows from an account: the gravest first, then in the order of the rules.
pub fn findings(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    if report.process.cpu_ns < CPU_NS_MIN {
        return Vec::new();
    }
    let mut found: Vec<Finding<TimeRule>> = RULES.iter().flat_map(|rule| rule(report)).collect();
    Finding::sort(&mut found);
    found
}
