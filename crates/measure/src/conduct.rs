//! The conductor: asks a method which window it wants, runs it, decides whether it counts, and reports it to the method.

use crate::account::{DataAudits, ServerData};
use crate::answer::{JudgedCapacity, answer};
use crate::attribution::{Attribution, SlowWindow};
use crate::config::CapacityConfig;
use crate::event::MeasureEvent;
use crate::judge;
use crate::limited::{limit_ns, requests_of};
use crate::load_problems::LoadProblems;
use crate::measurement::{Context, Measurement, MeasurementId};
use crate::noise::Noise;
use crate::observation::Observation;
use crate::validity::{self, RunFacts, WindowFacts};
use crate::warm_up::WarmedUp;
use crate::window::{self, Common};
use assay_load::{ArrivalLaw, ErrorKind, Load, LoadError, LoadWindow, Measured, SLOW_REQUESTS_MAX};
use assay_model::{
    CapacityMethod, CapacityReport, CapacityStep, Check, Disturbance, LimitRate, Metric, Problem, SearchStep,
    Window, metric, schema,
};
use assay_stats::capacity::{self, Capacity, LimitedRequests, Method, WindowRequest};
use assay_text::duration::spoken;
use assay_text::redact;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How a server that takes no more says so. A time-out may be an answer that comes later.
const REFUSALS: [ErrorKind; 4] =
    [ErrorKind::Connect, ErrorKind::Status, ErrorKind::Content, ErrorKind::Broken];
/// More windows than any method asks for; one that never ends is ended here.
const WINDOWS_MAX: usize = 10_000;
const NS_PER_S: f64 = 1e9;
const NS_PER_MS: f64 = 1e6;
/// A rate that the generator could not offer so many times in a row is not tried again: it may have been a disturbance once.
const NOT_OFFERED_MAX: u32 = 2;
/// So many times its budget is reported as taking longer than asked.
const OVERRUN_MIN: f64 = 1.1;
/// Problems that are kept with a capacity's window in the trial; its own report has all.
const PROBLEMS_MAX: usize = 30;

/// Finds a capacity by the windows that a method asks for. Once there is a window, there is a report: a stop, and a server that is
/// gone, end it early, and the result so far is marked invalid.
///
/// # Errors
/// The load source gives no window at all: those of [`assay_load::LoadSource::window`].
pub fn measure(
    config: &CapacityConfig,
    method: &mut dyn Method,
    warmed_up: Option<&WarmedUp>,
    with: &mut Context<'_>,
    turn: MeasurementId,
) -> Result<Measurement, LoadError> {
    let Context { source, watcher, data, stop, on_event } = with;
    let mut books = SearchResults::new(config, warmed_up, turn);
    let mut account = DataAudits::new(data.as_mut().map(|data| &mut **data as &mut dyn ServerData));
    let mut last = None;
    while let Some(ask) = method.next() {
        if stop.load(Ordering::Relaxed) || books.windows.len() == WINDOWS_MAX {
            books.was_stopped = true;
            break;
        }
        account.before(&ask);
        source.rest(seconds(ask.cool_down_s), stop);
        let (measured, seen) =
            match window::run(&load_window(config, &ask), *source, *watcher, stop, on_event) {
                Ok(Some(loaded)) => loaded,
                Err(error) if books.windows.is_empty() => return Err(error),
                ended => {
                    books.problems.extend(ended.err().map(|error| Problem::new("load", error.to_string())));
                    books.was_stopped = true;
                    break;
                }
            };
        books.enter(&ask, &measured, &seen, watcher.knows_server(), method);
        if let Some(window) = books.windows.last_mut() {
            watcher.end_search_window(&measured, window);
        }
        last = Some(measured);
        if let Some(last) = books.windows.last() {
            let (window, capacity) = (Box::new(last.clone()), Box::new(method.capacity()));
            on_event(MeasureEvent::WindowEnded { window, capacity });
        }
        if books.noise.is_too_much() {
            books.facts.was_too_noisy = true;
            break;
        }
        if !account.is_right_after(&ask) {
            books.was_stopped = true;
            break;
        }
    }
    books.problems.extend(account.problem());
    let audit = account.finish();
    books.problems.extend(watcher.problems());
    books.facts.knows_server = watcher.knows_server();
    books.facts.audit.clone_from(&audit);
    let report = books.close(method.capacity());
    let mut window = window_of(&report, turn);
    if let Some(measured) = last {
        watcher.end_window(&measured, &mut window);
    }
    Ok(Measurement { window, capacity: Some(report), audit })
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// The smallest limit: of longer requests it is asked why.
fn smallest_limit(config: &CapacityConfig) -> Option<Duration> {
    config.limits.iter().map(|limit| limit.limit_ms).reduce(f64::min).map(limit_ns).map(Duration::from_nanos)
}

fn load_window(config: &CapacityConfig, ask: &WindowRequest) -> LoadWindow {
    LoadWindow {
        load: Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s: ask.rate_per_s },
        settle: seconds(ask.settle_s),
        length: seconds(ask.window_s),
        slow_above: smallest_limit(config),
    }
}

/// All windows of load as one of the trial. A capacity that is not valid counts for nothing: each check that failed is a
/// disturbance.
fn window_of(report: &CapacityReport, turn: MeasurementId) -> Window {
    let sum = |count: fn(&Window) -> u64| report.windows.iter().map(count).fold(0_u64, u64::saturating_add);
    let failed = report.checks.iter().filter(|check| check.passed == Some(false));
    Window {
        block: turn.block,
        attempt: turn.attempt,
        start_monotonic_ns: report.windows.first().map_or(0, |w| w.start_monotonic_ns),
        end_monotonic_ns: report.windows.last().map_or(0, |w| w.end_monotonic_ns),
        requests: sum(|w| w.requests),
        completed: sum(|w| w.completed),
        errors: sum(|w| w.errors),
        metrics: metrics_of(report),
        disturbances: failed
            .map(|check| Disturbance {
                kind: check.check,
                evidence: format!("{}: {}", check.check, check.evidence),
            })
            .collect(),
        problems: report.problems.iter().take(PROBLEMS_MAX).cloned().collect(),
        ..Window::default()
    }
}

fn metrics_of(report: &CapacityReport) -> BTreeMap<String, f64> {
    let limits = report
        .limits
        .iter()
        .map(|limit| (Metric::rate_at_limit(&limit.limit()).id.into_owned(), limit.rate_per_s));
    let known = [
        (metric::MAX_RATE_PER_S.to_owned(), report.max_rate_per_s),
        (metric::CRITICAL_RATE_PER_S.to_owned(), report.critical_rate_per_s),
    ];
    limits.chain(known).filter_map(|(id, rate)| Some((id, rate?.estimate))).collect()
}

/// What the method wanted of a window, and how the limits fared.
fn search_step(
    config: &CapacityConfig,
    ask: &WindowRequest,
    measured: &Measured,
    limits: &[LimitedRequests],
) -> SearchStep {
    let limited = &measured.detail.limited;
    let ms = |ns: u64| ns as f64 / NS_PER_MS;
    let has_requests = !measured.response.is_empty();
    // A request that was never sent counts with the time for which it waited, which may be 0: the shortest of all says nothing then.
    let all_were_sent = measured.errors_by_kind[ErrorKind::OverBound as usize] == 0;
    SearchStep {
        step: ask.step,
        cool_down_s: ask.cool_down_s,
        settle_s: ask.settle_s,
        offered_rate_per_s: ask.rate_per_s,
        sent_rate_per_s: measured.sent_rate_per_s().unwrap_or(0.0),
        misses: limits.iter().map(|of| of.misses).collect(),
        response_ms_min: (has_requests && all_were_sent).then(|| ms(measured.response.min())),
        response_ms_p90: has_requests.then(|| ms(measured.response.value_at_quantile(0.9))),
        limited_ms: limited.percentile_ns(config.percentile, measured.response.max()).map(ms),
        is_sustained: judge::is_sustained(measured),
    }
}

/// The form that a method takes.
fn for_method(
    ask: &WindowRequest,
    measured: &Measured,
    limits: Vec<LimitedRequests>,
) -> capacity::WindowResult {
    capacity::WindowResult {
        rate_per_s: ask.rate_per_s,
        window_s: measured.seconds(),
        requests: measured.requests,
        answers: measured.completed,
        refused: REFUSALS.iter().map(|kind| measured.errors_by_kind[*kind as usize]).sum(),
        limits,
    }
}

/// Results of the windows so far.
struct SearchResults<'a> {
    config: &'a CapacityConfig,
    warmed_up: Option<&'a WarmedUp>,
    turn: MeasurementId,
    windows: Vec<Window>,
    facts: RunFacts<'a>,
    attribution: Attribution,
    slow_not_kept: u64,
    /// From the beginning of the first window's settling to the end of the last one.
    loaded_s: f64,
    last_end_ns: Option<u64>,
    was_stopped: bool,
    noise: Noise,
    /// Windows in a row whose rate the generator could not offer.
    not_offered: u32,
    /// Rates that it could not offer so many times in a row.
    beyond_per_s: Vec<f64>,
    problems: Vec<Problem>,
    load_problems: LoadProblems,
}

impl<'a> SearchResults<'a> {
    fn new(config: &'a CapacityConfig, warmed_up: Option<&'a WarmedUp>, turn: MeasurementId) -> Self {
        SearchResults {
            config,
            warmed_up,
            turn,
            windows: Vec::new(),
            facts: RunFacts {
                miss_share: config.miss_share(),
                connections: config.connections,
                warmed_up,
                counts_disturbed: config.counts_disturbed,
                ..RunFacts::default()
            },
            attribution: Attribution::new(&config.limits, &config.limited_operations),
            slow_not_kept: 0,
            loaded_s: 0.0,
            last_end_ns: None,
            was_stopped: false,
            noise: Noise::default(),
            not_offered: 0,
            beyond_per_s: Vec::new(),
            problems: Vec::new(),
            load_problems: LoadProblems::default(),
        }
    }

    /// Records a window and reports it to the method.
    fn enter(
        &mut self,
        ask: &WindowRequest,
        measured: &Measured,
        seen: &Observation,
        knows_server: bool,
        method: &mut dyn Method,
    ) {
        let asked_s = ask.cool_down_s + ask.settle_s;
        let between_s = self
            .last_end_ns
            .replace(measured.end_monotonic_ns)
            .map_or(asked_s, |end_ns| measured.start_monotonic_ns.saturating_sub(end_ns) as f64 / NS_PER_S);
        self.loaded_s += between_s + measured.seconds();
        method.spend(between_s - asked_s);
        let common = Common {
            bounds: &self.config.bounds,
            limits: &self.config.limits,
            kept_above: smallest_limit(self.config).unwrap_or(Duration::MAX),
            connections: self.config.connections,
            warmed_up: self.warmed_up,
            knows_server,
            turn: self.turn,
        };
        let (window, facts) = window::judged(measured, seen, &common);
        let limits = requests_of(measured, &self.config.limits, self.config.percentile);
        let step = search_step(self.config, ask, measured, &limits);
        let is_told = self.is_told(ask, &facts);
        let is_left_out = !facts.disturbances.is_empty() && !self.config.counts_disturbed;
        self.noise.enter(ask.settle_s + ask.window_s, is_left_out);
        if is_told {
            method.take(ask, for_method(ask, measured, limits));
        } else {
            method.lose(ask);
        }
        if facts.is_sustained && ask.step != CapacityStep::Overload {
            self.slow_not_kept += measured.detail.slow_not_kept;
            self.attribution.add(&SlowWindow::of(measured, seen));
        }
        let is_validation = self.config.method == CapacityMethod::Sweep && ask.step == CapacityStep::Confirm;
        self.facts.windows.push(WindowFacts { is_told, is_validation, ..facts });
        self.load_problems.enter(&measured.problems, ask.rate_per_s);
        self.windows.push(Window { search: Some(step), ..window });
    }

    /// Whether a window is reported to the method. One that is left out is asked for again; but not at a rate that the generator
    /// cannot offer: there the method gets the rate that was offered, as of a server that can do no more, and looks at lower rates. That
    /// this is no figure of the server's, `answer` minds.
    fn is_told(
        &mut self,
        ask: &WindowRequest,
        WindowFacts { is_offered, disturbances, .. }: &WindowFacts,
    ) -> bool {
        let (rate, is_offered) = (ask.rate_per_s, *is_offered);
        self.not_offered = if is_offered { 0 } else { self.not_offered + 1 };
        if self.not_offered >= NOT_OFFERED_MAX {
            self.beyond_per_s.push(rate);
        }
        // Where a higher rate was offered, something else held the generator up, and may pass.
        let before = self.facts.windows.iter().filter(|w| w.is_offered).map(|w| w.offered_rate_per_s);
        let most = before.chain(is_offered.then_some(rate)).fold(0.0, f64::max);
        let beyond = self.beyond_per_s.iter().copied().filter(|rate| most < *rate);
        let limit = beyond.reduce(f64::min);
        self.facts.generator_limit_per_s = limit;
        let is_beyond = !is_offered && limit.is_some_and(|limit| limit <= rate);
        // A reason beside the generator's may pass.
        let is_generator_alone = disturbances.iter().all(|d| d.kind == Check::GeneratorLag);
        disturbances.is_empty() || self.config.counts_disturbed || is_beyond && is_generator_alone
    }

    fn close(mut self, capacity: Capacity) -> CapacityReport {
        let config = self.config;
        let rate = |limit: &LimitRate| (limit.limit(), limit.rate_per_s.map(|rate| rate.estimate));
        self.facts.limits = capacity.limits.iter().map(rate).collect();
        let JudgedCapacity { capacity, absences } = answer(capacity, &self.facts, &config.bounds);
        self.facts.sustained_per_s = capacity.max_rate_per_s.map(|rate| rate.estimate);
        self.facts.sustained_interval = capacity.max_rate_per_s.and_then(|rate| rate.low.zip(rate.high));
        self.facts.was_stopped = self.was_stopped;
        self.facts.from_below.clone_from(&capacity.from_below);
        let checks = validity::check(&self.facts, &config.bounds);
        let failed = checks.iter().filter(|check| check.passed == Some(false));
        let mut problems: Vec<Problem> =
            failed.map(|check| Problem::new(check.check.word(), check.evidence.clone())).collect();
        let unknown = validity::unknown(&self.facts);
        let valid = match (problems.is_empty(), &unknown) {
            (false, _) => Some(false),
            (true, Some(_)) => None,
            (true, None) => Some(true),
        };
        problems.extend(unknown);
        problems.extend(validity::drift_within_interval(&checks));
        problems.extend(absences);
        if self.slow_not_kept > 0 {
            let (left, most) = (self.slow_not_kept, SLOW_REQUESTS_MAX);
            let what = format!("{left} late requests are not in it: at most {most} of a window are kept");
            problems.push(Problem::new("attribution", what));
        }
        if OVERRUN_MIN * config.budget_s < self.loaded_s {
            let [took, budget] = [self.loaded_s, config.budget_s].map(|seconds| spoken(seconds as u64));
            let what = format!("windows took {took} of a budget of {budget}");
            problems.push(Problem::new("budget", what));
        }
        problems.append(&mut self.problems);
        problems.extend(self.load_problems.finish());
        CapacityReport {
            schema: schema::CAPACITY.to_owned(),
            method: config.method,
            target: redact::word(&config.target).into_owned(),
            scenario: config.scenario.as_deref().map(|text| redact::text(text).into_owned()),
            percentile: config.percentile,
            limited_operations: config.limited_operations.clone(),
            max_rate_per_s: capacity.max_rate_per_s,
            limits: capacity.limits,
            critical_rate_per_s: capacity.critical_rate_per_s,
            from_below: capacity.from_below,
            users: None,
            session_starts: None,
            windows: self.windows,
            attribution: self.attribution.finish(),
            checks,
            valid,
            problems,
            duration_s: self.warmed_up.map_or(0.0, |w| w.warm_up.duration_s) + self.loaded_s,
            seed: config.seed,
        }
    }
}
