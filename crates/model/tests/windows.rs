//! Windows of a stored trial.

use assay_model::*;
use serde_json::{Value, json};

fn kept() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/trial-4.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("it is kept")).expect("JSON")
}

/// One answer of the first window came after it; three of the last came for requests that were to start before.
#[test]
fn windows_count_requests_by_their_start_and_answers_by_their_end() {
    let trial: Trial = serde_json::from_value(kept()).expect("a trial");
    let counts: Vec<_> = trial.windows.iter().map(|w| (w.requests, w.completed, w.errors)).collect();
    assert_eq!(counts, [(110, 109, 0), (110, 110, 0), (117, 120, 0)]);
    let [first, ..] = trial.windows.as_slice() else { panic!("windows") };
    assert_eq!((first.block, first.attempt, first.seconds()), (1, 1, 2.0));
    assert_eq!(first.achieved_rate_per_s(), first.metrics[metric::THROUGHPUT_PER_S]);
    assert_eq!(first.marks().map(|c| c.check).collect::<Vec<_>>(), [Check::WarmUp]);
    let again: Trial = serde_json::from_value(json!(trial)).expect("its own form");
    assert_eq!(again, trial);
}

#[test]
fn a_window_that_lacks_what_it_needs_is_refused() {
    for (window, why) in [
        (json!({}), "missing field"),
        (json!({ "completed": 1 }), "missing field"),
        (json!(1), "invalid type"),
    ] {
        let mut trial = kept();
        trial["windows"] = json!([window]);
        let refused = serde_json::from_value::<Trial>(trial).expect_err("it lacks nearly all").to_string();
        assert!(refused.contains(why), "{refused}");
    }
}
