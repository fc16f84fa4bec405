//! Studies whose trials find a capacity: a server of one worker that holds each request for a known time.

use crate::support::Fixture;
use assay_model::{Check, RunEventKind, TrialOutcome};
use assay_study::StudyError;
use std::sync::atomic::Ordering;

/// One worker that needs 5 ms for each request bears 200 a second; sleeping takes a little longer than asked.
const HOLD_US: &str = "5000";
const BEARS_PER_S: f64 = 200.0;

const HEAD: &str = r#"
scenario = "scenario.toml"
capacity = { limits_ms = [40, 100], budget = "40s" }
quick = { capacity = { budget = "10s" } }
"#;

fn fixture(design: &str, environment: &str) -> Fixture {
    let head = format!("{HEAD}\ndesign = {design}\nenvironment = {{ {environment} }}");
    Fixture::with_load("", &head, "")
}

#[test]
fn a_trial_finds_a_capacity_that_is_stored_and_summed_up() {
    let design = r#"{ blocks = 1, warm_up = { min = "1s", cap = "4s" }, repeats_max = 0 }"#;
    let fixture = fixture(design, &format!("FAKE_HOLD_US = \"{HOLD_US}\""));
    let text = std::fs::read_to_string(&fixture.study).expect("the study");
    let observed = "observe = [\"areas\", \"host\", \"latency\"]\ndesign =";
    std::fs::write(&fixture.study, text.replace("design =", observed)).expect("written");
    let (result, events) = fixture.run(false, |_, _| ());
    let summary = result.expect("a run").summary;
    let stored = fixture.load();
    let trial = &stored.trials[0].trial;
    let report = stored.trials[0].capacity.as_ref().expect("capacity.json");
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    assert_eq!(trial.windows.len(), 1);
    let window = &trial.windows[0];

    // The server's own law, which a loud machine cannot break: never more than one answer in 5 ms.
    assert!(report.windows.len() > 2, "{:?}", report.windows);
    for load in &report.windows {
        assert!(load.achieved_rate_per_s() < 1.02 * BEARS_PER_S, "{load:?}");
    }
    let max = report.max_rate_per_s.map(|rate| rate.estimate);
    let lowest = report.max_rate_per_s.and_then(|rate| rate.low);
    assert!(lowest.is_none_or(|low| low < 1.02 * BEARS_PER_S), "{:?}", report.max_rate_per_s);
    for limit in &report.limits {
        let id = format!("rate_at_{}_ms_per_s", limit.limit_ms);
        assert_eq!(window.metrics.get(&id).copied(), limit.rate_per_s.map(|rate| rate.estimate), "{id}");
        let told = window.problems.iter().any(|p| p.about == id);
        assert_eq!(limit.rate_per_s.is_none(), told, "{id}: {:?}", window.problems);
    }
    assert_eq!(window.metrics.get("max_rate_per_s").copied(), max);
    assert_eq!(max.is_none(), window.problems.iter().any(|p| p.about == "max_rate_per_s"));
    assert!(window.metrics.contains_key("rss_bytes") && !window.metrics.contains_key("throughput_per_s"));
    // Watched like any trial: areas of memory at the end, and response times at the highest rate that was sustained.
    assert!(window.metrics.contains_key("native_bytes"), "{:?}", trial.excluded_observers);
    assert!(!window.metrics.contains_key("minor_faults_per_request"), "rates differ by variant");
    let is_sustained = report.steps().any(|(window, step)| step.is_sustained && window.counts());
    assert_eq!(trial.response_curve.is_empty(), !is_sustained);
    assert!(trial.audit.as_ref().is_some_and(|audit| audit.passed));
    let of_audit =
        report.checks.iter().find(|check| check.check == Check::Audit).expect("the audit is checked");
    assert_eq!(of_audit.passed, Some(true));
    let warmed_up = report.checks.iter().find(|check| check.check == Check::WarmUp).expect("it is checked");
    assert!(warmed_up.passed.is_some());

    // What failed is what is left out, and it is told; what passed counts.
    let failed = report.checks.iter().filter(|check| check.passed == Some(false)).map(|c| c.check.word());
    let left_out: Vec<&str> = window.disturbances.iter().map(|d| d.kind.word()).collect();
    assert_eq!(left_out, failed.collect::<Vec<_>>());
    assert_eq!(summary.variants[0].windows, u32::from(report.valid != Some(false)));
    let in_summary = summary.variants[0].metrics.get("max_rate_per_s").map(|e| e.estimate);
    assert_eq!(in_summary, max.filter(|_| report.valid != Some(false)), "{:?}", report.problems);

    let loads = events.iter().filter(|e| matches!(e.kind, RunEventKind::CapacityWindowEnded { .. })).count();
    assert_eq!(loads, report.windows.len());
    assert_eq!(stored.plan.primary_metric, "critical_rate_per_s");
    assert!(stored.plan.load.contains("99th percentile of the response time is at most 40, 100 ms"));
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

#[test]
fn an_interrupted_study_of_capacities_goes_on_where_it_was() {
    let design = r#"{ blocks = 2, warm_up = { cap = "0s" }, repeats_max = 0 }"#;
    let fixture = fixture(design, &format!("FAKE_HOLD_US = \"{HOLD_US}\""));
    let text = std::fs::read_to_string(&fixture.study).expect("the study");
    std::fs::write(&fixture.study, text.replace("40s", "10s")).expect("written");
    let (result, _) = fixture.run(false, |kind, stop| {
        if matches!(kind, RunEventKind::WindowStarted { block: 2, .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(result, Err(StudyError::Interrupted { .. })), "{result:?}");
    assert_eq!(fixture.left_over(), Vec::<String>::new());
    let before = fixture.load();
    let done: Vec<bool> = before.trials.iter().map(|t| t.trial.counts()).collect();
    assert_eq!(done, [true, false]);
    assert!(before.trials[1].capacity.is_none(), "what was interrupted has no capacity");

    let (result, events) = fixture.run(true, |_, _| ());
    assert!(result.is_ok(), "{result:?}");
    assert!(events.iter().any(|e| matches!(e.kind, RunEventKind::RunResumed { trials_done: 1 })));
    let blocks: Vec<u32> =
        fixture.load().trials.iter().filter(|t| t.capacity.is_some()).map(|t| t.trial.block).collect();
    assert_eq!(blocks, [1, 2]);
    let warm_up = fixture.load().trials[0]
        .capacity
        .as_ref()
        .and_then(|c| c.checks.iter().find(|c| c.check == Check::WarmUp).cloned());
    assert_eq!(warm_up.expect("it is checked").passed, None, "none was asked for");
}

#[test]
fn a_server_that_dies_under_the_load_fails_the_trial_with_its_last_words() {
    let design = r#"{ blocks = 1, warm_up = { cap = "0s" }, repeats_max = 0 }"#;
    let fixture = fixture(design, "FAKE_FAULT = \"dies-after-requests\"");
    let (result, _) = fixture.run(false, |_, _| ());
    let message = result.expect_err("it died").to_string();
    assert!(message.contains("while its capacity was measured") && message.contains("worn out"), "{message}");
    let stored = fixture.load();
    assert!(matches!(stored.trials[0].trial.outcome, TrialOutcome::Failed { .. }));
    assert!(stored.trials[0].capacity.is_none());
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

#[test]
fn an_operation_that_the_scenario_does_not_have_is_told_before_anything_starts() {
    let fixture = fixture("{ blocks = 1 }", "");
    let text = std::fs::read_to_string(&fixture.study).expect("the study");
    let text = text.replace("budget = \"40s\"", "limited_operations = [\"wrok\"]");
    std::fs::write(&fixture.study, text).expect("written");
    let (result, events) = fixture.run(false, |_, _| ());
    let message = result.expect_err("no such operation").to_string();
    assert!(
        events.is_empty() && message.contains("\"wrok\" is not in the scenario; it has work"),
        "{message}"
    );
}

#[test]
fn load_and_capacity_are_not_asked_for_at_once() {
    let (result, _) = Fixture::new(HEAD, "").run(false, |_, _| ());
    let message = result.expect_err("both").to_string();
    assert!(
        message.contains("either [load], whose windows are measured, or [capacity], not both"),
        "{message}"
    );
}
