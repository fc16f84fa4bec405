//! Two runs side by side: a kept comparison, with one figure made to differ.

use assay_model::{Circumstance, CircumstanceOf, Estimate, RunComparison, Verdict};
use assay_report::{EntriesShown, TerminalView, render_run_comparison_html, render_run_comparison_terminal};

/// What the changed figure says, on a page with its quotation marks escaped.
const SENTENCE: &str =
    "uses 50 % more CPU time per operation in Fleet.replace than before (95 % CI 40-60 %). 1 of 6 figures";

fn kept() -> RunComparison {
    serde_json::from_str(include_str!("../../../testdata/formats/run-comparison-1.json"))
        .expect("a comparison")
}

fn page(comparison: &RunComparison) -> String {
    let mut out = Vec::new();
    render_run_comparison_html(comparison, &mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("UTF-8")
}

fn terminal(comparison: &RunComparison, width: u16) -> String {
    render_run_comparison_terminal(
        comparison,
        TerminalView { width, color: false, entries: EntriesShown::All },
    )
}

#[test]
fn what_differs_comes_first_and_circumstances_are_named() {
    let mut comparison = kept();
    comparison.changes[1].ratio = Estimate { estimate: 1.5, low: Some(1.4), high: Some(1.6) };
    comparison.changes[1].verdict = Verdict::Higher;
    comparison.circumstances.push(Circumstance {
        about: CircumstanceOf::Jvm,
        what: "JVM of <one>".to_owned(),
        before: Some("17".to_owned()),
        after: None,
    });
    for text in [page(&comparison), terminal(&comparison, 100)] {
        let text = text.replace("<span class=\"kept\">", "").replace("</span>", "");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(SENTENCE), "{words}");
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} in {text}"));
        let headline = at("1 of 6 figures differs by more than the runs");
        assert!(headline < at("1.50 [1.40, 1.60]") && headline < at("not measured side by side"));
        assert!(text.contains("blocks") && !text.contains("NaN"), "{text}");
    }
    assert!(page(&comparison).contains(
        "Check what else differs between the runs before relying on it: blocks, JVM of &lt;one&gt;."
    ));
    assert!(!page(&comparison).contains("<one>"), "escaped");
    assert!(terminal(&comparison, 100).contains("JVM of <one>: 17 before, - after"));
}

#[test]
fn runs_with_nothing_in_common_say_so() {
    let comparison = RunComparison { changes: Vec::new(), circumstances: Vec::new(), ..kept() };
    assert!(terminal(&comparison, 80).starts_with("The runs have no figure in common."));
    let page = page(&comparison);
    assert!(page.contains("not available: the runs have no figure in common"));
    assert!(page.contains("machine, JVMs and study are the same"));
}

#[test]
fn a_terminal_line_is_never_wider_than_asked_for() {
    for width in [80, 100, 160] {
        let text = terminal(&kept(), width);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= usize::from(width), "{widest} at {width}: {text}");
    }
}
