//! Two runs side by side: a kept comparison, with one figure made to differ.

use crate::golden;
use assay_model::{Circumstance, CircumstanceOf, Estimate, RunChange, RunComparison, Verdict};
use assay_report::{Extent, TerminalView, compare};

/// What the changed figure says, on a page with its quotation marks escaped.
const SENTENCE: &str =
    "uses 50 % more CPU time per operation in Fleet.replace than before (95 % CI 40-60 %). 1 of 6 figures";

fn kept() -> RunComparison {
    serde_json::from_str(include_str!("../../../testdata/formats/run-comparison-1.json"))
        .expect("a comparison")
}

fn page(comparison: &RunComparison) -> String {
    golden::page(&compare::document(comparison))
}

fn terminal(comparison: &RunComparison, width: u16) -> String {
    golden::terminal(&compare::document(comparison), width)
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
        assert!(headline < at("[1.40, 1.60]") && headline < at("not measured side by side"));
        assert!(text.lines().any(|line| line.contains("1.50") && line.contains("[1.40, 1.60]")), "{text}");
        assert!(text.contains("blocks") && !text.contains("NaN"), "{text}");
    }
    assert!(page(&comparison).contains(
        "Check what else differs between the runs before relying on it: blocks, JVM of &lt;one&gt;."
    ));
    assert!(!page(&comparison).contains("<one>"), "escaped");
    let text = terminal(&comparison, 100);
    assert!(text.lines().any(|line| line.split_whitespace().eq(["JVM", "of", "<one>", "17", "-"])), "{text}");
}

#[test]
fn runs_with_nothing_in_common_say_so() {
    let comparison = RunComparison { changes: Vec::new(), circumstances: Vec::new(), ..kept() };
    let text = terminal(&comparison, 80);
    assert!(text.contains("\n\nThe runs have no figure in common.\n"), "{text}");
    let page = page(&comparison);
    assert!(page.contains("not available: the runs have no figure in common"));
    assert!(page.contains("machine, JVMs and study are the same"));
}

#[test]
fn the_forms_of_a_comparison_are_the_golden_files() {
    golden::expect("compare", &compare::document(&kept()));
}

#[test]
fn a_terminal_has_room_for_what_differs_before_all_else() {
    let mut comparison = kept();
    let alike = comparison.changes[0].clone();
    comparison.changes =
        (0..40).map(|index| RunChange { variant: format!("v{index}"), ..alike.clone() }).collect();
    comparison.changes[33].verdict = Verdict::Lower;
    let view = TerminalView { width: 120, color: false, extent: Extent::Biggest(16) };
    let text = compare::document(&comparison).terminal(view);
    let rows = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((rows("v33: "), rows("v39: "), rows("v0: ")), (1, 0, 1), "{text}");
    assert!(text.contains("24 more rows (--json has them)"), "{text}");
}
