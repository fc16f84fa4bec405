//! The page of a study whose trials find capacities: the curve of each variant over the rate.

// Both are made for other tests, too.

use crate::capacity_sample;
use crate::sample;
use assay_model::{CapacityMethod, PlannedCapacity, PlannedProcedure, StoredRun};

fn run(capacities: usize) -> StoredRun {
    let mut run = sample::demo_run();
    run.plan.procedure = PlannedProcedure::Capacity(PlannedCapacity {
        method: CapacityMethod::Search,
        percentile: 99.0,
        limits_ms: vec![10.0, 25.0, 50.0],
        operation_limits_ms: Default::default(),
        limited_operations: vec!["in_store_purchase".to_owned()],
        budget_s: 300.0,
        connections: 256,
        users: None,
        in_flight_max: Some(10_000),
        threads: None,
        count_disturbed: false,
    });
    for trial in run.trials.iter_mut().take(capacities) {
        trial.capacity = Some(capacity_sample::search());
    }
    run
}

fn page(run: &StoredRun) -> String {
    crate::rendered::html(run)
}

/// What stands between the heading of the figure and the next figure.
fn figure(page: &str) -> &str {
    let from = page.find("id=\"rate-curve\"").expect("the figure");
    let rest = &page[from..];
    &rest[..rest.find("</figure>").unwrap_or(rest.len())]
}

#[test]
fn each_variant_that_found_a_capacity_has_a_curve_over_the_limits() {
    let page = page(&run(2));
    let figure = figure(&page);
    assert!(figure.contains("p99 of the response time of in_store_purchase"), "{figure}");
    // In the key, for screens and for phones; the third variant has no capacity and stands in the key alone.
    let lines = |snapshot: usize| figure.matches(&format!("s{snapshot} ln d{snapshot}")).count();
    assert_eq!([lines(0), lines(1), lines(2)], [3, 3, 1]);
    for limit in ["10 ms", "25 ms", "50 ms"] {
        assert!(figure.contains(&format!(">{limit}</text>")), "{limit}: {figure}");
    }
    assert!(figure.contains("offered rate (requests/s)") && figure.contains(" ms at "));
}

#[test]
fn a_study_without_windows_says_so_and_one_that_finds_none_has_no_such_picture() {
    let none = page(&run(0));
    assert!(none.contains("not available: no window of load counts in a trial that does"));
    assert!(!page(&sample::demo_run()).contains("rate-curve"));
}
