//! Two builds: a kept comparison, with its figures made to say one thing after the other.

use crate::golden;
use assay_model::{AbCounted, AbReport, AbVerdict, Estimate};
use assay_report::ab;

fn kept() -> AbReport {
    serde_json::from_str(include_str!("../../../testdata/formats/ab-1.json")).expect("two builds")
}

/// Every figure without a difference, but for one.
fn with(at: usize, ratio: (f64, f64, f64), verdict: AbVerdict) -> AbReport {
    let mut report = kept();
    for figure in &mut report.figures {
        figure.verdict = AbVerdict::NotShown;
        figure.again = None;
    }
    let (estimate, low, high) = ratio;
    report.figures[at].ratio = Some(Estimate { estimate, low: Some(low), high: Some(high) });
    report.figures[at].verdict = verdict;
    report
}

fn sentence(report: &AbReport) -> String {
    ab::document(report).answer.sentence
}

#[test]
fn the_answer_says_what_is_worse_and_whether_fresh_pairs_say_so_too() {
    let mut report = with(1, (1.12, 1.10, 1.14), AbVerdict::Worse);
    let begin = "The new build uses 12 % more CPU time per request outside JIT compilers (95 % CI 10-14 %)";
    assert_eq!(sentence(&report), format!("{begin}, beyond the limit of 3 %."));
    report.figures[1].again = Some(Estimate { estimate: 1.11, low: Some(1.08), high: Some(1.15) });
    assert_eq!(
        sentence(&report),
        format!("{begin}, beyond the limit of 3 %; fresh pairs alone say so, too.")
    );
    report.figures[1].verdict = AbVerdict::Unconfirmed;
    let unconfirmed = ", beyond the limit of 3 %; fresh pairs alone did not confirm that.";
    assert_eq!(sentence(&report), format!("{begin}{unconfirmed}"));
    report.figures[1].verdict = AbVerdict::WorseWithinLimit;
    assert_eq!(sentence(&report), format!("{begin}; that it is beyond the limit of 3 % is not shown."));
    report.figures[3].ratio = Some(Estimate { estimate: 0.8, low: Some(0.7), high: Some(0.9) });
    report.figures[3].verdict = AbVerdict::Better;
    assert!(sentence(&report).ends_with(" It also uses 20 % less resident memory (95 % CI 10-30 %)."));
}

#[test]
fn where_nothing_differs_the_answer_says_what_would_have_been_visible() {
    let mut report = with(0, (1.0, 0.99, 1.01), AbVerdict::Same);
    for (figure, percent) in report.figures.iter_mut().zip([0.5, 2.0, 4.0, 5.0, 6.0]) {
        figure.smallest_percent = Some(percent);
    }
    let said = sentence(&report);
    assert!(
        said.starts_with("No difference is shown. Visible would have been 0.500 % in allocation per request"),
        "{said}"
    );
    report.is_a_a = true;
    assert!(
        sentence(&report).starts_with("Both commands are the same (A/A): a difference would be an error. No")
    );
    for figure in &mut report.figures {
        (figure.verdict, figure.ratio, figure.absent) =
            (AbVerdict::Undecided, None, Some("it ended".to_owned()));
    }
    assert!(sentence(&report).ends_with("Nothing can be said: no figure has an interval."));
    let text = golden::terminal(&ab::document(&report), 100);
    assert!(text.contains("cannot be said"), "{text}");
}

#[test]
fn a_count_says_what_it_cannot_see_and_where_there_is_none_why() {
    let mut report = kept();
    let text = |report: &AbReport| golden::terminal(&ab::document(report), 300);
    let counted = AbCounted {
        requests: [10_000, 500],
        jvm_options: vec!["-XX:TieredStopAtLevel=1".to_owned()],
        took_s: 300.0,
        run: Some("runs/ab-counted".to_owned()),
        not_counted: None,
    };
    report.counted = Some(counted.clone());
    let said = text(&report).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "500 requests after 10000, one at a time, with -XX:TieredStopAtLevel=1 in both, which the measured servers do not have.",
        "No count has waiting",
    ] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    report.counted =
        Some(AbCounted { run: None, not_counted: Some("`run.sh` is a script".to_owned()), ..counted });
    assert!(text(&report).contains("Instructions: not counted: `run.sh` is a script."));
}

#[test]
fn each_form_has_every_figure_and_both_commands() {
    let mut report = kept();
    report.before.command = "java -jar <script>alert(1)</script>.jar".to_owned();
    let page = golden::page(&ab::document(&report));
    assert!(!page.contains("<script>alert"), "a command is text");
    let markdown = ab::document(&report).markdown();
    for words in [
        "Allocated per request",
        "Resident memory",
        "Response time, 99th percentile",
        "Visible",
        "before",
        "after",
    ] {
        assert!(page.contains(words) && markdown.contains(words), "{words}");
    }
    let mut csv = Vec::new();
    ab::data(&report).write_csv(&mut csv).expect("memory takes all");
    assert_eq!(String::from_utf8_lossy(&csv).lines().count(), 1 + report.figures.len());
}
