//! Finds the capacity of a server that a trial started and warmed up: one window of the trial, made of many windows of load.

use super::measure::{Warm, cpu_sample, generator_base};
use super::server::{AUDIT_TIMEOUT, Server, ask_audit, shortened};
use super::{Failure, Run};
use crate::http;
use assay_load::{Generator, GeneratorConfig, LoadError, LoadSource, LoadWindow, Measured, Progress};
use assay_measure::Limits;
use assay_measure::observers::{Observe, Seen};
use assay_measure::{
    Bounds, CapacityConfig, CapacityEvent, Means, ServerData, WarmedUp, Watch, WatchConfig, measure,
    method_of,
};
use assay_model::{
    Audit, CapacityReport, CapacityWindow, Disturbance, LatencySummary, Metric, PlannedCapacity, Problem,
    RunEventKind, WarmUp, WarmUpEnd, Window, file, metric,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How often the server, its memory and the wish to stop are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Problems of a capacity that are told of its window, too; all are in its own file.
const PROBLEMS_MAX: usize = 30;

/// What a thread that finds a capacity needs.
struct Search {
    config: CapacityConfig,
    generator: GeneratorConfig,
    watch: WatchConfig,
    warmed_up: Option<WarmedUp>,
    throughput_per_s: Option<f64>,
    audit_url: Option<String>,
    reset_url: Option<String>,
}

/// What it found, and the last window of load, which the observers get.
struct Found {
    report: CapacityReport,
    last: Option<Measured>,
    audit: Option<Audit>,
}

/// Finds the capacity and adds it to the trial, as its only window.
pub(super) fn find(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    planned: &PlannedCapacity,
    warm: Warm,
    (block, attempt): (u32, u32),
) -> Result<(), Failure> {
    let number = server.trial.number;
    let variant = server.trial.variant.clone();
    run.emit(RunEventKind::WindowStarted { number, variant: variant.clone(), block })?;
    let search = search(run, server, planned, warm)?;
    let found = beside(run, server, search)?;
    run.dir.write_json(&format!("{}/{}", server.folder_name(), file::CAPACITY), &found.report)?;
    let mut window = window_of(&found.report, block, attempt);
    if let (Some(measured), Some(sample)) = (&found.last, cpu_sample(server)) {
        let seen = Seen { measured, first: sample, last: sample, is_last: true };
        let target = &server.target;
        server.observers.each(|o| o.end_window(target, &seen, &mut window));
    }
    server.trial.audit = found.audit;
    let disturbed = window.disturbances.iter().map(|d| d.evidence.clone()).collect();
    let requests = window.requests;
    server.trial.windows.push(window);
    run.emit(RunEventKind::WindowEnded { number, variant, block, requests, disturbed })?;
    Ok(())
}

fn search(
    run: &Run<'_>,
    server: &Server<'_>,
    planned: &PlannedCapacity,
    warm: Warm,
) -> Result<Search, Failure> {
    let seed = server.trial.seed;
    let (base_url, scenario) = generator_base(server)?;
    let prepared = run.prepared;
    let target = format!(
        "workload {}, {}{}",
        prepared.plan.workload,
        server.launch.variant.name,
        server.launch.variant.jvm.as_ref().map_or_else(String::new, |jvm| format!(", JVM {}", jvm.version)),
    );
    Ok(Search {
        config: CapacityConfig {
            target,
            method: planned.method,
            percentile: planned.percentile,
            limits_ms: planned.limits_ms.clone(),
            limited_operations: planned.limited_operations.clone(),
            budget_s: planned.budget_s,
            connections: planned.connections,
            seed,
            bounds: bounds(prepared.limits, prepared.observe.contains(&Observe::Host)),
            counts_disturbed: false,
        },
        generator: GeneratorConfig {
            in_flight_max: planned.in_flight_max,
            seed,
            limited: planned.limited_operations.clone(),
            ..GeneratorConfig::new(base_url, scenario, planned.connections)
        },
        watch: WatchConfig {
            pid: Some(server.target.pid),
            companions: server.companion_pid().into_iter().collect(),
            gc_log: server.gc_log(),
        },
        warmed_up: server.trial.warm_up.as_ref().map(|w| warmed_up(w, warm.throughput_per_s)),
        throughput_per_s: warm.throughput_per_s,
        audit_url: server.audit_url(),
        reset_url: server.reset_url(),
    })
}

/// The study's limits in place of the usual ones. A study that does not watch the machine leaves nothing out for it.
fn bounds(limits: Limits, watches_host: bool) -> Bounds {
    let share = |limit: f64| if watches_host { limit } else { 1.0 };
    let usual = Bounds::default();
    Bounds {
        foreign_cpu_share: share(limits.foreign_cpu_share),
        steal_share: share(limits.steal_share),
        own_throttled_share: limits.throttled_share.map_or(usual.own_throttled_share, share),
        error_share: limits.error_share,
        ..usual
    }
}

fn warmed_up(of: &WarmUp, throughput_per_s: Option<f64>) -> WarmedUp {
    WarmedUp {
        is_steady: of.ended_by == WarmUpEnd::Steady,
        duration_s: of.duration_s,
        rule: of.rule.clone(),
        throughput_per_s,
    }
}

/// Finds the capacity in a thread of its own, while this one, which started the server, looks after it.
fn beside(run: &mut Run<'_>, server: &mut Server<'_>, search: Search) -> Result<Found, Failure> {
    let stop = AtomicBool::new(false);
    let (sender, events) = channel();
    let (watched, found) = std::thread::scope(|scope| {
        let stop = &stop;
        let thread = scope.spawn(move || run_search(search, stop, &sender));
        let watched = look_after(run, server, &events, &|| thread.is_finished());
        stop.store(true, Ordering::Relaxed);
        (watched, thread.join())
    });
    if let (Err(Failure::Interrupted), Ok(Ok(found))) = (&watched, &found)
        && !found.report.windows.is_empty()
    {
        // What is known by then is kept; a failed check says that it was stopped.
        run.dir.write_json(&format!("{}/{}", server.folder_name(), file::CAPACITY), &found.report)?;
    }
    // Why the watcher gave up says more than what the load then met.
    watched?;
    server.check_alive("while its capacity was measured")?;
    match found {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(failure)) => Err(failure),
        Err(_) => {
            Err(Failure::Run(crate::StudyError::Internal("the search for a capacity panicked".to_owned())))
        }
    }
}

fn look_after(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    events: &Receiver<CapacityWindow>,
    is_over: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    let number = server.trial.number;
    // What the budget leaves over when enough is known earlier is done, too.
    let mut left_s = run.prepared.layout.window_with_settling_s();
    loop {
        // Asked before the events are taken, so that none is left behind.
        let over = is_over();
        for window in events.try_iter() {
            let took_s = (window.rest_s + window.settle_s + window.window_s).clamp(0.0, left_s);
            left_s -= took_s;
            run.advance(took_s);
            run.emit(event_of(number, window))?;
        }
        if over {
            run.advance(left_s);
            return Ok(());
        }
        run.check_stop()?;
        server.check_alive("while its capacity was measured")?;
        let target = &server.target;
        server.observers.each(|o| o.sample(target));
        std::thread::sleep(LOOK);
    }
}

fn event_of(number: u32, window: CapacityWindow) -> RunEventKind {
    RunEventKind::CapacityWindowEnded {
        number,
        step: window.step,
        asked_rate_per_s: window.asked_rate_per_s,
        reached_rate_per_s: window.reached_rate_per_s,
        limited_ms: window.limited_ms,
        is_sustained: window.is_sustained,
        left_out: window.left_out,
    }
}

/// Keeps the last window of load.
struct Kept {
    generator: Generator,
    last: Option<Measured>,
}

impl LoadSource for Kept {
    fn window(
        &mut self,
        window: &LoadWindow,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let measured = self.generator.window(window, stop, on_progress)?;
        self.last = Some(measured.clone());
        Ok(measured)
    }
}

fn run_search(search: Search, stop: &AtomicBool, events: &Sender<CapacityWindow>) -> Result<Found, Failure> {
    let Search { config, generator, watch, warmed_up, throughput_per_s, audit_url, reset_url } = search;
    let of_load = |e: LoadError| match e {
        LoadError::Connect { .. } => Failure::Trial(e.to_string()),
        e => Failure::Variant(e.to_string()),
    };
    let mut source = Kept { generator: Generator::new(generator).map_err(of_load)?, last: None };
    let mut method = method_of(&config, throughput_per_s);
    let mut watcher = Watch::start(&watch).map_err(|e| Failure::Trial(e.to_string()))?;
    let mut data = DataUrls { audit_url, reset_url, stop, last: None };
    let means = Means {
        source: &mut source,
        method: &mut *method,
        watcher: &mut watcher,
        data: Some(&mut data),
        warmed_up,
    };
    let mut on_event = |event: CapacityEvent| {
        if let CapacityEvent::WindowEnded { window, .. } = event {
            // The receiver is gone when the run ends early: then nobody wants to know.
            let _ = events.send(*window);
        }
    };
    let report = measure(&config, means, stop, &mut on_event).map_err(of_load)?;
    Ok(Found { report, last: source.last, audit: data.last })
}

/// Where the server is asked for its account of its data.
struct DataUrls<'a> {
    audit_url: Option<String>,
    reset_url: Option<String>,
    stop: &'a AtomicBool,
    /// What it said last.
    last: Option<Audit>,
}

impl ServerData for DataUrls<'_> {
    fn audit(&mut self) -> Option<Audit> {
        let url = self.audit_url.as_deref()?;
        self.last = Some(match self.stop.load(Ordering::Relaxed) {
            false => ask_audit(url, AUDIT_TIMEOUT),
            true => Audit { passed: false, detail: "not asked: the run was stopped".to_owned() },
        });
        self.last.clone()
    }

    fn reset(&mut self) -> Result<(), String> {
        let Some(url) = self.reset_url.as_deref() else { return Ok(()) };
        match http::post(url, AUDIT_TIMEOUT) {
            Ok(answer) if answer.is_good() => Ok(()),
            Ok(answer) => Err(format!("{url}: status {}: {}", answer.status, shortened(&answer.body))),
            Err(e) => Err(format!("{url} gave no answer: {e}")),
        }
    }
}

/// All windows of load as one of the trial. A capacity that is not valid counts for nothing: each check that failed is a
/// disturbance.
fn window_of(report: &CapacityReport, block: u32, attempt: u32) -> Window {
    let end_ns = |w: &CapacityWindow| w.start_monotonic_ns.saturating_add((w.window_s.max(0.0) * 1e9) as u64);
    let sum =
        |count: fn(&CapacityWindow) -> u64| report.windows.iter().map(count).fold(0_u64, u64::saturating_add);
    let failed = report.checks.iter().filter(|check| check.passed == Some(false));
    Window {
        block,
        attempt,
        start_monotonic_ns: report.windows.first().map_or(0, |w| w.start_monotonic_ns),
        end_monotonic_ns: report.windows.last().map_or(0, end_ns),
        requests: sum(|w| w.requests.saturating_sub(w.errors)),
        errors: sum(|w| w.errors),
        metrics: metrics_of(report),
        response_ms: LatencySummary::default(),
        service_ms: LatencySummary::default(),
        send_lag_ms: LatencySummary::default(),
        operations: Vec::new(),
        disturbances: failed
            .map(|check| Disturbance {
                kind: check.check.clone(),
                evidence: format!("{}: {}", check.check, check.evidence),
            })
            .collect(),
        problems: absent(report).into_iter().chain(report.problems.clone()).take(PROBLEMS_MAX).collect(),
    }
}

fn metrics_of(report: &CapacityReport) -> BTreeMap<String, f64> {
    let limits = report
        .limits
        .iter()
        .map(|limit| (Metric::rate_at_limit(limit.limit_ms).id.into_owned(), limit.rate_per_s));
    let known = [
        (metric::MAX_RATE_PER_S.to_owned(), report.max_rate_per_s),
        (metric::CRITICAL_RATE_PER_S.to_owned(), report.critical_rate_per_s),
    ];
    limits.chain(known).filter_map(|(id, rate)| Some((id, rate?.estimate))).collect()
}

/// Why a metric is not there, in the report's words and named so that a report of the study finds it.
fn absent(report: &CapacityReport) -> Vec<Problem> {
    let why = |subject: &str| {
        let told = report.problems.iter().filter(|problem| problem.about == "capacity");
        let told = told.filter_map(|problem| problem.text.strip_prefix(subject)?.strip_prefix(": ")).next();
        told.unwrap_or("too little is known of it").to_owned()
    };
    let mut found = Vec::new();
    if report.max_rate_per_s.is_none() {
        found.push(Problem::new(metric::MAX_RATE_PER_S, why("max rate")));
    }
    for limit in report.limits.iter().filter(|limit| limit.rate_per_s.is_none()) {
        let id = Metric::rate_at_limit(limit.limit_ms).id;
        found.push(Problem::new(&*id, why(&format!("{} ms", limit.limit_ms))));
    }
    if report.critical_rate_per_s.is_none() {
        found.push(Problem::new(
            metric::CRITICAL_RATE_PER_S,
            "it needs a rate at every limit, and one is not known",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_file::LimitsTable;

    #[test]
    fn limits_of_the_study_count_and_what_it_does_not_limit_is_as_usual() {
        let of = |table: &LimitsTable, watches_host| bounds(Limits::from(table), watches_host);
        assert_eq!(of(&LimitsTable::default(), true), Bounds::default());
        let own = LimitsTable {
            foreign_cpu_share: Some(0.2),
            steal_share: Some(0.04),
            throttled_share: Some(0.0),
            error_share: Some(0.5),
        };
        let want = Bounds {
            foreign_cpu_share: 0.2,
            steal_share: 0.04,
            own_throttled_share: 0.0,
            error_share: 0.5,
            ..Bounds::default()
        };
        assert_eq!(of(&own, true), want);
        let of_machine = |b: Bounds| (b.foreign_cpu_share, b.steal_share, b.own_throttled_share);
        assert_eq!(of_machine(of(&own, false)), (1.0, 1.0, 1.0), "nothing is left out for the machine");
    }
}
