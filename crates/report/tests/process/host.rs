//! Checks of machines, comparisons of two, trials of a rule's advice.

use super::*;
use assay_report::host;

fn check() -> HostReport {
    stored(include_str!("../../../../testdata/formats/host-check-3.json"))
}

fn comparison() -> HostComparison {
    stored(include_str!("../../../../testdata/formats/host-comparison-2.json"))
}

fn what_if() -> WhatIf {
    stored(include_str!("../../../../testdata/formats/what-if-2.json"))
}

#[test]
fn terminals_and_markdown_are_the_golden_files() {
    golden::expect("host-check", &host::document(&check(), true));
    golden::expect("host-comparison", &host::comparison(&comparison()));
    let ratio = Estimate { estimate: 0.9312, low: Some(0.901), high: Some(0.9644) };
    let confirmed = WhatIf { verdict: WhatIfVerdict::Confirmed, ratio: Some(ratio), blocks: 10, ..what_if() };
    golden::expect("what-if", &host::what_if(&confirmed));
}

#[test]
fn a_trial_of_advice_without_an_interval_is_undecided() {
    let text = host::what_if(&what_if()).terminal(view(120));
    assert!(
        text.contains("swappiness: undecided") && text.contains("1.100 (no interval: too few blocks)"),
        "{text}"
    );
    let none = WhatIf { ratio: None, blocks: 0, ..what_if() };
    assert!(host::what_if(&none).terminal(view(120)).contains("no block counts for both"));
}

#[test]
fn every_ruling_is_in_the_csv_and_what_is_good_in_markdown_only_where_asked_for() {
    let report = check();
    assert_eq!(csv(&host::data(&report)).len(), report.rulings.len() + 1);
    let bad =
        report.rulings.iter().find(|ruling| ruling.verdict == HostVerdict::Bad).expect("one that is bad");
    let (few, all) = (host::document(&report, false).markdown(), host::document(&report, true).markdown());
    assert!(few.contains(&format!("({})", bad.finding.rule)), "{few}");
    assert!(!few.contains("**Rules that are kept**") && all.contains("**Rules that are kept**"));
    let page = page(&host::document(&report, false));
    assert!(page.contains(&format!("{} rules bad", bad_rules(&report))), "the answer counts what is bad");
    assert!(page.contains("id=\"verdicts-figure\"") && page.contains("class=\"action\""));
}

fn bad_rules(report: &HostReport) -> usize {
    let bad = report.rulings.iter().filter(|ruling| ruling.verdict == HostVerdict::Bad);
    bad.map(|ruling| ruling.finding.rule).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn machines_that_differ_have_a_row_for_each_difference_and_equal_ones_say_so() {
    let comparison = comparison();
    let differences = comparison.rulings.len() + comparison.machine.len() + comparison.settings.len();
    let rows = csv(&host::comparison_data(&comparison));
    assert_eq!(rows.len(), differences + 1);
    assert!(rows.iter().any(|row| row.starts_with("verdict,accept-queue,good,bad")), "{rows:?}");
    assert!(host::comparison(&comparison).markdown().contains("| accept-queue | good | bad |"));
    let of_difference = page(&host::comparison(&comparison));
    assert!(of_difference.contains("Begin with accept-queue, which became bad. "), "{of_difference}");
    let equal =
        HostComparison { rulings: Vec::new(), machine: Vec::new(), settings: Vec::new(), ..comparison };
    let equal = page(&host::comparison(&equal));
    assert!(equal.contains("No difference in machine, settings and verdicts."));
}

#[test]
fn bad_verdicts_come_first_with_what_to_do_and_what_the_page_alone_has_is_named() {
    let report = check();
    let text = host::document(&report, true).terminal(view(80));
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part:?} in {text}"));
    assert!(at("rules bad") < at("The accept queue overflowed 8,614 times since boot, 41 days"));
    assert!(at("What is unknown") < at("What is good") && at("What is good") < at("What does not apply"));
    let few = host::document(&report, false).terminal(view(80)).replace('\n', " ");
    assert!(!few.contains("Rules that are kept"), "{few}");
    assert!(
        few.contains("Only on the page: the chart of rules by verdict; What is good; What does not apply."),
        "{few}"
    );
}

#[test]
fn results_of_earlier_versions_say_what_a_rule_asks_for() {
    let mut report = check();
    report.rulings.iter_mut().for_each(|ruling| ruling.fault = None);
    let text = host::document(&report, true).terminal(view(80));
    assert!(text.contains("Not met: No connection found the accept queue full"), "{text}");
}

#[test]
fn a_comparison_of_machines_names_what_differs() {
    let comparison = comparison();
    let text = host::comparison(&comparison).terminal(view(80));
    assert!(text.contains("accept-queue  good    bad") && text.contains("net/core/somaxconn"), "{text}");
}
