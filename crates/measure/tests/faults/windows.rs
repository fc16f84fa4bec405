//! Windows of a study: each injected fault marks the window, clean windows are not marked, and the slowest requests are attributed
//! to pauses.

use super::simulated::{CAPACITY_PER_S, Draws, Fault, MS, Onlooker, Simulated, connections};
use assay_load::{ArrivalLaw, Load};
use assay_measure::{Bounds, Context, MeasurementId, Procedure, ServerData, WarmUpPhase, WarmedUp, Windows};
use assay_model::{Audit, LateCause, WarmUp, WarmUpEnd, Window};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Windows of one server; some faults happen in the third or fourth alone.
const WINDOWS: u32 = 6;
/// Of what the server can do.
const LOAD: f64 = 0.7;

/// Windows of a study, as a trial measures them, and the account that is asked for at its end.
fn windows(
    seed: u64,
    arrivals: ArrivalLaw,
    fault: Option<Fault>,
    pauses: &[(u64, u64)],
) -> (Vec<Window>, Option<Audit>) {
    measured(seed, arrivals, fault, pauses, false)
}

/// The same; `has_faults`: the study asks for faults in each window.
fn measured(
    seed: u64,
    arrivals: ArrivalLaw,
    fault: Option<Fault>,
    pauses: &[(u64, u64)],
    has_faults: bool,
) -> (Vec<Window>, Option<Audit>) {
    let mut source = Simulated::new(seed, fault);
    source.pauses = pauses.to_vec();
    let mut watcher = Onlooker { fault, draws: Draws::new(seed), pauses: pauses.to_vec(), windows: 0 };
    let warmed_up = WarmedUp {
        warm_up: WarmUp {
            rule: "made up".to_owned(),
            ended_by: if fault == Some(Fault::NotWarm) { WarmUpEnd::Cap } else { WarmUpEnd::Steady },
            duration_s: 20.0,
            requests: 0,
            cpu_ms_per_request: Vec::new(),
        },
        throughput_per_s: None,
        response_p99_ms: Some(30.0),
    };
    let mut procedure = Windows {
        load: Load::Open { arrivals, rate_per_s: LOAD * CAPACITY_PER_S },
        settle: Duration::from_millis(500),
        length: Duration::from_secs(60),
        warm_up: WarmUpPhase { plan: None, done: Some(warmed_up) },
        bounds: Bounds { throttled_share: Some(0.0), ..Bounds::default() },
        connections: connections(fault) as u32,
        has_faults,
    };
    let (stop, mut on_event) = (AtomicBool::new(false), |_| ());
    let mut data = Account { is_right: fault != Some(Fault::BrokenInvariant) };
    let mut with = Context {
        source: &mut source,
        watcher: &mut watcher,
        data: Some(&mut data),
        stop: &stop,
        on_event: &mut on_event,
    };
    let measured = (1..=WINDOWS).map(|block| {
        let turn = MeasurementId::alone(block, 1);
        procedure.measure(&mut with, turn).expect("there is load").expect("it was not stopped").window
    });
    let measured = measured.collect();
    (measured, procedure.finish(&mut with))
}

struct Account {
    is_right: bool,
}

impl ServerData for Account {
    fn audit(&mut self) -> Option<Audit> {
        Some(Audit { passed: self.is_right, detail: "so it says".to_owned() })
    }

    fn reset(&mut self) -> Result<(), String> {
        panic!("windows of one load go on with the data that there is")
    }
}

/// What marks a window: failed checks, and disturbances.
fn marks(window: &Window) -> Vec<&str> {
    let failed = window.marks().map(|c| c.check.word());
    let mut marks: Vec<&str> = failed.chain(window.disturbances.iter().map(|d| d.kind.word())).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Every window, or one of them where the fault happens once, has this mark, and no others but `also`; those with `spoils` are left
/// out of comparisons.
#[track_caller]
fn check(fault: Fault, mark: &str, also: &[&str], spoils: bool) {
    for seed in 1..=10 {
        let (windows, audit) = windows(seed, ArrivalLaw::Poisson, Some(fault), &[]);
        let marked: Vec<&Window> = windows.iter().filter(|w| marks(w).contains(&mark)).collect();
        let once = [Fault::ClockStep, Fault::ErrorStorm, Fault::Restart].contains(&fault);
        let wanted = if once { 1 } else { windows.len() };
        let all: Vec<Vec<&str>> = windows.iter().map(marks).collect();
        assert!(wanted <= marked.len(), "{fault:?}, seed {seed}: {all:?}");
        assert!(
            all.iter().flatten().all(|m| *m == mark || also.contains(m)),
            "{fault:?}, seed {seed}: {all:?}"
        );
        assert!(
            marked.iter().all(|w| w.disturbances.is_empty() != spoils),
            "{fault:?}, seed {seed}: {all:?}"
        );
        assert!(audit.is_some_and(|audit| audit.passed));
    }
}

#[test]
fn a_generator_that_is_late_spoils_the_window() {
    check(Fault::StarvedGenerator, "generator-lag", &[], true);
    check(Fault::GeneratorPause, "generator-lag", &[], true);
}

#[test]
fn a_load_that_is_not_what_was_asked_for_spoils_the_window() {
    check(Fault::MixDrift, "mix", &[], true);
    check(Fault::EqualGaps, "arrivals", &[], true);
}

/// Of 16,800 requests 504 are missing, as many as chance explains once in 15,000 windows: so about half of them are called.
#[test]
fn three_percent_too_few_requests_spoil_the_windows_in_which_chance_does_not_hide_them() {
    let found: usize = (1..=10)
        .map(|seed| {
            let (windows, _) = windows(seed, ArrivalLaw::Poisson, Some(Fault::FewerSent), &[]);
            windows.iter().filter(|w| marks(w).contains(&"sent-rate")).count()
        })
        .sum();
    println!("{found} of 60");
    assert!(15 < found, "{found} of 60");
}

#[test]
fn a_machine_that_others_use_spoils_the_window() {
    check(Fault::MachineBusy, "cpu-pressure", &[], true);
    check(Fault::Steal, "steal", &[], true);
    check(Fault::ClockStep, "clock", &[], true);
}

#[test]
fn a_server_that_was_started_again_spoils_the_window() {
    check(Fault::Restart, "restart", &["errors"], true);
}

/// Where the study asks for faults, what follows from them marks the window, and all else spoils it as ever.
#[test]
fn errors_another_mix_and_another_process_are_marks_where_faults_are_asked_for() {
    for fault in [Fault::Restart, Fault::ErrorStorm, Fault::MixDrift] {
        let (windows, _) = measured(1, ArrivalLaw::Poisson, Some(fault), &[], true);
        assert!(windows.iter().all(Window::counts), "{fault:?}");
        assert!(windows.iter().any(|w| !marks(w).is_empty()), "{fault:?}");
    }
    for fault in [Fault::MachineBusy, Fault::StarvedGenerator, Fault::EqualGaps] {
        let (windows, _) = measured(1, ArrivalLaw::Poisson, Some(fault), &[], true);
        assert!(!windows.iter().any(Window::counts), "{fault:?}");
    }
}

#[test]
fn a_storm_of_errors_spoils_the_window() {
    check(Fault::ErrorStorm, "errors", &[], true);
}

/// What the server does marks the window, which counts all the same: without it the study would say better of the server.
#[test]
fn what_the_server_does_marks_the_window_which_counts() {
    check(Fault::LostResponses, "lost-responses", &[], false);
    check(Fault::ConnectionCap, "connections", &[], false);
    check(Fault::NotWarm, "warm-up", &[], false);
}

#[test]
fn an_invariant_that_broke_is_told_at_the_end() {
    let (windows, audit) = windows(1, ArrivalLaw::Poisson, Some(Fault::BrokenInvariant), &[]);
    assert!(windows.iter().all(|w| marks(w).is_empty()));
    assert!(audit.is_some_and(|audit| !audit.passed));
}

/// At most 2 % of clean windows may be marked.
#[test]
fn clean_windows_are_not_marked() {
    let alarms: Vec<String> = (0..40)
        .flat_map(|seed| {
            let (windows, _) = windows(1_000 + seed, ArrivalLaw::Poisson, None, &[]);
            let marked = windows.into_iter().filter(|w| !marks(w).is_empty());
            marked.map(move |w| format!("seed {seed}: {:?}", marks(&w))).collect::<Vec<_>>()
        })
        .collect();
    println!("{} of 240 clean windows were marked: {alarms:#?}", alarms.len());
    assert!(alarms.len() <= 4, "{alarms:#?}");
}

#[test]
fn arrivals_that_are_to_be_even_are_no_fault() {
    let (windows, _) = windows(1, ArrivalLaw::Constant, Some(Fault::EqualGaps), &[]);
    assert!(
        windows.iter().all(|w| marks(w).is_empty()),
        "{:?}",
        windows.iter().map(marks).collect::<Vec<_>>()
    );
}

#[test]
fn the_slowest_requests_are_attributed_to_pauses() {
    // A pause of 100 ms each second; requests of 10 ms.
    let pauses: Vec<(u64, u64)> =
        (1_000..1_500).map(|s| (s * 1_000 * MS + 500 * MS, s * 1_000 * MS + 600 * MS)).collect();
    let (windows, _) = windows(1, ArrivalLaw::Poisson, None, &pauses);
    for window in &windows {
        let slowest = window.attribution.as_ref().expect("there are enough");
        let gc = slowest.causes.iter().find(|cause| cause.cause == LateCause::GcPause).expect("watched");
        assert!(
            window.requests / 200 < slowest.misses && slowest.misses < window.requests / 50,
            "{slowest:?}"
        );
        assert!(2 * gc.overlapped > slowest.misses, "{slowest:?}");
        assert!(gc.expected.is_some_and(|by_chance| by_chance < gc.overlapped as f64), "{slowest:?}");
    }
}
