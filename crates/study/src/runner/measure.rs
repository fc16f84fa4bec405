//! Load on a server: warm-up until it is steady, and windows that are measured.

use super::server::Server;
use super::{Failure, Run};
use crate::plan::SETTLE_S;
use crate::study_file::{ArrivalWord, LoadKind, LoadTable};
use assay_linux::{monotonic_ns, process_cpu};
use assay_load::{
    ArrivalLaw, Generator, GeneratorConfig, IntervalLogs, Load, LoadError, Measured, Scenario,
    is_of_generator, summary_ms,
};
use assay_measure::observers::{CpuSample, Seen};
use assay_model::{Design, Disturbance, Problem, RunEventKind, WarmUp, WarmUpEnd, Window, metric};
use assay_stats::{Phase, SteadyRule, SteadyState};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How often CPU clocks and observers are read in a window: what is lost at its ends is at most this.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);
/// Length of a warm-up's slices: so many to the cap, within these bounds.
const SLICES_TO_CAP: f64 = 40.0;
const SLICE_S: (f64, f64) = (0.5, 2.0);
/// Slices that the throughput at the end of warm-up is taken from.
const LAST_SLICES: usize = 5;
/// Warm-up events are for a person who waits.
const WARM_UP_EVENT_EVERY_S: f64 = 2.0;

/// A load that runs beside the caller, who looks at the server meanwhile.
struct Running<'a> {
    completed: &'a AtomicU64,
    is_over: &'a dyn Fn() -> bool,
}

/// What to run in one go.
struct Stretch {
    config: GeneratorConfig,
    load: Load,
    /// Load before what counts, with the same sessions and connections.
    settle: Duration,
    duration: Duration,
    logs: Option<IntervalLogs>,
}

/// What the load showed.
struct Loaded {
    settling: Option<Measured>,
    counted: Measured,
}

/// Runs load in a thread of its own while `watch` runs in this one; the load ends early when `watch` returns.
///
/// The caller's thread stays the one that starts and watches processes (`process.rs` says why).
fn under_load(
    stretch: Stretch,
    watch: impl FnOnce(&Running<'_>) -> Result<(), Failure>,
) -> Result<Loaded, Failure> {
    let (stop, completed) = (AtomicBool::new(false), AtomicU64::new(0));
    let Stretch { config, load, settle, duration, logs } = stretch;
    let (watched, loaded) = std::thread::scope(|scope| {
        let (stop, completed) = (&stop, &completed);
        let thread = scope.spawn(move || {
            let mut generator = Generator::new(config)?;
            let mut settling = None;
            if !settle.is_zero() {
                settling = Some(generator.run(&load, settle, stop, None, &mut |_| ())?);
            }
            let mut progress = |p: assay_load::Progress| completed.store(p.completed, Ordering::Relaxed);
            Ok(Loaded { settling, counted: generator.run(&load, duration, stop, logs, &mut progress)? })
        });
        let watched = watch(&Running { completed, is_over: &|| thread.is_finished() });
        stop.store(true, Ordering::Relaxed);
        (watched, thread.join())
    });
    // Why the watcher gave up says more than what the load then met.
    watched?;
    match loaded {
        Ok(Ok(loaded)) => Ok(loaded),
        Ok(Err(e @ LoadError::Connect { .. })) => Err(Failure::Trial(e.to_string())),
        Ok(Err(e)) => Err(Failure::Variant(e.to_string())),
        Err(_) => Err(Failure::Run(crate::StudyError::Internal("the load generator panicked".to_owned()))),
    }
}

/// What warm-up says of what comes next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Warm {
    /// Right answers per second of the last slices; absent without a warm-up, or an answer.
    pub throughput_per_s: Option<f64>,
}

/// Loads the server until it is steady, or the cap is reached.
pub(super) fn warm_up(run: &mut Run<'_>, server: &mut Server<'_>) -> Result<Warm, Failure> {
    let layout = run.prepared.layout;
    if layout.warm_up_cap_s == 0.0 {
        return Ok(Warm::default());
    }
    let slice_s = (layout.warm_up_cap_s / SLICES_TO_CAP).clamp(SLICE_S.0, SLICE_S.1);
    let rule = SteadyRule::default();
    let mut state = SteadyState::new(rule);
    let stretch = Stretch {
        config: generator_config(server, server.trial.seed)?,
        load: load_of(&server.launch.load),
        settle: Duration::ZERO,
        duration: Duration::from_secs_f64(layout.warm_up_cap_s),
        logs: None,
    };
    let (mut ended_by, mut told_s, mut rates) = (WarmUpEnd::Cap, 0.0, Vec::new());
    let begun_ns = monotonic_ns();
    let elapsed_s = || monotonic_ns().saturating_sub(begun_ns) as f64 / 1e9;
    let Loaded { counted: measured, .. } = under_load(stretch, |running| {
        let mut slice = Slice::begin(server.target.pid, running);
        while !(running.is_over)() {
            std::thread::sleep(Duration::from_millis(20));
            run.check_stop()?;
            server.check_alive("during warm-up")?;
            if slice.elapsed_s() < slice_s {
                continue;
            }
            let value = slice.cpu_ms_per_request(server.target.pid, running);
            rates.push(slice.rate_per_s(running));
            slice = Slice::begin(server.target.pid, running);
            // A slice without requests has no value; the rule then starts counting anew.
            let phase = state.push(value.unwrap_or(f64::NAN));
            if told_s + WARM_UP_EVENT_EVERY_S <= elapsed_s() {
                told_s = elapsed_s();
                let number = server.trial.number;
                run.emit(RunEventKind::WarmUpProgress {
                    number,
                    elapsed_s: told_s,
                    cpu_ms_per_request: value,
                })?;
            }
            if phase == Phase::Steady && layout.warm_up_min_s <= elapsed_s() {
                ended_by = WarmUpEnd::Steady;
                break;
            }
        }
        Ok(())
    })?;
    let duration_s = elapsed_s();
    server.observers.each(|o| o.end_load(&measured));
    server.trial.warm_up = Some(WarmUp {
        rule: format!("slices of {slice_s} s: {}", rule.describe()),
        ended_by,
        duration_s,
        requests: measured.completed,
        cpu_ms_per_request: state.series().to_vec(),
    });
    run.advance(layout.warm_up_s());
    let steady = ended_by == WarmUpEnd::Steady;
    run.emit(RunEventKind::WarmUpEnded { number: server.trial.number, steady, duration_s })?;
    let last = &rates[rates.len().saturating_sub(LAST_SLICES)..];
    Ok(Warm { throughput_per_s: assay_stats::median(last).filter(|rate| *rate > 0.0) })
}

/// A slice of warm-up.
struct Slice {
    begun_ns: u64,
    cpu_ns: Option<u64>,
    completed: u64,
}

impl Slice {
    fn begin(pid: u32, running: &Running<'_>) -> Slice {
        let completed = running.completed.load(Ordering::Relaxed);
        Slice { begun_ns: monotonic_ns(), cpu_ns: process_cpu(pid).ok().map(|c| c.total_ns), completed }
    }

    fn elapsed_s(&self) -> f64 {
        monotonic_ns().saturating_sub(self.begun_ns) as f64 / 1e9
    }

    fn rate_per_s(&self, running: &Running<'_>) -> f64 {
        let requests = running.completed.load(Ordering::Relaxed).saturating_sub(self.completed);
        requests as f64 / self.elapsed_s().max(f64::MIN_POSITIVE)
    }

    fn cpu_ms_per_request(&self, pid: u32, running: &Running<'_>) -> Option<f64> {
        let requests = running.completed.load(Ordering::Relaxed).saturating_sub(self.completed);
        let cpu_ns = process_cpu(pid).ok()?.total_ns.saturating_sub(self.cpu_ns?);
        (requests > 0).then(|| cpu_ns as f64 / 1e6 / requests as f64)
    }
}

/// Measures one window and adds it to the trial; says whether it counts.
///
/// Every window has a generator of its own: its sessions begin in the settling time before it, which is not counted.
/// So a server that was held still for minutes, and whose earlier sessions or kept-alive connections ran out
/// meanwhile, answers the same requests as one that was not.
pub(super) fn window(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    block: u32,
    attempt: u32,
    seed: u64,
) -> Result<bool, Failure> {
    let number = server.trial.number;
    let variant = server.trial.variant.clone();
    run.emit(RunEventKind::WindowStarted { number, variant: variant.clone(), block })?;
    let mut logs = None;
    server.observers.each(|o| o.logs().map(|of_this| logs = logs.take().or(of_this)));
    let stretch = Stretch {
        config: generator_config(server, seed)?,
        load: load_of(&server.launch.load),
        settle: Duration::from_secs_f64(SETTLE_S),
        duration: Duration::from_secs_f64(run.prepared.layout.window_s),
        logs,
    };
    let mut samples: Vec<CpuSample> = Vec::new();
    let Loaded { settling, counted: measured } = under_load(stretch, |running| {
        while !(running.is_over)() {
            run.check_stop()?;
            server.check_alive("while it was measured")?;
            samples.extend(cpu_sample(server));
            let target = &server.target;
            server.observers.each(|o| o.sample(target));
            std::thread::sleep(SAMPLE_EVERY);
        }
        server.check_alive("while it was measured")
    })?;
    for load in settling.iter().chain([&measured]) {
        server.observers.each(|o| o.end_load(load));
    }
    let mut window = window_of(&measured, block, attempt);
    window.disturbances.extend(disturbances_of_load(&measured, run.prepared.limits.error_share));
    let within =
        |s: &&CpuSample| (measured.start_monotonic_ns..=measured.end_monotonic_ns).contains(&s.monotonic_ns);
    let mut inside = samples.iter().filter(within);
    match (inside.next().copied(), inside.next_back().copied()) {
        (Some(first), Some(last)) => {
            let layout = &run.prepared.layout;
            let is_last = layout.kind == Design::Fresh || block == layout.blocks;
            let seen = Seen { measured: &measured, first, last, is_last };
            add_cpu(&seen, &mut window);
            let target = &server.target;
            server.observers.each(|o| o.end_window(target, &seen, &mut window));
        }
        _ => window
            .problems
            .push(Problem::new(metric::CPU_MS_PER_REQUEST, "the window is too short to read CPU time twice")),
    }
    let counts = window.disturbances.is_empty();
    let disturbed = window.disturbances.iter().map(|d| d.evidence.clone()).collect();
    let requests = window.requests;
    server.trial.windows.push(window);
    if attempt == 1 {
        run.advance(run.prepared.layout.window_with_settling_s());
    }
    run.emit(RunEventKind::WindowEnded { number, variant, block, requests, disturbed })?;
    Ok(counts)
}

pub(super) fn cpu_sample(server: &Server<'_>) -> Option<CpuSample> {
    let server_ns = process_cpu(server.target.pid).ok()?.total_ns;
    let own_ns = process_cpu(std::process::id()).ok()?.total_ns + server.companion_cpu_ns();
    Some(CpuSample { monotonic_ns: monotonic_ns(), server_ns, own_ns })
}

/// CPU time per request, over exactly the time between the two samples.
fn add_cpu(seen: &Seen<'_>, window: &mut Window) {
    let requests =
        seen.measured.completions.completed_between(seen.first.monotonic_ns, seen.last.monotonic_ns);
    if requests < 1.0 {
        window.problems.push(Problem::new(metric::CPU_MS_PER_REQUEST, "no request completed"));
        return;
    }
    let cpu_ms = seen.last.server_ns.saturating_sub(seen.first.server_ns) as f64 / 1e6;
    window.metrics.insert(metric::CPU_MS_PER_REQUEST.to_owned(), cpu_ms / requests);
}

fn window_of(measured: &Measured, block: u32, attempt: u32) -> Window {
    let (response_ms, service_ms) = (summary_ms(&measured.response), summary_ms(&measured.service));
    let mut metrics = BTreeMap::new();
    let throughput = measured.completed as f64 / measured.seconds();
    let known = [
        (metric::THROUGHPUT_PER_S, Some(throughput).filter(|t| t.is_finite())),
        (metric::RESPONSE_P50_MS, response_ms.p50),
        (metric::RESPONSE_P99_MS, response_ms.p99),
    ];
    metrics.extend(known.into_iter().filter_map(|(id, value)| Some((id.to_owned(), value?))));
    Window {
        block,
        attempt,
        start_monotonic_ns: measured.start_monotonic_ns,
        end_monotonic_ns: measured.end_monotonic_ns,
        requests: measured.completed,
        errors: measured.errors(),
        metrics,
        response_ms,
        service_ms,
        send_lag_ms: summary_ms(&measured.send_lag),
        operations: measured.operations.clone(),
        disturbances: Vec::new(),
        problems: measured.problems.clone(),
    }
}

/// What the load itself says against the window: too many errors, a generator that was late.
fn disturbances_of_load(measured: &Measured, error_share_max: f64) -> Vec<Disturbance> {
    let disturbance = |kind: &str, evidence: String| Disturbance { kind: kind.to_owned(), evidence };
    let mut found = Vec::new();
    let share = measured.errors() as f64 / measured.requests.max(1) as f64;
    if measured.requests == 0 || share > error_share_max {
        let (errors, requests) = (measured.errors(), measured.requests);
        let limit = error_share_max * 100.0;
        found.push(disturbance(
            "errors",
            format!("{errors} of {requests} requests failed, limit {limit:.1} %"),
        ));
    }
    let late = measured.invalid_because().into_iter().filter(is_of_generator);
    found.extend(late.map(|p| disturbance("generator-lag", p.text)));
    found
}

/// Where load goes, and what its users do.
pub(super) fn generator_base(server: &Server<'_>) -> Result<(String, Scenario), Failure> {
    let wrong = |e: LoadError| Failure::Variant(e.to_string());
    let (base_url, of_url) = Scenario::for_url(&server.ready_url).map_err(wrong)?;
    Ok((base_url, server.launch.scenario.clone().unwrap_or(of_url)))
}

fn generator_config(server: &Server<'_>, seed: u64) -> Result<GeneratorConfig, Failure> {
    let (base_url, scenario) = generator_base(server)?;
    let load = &server.launch.load;
    let connections = match load.kind {
        LoadKind::Closed => load.users.unwrap_or(8),
        LoadKind::Open => load.connections.unwrap_or(64),
    };
    let mut config = GeneratorConfig::new(base_url, scenario, connections);
    config.in_flight_max = load.in_flight_max.unwrap_or(config.in_flight_max);
    config.seed = seed;
    Ok(config)
}

fn load_of(table: &LoadTable) -> Load {
    match table.kind {
        LoadKind::Closed => {
            let think = table.think.map_or(Duration::ZERO, crate::units::Seconds::duration);
            Load::Closed { users: table.users.unwrap_or(8), think }
        }
        LoadKind::Open => Load::Open {
            arrivals: match table.arrivals {
                Some(ArrivalWord::Constant) => ArrivalLaw::Constant,
                Some(ArrivalWord::Poisson) | None => ArrivalLaw::Poisson,
            },
            rate_per_s: table.rate_per_s.unwrap_or(1.0),
        },
    }
}
