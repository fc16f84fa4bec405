//! The outputs of a run of a benchmark program: its benchmarks take the place of a server's metrics, and nothing speaks of
//! requests.

use crate::rendered::{csv, html, markdown, terminal as terminal_of};
use crate::sample;
use assay_model::*;
use std::collections::BTreeMap;

const FAST: &str = "ns_per_op/Chase.follow(n=16)";
const SLOW: &str = "ns_per_op/Chase.follow(n=128)";
const BYTES: &str = "live_bytes/<b>\"x\"</b>";

/// The sample with three of its metrics as if a benchmark program had given them.
fn run() -> StoredRun {
    let mut run = sample::demo_run();
    run.plan.procedure = PlannedProcedure::Benchmark;
    run.plan.primary_metric = "ns_per_op".to_owned();
    run.plan.published.clear();
    let renamed =
        [("cpu_ms_per_request", SLOW), ("response_p50_ms", FAST), ("garbage_kib_per_request", BYTES)];
    let rename =
        |metric: &str| renamed.iter().find(|(old, _)| *old == metric).map(|(_, new)| (*new).to_owned());
    let summary = run.summary.as_mut().expect("the sample has one");
    for variant in &mut summary.variants {
        let metrics: BTreeMap<String, Estimate> =
            variant.metrics.iter().filter_map(|(id, value)| Some((rename(id)?, *value))).collect();
        variant.metrics = metrics;
        variant.response_curve.clear();
    }
    summary.comparisons.retain_mut(|c| match rename(&c.metric) {
        Some(metric) => {
            c.metric = metric;
            true
        }
        None => false,
    });
    summary.findings.clear();
    summary.claims = ClaimCheck::default();
    run
}

/// Time and CPU time have the same unit.
#[test]
fn figures_of_one_benchmark_are_told_apart_on_a_terminal() {
    const CPU: &str = "cpu_ns_per_op/Chase.follow(n=16)";
    let mut run = run();
    for variant in &mut run.summary.as_mut().expect("the sample has one").variants {
        let value = variant.metrics[SLOW];
        variant.metrics.insert(CPU.to_owned(), value);
    }
    let terminal = terminal_of(&run, 200, false);
    for name in [
        "CPU time per operation in Chase.follow(n=16), ns/op",
        "\nTime per operation in Chase.follow(n=16), ns/op",
        "\nChase.follow(n=128), ns/op",
    ] {
        assert!(terminal.contains(name), "{name}: {terminal}");
    }
}

#[test]
fn each_benchmark_has_its_column_picture_and_row_in_the_order_of_sizes() {
    let run = run();
    let page = html(&run);
    let (fast, slow) =
        ("Time per operation in Chase.follow(n=16)", "Time per operation in Chase.follow(n=128)");
    for (output, name) in [
        (&page, "page"),
        (&markdown(&run), "Markdown"),
        (&terminal_of(&run, 120, false), "terminal"),
        (&csv(&run), "CSV"),
    ] {
        let place = |text: &str| output.find(text).unwrap_or_else(|| panic!("no {text} in the {name}"));
        assert!(place("Chase.follow(n=16)") < place("Chase.follow(n=128)"), "{name}");
        // What a server would have is neither shown nor missed.
        for word in ["Garbage per request", "Resident memory", "Throughput", "cpu_ms_per_request"] {
            assert!(!output.contains(word), "{word} in the {name}");
        }
        assert!(!output.contains("<b>\"x\"</b>") || name == "terminal" || name == "CSV", "{name}");
    }
    assert!(
        page.contains(&format!("<h3 id=\"ratio-ns-per-op-{}-h\">", METRICS.len())),
        "an anchor without the name"
    );
    for title in [fast, slow] {
        assert!(
            page.contains(&format!("{title}, ratio to the baseline")) || page.contains(&format!("{title};"))
        );
    }
    assert!(!page.contains("By heap size") && !page.contains("never ready"));
}

#[test]
fn a_run_whose_launches_were_all_disturbed_speaks_of_the_benchmark_all_the_same() {
    for (primary, words) in
        [(SLOW, "time per operation in Chase.follow(n=128)"), ("ns_per_op", "time per operation:")]
    {
        let mut run = run();
        run.plan.primary_metric = primary.to_owned();
        let summary = run.summary.as_mut().expect("the sample has one");
        summary.comparisons.retain(|c| c.metric == BYTES);
        summary.variants.iter_mut().for_each(|v| v.metrics.retain(|id, _| id == BYTES));
        let text = markdown(&run);
        let headline = text.lines().find(|l| l.starts_with("**")).expect("a headline");
        assert!(headline.contains(words) && headline.contains("not available"), "{headline}");
    }
}

#[test]
fn the_answer_is_on_the_first_benchmark_and_tells_of_the_others() {
    let text = markdown(&run());
    let answer = text.split("## Results").next().expect("an answer");
    let headline = answer.lines().find(|l| l.starts_with("**")).expect("a headline");
    assert!(headline.contains("time per operation in Chase.follow(n=16)"), "{headline}");
    assert!(answer.contains("Time per operation in Chase.follow(n=128):"), "{answer}");
    assert!(answer.contains("Live heap in"), "bytes that differ are told: {answer}");
}
