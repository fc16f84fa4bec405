//! The whole search for a capacity.

use super::simulated::{
    CAPACITY_PER_S, CONNECTIONS, Draws, Fault, GENERATOR_PER_S, MS, Onlooker, Rates, Simulated, connections,
    limits,
};
use assay_load::LoadError;
use assay_measure::{
    Bounds, CapacityConfig, Context, MeasureEvent, Measurement, MeasurementId, ServerData, WarmedUp,
    budget_s_min, measure, method_of,
};
use assay_model::{
    Audit, CapacityMethod, CapacityReport, Check, LateCause, SearchStep, WarmUp, WarmUpEnd, Window, metric,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// Shares of the capacity at which windows are measured.
const SHARES: [f64; 12] = [0.3, 0.5, 0.7, 0.8, 0.6, 0.85, 0.9, 0.95, 0.75, 1.05, 1.2, 0.88];

pub fn config() -> CapacityConfig {
    CapacityConfig {
        target: "simulated".to_owned(),
        scenario: None,
        method: CapacityMethod::Search,
        percentile: 99.0,
        limits: limits(&[15.0, 25.0, 50.0]),
        limited_operations: Vec::new(),
        budget_s: assay_measure::default_budget_s(CapacityMethod::Search),
        connections: CONNECTIONS as u32,
        seed: 1,
        bounds: Bounds::default(),
        counts_disturbed: false,
    }
}

/// A server that keeps account, and cannot set back its data.
struct Data {
    is_right: bool,
}

impl ServerData for Data {
    fn audit(&mut self) -> Option<Audit> {
        let detail = if self.is_right { "all invariants hold" } else { "1 order lost" };
        Some(Audit { passed: self.is_right, detail: detail.to_owned() })
    }

    fn reset(&mut self) -> Result<(), String> {
        Err("no way back".to_owned())
    }
}

fn warmed_up(fault: Option<Fault>) -> WarmedUp {
    let ended_by = if fault == Some(Fault::NotWarm) { WarmUpEnd::Cap } else { WarmUpEnd::Steady };
    WarmedUp {
        warm_up: WarmUp {
            rule: "made up".to_owned(),
            ended_by,
            duration_s: 20.0,
            requests: 0,
            cpu_ms_per_request: Vec::new(),
        },
        throughput_per_s: Some(CAPACITY_PER_S),
        response_p99_ms: Some(30.0),
    }
}

pub const TURN: MeasurementId = MeasurementId { block: 1, attempt: 1, duet: None };

/// The report, of which the trial's window says the same.
#[track_caller]
pub fn found(measured: Result<Measurement, LoadError>) -> CapacityReport {
    let Measurement { window, capacity, audit } = measured.expect("there is load");
    let report = capacity.expect("it was searched for");
    let failed = report.checks.iter().filter(|c| c.passed == Some(false)).map(|c| c.check);
    assert!(window.disturbances.iter().map(|d| d.kind).eq(failed));
    let sum = |of: fn(&Window) -> u64| report.windows.iter().map(of).sum::<u64>();
    assert_eq!((window.requests, window.completed), (sum(|w| w.requests), sum(|w| w.completed)));
    let told = report.checks.iter().find(|c| c.check == Check::Audit).expect("listed");
    assert_eq!(told.passed, audit.map(|audit| audit.passed));
    report
}

fn run(seed: u64, fault: Option<Fault>) -> (CapacityReport, Rates, Vec<MeasureEvent>) {
    run_at(&SHARES, seed, fault, &[])
}

fn run_at(
    shares: &[f64],
    seed: u64,
    fault: Option<Fault>,
    pauses: &[(u64, u64)],
) -> (CapacityReport, Rates, Vec<MeasureEvent>) {
    let connections = connections(fault) as u32;
    run_in(&CapacityConfig { connections, ..config() }, shares, seed, fault, pauses)
}

fn run_in(
    config: &CapacityConfig,
    shares: &[f64],
    seed: u64,
    fault: Option<Fault>,
    pauses: &[(u64, u64)],
) -> (CapacityReport, Rates, Vec<MeasureEvent>) {
    let rates = shares.iter().map(|share| share * CAPACITY_PER_S).collect();
    let mut source = Simulated::new(seed, fault);
    source.pauses = pauses.to_vec();
    let mut method = Rates::new(rates, config.limits.clone());
    let mut watcher = Onlooker { fault, draws: Draws::new(seed), pauses: pauses.to_vec(), windows: 0 };
    let mut data = Data { is_right: fault != Some(Fault::BrokenInvariant) };
    let stop = AtomicBool::new(false);
    let mut events = Vec::new();
    let mut on_event = |event| {
        if !matches!(&event, MeasureEvent::WindowEnded { .. }) {
            return;
        }
        stop.fetch_or(fault == Some(Fault::Stopped) && events.len() > 2, Ordering::Relaxed);
        events.push(event);
    };
    let (stop, on_event) = (&stop, &mut on_event);
    let mut with =
        Context { source: &mut source, watcher: &mut watcher, data: Some(&mut data), stop, on_event };
    let report = found(measure(config, &mut method, Some(&warmed_up(fault)), &mut with, TURN));
    (report, method, events)
}

fn step(window: &Window) -> &SearchStep {
    window.search.as_ref().expect("it is of a search")
}

#[track_caller]
fn check(fault: Fault, failing: &str, also: &[&str]) {
    for seed in 1..=10 {
        let (report, ..) = run(seed, Some(fault));
        let failed: Vec<&str> =
            report.checks.iter().filter(|c| c.passed == Some(false)).map(|c| c.check.word()).collect();
        assert!(failed.contains(&failing), "seed {seed}: {:#?}", report.checks);
        let is_known = |check: &&str| *check == failing || also.contains(check);
        assert!(failed.iter().all(is_known), "seed {seed}: {:#?}", report.checks);
        assert!(report.valid == Some(false));
        assert_eq!(report.problems[0].about, failed[0], "what makes it useless is told first");
    }
}

#[test]
fn without_the_server_s_process_nobody_knows_whose_pressure_it_is() {
    let (report, ..) = run(1, Some(Fault::UnknownPressure));
    assert_eq!(report.valid, None, "{:#?}", report.checks);
    let why = &report.problems[0];
    assert!(
        why.about == "cpu-pressure" && why.text.contains("--pid") && why.text.contains("99.6 %"),
        "{why:?}"
    );
}

#[test]
fn a_starved_generator() {
    check(Fault::StarvedGenerator, "generator-lag", &[]);
}

/// Behind a server that stands still for 400 ms, 64 connections are busy with requests that missed 50 ms already.
#[test]
fn connections_that_run_out_behind_a_stall_are_enough() {
    let pauses: Vec<(u64, u64)> = (0..200).map(|n| (n * 9_000 * MS, n * 9_000 * MS + 400 * MS)).collect();
    let (report, ..) = run_at(&[0.5, 0.6, 0.7, 0.8, 0.85, 1.2], 1, None, &pauses);
    assert!(report.valid == Some(true), "{:#?}", report.problems);
    let late = &report.attribution;
    let waits = late.iter().flat_map(|limit| &limit.causes).filter(|c| c.cause == LateCause::ConnectionWait);
    assert!(waits.map(|cause| cause.overlapped).sum::<u64>() > 100, "they did run out: {late:#?}");
}

#[test]
fn windows_that_are_counted_although_disturbed_make_a_result_invalid() {
    let counting =
        |fault| run_in(&CapacityConfig { counts_disturbed: true, ..config() }, &SHARES, 1, fault, &[]);
    let (clean, ..) = counting(None);
    assert!(clean.valid == Some(true), "no window was disturbed: {:#?}", clean.problems);
    let (report, method, _) = counting(Some(Fault::MachineBusy));
    assert_eq!((method.lost, report.valid), (0, Some(false)));
    let check = report.checks.iter().find(|check| check.check == Check::Disturbance).expect("listed");
    let evidence = "count because of --count-disturbed";
    assert!(check.passed == Some(false) && check.evidence.contains(evidence), "{check:?}");
}

#[test]
fn pauses_of_the_generator() {
    check(Fault::GeneratorPause, "generator-lag", &["disturbance"]);
}

#[test]
fn too_few_connections() {
    check(Fault::ConnectionCap, "connections", &[]);
}

#[test]
fn a_mix_that_is_two_points_off() {
    check(Fault::MixDrift, "mix", &[]);
}

#[test]
fn three_percent_too_few_requests() {
    check(Fault::FewerSent, "sent-rate", &[]);
}

#[test]
fn a_clock_that_was_set() {
    check(Fault::ClockStep, "clock", &[]);
}

#[test]
fn responses_that_never_came() {
    check(Fault::LostResponses, "lost-responses", &[]);
}

#[test]
fn a_storm_of_errors() {
    check(Fault::ErrorStorm, "errors", &[]);
}

#[test]
fn an_invariant_that_broke() {
    check(Fault::BrokenInvariant, "audit", &[]);
}

#[test]
fn a_machine_that_others_use() {
    check(Fault::MachineBusy, "disturbance", &[]);
}

#[test]
fn a_hypervisor_that_takes_processors() {
    check(Fault::Steal, "disturbance", &[]);
}

#[test]
fn a_server_that_is_not_warm() {
    check(Fault::NotWarm, "warm-up", &[]);
}

#[test]
fn a_server_that_was_started_again() {
    check(Fault::Restart, "restart", &["errors"]);
}

#[test]
fn arrivals_of_another_law() {
    check(Fault::EqualGaps, "arrivals", &[]);
}

#[test]
fn a_run_that_was_stopped_gives_what_it_has() {
    let (report, ..) = run(1, Some(Fault::Stopped));
    assert!(report.valid == Some(false) && (1..12).contains(&report.windows.len()));
    assert_eq!(report.problems[0].about, "complete");
}

/// Behind an overload the answers that are still to come take seconds, which are of no window.
#[test]
fn time_between_windows_counts_too() {
    let (report, method, _) = run_at(&[0.5, 1.5, 0.5], 1, None, &[]);
    let [first, .., last] = report.windows.as_slice() else { panic!("three windows") };
    let windows_s: f64 = report.steps().map(|(window, step)| step.settle_s + window.seconds()).sum();
    let begun_s = first.start_monotonic_ns as f64 / 1e9 - step(first).settle_s;
    let whole_s = last.end_monotonic_ns as f64 / 1e9 - begun_s;
    assert!(windows_s + 1.0 < whole_s, "{windows_s} of {whole_s} s: the queue was to be long");
    let warm_up_s = 20.0;
    assert!((report.duration_s - warm_up_s - whole_s).abs() < 1e-6, "{} s", report.duration_s);
    assert!((method.spent_s - (whole_s - windows_s)).abs() < 1e-6, "{} s", method.spent_s);
}

/// Windows on the way to a capacity are judged as those of a study (`windows.rs`) and have the same figures. What a study leaves out
/// because its load was not what was asked for is a mark here: the whole is judged.
#[test]
fn windows_have_the_marks_and_the_figures_of_a_study() {
    for (fault, kind, spoils) in [
        (Fault::StarvedGenerator, Check::GeneratorLag, false),
        (Fault::ErrorStorm, Check::Errors, false),
        (Fault::LostResponses, Check::LostResponses, false),
        (Fault::ConnectionCap, Check::Connections, false),
        (Fault::NotWarm, Check::WarmUp, false),
        (Fault::MachineBusy, Check::CpuPressure, true),
        (Fault::Steal, Check::Steal, true),
        (Fault::ClockStep, Check::Clock, true),
        (Fault::Restart, Check::Restart, true),
    ] {
        let (report, ..) = run_at(&[0.7; 6], 1, Some(fault), &[]);
        let has = |w: &&Window| match spoils {
            true => w.disturbances.iter().any(|d| d.kind == kind),
            false => w.counts() && w.marks().any(|check| check.check == kind),
        };
        // Those happen once; and of 2,240 requests as few may be lost by chance.
        let in_some = [Fault::ClockStep, Fault::ErrorStorm, Fault::Restart, Fault::LostResponses];
        let marked = report.windows.iter().filter(has).count();
        assert!(if in_some.contains(&fault) { 1 } else { 6 } <= marked, "{fault:?}: {marked} windows");
        for window in &report.windows {
            let cpu_ms = window.metrics[metric::CPU_MS_PER_REQUEST] * window.completed as f64;
            assert!(
                (cpu_ms / (500.0 * window.seconds()) - 1.0).abs() < 1e-6,
                "half a processor: {cpu_ms} ms"
            );
            let throughput = window.metrics[metric::THROUGHPUT_PER_S];
            assert!((throughput - window.achieved_rate_per_s()).abs() < 1e-9);
            assert_eq!((window.block, window.attempt, window.operations.len()), (1, 1, 4));
        }
    }
}

/// At most 2 % of clean runs may be called invalid, and as few of their windows below the capacity may be marked.
#[test]
fn clean_runs_are_not_called_invalid() {
    check_clean(50);
}

#[test]
#[ignore = "long: 200 searches"]
fn two_hundred_clean_runs_are_not_called_invalid() {
    check_clean(200);
}

fn check_clean(runs: u64) {
    let (mut below, mut marked) = (0, Vec::new());
    let alarms: Vec<String> = (0..runs)
        .filter_map(|seed| {
            let (report, method, events) = run(1_000 + seed, None);
            for (window, _) in report.steps().filter(|(_, s)| s.offered_rate_per_s < 0.9 * CAPACITY_PER_S) {
                below += 1;
                marked.extend(window.marks().map(|check| format!("seed {seed}: {check:?}")));
            }
            assert_eq!((report.windows.len(), method.taken.len(), method.lost), (12, 12, 0));
            assert_eq!(events.len(), 12);
            let failed = report.checks.iter().find(|c| c.passed == Some(false))?;
            Some(format!("seed {seed}: {failed:?}"))
        })
        .collect();
    println!("{} of {runs} clean runs were called invalid: {alarms:#?}", alarms.len());
    println!("{} marks of {below} windows: {marked:#?}", marked.len());
    assert!(50 * alarms.len() as u64 <= runs, "{alarms:#?}");
    assert!(50 * marked.len() <= below, "{marked:#?}");
}

#[test]
fn slow_requests_are_attributed_to_pauses_of_the_server_and_what_no_cause_explains_stays_unexplained() {
    // A pause of 40 ms each second; requests of 10 ms.
    let pauses: Vec<(u64, u64)> =
        (1_000..1_200).map(|s| (s * 1_000 * MS + 500 * MS, s * 1_000 * MS + 540 * MS)).collect();
    let (report, method, _) = run_at(&[0.2, 0.4, 0.5, 0.6, 1.2], 1, None, &pauses);
    assert!(report.valid == Some(true), "{:?}", report.problems);
    let late = &report.attribution[0];
    let gc = &late.causes[0];
    assert_eq!(gc.cause, LateCause::GcPause);
    let sustained = report.windows.iter().map(step).filter(|step| step.is_sustained);
    // The histogram tells times apart to 0.1 %, attribution to the nanosecond.
    let counted = sustained.map(|step| step.misses[0]).sum::<u64>();
    assert!(late.misses.abs_diff(counted) <= counted / 500, "overload is left out: {counted}, {late:?}");
    assert!(gc.misses > late.misses / 20 && gc.misses <= gc.overlapped, "{late:?}");
    assert!(gc.expected.expect("known") < gc.overlapped as f64 / 2.0, "{late:?}");
    assert!(late.unexplained > 0, "the queue that a pause leaves is not the pause: {late:?}");
    assert!(late.causes.iter().all(|c| c.misses + late.unexplained <= late.misses));
    let longest = &report.attribution[2];
    assert!(longest.misses < late.misses);
    assert_eq!(method.taken.len(), 5);
}

/// The search itself, in virtual time.
fn search(fault: Option<Fault>, limits_ms: &[f64]) -> CapacityReport {
    let config = CapacityConfig { limits: limits(limits_ms), budget_s: 600.0, ..config() };
    let mut source = Simulated::new(7, fault);
    let mut method = method_of(&config, Some(0.4 * CAPACITY_PER_S));
    let mut watcher = Onlooker { fault, draws: Draws::new(7), pauses: Vec::new(), windows: 0 };
    let (stop, mut on_event) = (AtomicBool::new(false), |_| ());
    let (stop, on_event) = (&stop, &mut on_event);
    let mut with = Context { source: &mut source, watcher: &mut watcher, data: None, stop, on_event };
    found(measure(&config, &mut *method, None, &mut with, TURN))
}

#[test]
fn a_sweep_asks_for_the_account_of_each_level_and_speaks_of_no_intervals() {
    let config = CapacityConfig { method: CapacityMethod::Sweep, budget_s: 900.0, ..config() };
    let mut source = Simulated::new(7, None);
    let mut method = method_of(&config, None);
    let mut watcher = Onlooker { fault: None, draws: Draws::new(7), pauses: Vec::new(), windows: 0 };
    let mut data = Data { is_right: true };
    let (stop, mut on_event) = (AtomicBool::new(false), |_| ());
    let (stop, on_event) = (&stop, &mut on_event);
    let mut with =
        Context { source: &mut source, watcher: &mut watcher, data: Some(&mut data), stop, on_event };
    let report = found(measure(&config, &mut *method, None, &mut with, TURN));
    assert!(report.limits.iter().all(|limit| limit.rate_per_s.is_some()), "{:#?}", report.limits);
    let audit = report.checks.iter().find(|check| check.check == Check::Audit).expect("listed");
    let levels: u32 =
        audit.evidence["right after ".len()..].split(' ').next().unwrap().parse().expect("levels");
    assert!(levels > 50, "{audit:?}");
    let told: Vec<&str> = report.problems.iter().map(|problem| problem.text.as_str()).collect();
    let unset = format!("no way back, the first of {levels} times");
    assert_eq!(told.iter().filter(|what| what.ends_with(&unset)).count(), 1, "{told:#?}");
    assert!(!told.iter().any(|what| what.contains("intervals")), "{told:#?}");
}

/// Commands and studies refuse a budget that is too small for a sweep; callers in code get a problem in the report.
#[test]
fn a_budget_that_was_exceeded_is_told_and_one_that_was_kept_is_not() {
    let swept = |budget_s: f64| {
        let config = CapacityConfig { method: CapacityMethod::Sweep, budget_s, ..config() };
        let (mut source, mut method) = (Simulated::new(7, None), method_of(&config, None));
        let mut watcher = Onlooker { fault: None, draws: Draws::new(7), pauses: Vec::new(), windows: 0 };
        let (data, stop, on_event) = (None, &AtomicBool::new(false), &mut |_| ());
        let mut with = Context { source: &mut source, watcher: &mut watcher, data, stop, on_event };
        found(measure(&config, &mut *method, None, &mut with, TURN))
    };
    let shortest_s = budget_s_min(CapacityMethod::Sweep);
    let problem = |report: &CapacityReport| report.problems.iter().any(|problem| problem.about == "budget");
    let (kept, exceeded) = (swept(shortest_s), swept(shortest_s / 10.0));
    assert!(!problem(&kept), "{:#?}", kept.problems);
    let told = format!("of a budget of {}", assay_text::duration::spoken((shortest_s / 10.0) as u64));
    assert!(says(&exceeded, "budget", &told), "{:#?}", exceeded.problems);
}

fn says(report: &CapacityReport, about: &str, what: &str) -> bool {
    report.problems.iter().any(|problem| problem.about == about && problem.text.contains(what))
}

/// 99 of 100 requests are sent at most 2.3 ms late: less than a tenth of 25 ms, and more than one of 16 ms.
#[test]
fn lag_takes_the_answer_of_those_limits_only_that_it_could_change() {
    let (clean, late) =
        (search(None, &[16.0, 25.0, 50.0]), search(Some(Fault::SomeLag), &[16.0, 25.0, 50.0]));
    assert!(
        clean.valid == Some(true) && late.valid == Some(true),
        "{:#?} {:#?}",
        clean.problems,
        late.problems
    );
    assert!(clean.limits.iter().all(|limit| limit.rate_per_s.is_some()), "{:#?}", clean.problems);
    assert!(clean.critical_rate_per_s.is_some() && late.critical_rate_per_s.is_none());
    assert_eq!(late.limits[0].rate_per_s, None);
    assert!(
        says(&late, "rate_at_16_ms_per_s", "near")
            && says(&late, "rate_at_16_ms_per_s", "It cannot be distinguished from the server here"),
        "{:#?}",
        late.problems
    );
    assert!(late.max_rate_per_s.is_some() && late.windows.iter().all(Window::counts));
    for limit in 1..3 {
        let rate = |report: &CapacityReport| report.limits[limit].rate_per_s.expect("it stands").estimate;
        let off = rate(&late) / rate(&clean) - 1.0;
        assert!(off.abs() < 0.05, "{off:+.3} at {} ms", clean.limits[limit].limit_ms);
    }
}

#[test]
fn a_generator_that_is_the_limit_is_called_so_and_the_search_ends() {
    let report = search(Some(Fault::GeneratorLimit), &[12.0, 50.0]);
    assert_eq!(report.max_rate_per_s, None, "{GENERATOR_PER_S}/s is the generator's");
    assert!(report.limits.iter().all(|limit| limit.rate_per_s.is_none()), "{:#?}", report.limits);
    assert!(
        says(&report, "capacity", "the generator is the limit here, not the server"),
        "{:#?}",
        report.problems
    );
    let lost_in_a_row = report
        .windows
        .chunk_by(|a, b| step(a).offered_rate_per_s == step(b).offered_rate_per_s)
        .filter(|same| !same.iter().any(Window::counts))
        .map(<[_]>::len);
    assert!(lost_in_a_row.max().is_some_and(|most| most <= 3), "no rate is asked for until the time is over");
    let offered = report.windows.iter().filter(|w| w.counts());
    assert!(offered.map(|w| step(w).offered_rate_per_s).fold(0.0, f64::max) < 1.1 * GENERATOR_PER_S);
}

#[test]
fn a_generator_that_was_held_up_at_a_rate_below_one_that_it_offered_is_not_the_limit() {
    let report = search(Some(Fault::HeldUp), &[25.0, 50.0]);
    assert!(
        report.valid == Some(true) && !says(&report, "capacity", "the limit here"),
        "{:#?}",
        report.problems
    );
    let lost: Vec<&Window> = report.windows.iter().filter(|w| !w.counts()).collect();
    assert!(lost.len() == 3 && lost.iter().all(|w| w.disturbances[0].kind == Check::GeneratorLag));
    assert!(report.critical_rate_per_s.is_some() && report.max_rate_per_s.is_some());
}

#[test]
fn the_stored_form_keeps_its_keys() {
    let json = serde_json::to_value(run(1, None).0).expect("plain data");
    for key in [
        "schema",
        "max_rate_per_s",
        "limits",
        "critical_rate_per_s",
        "valid",
        "problems",
        "windows",
        "attribution",
        "checks",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert_eq!(json["schema"], "assay.capacity/4");
    assert_eq!(json["windows"][0]["search"]["step"], "refine");
}
