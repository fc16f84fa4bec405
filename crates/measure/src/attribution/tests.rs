//! Attribution on made-up time lines whose answers can be counted by hand.

use super::*;
use assay_model::LateCause;

const MS: u64 = 1_000_000;

fn slow(intended_ms: u64, done_ms: u64) -> SlowRequest {
    SlowRequest {
        operation: Some(0),
        intended_ns: intended_ms * MS,
        sendable_ns: intended_ms * MS,
        sent_ns: Some(intended_ms * MS),
        done_ns: done_ms * MS,
    }
}

fn span(cause: LateCause, start_ms: u64, end_ms: u64, share: f64) -> Span {
    Span { cause, start_ns: start_ms * MS, end_ns: end_ms * MS, share }
}

fn attribution(slow: Vec<SlowRequest>, spans: &[Span], limits_ms: &[f64]) -> Vec<LimitAttribution> {
    let mut detail = WindowDetail { slow, ..WindowDetail::empty() };
    // 1,000 requests of 1 ms.
    detail.limited.right.record_n(MS, 1_000).expect("in range");
    let limits: Vec<LatencyLimit> = limits_ms.iter().copied().map(LatencyLimit::of_all).collect();
    let mut attribution = Attribution::new(&limits, &[]);
    attribution.add(&SlowWindow {
        detail: &detail,
        spans,
        watched: &[LateCause::GcPause, LateCause::RunQueue],
        operations: &[],
        range_ns: (0, 1_000 * MS),
        late_share: 0.25,
    });
    attribution.finish()
}

fn of(attribution: &LimitAttribution, cause: LateCause) -> &AttributedCause {
    attribution.causes.iter().find(|c| c.cause == cause).expect("listed")
}

#[test]
fn a_miss_of_an_operation_counts_for_its_own_limits_and_for_those_of_all() {
    let of = |operation, done_ms| SlowRequest { operation, ..slow(100, done_ms) };
    let slow = vec![of(Some(0), 130), of(Some(1), 140), of(Some(1), 160), of(None, 190)];
    let detail = WindowDetail { slow, ..WindowDetail::empty() };
    let operations = ["browse", "checkout"].map(|name| OperationCount::planned(name, 0.5));
    let limit = |limit_ms, name: Option<&str>| LatencyLimit { limit_ms, operation: name.map(str::to_owned) };
    let limits = [limit(20.0, None), limit(50.0, Some("checkout"))];
    let misses = |limited: &[String]| {
        let mut attribution = Attribution::new(&limits, limited);
        attribution.add(&SlowWindow {
            detail: &detail,
            spans: &[],
            watched: &[],
            operations: &operations,
            range_ns: (0, 1_000 * MS),
            late_share: 0.0,
        });
        attribution.finish().iter().map(|of| of.misses).collect::<Vec<_>>()
    };
    assert_eq!(misses(&[]), [4, 2], "one that never became an operation may have been a checkout");
    assert_eq!(misses(&["browse".to_owned()]), [2, 2]);
}

#[test]
fn a_pause_counts_for_the_misses_that_had_kept_the_limit_without_it() {
    let requests = vec![slow(100, 130), slow(115, 145), slow(90, 121), slow(500, 530)];
    // 20 ms of pause: takes 20, 5 and 20 ms from the first three.
    let found = attribution(requests, &[span(LateCause::GcPause, 100, 120, 1.0)], &[10.0, 26.0]);
    let gc = of(&found[0], LateCause::GcPause);
    assert_eq!((found[0].misses, gc.misses, gc.overlapped, found[0].unexplained), (4, 1, 3, 3));
    // 30 - 20, 30 - 5 and 31 - 20 ms keep 26 ms.
    let gc = of(&found[1], LateCause::GcPause);
    assert_eq!((found[1].misses, gc.misses, gc.overlapped, found[1].unexplained), (4, 3, 3, 1));
}

#[test]
fn a_share_takes_its_part_of_the_time_within() {
    // Half of 100..140: 10 ms of a request from 90 to 120.
    let spans = [span(LateCause::RunQueue, 100, 120, 0.5), span(LateCause::RunQueue, 120, 140, 0.5)];
    let found = attribution(vec![slow(90, 120)], &spans, &[20.0, 19.0]);
    assert_eq!(of(&found[0], LateCause::RunQueue).misses, 1);
    assert_eq!(
        (of(&found[1], LateCause::RunQueue).misses, of(&found[1], LateCause::RunQueue).overlapped),
        (0, 1)
    );
}

#[test]
fn several_causes_may_count_for_one_miss() {
    let spans = [span(LateCause::GcPause, 100, 120, 1.0), span(LateCause::RunQueue, 100, 120, 0.9)];
    let found = attribution(vec![slow(100, 121)], &spans, &[10.0]);
    assert_eq!((of(&found[0], LateCause::GcPause).misses, of(&found[0], LateCause::RunQueue).misses), (1, 1));
    assert_eq!(found[0].unexplained, 0);
}

#[test]
fn chance_is_the_part_of_the_window_from_which_a_request_meets_the_cause() {
    // A pause of 99 ms meets requests of 1 ms that start within 100 ms of a second.
    let found = attribution(
        vec![slow(700, 800), slow(800, 900)],
        &[span(LateCause::GcPause, 201, 300, 1.0)],
        &[10.0],
    );
    let gc = of(&found[0], LateCause::GcPause);
    let expected = gc.expected.expect("requests were recorded");
    assert!((expected - 0.2).abs() < 0.001, "{expected}");
    assert_eq!((gc.overlapped, gc.misses, found[0].unexplained), (0, 0, 2));
    assert_eq!(of(&found[0], LateCause::GeneratorLag).expected, Some(0.5));
}

#[test]
fn lag_and_waits_are_read_from_the_requests_own_instants() {
    let late = SlowRequest { sent_ns: Some(115 * MS), ..slow(100, 121) };
    let waited = SlowRequest { sendable_ns: 115 * MS, sent_ns: Some(115 * MS), ..slow(100, 121) };
    let never = SlowRequest { sendable_ns: 121 * MS, sent_ns: None, ..slow(100, 121) };
    let found = attribution(vec![late, waited, never], &[], &[10.0]);
    assert_eq!(of(&found[0], LateCause::GeneratorLag).misses, 1);
    assert_eq!(of(&found[0], LateCause::ConnectionWait).misses, 2);
    assert_eq!(found[0].unexplained, 0);
}

#[test]
fn overlapping_chances_are_not_counted_twice_and_odd_times_do_no_harm() {
    let spans = [
        span(LateCause::GcPause, 100, 200, 1.0),
        span(LateCause::GcPause, 200, 300, 1.0),
        span(LateCause::GcPause, 400, 400, 1.0),
        span(LateCause::GcPause, 2_000, 3_000, 1.0),
        Span { start_ns: 900 * MS, end_ns: 800 * MS, ..span(LateCause::GcPause, 0, 1, 1.0) },
    ];
    let found = attribution(vec![slow(0, 20)], &spans, &[10.0]);
    let expected = of(&found[0], LateCause::GcPause).expected.expect("requests were recorded");
    assert!((expected - 0.201).abs() < 0.001, "{expected}");
}
