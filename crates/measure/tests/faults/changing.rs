//! Searches of servers that change, refuse, or stand on a machine that is never quiet.

use super::search::{TURN, config, found};
use super::simulated::{CAPACITY_PER_S, Draws, Fault, Onlooker, Simulated};
use assay_measure::{CapacityConfig, Context, measure, method_of};
use assay_model::{CapacityReport, Check, LatencyLimit, ValidityCheck};
use std::sync::atomic::AtomicBool;

/// A search of five minutes in virtual time, for two limits that queues decide over and one that takes seconds to miss.
fn search(seed: u64, fault: Option<Fault>, is_exponential: bool) -> CapacityReport {
    let config = CapacityConfig {
        limits: [25.0, 50.0, 1000.0].map(LatencyLimit::of_all).to_vec(),
        budget_s: 300.0,
        connections: 1_000,
        ..config()
    };
    let mut source = Simulated::new(seed, fault);
    source.is_exponential = is_exponential;
    let mut method = method_of(&config, Some(0.4 * CAPACITY_PER_S));
    let mut watcher = Onlooker { fault, draws: Draws::new(seed), pauses: Vec::new(), windows: 0 };
    let (stop, on_event) = (&AtomicBool::new(false), &mut |_| ());
    let mut with = Context { source: &mut source, watcher: &mut watcher, data: None, stop, on_event };
    found(measure(&config, &mut *method, None, &mut with, TURN))
}

#[track_caller]
fn check(report: &CapacityReport, check: Check) -> &ValidityCheck {
    report.checks.iter().find(|one| one.check == check).expect("listed")
}

/// How many of so many searches say that the server got slower (or faster), and whether each of those says what to do.
fn drifts(seeds: std::ops::Range<u64>, fault: Option<Fault>, way: &str) -> usize {
    let says = |seed: &u64| {
        let report = search(*seed, fault, seed % 2 == 1);
        let steadiness = check(&report, Check::Steadiness);
        if steadiness.passed.is_none() {
            return false;
        }
        assert!(steadiness.evidence.contains(way), "seed {seed}: {steadiness:?}");
        assert_eq!(steadiness.passed == Some(false), report.valid == Some(false), "{:#?}", report.problems);
        let is_told = |p: &assay_model::Problem| p.about == "steadiness" && p.text.contains("requests");
        assert!(report.problems.iter().any(is_told), "{:#?}", report.problems);
        true
    };
    seeds.filter(says).count()
}

#[test]
fn a_server_that_gets_slower_or_faster_is_said() {
    let slower = drifts(0..6, Some(Fault::Slows), "the server got slower during the search");
    let faster = drifts(0..6, Some(Fault::WarmsUp), "the server got faster during the search");
    assert!(4 <= slower && 2 <= faster, "{slower} and {faster} of 6");
    assert_eq!(drifts(0..6, None, "a steady server"), 0);
}

#[test]
#[ignore = "long: 200 searches"]
fn of_two_hundred_steady_servers_at_most_two_are_said_to_change() {
    let said = (0..200)
        .filter(|seed| check(&search(*seed, None, seed % 2 == 1), Check::Steadiness).passed.is_some());
    let said = said.count();
    println!("{said} of 200 steady servers are said to change");
    assert!(said <= 2, "{said} of 200");
}

/// Of Poisson arrivals at 93 % of what its workers do, this server refuses one in a hundred, since its queue is short.
#[test]
fn a_rate_at_which_a_server_refuses_many_is_not_sustained() {
    for fault in [Fault::Refuses, Fault::RefusesConnections] {
        let report = search(1, Some(fault), false);
        let max = report.max_rate_per_s.expect("it was overloaded");
        assert!((0.90..0.96).contains(&(max.estimate / CAPACITY_PER_S)), "{fault:?}: {max:?}");
        assert!(report.valid == Some(true), "{fault:?}: {:#?}", report.problems);
    }
}

#[test]
fn no_limit_has_a_rate_above_the_maximum() {
    for (seed, is_exponential) in [(1, false), (2, true)] {
        let report = search(seed, None, is_exponential);
        let max = report.max_rate_per_s.expect("it was overloaded").estimate;
        let rates = report.limits.iter().filter_map(|limit| limit.rate_per_s);
        assert!(rates.map(|rate| rate.estimate).all(|rate| rate <= max), "{:#?}", report.limits);
        let longest = &report.limits[2];
        assert!(longest.limited_by_max || is_exponential, "{longest:?}");
        assert!(longest.last_success_per_s.is_none_or(|kept| kept <= max), "{longest:?}");
    }
}

#[test]
fn a_machine_that_is_never_quiet_ends_the_search_after_about_a_minute_of_load() {
    for (fault, why) in [(Fault::Steal, "steal"), (Fault::MachineBusy, "cpu-pressure")] {
        let report = search(1, Some(fault), false);
        let disturbance = check(&report, Check::Disturbance);
        assert!(report.valid == Some(false) && disturbance.passed == Some(false));
        for part in ["the machine is too noisy for an answer", why, "--count-disturbed"] {
            assert!(disturbance.evidence.contains(part), "{disturbance:?}");
        }
        let loaded_s: f64 = report.steps().map(|(window, step)| step.settle_s + window.seconds()).sum();
        assert!((60.0..100.0).contains(&loaded_s), "{loaded_s} s");
    }
}
