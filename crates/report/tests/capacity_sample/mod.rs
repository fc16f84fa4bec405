//! Capacities to draw: a made-up server of known response times under a search and a sweep, one that a busy machine disturbed
//! (a real run), and what a hostile or empty file may hold.

use assay_model::*;
use assay_testkit::SplitMix;

/// The rate that the made-up server sustains, per second.
pub const MAX_PER_S: f64 = 1_240.0;
const LIMITS_MS: [f64; 5] = [10.0, 25.0, 50.0, 75.0, 100.0];
/// A percentile's time on the idle server, ms, and how fast it grows with the queue.
const SHAPES: [(f64, f64); 7] =
    [(0.31, 0.0), (1.1, 0.09), (2.6, 0.15), (3.9, 0.2), (6.0, 0.25), (14.0, 0.3), (31.0, 0.35)];

/// A factor around 1.
fn factor(noise: &mut SplitMix, spread: f64) -> f64 {
    1.0 + spread * (noise.share() + noise.share() - 1.0)
}

/// Response time at a rate without noise; beyond capacity the queue of the window decides.
fn response_ms((base, growth): (f64, f64), rate: f64, window_s: f64) -> f64 {
    let load = (rate / MAX_PER_S).min(0.996);
    let backlog_ms = (rate - MAX_PER_S).max(0.0) / MAX_PER_S * window_s * 1_000.0;
    base * (1.0 + growth * load / (1.0 - load)) + backlog_ms * growth
}

/// The rate at which the 99th percentile is `limit_ms`: [`response_ms`] solved for it.
pub fn crossing(limit_ms: f64) -> f64 {
    let (base, growth) = SHAPES[4];
    let queue = (limit_ms / base - 1.0) / growth;
    MAX_PER_S * queue / (1.0 + queue)
}

fn window(noise: &mut SplitMix, start_s: &mut f64, step: &str, rate: f64, window_s: f64) -> Window {
    let luck = factor(noise, 0.12);
    let mut times = SHAPES.map(|shape| response_ms(shape, rate, window_s) * luck * factor(noise, 0.04));
    times.sort_by(f64::total_cmp);
    let reached = rate.min(MAX_PER_S * factor(noise, 0.004)) * factor(noise, 0.004);
    let requests = (rate * window_s * factor(noise, 0.01)) as u64;
    let miss = |limit: &f64| (requests as f64 * (0.01 * (times[4] / limit).powf(1.6)).min(1.0)) as u64;
    let start = *start_s;
    *start_s += 2.0 + window_s;
    let start_ns = (start * 1e9) as u64;
    Window {
        block: 1,
        attempt: 1,
        start_monotonic_ns: start_ns,
        end_monotonic_ns: start_ns + (window_s * 1e9) as u64,
        requests,
        completed: (reached * window_s) as u64,
        metrics: [("cpu_ms_per_request".to_owned(), 0.31 + rate / 1e5)].into(),
        response_ms: LatencySummary {
            p50: Some(times[1]),
            p95: Some(times[3]),
            p99: Some(times[4]),
            p99_9: Some(times[5]),
            max: Some(times[6]),
        },
        send_lag_ms: LatencySummary { p99: Some(0.18 * factor(noise, 0.5)), ..LatencySummary::default() },
        generator_cpu_share: Some(0.12 + rate / 12_000.0),
        machine: Some(MachineSpeed { arithmetic_ns: Some(3.55), memory_ns: 96.0 }),
        search: Some(SearchStep {
            step: serde_json::from_value(step.into()).expect("a word"),
            cool_down_s: 0.0,
            settle_s: 2.0,
            offered_rate_per_s: rate,
            sent_rate_per_s: rate * factor(noise, 0.002),
            misses: LIMITS_MS.iter().map(miss).collect(),
            response_ms_min: Some(times[0]),
            response_ms_p90: Some(times[2]),
            limited_ms: Some(times[4]),
            is_sustained: reached >= 0.985 * rate,
        }),
        ..Window::default()
    }
}

/// What a window has as one of a search.
pub fn step(window: &mut Window) -> &mut SearchStep {
    window.search.as_mut().expect("it is of a search")
}

fn around(estimate: f64, half_percent: f64) -> Option<Estimate> {
    let half = estimate * half_percent / 100.0;
    Some(Estimate { estimate, low: Some(estimate - half), high: Some(estimate + half) })
}

fn limit(limit_ms: f64, estimate: Option<Estimate>, windows: &[Window]) -> LimitRate {
    let counted = || windows.iter().filter(|w| w.counts()).filter_map(|w| w.search.as_ref());
    let crossed = estimate.map(|estimate| estimate.estimate);
    let rates = |is_kept: bool| {
        let wanted = move |s: &&SearchStep| s.limited_ms.is_some_and(|ms| (ms <= limit_ms) == is_kept);
        let rates = counted().filter(wanted).map(|s| s.offered_rate_per_s);
        // As the search has it: one window by chance does not contradict the others.
        rates.filter(move |rate| crossed.is_none_or(|crossed| (*rate <= crossed) == is_kept))
    };
    LimitRate {
        limit_ms,
        operation: None,
        rate_per_s: estimate,
        last_success_per_s: rates(true).max_by(f64::total_cmp),
        first_failure_per_s: rates(false).min_by(f64::total_cmp),
        limited_by_max: false,
    }
}

fn attribution(limit_ms: f64, misses: u64) -> LimitAttribution {
    let cause = |name: &str, misses_share: f64, overlapped: f64, expected: Option<f64>| AttributedCause {
        cause: serde_json::from_value(name.into()).expect("a word"),
        misses: (misses as f64 * misses_share) as u64,
        overlapped: (misses as f64 * overlapped) as u64,
        expected: expected.map(|e| e * misses as f64),
    };
    LimitAttribution {
        limit_ms,
        operation: None,
        misses,
        causes: vec![
            cause("gc-pause", 0.612, 0.697, Some(0.04)),
            cause("run-queue", 0.214, 0.972, Some(0.956)),
            cause("safepoint", 0.031, 0.052, Some(0.009)),
            cause("connection-wait", 0.012, 0.012, None),
            cause("steal", 0.0, 0.021, Some(0.019)),
        ],
        unexplained: (misses as f64 * 0.167) as u64,
    }
}

fn check(name: &str, passed: Option<bool>, evidence: &str) -> ValidityCheck {
    ValidityCheck {
        check: serde_json::from_value(name.into()).expect("a word"),
        passed,
        evidence: evidence.to_owned(),
    }
}

fn disturbance(kind: Check, evidence: &str) -> Disturbance {
    Disturbance { kind, evidence: evidence.to_owned() }
}

fn checks() -> Vec<ValidityCheck> {
    vec![
        check("complete", Some(true), "44 windows"),
        check("warm-up", Some(true), "steady after 38 s: CPU time per request in slices of 1 s"),
        check(
            "mix",
            Some(true),
            "farthest off is return: 2.71 % of 212345 requests in all windows, planned 2.65 %",
        ),
        check(
            "arrivals",
            Some(true),
            "farthest from a Poisson process is the window at 1103/s: 0.6 of what is accepted",
        ),
        check("generator-lag", Some(true), "p99 at most 0.27 ms at 1240/s, accepted are 1.00 ms"),
        check("disturbance", Some(true), "3 of 44 windows left out, accepted a third"),
        check("restart", None, "no process was given (--pid)"),
        check("audit", None, "no audit was requested"),
    ]
}

/// A search: bracket, windows around the crossings, confirmation; three windows left out, one far beyond capacity.
pub fn search() -> CapacityReport {
    let (mut noise, mut at) = (SplitMix(5), 1_000.0);
    let mut windows = Vec::new();
    for rate in [100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0] {
        windows.push(window(&mut noise, &mut at, "bracket", rate, 4.0));
    }
    for round in 0..6 {
        for limit in LIMITS_MS {
            let rate = crossing(limit) * (1.0 + (noise.share() - 0.5) * 0.16 / f64::from(round + 1));
            windows.push(window(&mut noise, &mut at, "refine", rate, 5.0));
        }
    }
    for rate in [1_290.0, 1_340.0, 1_480.0] {
        windows.push(window(&mut noise, &mut at, "overload", rate, 4.0));
    }
    for limit in LIMITS_MS {
        windows.push(window(&mut noise, &mut at, "confirm", crossing(limit) * 0.98, 10.0));
    }
    let others = "share of the machine's processors used by other processes: 34.1 %, limit 10.0 %";
    for index in [9, 17, 25] {
        let disturbed = &mut windows[index];
        let limited_ms = step(disturbed).limited_ms.map(|ms| ms * 3.4);
        step(disturbed).limited_ms = limited_ms;
        disturbed.response_ms.p99 = limited_ms;
        disturbed.disturbances = vec![disturbance(Check::CpuPressure, others)];
    }
    let lag = "send lag p99 is 33.39 ms, accepted are 14.96 ms";
    windows[25].disturbances.push(disturbance(Check::GeneratorLag, lag));
    let rates = LIMITS_MS.map(crossing);
    let critical = rates.iter().map(|r| r.ln()).sum::<f64>() / rates.len() as f64;
    CapacityReport {
        schema: schema::CAPACITY.to_owned(),
        method: CapacityMethod::Search,
        target: "http://127.0.0.1:8080 with scenario supermarket-standard-mix".to_owned(),
        scenario: Some("name = \"supermarket-standard-mix\"".to_owned()),
        percentile: 99.0,
        limited_operations: Vec::new(),
        max_rate_per_s: around(MAX_PER_S, 1.6),
        limits: LIMITS_MS
            .iter()
            .map(|l| limit(*l, around(crossing(*l), 20.0 / l.sqrt()), &windows))
            .collect(),
        critical_rate_per_s: around(critical.exp(), 2.1),
        from_below: None,
        attribution: [(10.0, 12_345), (25.0, 4_210), (50.0, 1_020), (100.0, 211)]
            .map(|(l, m)| attribution(l, m))
            .into(),
        checks: checks(),
        valid: Some(true),
        problems: Vec::new(),
        duration_s: at - 1_000.0,
        seed: 5,
        users: None,
        session_starts: None,
        windows,
    }
}

/// A sweep for the purchases only, by levels, without intervals; no level misses the longest limit.
pub fn sweep() -> CapacityReport {
    let (mut noise, mut at) = (SplitMix(8), 1_000.0);
    let mut windows: Vec<Window> =
        (1..=84).map(|level| window(&mut noise, &mut at, "level", 14.0 * f64::from(level), 60.0)).collect();
    windows.iter_mut().map(step).for_each(|s| s.limited_ms = s.limited_ms.map(|ms| 0.8 * ms));
    let alone = |estimate: f64| Some(Estimate { estimate, low: None, high: None });
    let mut report = search();
    report.method = CapacityMethod::Sweep;
    report.limited_operations = vec!["in_store_purchase".to_owned(), "online_purchase".to_owned()];
    report.limits = LIMITS_MS[..2].iter().map(|l| limit(*l, alone(crossing(*l / 0.8)), &windows)).collect();
    report.limits.push(LimitRate {
        limit_ms: 2_500.0,
        operation: None,
        rate_per_s: None,
        last_success_per_s: Some(1_176.0),
        first_failure_per_s: None,
        limited_by_max: false,
    });
    report.max_rate_per_s = None;
    report.critical_rate_per_s = None;
    report.attribution.clear();
    report.problems = vec![Problem::new(
        "capacity",
        "no level was too much for the server: the sweep ended before its capacity",
    )];
    report.duration_s = at - 1_000.0;
    report.windows = windows;
    report
}

/// A run of two minutes on a machine that others used: testdata/capacity/disturbed.json.
pub fn disturbed() -> CapacityReport {
    let text = include_str!("../../../../testdata/capacity/disturbed.json");
    serde_json::from_str(text).expect("the stored form")
}

/// Names, figures and counts as an attacker would have them.
pub fn hostile() -> CapacityReport {
    let script = "<script>alert('1')</script>\u{202E}".to_owned();
    let mut report = search();
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 1e-300];
    for (index, window) in report.windows.iter_mut().enumerate() {
        let value = odd[index % odd.len()];
        match index % 5 {
            0 => step(window).offered_rate_per_s = value,
            1 => window.completed = value as u64,
            2 => step(window).limited_ms = Some(value),
            3 => window.response_ms.max = Some(value),
            _ => step(window).misses = vec![u64::MAX],
        }
        step(window).step = serde_json::from_value(script.clone().into()).expect("a word");
    }
    let long = "x".repeat(5_000);
    report.windows[3].disturbances = [&*script, &long].map(|why| disturbance(Check::Other, why)).into();
    report.target = script.clone();
    report.scenario = Some(script.clone());
    report.limited_operations = vec![script.clone(); 20];
    report.limits[0].limit_ms = f64::NAN;
    report.limits[1].rate_per_s =
        Some(Estimate { estimate: f64::INFINITY, low: Some(-1.0), high: Some(f64::NAN) });
    report.limits[2].limit_ms = -5.0;
    report.max_rate_per_s = Some(Estimate { estimate: 1e9, low: Some(1.0), high: Some(1e12) });
    report.attribution[0].causes[0].cause = serde_json::from_value(script.clone().into()).expect("a word");
    report.attribution[0].causes[0].expected = Some(f64::NAN);
    report.attribution[1].causes[0].overlapped = u64::MAX;
    report.checks.push(check(&script, Some(false), &script));
    report.percentile = f64::NAN;
    report.duration_s = f64::NAN;
    report.valid = Some(false);
    report.problems = vec![Problem::new(script.clone(), script)];
    report
}

/// Stopped before the first window.
pub fn empty() -> CapacityReport {
    let mut report = search();
    report.windows.clear();
    report.limits.iter_mut().for_each(|l| {
        *l = LimitRate {
            limit_ms: l.limit_ms,
            operation: None,
            rate_per_s: None,
            last_success_per_s: None,
            first_failure_per_s: None,
            limited_by_max: false,
        };
    });
    report.max_rate_per_s = None;
    report.critical_rate_per_s = None;
    report.attribution.clear();
    report.checks = vec![check("complete", Some(false), "stopped after 0 windows")];
    report.valid = Some(false);
    report.problems = vec![Problem::new("complete", "stopped after 0 windows")];
    report
}
