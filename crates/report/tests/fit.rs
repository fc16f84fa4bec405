//! A fitted container: a kept result, with its figures made to say one thing after the other.

use crate::golden;
use assay_model::{
    Estimate, FitBelow, FitOutcome, FitPurpose, FitReport, FitValue, FitVerdict, FittedLimit, FittedOption,
};
use assay_report::{Extent, TerminalView, fit};

const MIB: f64 = 1_048_576.0;

fn kept() -> FitReport {
    serde_json::from_str(include_str!("../../../testdata/formats/fit-1.json")).expect("a fit")
}

fn limit(estimate: f64, low: f64, high: f64) -> FittedLimit {
    FittedLimit {
        limit: Estimate { estimate, low: Some(low), high: Some(high) },
        is_proved: true,
        is_smallest_tried: false,
        holds: 3,
        below: Some(FitBelow {
            size: 0.9 * estimate,
            verdict: FitVerdict::Killed,
            detail: "the kernel's OOM killer ended the server".to_owned(),
        }),
        probes: 12,
        margin_bytes: Some(7 << 20),
    }
}

fn found() -> FitReport {
    let mut report = kept();
    report.outcome = FitOutcome::Found;
    report.memory = Some(limit(152.0 * MIB, 149.0 * MIB, 155.0 * MIB));
    report.cpu = Some(limit(350.0, 340.0, 360.0));
    let heap = report.heap.as_mut().expect("a heap");
    (heap.max_bytes, heap.is_given, heap.charged_elsewhere_bytes) = (64 << 20, false, 20 << 20);
    report
}

#[test]
fn the_answer_names_limits_heap_and_proof_and_the_block_can_be_pasted() {
    let document = fit::document(&found());
    let said = &document.answer.sentence;
    for words in
        ["152 MiB [149, 155] of memory", "350 millicores [340, 360] of CPU", "-Xmx64m", "3 of 3 fresh runs"]
    {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    let markdown = document.markdown();
    let block = "resources:\n  requests:\n    memory: \"172Mi\"\n    cpu: \"350m\"\n  limits:\n    memory: \"172Mi\"\n    cpu: \"350m\"\n\
                 env:\n  - name: JAVA_TOOL_OPTIONS\n    value: \"-Xms64m -Xmx64m\"";
    assert!(markdown.contains(block), "{markdown}");
    assert!(markdown.contains("at 137 MiB (10 % less) it is killed"), "{markdown}");
}

#[test]
fn what_is_not_proved_and_what_never_holds_say_so() {
    let mut report = found();
    report.outcome = FitOutcome::Undecided;
    let said = fit::document(&report).answer.sentence;
    assert!(said.starts_with("Not proved yet"), "{said}");
    report.outcome = FitOutcome::NothingHolds;
    (report.memory, report.cpu, report.heap) = (None, None, None);
    report.probes.truncate(1);
    report.probes[0].purpose = FitPurpose::Unlimited;
    report.probes[0].verdict = FitVerdict::TooSlow;
    report.probes[0].detail = "p99 80 ms, limit 50 ms".to_owned();
    let document = fit::document(&report);
    assert!(document.answer.sentence.contains("even without limits the server is too slow (p99 80 ms"));
    assert!(document.answer.action.contains("no limit is to blame"));
}

#[test]
fn an_option_has_its_smallest_good_value() {
    let ratio =
        |estimate: f64| Some(Estimate { estimate, low: Some(estimate - 0.01), high: Some(estimate + 0.01) });
    let value = |value, ratio| FitValue { value, metric: ratio, ratio, blocks: 5 };
    let mut report = kept();
    report.option = Some(FittedOption {
        option: "{size}".to_owned(),
        metric: "cpu_ms_per_request".to_owned(),
        within_percent: 3.0,
        value: Some(4),
        best: Some(16),
        values: vec![value(2, ratio(1.4)), value(4, ratio(1.01)), value(16, None)],
    });
    let document = fit::document(&report);
    let said = &document.answer.sentence;
    assert!(
        said.starts_with("4 is the smallest value of {size} that is within 3 % of the best, 16"),
        "{said}"
    );
    let mut csv = Vec::new();
    fit::data(&report).write_csv(&mut csv).expect("memory takes all");
    assert_eq!(String::from_utf8_lossy(&csv).lines().count(), 4);
}

#[test]
fn each_form_has_every_probe_and_details_are_text() {
    let mut report = found();
    report.probes[0].detail = "<script>alert(1)</script>".to_owned();
    let page = golden::page(&fit::document(&report));
    assert!(!page.contains("<script>alert"), "a detail is text");
    let mut csv = Vec::new();
    fit::data(&report).write_csv(&mut csv).expect("memory takes all");
    assert_eq!(String::from_utf8_lossy(&csv).lines().count(), 1 + report.probes.len());
    let short = TerminalView { width: 100, color: false, extent: Extent::Short };
    let text = fit::document(&report).terminal(short);
    assert!(text.lines().count() <= 40, "{} lines\n{text}", text.lines().count());
}
