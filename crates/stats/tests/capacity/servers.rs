//! Simulated servers of every kind that a search must do well on, searches of them, and how well these did.

use super::simulated::{Every, Interruptions, Running, Server, Service, rate_at_limit};
use assay_model::Estimate;
use assay_stats::capacity::{Capacity, Method, Search, SearchConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A server with the name of its kind.
pub struct Kind {
    pub name: &'static str,
    pub server: Server,
}

/// All kinds.
pub fn kinds() -> Vec<Kind> {
    let kind = |name, server| Kind { name, server };
    let two = Server::new(2, Service::LogNormal(1.0), 0.002);
    let paused = |every, mean_s, speed| Server {
        interruptions: Some(Interruptions { every, mean_s, speed }),
        ..Server::new(4, Service::Exponential, 0.004)
    };
    vec![
        kind("one-worker", Server::new(1, Service::Exponential, 0.001)),
        kind("four-workers", Server::new(4, Service::Exponential, 0.004)),
        kind("fixed-time", Server::new(1, Service::Fixed, 0.001)),
        kind("log-normal", two),
        kind("bimodal", Server::new(4, Service::Two { share: 0.05, times: 10.0 }, 0.004)),
        kind("periodic-pauses", paused(Every::Seconds(2.0), 0.015, 0.0)),
        kind("random-pauses", paused(Every::RandomSeconds(2.0), 0.03, 0.0)),
        kind("collections", paused(Every::Requests(2500.0), 0.03, 0.0)),
        kind("falling", Server { arrival_cost_share: 0.4, ..Server::new(4, Service::Exponential, 0.003) }),
        kind(
            "warming-up",
            Server { warm_up: Some((0.1, 40.0)), ..Server::new(4, Service::Exponential, 0.004) },
        ),
        kind("noisy-machine", paused(Every::RandomSeconds(8.0), 0.5, 0.5)),
        // This and the two at the end are not among those that the search's constants were found with.
        kind(
            "unseen",
            Server {
                interruptions: Some(Interruptions {
                    every: Every::Requests(4000.0),
                    mean_s: 0.02,
                    speed: 0.0,
                }),
                ..Server::new(3, Service::Two { share: 0.1, times: 5.0 }, 0.002)
            },
        ),
        kind("fast", Server::new(4, Service::LogNormal(0.7), 0.0006)),
        kind(
            "unseen-pauses",
            Server {
                interruptions: Some(Interruptions {
                    every: Every::RandomSeconds(3.0),
                    mean_s: 0.04,
                    speed: 0.0,
                }),
                ..Server::new(6, Service::LogNormal(0.5), 0.005)
            },
        ),
        kind(
            "unseen-long",
            Server {
                arrival_cost_share: 0.1,
                ..Server::new(1, Service::Two { share: 0.02, times: 8.0 }, 0.0015)
            },
        ),
    ]
}

/// Runs a method against a server in virtual time, to its end.
pub fn run(method: &mut dyn Method, server: &Server, limits_ms: &[f64], seed: u64) -> Capacity {
    let mut running = Running::new(server, seed);
    while let Some(ask) = method.next() {
        let begun_s = running.now_s();
        let window = running.window(&ask, limits_ms, 99.0);
        // What an overload left is answered before the next window begins.
        let asked_s = ask.cool_down_s + ask.settle_s + ask.window_s;
        method.spend(running.now_s() - begun_s - asked_s);
        method.take(&ask, window);
    }
    method.capacity()
}

/// A search that begins two to thirty-two times below the maximum, at random.
pub fn search(server: &Server, seed: u64) -> Capacity {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5ea);
    let below: f64 = random.random_range(1.0..5.0);
    let config = SearchConfig::new(server.max_rate_per_s() * 2_f64.powf(-below));
    let limits_ms: Vec<f64> = config.limits.iter().map(|limit| limit.limit_ms).collect();
    run(&mut Search::new(config), server, &limits_ms, seed)
}

/// What is true of a server: the rate at each limit, the critical one, and the highest.
pub fn truths(server: &Server, limits_ms: &[f64], requests: f64) -> Vec<Option<f64>> {
    let lowest = 0.03 * server.max_rate_per_s();
    let rate = |limit: &f64| Some(rate_at_limit(server, *limit, 0.01, requests, 77)).filter(|r| lowest < *r);
    let mut truths: Vec<Option<f64>> = limits_ms.iter().map(rate).collect();
    let all: Option<Vec<f64>> = truths.iter().copied().collect();
    truths.push(all.and_then(|rates| assay_stats::geometric_mean(&rates)));
    truths.push(Some(server.max_rate_per_s()));
    truths
}

/// Estimates in the order of [`truths`].
pub fn estimates(capacity: &Capacity) -> Vec<Option<Estimate>> {
    let limits = capacity.limits.iter().map(|limit| limit.rate_per_s);
    limits.chain([capacity.critical_rate_per_s, capacity.max_rate_per_s]).collect()
}
