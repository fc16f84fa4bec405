//! What could be given back or avoided: claims about one snapshot, each with its figures, the setting as it is typed, and
//! the bytes that it would bring.
//!
//! A rule is one value: what it says in general, its thresholds, and a function from the snapshot to a finding, which stays silent unless
//! the figures support it. Nothing is claimed of a figure that is absent. To add a rule: write it in the file of its group, name it in the
//! group's `RULES`, and give `tests/findings` a snapshot that has what it speaks of and one that just has not.

mod buffers;
pub(crate) mod classes;
mod code;
mod heap;
mod host;
mod huge_pages;
pub(crate) mod malloc;
pub(crate) mod rule;
mod threads;
pub(crate) mod words;

use assay_model::{Explanation, MemoryReport};
use rule::{Found, Rule};

/// All rules, by what they speak of.
static GROUPS: &[&[&Rule]] = &[
    malloc::RULES,
    heap::RULES,
    threads::RULES,
    huge_pages::RULES,
    buffers::RULES,
    classes::RULES,
    code::RULES,
    host::RULES,
];

fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().copied().flatten().copied()
}

/// What each rule says in general.
pub(crate) fn rules() -> impl Iterator<Item = Explanation> {
    all().map(Rule::explained)
}

/// From which size on a finding is made, in words.
pub fn least_gain() -> String {
    rule::least()
}

/// What follows from a snapshot: the gravest first, then the biggest gain, then claims without one. A rule that has nothing to say about the
/// process is silent.
pub fn findings(report: &MemoryReport) -> Vec<Found> {
    found(report, |_| true)
}

/// The same, of what lowers the limit that the process needs.
pub(crate) fn that_lower_the_limit(report: &MemoryReport) -> Vec<Found> {
    found(report, |rule| rule.judge.lowers_limit)
}

fn found(report: &MemoryReport, counts: impl Fn(&Rule) -> bool) -> Vec<Found> {
    let mut found: Vec<Found> =
        all().filter(|rule| counts(rule)).filter_map(|rule| rule.judge.judge(report)).collect();
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
