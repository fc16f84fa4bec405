//! The conductor: asks a method which window is wanted, runs it, decides whether it counts, and tells it.

use crate::account::{Account, ServerData};
use crate::answer::{Answer, answer};
use crate::attribution::{Attribution, SlowWindow};
use crate::config::CapacityConfig;
use crate::event::MeasureEvent;
use crate::judge;
use crate::load_problems::LoadProblems;
use crate::seen::{Seen, Watcher};
use crate::validity::{self, RunFacts, WindowFacts};
use crate::warm_up::WarmedUp;
use crate::window::{detail_of, for_method, limit_ns, stored};
use assay_load::{ArrivalLaw, Load, LoadError, LoadSource, LoadWindow, Measured, SLOW_REQUESTS_MAX};
use assay_model::{CapacityMethod, CapacityReport, CapacityWindow, Problem, schema};
use assay_stats::capacity::{Ask, Capacity, LimitCapacity, Method, Step};
use assay_text::redact;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// More windows than any method asks for; one that never ends is ended here.
const WINDOWS_MAX: usize = 10_000;
const NS_PER_S: f64 = 1e9;
/// A rate that the generator could not offer so many times in a row is not tried again: it may have been a disturbance once.
const NOT_OFFERED_MAX: u32 = 2;

/// What a capacity is found with.
pub struct Means<'a> {
    /// Where load comes from.
    pub source: &'a mut dyn LoadSource,
    /// Which window comes next.
    pub method: &'a mut dyn Method,
    /// What watches server and machine.
    pub watcher: &'a mut dyn Watcher,
    /// The server's data, if it keeps account of it.
    pub data: Option<&'a mut dyn ServerData>,
    /// How warm-up went, if there was one.
    pub warmed_up: Option<WarmedUp>,
}

/// Finds a capacity. Once there is a window, there is a report: `stop`, and a server that is gone, end it early, and the result
/// so far is marked invalid.
///
/// # Errors
/// The load source gives no window at all: those of [`LoadSource::window`].
pub fn measure(
    config: &CapacityConfig,
    means: Means<'_>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(MeasureEvent),
) -> Result<CapacityReport, LoadError> {
    let Means { source, method, watcher, data, warmed_up } = means;
    let mut books = Books::new(config);
    let mut account = Account::new(data);
    while let Some(ask) = method.next() {
        if stop.load(Ordering::Relaxed) || books.windows.len() == WINDOWS_MAX {
            books.was_stopped = true;
            break;
        }
        on_event(MeasureEvent::WindowStarted(ask));
        account.before(&ask);
        source.rest(seconds(ask.rest_s), stop);
        let window = load_window(config, &ask);
        let machine = watcher.machine_speed();
        let logs = watcher.begin_window();
        let mut on_progress = |p| on_event(MeasureEvent::Loading(p));
        let measured = match source.logged_window(&window, logs, stop, &mut on_progress) {
            Ok(measured) => measured,
            Err(error) if books.windows.is_empty() => return Err(error),
            Err(error) => {
                books.problems.push(Problem::new("load", error.to_string()));
                books.was_stopped = true;
                break;
            }
        };
        if measured.stopped {
            books.was_stopped = true;
            break;
        }
        watcher.end_load(&measured);
        let seen = watcher.seen(measured.start_monotonic_ns, measured.end_monotonic_ns);
        let seen = Seen { machine, ..seen };
        books.enter(&ask, &measured, &seen, watcher.knows_server(), method);
        if let Some(last) = books.windows.last() {
            let (window, capacity) = (Box::new(last.clone()), Box::new(method.capacity()));
            on_event(MeasureEvent::WindowEnded { window, capacity });
        }
        if !account.is_right_after(&ask) {
            books.was_stopped = true;
            break;
        }
    }
    if account.is_kept() {
        on_event(MeasureEvent::Auditing);
    }
    books.problems.extend(account.problem());
    let audit = account.finish();
    books.problems.extend(watcher.problems());
    let duration_s = warmed_up.as_ref().map_or(0.0, |w| w.warm_up.duration_s) + books.loaded_s;
    books.facts.knows_server = watcher.knows_server();
    books.facts.warmed_up = warmed_up;
    books.facts.audit = audit;
    Ok(books.close(method.capacity(), duration_s))
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn load_window(config: &CapacityConfig, ask: &Ask) -> LoadWindow {
    let smallest_ns = config.limits_ms.iter().copied().reduce(f64::min).map(limit_ns);
    LoadWindow {
        load: Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s: ask.rate_per_s },
        settle: seconds(ask.settle_s),
        length: seconds(ask.window_s),
        slow_above: smallest_ns.map(Duration::from_nanos),
    }
}

/// What has been gathered.
struct Books<'a> {
    config: &'a CapacityConfig,
    windows: Vec<CapacityWindow>,
    facts: RunFacts,
    blame: Attribution,
    slow_not_kept: u64,
    /// From the beginning of the first window's settling to the end of the last one.
    loaded_s: f64,
    last_end_ns: Option<u64>,
    was_stopped: bool,
    /// Windows in a row whose rate the generator could not offer.
    not_offered: u32,
    /// Rates that it could not offer so many times in a row.
    beyond_per_s: Vec<f64>,
    problems: Vec<Problem>,
    load_problems: LoadProblems,
}

impl<'a> Books<'a> {
    fn new(config: &'a CapacityConfig) -> Self {
        Books {
            config,
            windows: Vec::new(),
            facts: RunFacts {
                miss_share: config.miss_share(),
                connections: config.connections,
                counts_disturbed: config.counts_disturbed,
                ..RunFacts::default()
            },
            blame: Attribution::new(&config.limits_ms),
            slow_not_kept: 0,
            loaded_s: 0.0,
            last_end_ns: None,
            was_stopped: false,
            not_offered: 0,
            beyond_per_s: Vec::new(),
            problems: Vec::new(),
            load_problems: LoadProblems::default(),
        }
    }

    /// Enters a window and tells the method of it.
    fn enter(
        &mut self,
        ask: &Ask,
        measured: &Measured,
        seen: &Seen,
        knows_server: bool,
        method: &mut dyn Method,
    ) {
        let asked_s = ask.rest_s + ask.settle_s;
        let between_s = self
            .last_end_ns
            .replace(measured.end_monotonic_ns)
            .map_or(asked_s, |end_ns| measured.start_monotonic_ns.saturating_sub(end_ns) as f64 / NS_PER_S);
        self.loaded_s += between_s + measured.seconds();
        method.spend(between_s - asked_s);
        let detail = match detail_of(measured) {
            Ok(detail) => detail,
            Err(problem) => {
                self.problems.push(problem);
                return method.lose(ask);
            }
        };
        let disturbances = judge::disturbances(&self.config.bounds, measured, seen, knows_server);
        let left_out: Vec<String> = disturbances.into_iter().map(|d| d.evidence).collect();
        let window = stored(self.config, ask, measured, detail, seen, left_out.clone());
        let of_window = WindowFacts::of(measured, detail, seen, &self.config.limits_ms, &self.config.bounds);
        let is_told = self.is_told(ask, &left_out, of_window.is_offered);
        if is_told {
            method.take(ask, for_method(&window, detail));
        } else {
            method.lose(ask);
        }
        self.facts.windows.push(WindowFacts {
            is_sustained: window.is_sustained,
            is_told,
            is_validation: self.config.method == CapacityMethod::Sweep && ask.step == Step::Confirm,
            left_out,
            ..of_window
        });
        if window.is_sustained && ask.step != Step::Overload {
            self.slow_not_kept += detail.slow_not_kept;
            self.blame.add(&SlowWindow::of(measured, detail, seen));
        }
        self.load_problems.enter(&measured.problems, ask.rate_per_s);
        self.windows.push(window);
    }

    /// Whether the method is told of a window. One that is left out is asked for again; but not at a rate that the generator
    /// cannot offer: there the method is told what it could, as of a server that can do no more, and looks at lower rates. That
    /// this is no figure of the server's, `answer` minds.
    fn is_told(&mut self, ask: &Ask, left_out: &[String], is_offered: bool) -> bool {
        let rate = ask.rate_per_s;
        self.not_offered = if is_offered { 0 } else { self.not_offered + 1 };
        if self.not_offered >= NOT_OFFERED_MAX {
            self.beyond_per_s.push(rate);
        }
        // Where a higher rate was offered, something else held the generator up, and may pass.
        let before = self.facts.windows.iter().filter(|w| w.is_offered).map(|w| w.asked_rate_per_s);
        let most = before.chain(is_offered.then_some(rate)).fold(0.0, f64::max);
        let beyond = self.beyond_per_s.iter().copied().filter(|rate| most < *rate);
        let limit = beyond.reduce(f64::min);
        self.facts.generator_limit_per_s = limit;
        let is_beyond = !is_offered && limit.is_some_and(|limit| limit <= rate);
        // A reason beside the generator's may pass.
        let is_generator_alone = left_out.len() == 1;
        left_out.is_empty() || self.config.counts_disturbed || is_beyond && is_generator_alone
    }

    fn close(mut self, capacity: Capacity, duration_s: f64) -> CapacityReport {
        let config = self.config;
        let rate = |limit: &LimitCapacity| (limit.limit_ms, limit.rate_per_s.map(|rate| rate.estimate));
        self.facts.limits = capacity.limits.iter().map(rate).collect();
        let Answer { capacity, limits, absences } = answer(capacity, &self.facts, &config.bounds);
        self.facts.sustained_per_s = capacity.max_rate_per_s.map(|rate| rate.estimate);
        self.facts.was_stopped = self.was_stopped;
        let checks = validity::check(&self.facts, &config.bounds);
        let failed = checks.iter().filter(|check| check.passed == Some(false));
        let mut problems: Vec<Problem> =
            failed.map(|check| Problem::new(check.check.word(), check.evidence.clone())).collect();
        let valid = problems.is_empty();
        problems.extend(absences);
        if self.slow_not_kept > 0 {
            let (left, most) = (self.slow_not_kept, SLOW_REQUESTS_MAX);
            let what = format!("{left} late requests are not in it: at most {most} of a window are kept");
            problems.push(Problem::new("blame", what));
        }
        problems.append(&mut self.problems);
        problems.extend(self.load_problems.finish());
        CapacityReport {
            schema: schema::CAPACITY.to_owned(),
            method: config.method,
            target: redact::word(&config.target).into_owned(),
            percentile: config.percentile,
            limited_operations: config.limited_operations.clone(),
            max_rate_per_s: capacity.max_rate_per_s,
            limits,
            critical_rate_per_s: capacity.critical_rate_per_s,
            windows: self.windows,
            blame: self.blame.finish(),
            checks,
            valid,
            problems,
            duration_s,
            seed: config.seed,
        }
    }
}
