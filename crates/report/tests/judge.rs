//! A set of flags: a kept result, with its figures made to say one thing after the other.

use crate::golden;
use assay_model::{
    AbVerdict, Estimate, FlagGroup, JudgeReport, JudgedFlag, JudgedPart, JudgedPartKind, NotMeasured,
    NotMeasuredReason, OptionRemark,
};
use assay_report::{Extent, TerminalView, judge};

fn kept() -> JudgeReport {
    serde_json::from_str(include_str!("../../../testdata/formats/judge-1.json")).expect("flags")
}

fn sentence(report: &JudgeReport) -> String {
    judge::document(report).answer.sentence
}

/// A figure of the whole set with a difference.
fn with(at: usize, (estimate, low, high): (f64, f64, f64), verdict: AbVerdict) -> JudgeReport {
    let mut report = kept();
    for figure in &mut report.parts[0].figures {
        figure.verdict = AbVerdict::NotShown;
        figure.smallest_percent = Some(4.0);
    }
    report.parts[0].figures[at].ratio = Some(Estimate { estimate, low: Some(low), high: Some(high) });
    report.parts[0].figures[at].verdict = verdict;
    report
}

#[test]
fn the_answer_says_what_the_flags_do_or_what_would_have_been_visible() {
    let mut report = with(1, (1.12, 1.10, 1.14), AbVerdict::Worse);
    let count = report.flags.len();
    assert_eq!(
        sentence(&report),
        format!(
            "With the {count} flags, the server uses 12 % more CPU time per request outside JIT compilers (95 % CI 10-14 %). That is beyond the \
             limit of {} %, and fresh pairs alone say so, too.",
            report.limit_percent
        )
    );
    report.parts[0].figures[1].verdict = AbVerdict::NotShown;
    let said = sentence(&report);
    assert!(
        said.starts_with(&format!(
            "The {count} flags together do nothing that is shown. Visible would have been 4.00 % in allocation per request"
        )),
        "{said}"
    );
    report.parts[0].figures.clear();
    report.parts[0].not_measured =
        Some(NotMeasured { reason: NotMeasuredReason::SameOptions, detail: String::new() });
    assert!(sentence(&report).ends_with("nothing: without it the JVM takes the same here."));
}

/// The longest set that is much copied has 20 flags.
#[test]
fn a_long_set_fits_on_a_terminal_and_what_costs_no_trial_is_said_before_the_figures() {
    let mut report = with(0, (1.0, 0.99, 1.01), AbVerdict::Same);
    let whole = report.parts[0].clone();
    let flag = |at: usize| JudgedFlag {
        text: format!("-XX:SomeFlagOfACollector{at}=30"),
        group: if at < 12 { FlagGroup::Collector } else { FlagGroup::Pages },
        remark: (at < 2).then_some(OptionRemark::AlreadyDefault),
        why: (at < 2).then(|| "it is its value anyway".to_owned()),
        is_idle: at < 2,
    };
    report.flags = (0..20).map(flag).collect();
    let part = |at: usize| JudgedPart {
        kind: JudgedPartKind::Flag,
        name: report.flags[at].text.clone(),
        flags: vec![at],
        ..whole.clone()
    };
    let mut parts = vec![whole.clone()];
    parts.extend((2..20).map(part));
    for part in parts.iter_mut().skip(5) {
        (part.figures, part.run) = (Vec::new(), None);
        part.not_measured = Some(NotMeasured { reason: NotMeasuredReason::NoTime, detail: String::new() });
    }
    report.parts = parts;
    let short = TerminalView { width: 100, color: false, extent: Extent::Short };
    let text = judge::document(&report).terminal(short);
    assert!(text.lines().count() <= 40, "{} lines\n{text}", text.lines().count());
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is not in {text}"));
    assert!(place("default already") < place("do nothing that is shown"), "{text}");
    assert!(place("No time was left for 14 parts") > place("What each part adds"), "{text}");
}

#[test]
fn each_form_has_every_part_and_flags_are_text() {
    let mut report = kept();
    report.flags[0].text = "-Dx=<script>alert(1)</script>".to_owned();
    let page = golden::page(&judge::document(&report));
    assert!(!page.contains("<script>alert"), "a flag is text");
    let markdown = judge::document(&report).markdown();
    for part in report.parts.iter().filter(|part| part.kind == JudgedPartKind::Flag) {
        assert!(page.contains(&part.name) && markdown.contains(&part.name), "{}", part.name);
    }
    let mut csv = Vec::new();
    judge::data(&report).write_csv(&mut csv).expect("memory takes all");
    let rows: usize =
        report.parts.iter().map(|part| part.figures.len() + usize::from(part.not_measured.is_some())).sum();
    assert_eq!(String::from_utf8_lossy(&csv).lines().count(), 1 + rows);
}
