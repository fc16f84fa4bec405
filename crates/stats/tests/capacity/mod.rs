//! Search and sweep against simulated servers, and against answers that no server gives. How often intervals hold the truth is
//! measured by `table.rs`.

mod servers;
mod simulated;
mod table;

use assay_model::{Estimate, LatencyLimit};
use assay_stats::capacity::{
    Capacity, LimitedRequests, Method, Search, SearchConfig, Sweep, SweepConfig, WindowRequest, WindowResult,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use simulated::{Every, Interruptions, Running, Server, Service};

/// Of the answers of one worker with exponential service times exp(-(μ - λ) t) take longer than t.
fn rate_of_one_worker(service_s: f64, limit_ms: f64) -> f64 {
    1.0 / service_s + 0.01_f64.ln() / (limit_ms / 1e3)
}

fn limits(limits_ms: &[f64]) -> Vec<LatencyLimit> {
    limits_ms.iter().copied().map(LatencyLimit::of_all).collect()
}

fn all(capacity: &Capacity) -> impl Iterator<Item = Estimate> {
    let limits = capacity.limits.iter().map(|limit| limit.rate_per_s);
    limits.chain([capacity.max_rate_per_s, capacity.critical_rate_per_s]).flatten()
}

fn is_sound(capacity: &Capacity) -> bool {
    // What the table of limits says was kept or missed, the answer does not contradict: no rate that was missed is reported.
    let agrees = |limit: &assay_model::LimitRate| {
        let rate = limit.rate_per_s.map(|rate| rate.estimate);
        let (kept, missed) = (limit.last_success_per_s, limit.first_failure_per_s);
        kept.zip(rate).is_none_or(|(kept, rate)| kept <= rate * (1.0 + 1e-9))
            && rate.zip(missed).is_none_or(|(rate, missed)| rate < missed)
    };
    is_ordered(capacity) && capacity.limits.iter().all(agrees)
}

/// What holds for the published scores of a sweep, too: of a server that keeps a limit at a rate above one that exceeds it, they say
/// a rate between the two.
fn is_scored(capacity: &Capacity) -> bool {
    let lies_between = |limit: &assay_model::LimitRate| {
        let rates = (limit.rate_per_s, limit.last_success_per_s, limit.first_failure_per_s);
        let (Some(rate), Some(success), Some(failure)) = rates else { return true };
        let slack = 1e-9 * success.max(failure);
        (success.min(failure) - slack..=success.max(failure) + slack).contains(&rate.estimate)
    };
    is_ordered(capacity) && capacity.limits.iter().all(lies_between)
}

fn is_ordered(capacity: &Capacity) -> bool {
    let ordered = |e: Estimate| match (e.low, e.high) {
        (None, None) => e.estimate.is_finite() && 0.0 < e.estimate,
        (Some(low), Some(high)) => high.is_finite() && 0.0 < low && low <= e.estimate && e.estimate <= high,
        _ => false,
    };
    capacity.used_s.is_finite() && all(capacity).all(ordered)
}

/// Twelve searches; the table has hundreds. Fewer than 80 % of intervals that hold is no bad luck (p < 1e-5 at 95 %).
#[test]
fn a_search_finds_what_theory_says_of_one_worker() {
    let server = Server::new(1, Service::Exponential, 0.001);
    let (mut held, mut found) = (0, 0);
    for seed in 0..12 {
        let capacity = servers::search(&server, seed);
        assert!(is_sound(&capacity), "{capacity:?}");
        assert!(capacity.used_s <= 300.0, "{capacity:?}");
        for limit in &capacity.limits {
            let rate = limit.rate_per_s.expect("every limit is reached");
            let truth = rate_of_one_worker(0.001, limit.limit_ms);
            found += 1;
            held += u32::from(rate.low.unwrap() <= truth && truth <= rate.high.unwrap());
            assert!(
                (rate.estimate / truth - 1.0).abs() < 0.35,
                "{} ms: {rate:?}, not {truth}",
                limit.limit_ms
            );
        }
    }
    println!("{held} of {found} intervals hold");
    assert!(found * 8 <= held * 10, "{held} of {found}");
}

/// Seven limits so close to each other that their windows alone often put a longer one below a shorter one.
#[test]
fn the_rate_at_a_longer_limit_is_no_lower() {
    let server = Server::new(1, Service::Exponential, 0.001);
    let limits_ms = vec![50.0, 60.0, 70.0, 75.0, 80.0, 90.0, 100.0];
    for seed in 0..6 {
        let config = SearchConfig { limits: limits(&limits_ms), ..SearchConfig::new(100.0) };
        let capacity = servers::run(&mut Search::new(config), &server, &limits_ms, seed);
        let rates: Vec<f64> = capacity.limits.iter().filter_map(|l| Some(l.rate_per_s?.estimate)).collect();
        assert_eq!(rates.len(), limits_ms.len());
        assert!(rates.is_sorted(), "seed {seed}: {rates:?}");
    }
}

/// One request in ten is a checkout, drawn at random: the same rate keeps its limit, and less is known of it.
#[test]
fn the_limit_of_an_operation_is_found_by_its_own_requests() {
    let server = Server::new(1, Service::Exponential, 0.001);
    let truth = rate_of_one_worker(0.001, 25.0);
    let (mut held, mut wider) = (0, 0);
    for seed in 0..12 {
        let own = LatencyLimit { limit_ms: 25.0, operation: Some("checkout".to_owned()) };
        let limits = vec![LatencyLimit::of_all(25.0), own.clone()];
        let mut search = Search::new(SearchConfig { limits, ..SearchConfig::new(100.0) });
        let (mut running, mut random) = (Running::new(&server, seed), ChaCha8Rng::seed_from_u64(seed));
        while let Some(ask) = search.next() {
            let mut window = running.window(&ask, &[25.0], 99.0);
            let of_all = window.limits[0];
            let mut drawn = |of: u64| (0..of).filter(|_| random.random_range(0..10) == 0).count() as u64;
            let (misses, kept) = (drawn(of_all.misses), drawn(of_all.requests - of_all.misses));
            window.limits.push(LimitedRequests { requests: misses + kept, misses, percentile_ms: None });
            search.take(&ask, window);
        }
        let found = search.capacity().limits;
        assert_eq!(found[1].limit(), own);
        let ends = |at: usize| found[at].rate_per_s.and_then(|rate| rate.ends()).expect("an interval");
        held += u32::from(ends(1).0 <= truth && truth <= ends(1).1);
        wider += u32::from(ends(0).1 - ends(0).0 < ends(1).1 - ends(1).0);
    }
    println!("{held} of 12 intervals hold {truth}, {wider} are wider");
    assert!(held >= 10 && wider >= 9, "{held} hold, {wider} are wider");
}

/// Behind an overload (a tenth of the answers did not come), one that counts as well as one that was left out, as long as it
/// lasted; else not.
#[test]
fn a_search_rests_behind_what_overloads_the_server() {
    let server = Server::new(1, Service::Exponential, 0.001);
    let config = SearchConfig::new(100.0);
    let limits_ms: Vec<f64> = config.limits.iter().map(|limit| limit.limit_ms).collect();
    let (mut search, mut running) = (Search::new(config), Running::new(&server, 1));
    let (mut wanted_s, mut rests, mut lost) = (0.0, 0, 0);
    while let Some(ask) = search.next() {
        assert_eq!(ask.cool_down_s, wanted_s, "{ask:?}");
        rests += u32::from(0.0 < ask.cool_down_s);
        let window = running.window(&ask, &limits_ms, 0.99);
        let is_lost = ask.step == assay_model::CapacityStep::Overload && lost < 2;
        let was_overload = is_lost || window.answers * 10 < window.requests * 9;
        if is_lost {
            lost += 1;
            search.lose(&ask);
        } else {
            search.take(&ask, window);
        }
        wanted_s = if was_overload { ask.settle_s + ask.window_s } else { 0.0 };
    }
    assert!(2 <= rests && lost == 2, "{rests} rests, {lost} lost");
}

/// Here pauses decide, and no queue: 15 to 45 ms after every 400 requests on average, and workers enough for all that wait. Of a
/// pause of L ms those who come in its first L - 24 ms wait longer than 25 ms with the ms of work; its mean, above 0, is 21² / 60.
/// 15 of these 20 intervals hold; fewer than 14 would be no bad luck (p < 2e-5 at 95 %).
#[test]
fn a_search_finds_what_theory_says_of_pauses() {
    let interruptions = Interruptions { every: Every::Requests(400.0), mean_s: 0.03, speed: 0.0 };
    let server = Server { interruptions: Some(interruptions), ..Server::new(24, Service::Fixed, 0.001) };
    let truth = 0.01 * 400.0 / (21.0 * 21.0 / 60.0 / 1e3);
    let (mut held, mut widths) = (0, Vec::new());
    for seed in 0..20 {
        let config = SearchConfig { limits: limits(&[25.0]), ..SearchConfig::new(100.0) };
        let capacity = servers::run(&mut Search::new(config), &server, &[25.0], seed);
        let rate = capacity.limits[0].rate_per_s.expect("the limit is reached");
        held += u32::from(rate.low.unwrap() <= truth && truth <= rate.high.unwrap());
        widths.push((rate.high.unwrap() - rate.low.unwrap()) / 2.0 / rate.estimate);
    }
    let width = assay_stats::median(&widths).expect("searches");
    println!("{held} of 20 intervals hold; half-width {width:.2}");
    assert!(14 <= held, "{held} of 20");
    assert!(width < 0.3, "half-width {width}");
}

/// Both find the critical rate that theory has; one of them in hours.
#[test]
fn a_search_takes_less_than_a_tenth_of_a_sweep() {
    let server = Server::new(1, Service::Exponential, 0.001);
    let limits_ms = [10.0, 25.0, 50.0, 75.0, 100.0];
    let rates = limits_ms.map(|limit| rate_of_one_worker(0.001, limit));
    let truth = assay_stats::geometric_mean(&rates).expect("rates");
    let searched = servers::search(&server, 3);
    let swept = servers::run(&mut Sweep::new(SweepConfig::new(limits(&limits_ms))), &server, &limits_ms, 3);
    assert!(searched.used_s < 0.1 * swept.used_s, "{} and {} s", searched.used_s, swept.used_s);
    for capacity in [searched, swept] {
        let critical = capacity.critical_rate_per_s.expect("every limit is reached").estimate;
        assert!((critical / truth - 1.0).abs() < 0.08, "{critical}, not {truth}");
    }
}

#[test]
fn a_limit_below_the_service_time_has_no_rate() {
    let server = Server::new(2, Service::Fixed, 0.02);
    let capacity = servers::search(&server, 1);
    assert_eq!((capacity.limits[0].rate_per_s, capacity.critical_rate_per_s), (None, None));
    assert!(capacity.limits[0].first_failure_per_s.is_some());
    let max = capacity.max_rate_per_s.expect("it was overloaded");
    assert!(max.low.unwrap() <= 100.5 && 99.5 <= max.high.unwrap(), "{max:?}");
}

/// What a window gives when nobody thought of it.
fn nonsense(ask: &WindowRequest, draw: (u64, u64, u64, u64), limits: usize) -> WindowResult {
    let expected = (ask.rate_per_s * ask.window_s).clamp(0.0, 1e12) as u64;
    let requests = [0, 1, expected, expected, u64::MAX][draw.0 as usize % 5];
    let answers = [0, requests, requests / 2, draw.1, u64::MAX][draw.1 as usize % 5];
    let misses = [0, requests, requests / 100, draw.2, u64::MAX][draw.2 as usize % 5];
    let kept = if draw.3.is_multiple_of(7) { limits / 2 } else { limits };
    let percentile_ms =
        [None, Some(0.0), Some(1.0), Some(f64::INFINITY), Some(f64::NAN)][draw.3 as usize % 5];
    WindowResult {
        rate_per_s: ask.rate_per_s,
        window_s: ask.window_s,
        requests,
        answers,
        refused: draw.1.min(draw.2),
        limits: vec![LimitedRequests { requests, misses, percentile_ms }; kept],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_search_ends_within_its_budget_whatever_it_is_told(
        draws in prop::collection::vec((0..100_u64, 0..100_u64, 0..100_u64, 0..100_u64), 1..40),
        first in 1e-3..1e6_f64,
    ) {
        let config = SearchConfig { budget_s: 120.0, ..SearchConfig::new(first) };
        let limits = config.limits.len();
        let mut search = Search::new(config);
        let mut windows = 0;
        while let Some(ask) = search.next() {
            let draw = draws[windows % draws.len()];
            if draw.0 % 11 == 10 { search.lose(&ask) } else { search.take(&ask, nonsense(&ask, draw, limits)) }
            windows += 1;
            prop_assert!(windows < 200);
            prop_assert!(ask.rate_per_s.is_finite() && 0.0 < ask.rate_per_s);
        }
        let capacity = search.capacity();
        prop_assert!(is_sound(&capacity), "{:?}", capacity);
        prop_assert!(capacity.used_s <= 120.0);
    }

    #[test]
    fn a_sweep_ends_whatever_it_is_told(
        draws in prop::collection::vec((0..100_u64, 0..100_u64, 0..100_u64, 0..100_u64), 1..40),
    ) {
        let mut sweep = Sweep::new(SweepConfig::new(limits(&[10.0, 100.0])));
        let mut windows = 0;
        while let Some(ask) = sweep.next() {
            let draw = draws[windows % draws.len()];
            if draw.0 % 11 == 10 { sweep.lose(&ask) } else { sweep.take(&ask, nonsense(&ask, draw, 2)) }
            windows += 1;
            prop_assert!(windows < 10_000);
        }
        prop_assert!(is_scored(&sweep.capacity()));
    }
}
