//! What could be given back or avoided: claims about one snapshot, each with its figures, the setting as it is typed, and
//! the bytes that it would bring.
//!
//! A rule is one value: what it says in general, its thresholds, and a function from the snapshot to a finding, which stays silent unless
//! the figures support it. Nothing is claimed of a figure that is absent. To add a rule: write it in the file of its group, name it in the
//! group's `RULES`, and give `tests/findings` a snapshot that has what it speaks of and one that just has not.

mod buffers;
pub(crate) mod classes;
mod code;
pub(crate) mod container;
mod heap;
pub(crate) mod host;
mod huge_pages;
pub(crate) mod malloc;
mod profilers;
pub(crate) mod rule;
mod shares;
mod threads;
pub(crate) mod words;

use assay_model::{Explanation, MemoryReport};
use rule::{Found, Rule, graded};
use words::sum;

/// All rules, by what they speak of.
static GROUPS: &[&[&Rule]] = &[
    malloc::RULES,
    heap::RULES,
    threads::RULES,
    huge_pages::RULES,
    buffers::RULES,
    classes::RULES,
    code::RULES,
    container::RULES,
    host::RULES,
];

fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().copied().flatten().copied()
}

/// What each rule says in general.
pub(crate) fn rules() -> impl Iterator<Item = Explanation> {
    all().map(Rule::explained).chain([shares::LARGE_SHARE.explained()])
}

/// From which size on a finding is made, in words.
pub fn least_gain() -> String {
    rule::least()
}

/// What follows from a snapshot: what is dangerous first, then by the resident bytes that findings speak of. A rule that has nothing to say
/// about the process is silent; large shares of RSS of which none speaks have a general finding.
pub fn findings(report: &MemoryReport) -> Vec<Found> {
    let special: Vec<(&Rule, Found)> = judged(report).collect();
    let speaks = |rule: &Rule, found: &Found| {
        // One that speaks of a small part of its entries leaves the rest to be spoken of.
        let entries_bytes = sum(report, |path| rule.judge.is_about(path));
        found.resident_bytes.is_some_and(|bytes| entries_bytes / 2 <= bytes)
    };
    let speaking: Vec<&Rule> =
        special.iter().filter(|(rule, found)| speaks(rule, found)).map(|(rule, _)| *rule).collect();
    let is_spoken_of = |path: &[String]| speaking.iter().any(|rule| rule.judge.is_about(path));
    let general = shares::large_shares(report, is_spoken_of);
    let all = special.into_iter().map(|(_, found)| found).chain(general);
    let mut all: Vec<Found> = all.map(|found| graded(found, report.bytes_of_memory())).collect();
    Found::sort(&mut all);
    all
}

/// Findings of what lowers the limit that the process needs.
pub(crate) fn that_lower_the_limit(report: &MemoryReport) -> Vec<Found> {
    let lowering = judged(report).filter(|(rule, _)| rule.judge.lowers_limit);
    // Those of a limit stand in the order of what they bring.
    lowering.map(|(_, found)| Found { resident_bytes: None, ..found }).collect()
}

fn judged(report: &MemoryReport) -> impl Iterator<Item = (&'static Rule, Found)> {
    all().filter_map(|rule| Some((rule, rule.judge.judge(report)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_each_rule_name_its_thresholds() {
        let mistakes = all().flat_map(Rule::mistakes).chain(shares::LARGE_SHARE.mistakes());
        let mistakes: Vec<String> = mistakes.collect();
        assert_eq!(mistakes, [""; 0]);
    }
}
