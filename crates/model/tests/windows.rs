//! Windows stored by earlier versions.

use assay_model::*;
use serde_json::{Value, json};

fn kept(name: &str) -> Value {
    let path = format!("{}/../../testdata/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("it is kept")).expect("JSON")
}

/// 108 and 110 right answers of 110 requests each; one of 118 came for a request that was to start before.
#[test]
fn windows_of_trials_of_an_earlier_version_keep_their_counts_under_plain_names() {
    let trial: Trial = serde_json::from_value(kept("formats/trial-2.json")).expect("a trial");
    let counts: Vec<_> = trial.windows.iter().map(|w| (w.requests, w.completed, w.errors)).collect();
    assert_eq!(counts, [(110, 108, 0), (110, 110, 0), (117, 118, 0)]);
    let [first, ..] = trial.windows.as_slice() else { panic!("windows") };
    assert_eq!((first.block, first.attempt, first.seconds()), (1, 1, 2.0));
    assert_eq!(first.achieved_rate_per_s(), first.metrics[metric::THROUGHPUT_PER_S]);
    assert_eq!(first.marks().map(|c| c.check).collect::<Vec<_>>(), [Check::WarmUp]);
    let again: Trial = serde_json::from_value(json!(trial)).expect("its own form");
    assert_eq!(again, trial);
}

/// The stored trial with these windows.
fn trial_with(windows: Value) -> Result<Trial, serde_json::Error> {
    let mut trial = kept("formats/trial-2.json");
    trial["windows"] = windows;
    serde_json::from_value(trial)
}

#[test]
fn requests_that_became_no_operation_and_windows_without_operations_are_counted() {
    let read = |requests: Value, errors: Value, operations: &[(u64, u64)]| {
        let mut window = kept("formats/trial-2.json")["windows"][0].clone();
        let one = window["operations"][0].clone();
        let of = |(requests, errors): &(u64, u64)| {
            let mut operation = one.clone();
            (operation["requests"], operation["errors"]) = (json!(requests), json!(errors));
            operation
        };
        window["operations"] = operations.iter().map(of).collect();
        (window["requests"], window["errors"]) = (requests, errors);
        let trial = trial_with(json!([window])).expect("a trial");
        (trial.windows[0].requests, trial.windows[0].completed)
    };
    assert_eq!(read(json!(90), json!(15), &[(100, 5)]), (110, 90));
    assert_eq!(read(json!(90), json!(15), &[]), (105, 90));
}

/// Every value of the stored form, which the program of that time wrote.
#[test]
fn windows_of_searches_of_an_earlier_version_keep_every_value() {
    for name in ["formats/capacity-2.json", "capacity/disturbed.json"] {
        let stored = kept(name);
        let report: CapacityReport = serde_json::from_value(stored.clone()).expect("a capacity");
        let windows = stored["windows"].as_array().expect("windows");
        assert_eq!(report.steps().count(), windows.len());
        for ((window, step), old) in report.steps().zip(windows) {
            let near = |value: f64, key: &str| {
                let old = old[key].as_f64().expect(key);
                assert!((value - old).abs() <= 1e-9 * old.abs(), "{key}: {value} of {old}");
            };
            near(window.seconds(), "window_s");
            near(window.achieved_rate_per_s(), "reached_rate_per_s");
            assert_eq!(json!(window.response_ms), old["response_ms"]);
            assert_eq!(json!(window.send_lag_ms.p99), old["send_lag_ms_p99"]);
            assert_eq!(json!(window.generator_cpu_share), old["generator_cpu_share"]);
            assert_eq!(json!(window.metrics.get(metric::CPU_MS_PER_REQUEST)), old["server_cpu_ms"]);
            assert_eq!(json!(window.left_out()), old["left_out"]);
            assert_eq!(
                json!([window.start_monotonic_ns, window.requests, window.errors]),
                json!([old["start_monotonic_ns"], old["requests"], old["errors"]])
            );
            for (key, value) in json!(step).as_object().expect("an object") {
                let before = if key == "offered_rate_per_s" { "asked_rate_per_s" } else { key };
                assert!(*value == old[before] || key == "cool_down_s", "{key}");
            }
        }
        let again: CapacityReport = serde_json::from_value(json!(report)).expect("its own form");
        assert_eq!(again, report);
    }
}

#[test]
fn a_window_that_lacks_what_it_needs_is_refused() {
    for (window, why) in [
        (json!({}), "missing field"),
        (json!({ "step": "bracket", "start_monotonic_ns": 1 }), "invalid type: null"),
        (json!({ "completed": 1 }), "missing field"),
        (json!(1), "invalid type"),
    ] {
        let told = trial_with(json!([window])).expect_err("it lacks nearly all").to_string();
        assert!(told.contains(why), "{told}");
    }
}
