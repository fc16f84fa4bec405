//! A real server of known capacity: workers that each take the same time, behind one queue.
//!
//! What it can do follows from the times that its workers really took, which the server itself keeps, by the exact recursion of
//! a queue before k workers: no part of Assay is in that. A machine that is busy with other things makes workers and generator late.
//! Whether it was is asked of the kernel, not of the result: one that calls itself invalid on a quiet machine is a failure.
//!
//! A hypervisor takes a few milliseconds at a time for other machines, little beside the 20 that a worker sleeps. So windows count here of
//! which up to a tenth was stolen; for a server that computes they would not.

use assay_host::HostGauge;
use assay_load::{Generator, GeneratorConfig, Load, for_url};
use assay_measure::{
    Bounds, CapacityConfig, CapacitySearch, Context, MeasurementId, Procedure, WarmUpPlan, Watch, WatchConfig,
};
use assay_model::{CapacityMethod, CapacityReport, Estimate, LatencyLimit, LimitRate};
use assay_testkit::{WorkerServer, skip};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const WORKERS: usize = 8;
const SERVICE: Duration = Duration::from_millis(20);
const LIMITS_MS: [f64; 2] = [40.0, 80.0];
/// Half of it is too little to bracket both limits, and the search says so.
const BUDGET_S: f64 = 60.0;

/// The server's threads sleep: where something waits for a processor more often, or more is stolen, others use the machine.
const WAITED_SHARE_MAX: f64 = 0.2;
const STEAL_SHARE_MAX: f64 = 0.1;

/// Share of requests beyond a limit at a rate, with service times drawn from those that were seen.
fn miss_share(services_s: &[f64], rate_per_s: f64, limit_s: f64) -> f64 {
    let mut draws = ChaCha8Rng::seed_from_u64(7);
    let mut share = || draws.random_range(0.0..1.0_f64);
    let (mut free_s, mut at_s, mut misses) = ([0.0_f64; WORKERS], 0.0, 0_u32);
    let count = 200_000;
    for _ in 0..count {
        at_s -= (1.0 - share()).ln() / rate_per_s;
        let service_s = services_s[(share() * services_s.len() as f64) as usize];
        let worker = free_s.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("workers");
        *worker = worker.max(at_s) + service_s;
        misses += u32::from(limit_s < *worker - at_s);
    }
    f64::from(misses) / f64::from(count)
}

/// Rate at which one in a hundred exceeds the limit, by halving.
fn true_rate(services_s: &[f64], limit_ms: f64) -> f64 {
    let (mut low, mut high) = (1.0, WORKERS as f64 / SERVICE.as_secs_f64());
    for _ in 0..20 {
        let middle = (low + high) / 2.0;
        if miss_share(services_s, middle, limit_ms / 1e3) <= 0.01 { low = middle } else { high = middle }
    }
    low
}

fn find(server: &WorkerServer) -> CapacityReport {
    let (base_url, scenario) = for_url(&server.url).expect("a good URL");
    let config = CapacityConfig {
        scenario: None,
        target: server.url.clone(),
        method: CapacityMethod::Search,
        percentile: 99.0,
        limits: LIMITS_MS.map(LatencyLimit::of_all).to_vec(),
        limited_operations: Vec::new(),
        budget_s: BUDGET_S,
        connections: 100,
        seed: 3,
        bounds: Bounds { steal_share: STEAL_SHARE_MAX, ..Bounds::default() },
        counts_disturbed: false,
    };
    let mut generator = Generator::new(GeneratorConfig::new(base_url, scenario, 100)).expect("good");
    let mut watch = Watch::start(&WatchConfig::default()).expect("no process is asked for");
    let stop = AtomicBool::new(false);
    let plan = WarmUpPlan {
        load: Load::Closed { users: 4, think: None },
        slice: Duration::from_millis(250),
        min: Duration::ZERO,
        cap: Duration::from_secs(5),
    };
    let mut search = CapacitySearch { config, warm_up: Some(plan).into() };
    let mut with = Context {
        source: &mut generator,
        watcher: &mut watch,
        data: None,
        stop: &stop,
        on_event: &mut |_| (),
    };
    search.warm_up(&mut with).expect("it listens");
    let turn = MeasurementId::alone(1, 1);
    let measured = search.measure(&mut with, turn).expect("it listens");
    measured.and_then(|of| of.capacity).expect("it was searched for")
}

/// Within twice the distance of the interval's ends: one in 10,000 honest intervals is farther.
fn is_near(found: &Estimate, truth: f64) -> bool {
    let low = found.low.expect("a search gives intervals");
    let high = found.high.expect("a search gives intervals");
    (found.estimate - 2.0 * (found.estimate - low)..=found.estimate + 2.0 * (high - found.estimate))
        .contains(&truth)
}

/// Whether what was kept is not above the truth, nor what was missed below it, by more than a short window's chance.
fn is_between(limit: &LimitRate, truth: f64) -> bool {
    let kept = limit.last_success_per_s.is_none_or(|rate| rate <= 1.1 * truth);
    kept && limit.first_failure_per_s.is_none_or(|rate| 0.9 * truth <= rate)
}

#[test]
#[ignore = "long: needs a machine that nothing else uses"]
fn the_capacity_of_a_known_server_is_found_in_a_minute() {
    let server = WorkerServer::start(WORKERS, SERVICE);
    let gauge = HostGauge::new();
    let before = gauge.read();
    let report = find(&server);
    let host = gauge.read().since(&before);
    let services_s: Vec<f64> = server.services_ns().iter().map(|ns| *ns as f64 / 1e9).collect();
    let mean_s = services_s.iter().sum::<f64>() / services_s.len() as f64;
    let truths = LIMITS_MS.map(|limit| true_rate(&services_s, limit));
    println!(
        "true: {truths:.0?}, at most {:.0}; found {:?}, {:?}",
        WORKERS as f64 / mean_s,
        report.limits,
        report.max_rate_per_s
    );
    println!("{:#?}", report.checks);
    let Err(why) = check(&report, &truths, WORKERS as f64 / mean_s) else { return };
    // The server keeps what its workers took, not how long a request waited to be read.
    if let Some(share) = host.cpu_some_share.filter(|share| WAITED_SHARE_MAX < *share) {
        skip!(
            "the machine is busy: threads waited for a processor in {:.0} % of the time; {why}",
            100.0 * share
        );
    }
    if let Some(share) = host.steal_share.filter(|share| STEAL_SHARE_MAX < *share) {
        skip!("the machine is busy: the hypervisor took {:.0} % of the time; {why}", 100.0 * share);
    }
    panic!("{why}");
}

/// What is wrong with what was found; `max`: the rate at which all workers are busy.
fn check(report: &CapacityReport, truths: &[f64], max: f64) -> Result<(), String> {
    let holds = |holds: bool, what: &dyn Fn() -> String| if holds { Ok(()) } else { Err(what()) };
    holds(report.valid == Some(true), &|| format!("not valid: {:?}", report.problems))?;
    let is_short = report.windows.len() >= 3 && report.duration_s < 2.0 * BUDGET_S;
    holds(is_short, &|| format!("{} windows in {} s", report.windows.len(), report.duration_s))?;
    for (limit, truth) in report.limits.iter().zip(truths) {
        // A minute is short: one limit may be left with what was kept and what was missed, and no rate.
        let is_right = match &limit.rate_per_s {
            Some(found) => is_near(found, *truth),
            None => is_between(limit, *truth),
        };
        holds(is_right, &|| format!("{} ms, in truth {truth:.1}: {limit:?}", limit.limit_ms))?;
    }
    let has_rate = report.limits.iter().any(|limit| limit.rate_per_s.is_some());
    holds(has_rate, &|| format!("no rate: {:?}", report.limits))?;
    let found =
        report.max_rate_per_s.as_ref().ok_or("more was tried than it does, and no highest rate found")?;
    holds(is_near(found, max), &|| format!("{found:?}, in truth {max:.1}"))
}
