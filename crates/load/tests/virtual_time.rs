//! The truth in virtual time: the schedule and the recorder that the generator uses, before a simulated server.
//! Deterministic, so no disturbance of the machine can hide or fake an error.

use crate::stalls::{MS, QUANTILES, S, Stalls, answered_at, is_near, one_second_in_ten, quantile, truth};
use assay_load::ArrivalLaw;
use assay_load::recorder::{Recorded, Recorder, RequestTimes};
use assay_load::schedule::{Schedule, Waiting};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Time that the server takes for a request outside stalls.
const SERVICE_NS: u64 = 50_000;

/// Drives the schedule as the generator does, with `connections` and a server that answers a request sent at `t` at
/// `answer(t)`. Returns what was recorded, and the count over the bound.
fn simulate(mut schedule: Schedule, connections: usize, answer: impl Fn(u64) -> u64) -> (Recorded, u64) {
    let mut recorder = Recorder::new(0, None);
    let mut busy: BinaryHeap<Reverse<(u64, u64, Sent)>> = BinaryHeap::new();
    let (mut over, mut now_ns) = (0, 0);
    loop {
        schedule.admit(now_ns);
        while busy.len() < connections
            && let Some(Waiting { intended_ns, user, .. }) = schedule.take()
        {
            busy.push(Reverse((answer(now_ns), now_ns, (intended_ns, user))));
        }
        let next_done = busy.peek().map(|Reverse((done_ns, ..))| *done_ns);
        match (schedule.next_due_ns(), next_done) {
            (Some(due), Some(done)) if due < done => now_ns = due,
            (Some(due), None) => now_ns = due,
            (_, Some(done)) => {
                now_ns = done;
                let Some(Reverse((done_ns, sent_ns, (intended_ns, user)))) = busy.pop() else { continue };
                let record = |recorder: &mut Recorder, intended_ns, sent_ns| {
                    recorder.record(&RequestTimes {
                        intended_ns,
                        sendable_ns: intended_ns,
                        sent_ns,
                        done_ns,
                    });
                };
                record(&mut recorder, intended_ns, Some(sent_ns));
                schedule.finish(done_ns, user, done_ns, |bound| {
                    over += 1;
                    record(&mut recorder, bound.intended_ns, None);
                });
            }
            (None, None) => return (recorder.finish(now_ns), over),
        }
    }
}

/// Intended start and user of a request that was sent.
type Sent = (u64, Option<u32>);

fn stalling(stalls: &Stalls) -> impl Fn(u64) -> u64 {
    move |sent_ns| answered_at(stalls, sent_ns).max(sent_ns) + SERVICE_NS
}

#[track_caller]
fn check(law: ArrivalLaw, rate_per_s: f64, seconds: u64, stalls: &Stalls, analytic_ms: Option<[u64; 4]>) {
    let schedule = Schedule::open(law.arrivals(rate_per_s, 7), 0, seconds * S, 1_000_000);
    let (recorded, over) = simulate(schedule, 10, stalling(stalls));
    let times = truth(stalls, law.arrivals(rate_per_s, 7).take_while(|at| *at < seconds * S));
    assert_eq!((recorded.response.len(), over), (times.len() as u64, 0));
    for (position, q) in QUANTILES.into_iter().enumerate() {
        let (measured, exact) = (recorded.response.value_at_quantile(q), quantile(&times, q));
        assert!(is_near(measured, exact), "p{}: {measured} ns, exactly {exact} ns", 100.0 * q);
        if let Some(analytic) = analytic_ms.map(|all| all[position] * MS) {
            assert!(is_near(measured, analytic), "p{}: {measured} ns, in theory {analytic} ns", 100.0 * q);
        }
    }
}

/// p50, p95, p99, p99.9 of a server that stalls one second in ten.
const IN_THEORY_MS: [u64; 4] = [0, 500, 900, 990];

#[test]
fn constant_arrivals_meet_the_truth_of_a_second_in_ten() {
    let stalls = one_second_in_ten(4 * S, 3);
    check(ArrivalLaw::Constant, 200.0, 30, &stalls, Some(IN_THEORY_MS));
    check(ArrivalLaw::Constant, 2_000.0, 30, &stalls, Some(IN_THEORY_MS));
}

#[test]
fn poisson_arrivals_meet_the_truth_of_a_second_in_ten_over_an_hour() {
    check(ArrivalLaw::Poisson, 200.0, 3_600, &one_second_in_ten(4 * S, 360), Some(IN_THEORY_MS));
    check(ArrivalLaw::Poisson, 2_000.0, 600, &one_second_in_ten(4 * S, 60), Some(IN_THEORY_MS));
}

#[test]
fn service_time_hides_the_stall_that_response_time_shows() {
    let stalls = one_second_in_ten(4 * S, 3);
    let schedule = Schedule::open(ArrivalLaw::Constant.arrivals(200.0, 1), 0, 30 * S, 10_000);
    let (recorded, _) = simulate(schedule, 10, stalling(&stalls));
    assert!(recorded.response.value_at_quantile(0.99) > 890 * MS);
    assert!(recorded.service.value_at_quantile(0.99) < MS, "only ten requests at a time feel the stall");
}

#[test]
fn requests_over_the_bound_fail_but_do_not_flatter_the_percentiles() {
    let stalls = one_second_in_ten(4 * S, 3);
    let schedule = Schedule::open(ArrivalLaw::Constant.arrivals(200.0, 1), 0, 30 * S, 20);
    let (recorded, over) = simulate(schedule, 10, stalling(&stalls));
    // 201 requests start from the stall's first moment to its last; 20 are let in, the rest is told, and waits until the
    // stall ends like them.
    assert_eq!((over, recorded.response.len()), (3 * 181, 6_000));
    let times = truth(&stalls, ArrivalLaw::Constant.arrivals(200.0, 1).take_while(|at| *at < 30 * S));
    for q in QUANTILES {
        assert!(is_near(recorded.response.value_at_quantile(q), quantile(&times, q)), "p{}", 100.0 * q);
    }
}

#[test]
fn a_closed_loop_hides_the_stall_which_is_why_it_only_serves_for_saturation() {
    let stalls = one_second_in_ten(4 * S, 3);
    let schedule = Schedule::closed(10, 0, 30 * S);
    let (recorded, _) = simulate(schedule, 10, stalling(&stalls));
    assert!(recorded.response.value_at_quantile(0.999) < MS);
}

#[test]
fn closed_users_beyond_the_connections_wait_in_their_response_time() {
    let (recorded, _) = simulate(Schedule::closed(20, 0, S), 10, |sent_ns| sent_ns + 10 * MS);
    let p50 = recorded.response.value_at_quantile(0.5);
    assert!(is_near(p50, 20 * MS), "20 users on 10 connections of 10 ms: {p50} ns");
    assert!(is_near(recorded.service.value_at_quantile(0.5), 10 * MS));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_stalls_meet_their_truth(
        gaps in proptest::collection::vec((50 * MS..3 * S, 20 * MS..1500 * MS), 1..20),
        rate_per_s in 20.0..3_000.0_f64,
        poisson: bool,
    ) {
        let mut at = 0;
        let stalls: Stalls = gaps.iter().map(|(gap, length)| {
            let start = at + gap;
            at = start + length;
            (start, at)
        }).collect();
        let law = if poisson { ArrivalLaw::Poisson } else { ArrivalLaw::Constant };
        let schedule = Schedule::open(law.arrivals(rate_per_s, 3), 0, 20 * S, 1_000_000);
        // The drain after a stall is no part of the truth above, so the simulated server has enough connections.
        let (recorded, _) = simulate(schedule, 10_000, stalling(&stalls));
        let times = truth(&stalls, law.arrivals(rate_per_s, 3).take_while(|at| *at < 20 * S));
        prop_assert_eq!(recorded.response.len(), times.len() as u64);
        for q in QUANTILES {
            if !times.is_empty() {
                prop_assert!(is_near(recorded.response.value_at_quantile(q), quantile(&times, q)));
            }
        }
    }

    #[test]
    fn every_arrival_is_recorded_once_whatever_bound_and_server(
        rate_per_s in 1.0..5_000.0_f64, bound in 1..50u32, connections in 1..20usize, service_ns in 1..200 * MS
    ) {
        let schedule = Schedule::open(ArrivalLaw::Poisson.arrivals(rate_per_s, 5), 0, 2 * S, bound);
        let (recorded, over) = simulate(schedule, connections, |sent_ns| sent_ns + service_ns);
        let arrivals = ArrivalLaw::Poisson.arrivals(rate_per_s, 5).take_while(|at| *at < 2 * S).count() as u64;
        prop_assert_eq!(recorded.response.len(), arrivals);
        prop_assert_eq!(recorded.service.len() + over, arrivals);
    }
}
