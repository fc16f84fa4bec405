//! Loads a server until it is steady: slices of load until the rule of [`assay_stats`] holds, or the time is over.
//!
//! While a JIT compiler keeps a whole processor busy, the level stands still and the rule takes it for steady. Observed with a brokerage server on 2
//! processors: 4 ms of CPU time per request, 1.8 of them compilation, and 1.2 ms a minute later. So the compilers' share must be small, too.

use crate::event::MeasureEvent;
use crate::measurement::Context;
use crate::observation::{Observation, server_cpu_ms};
use assay_counters::COMPILERS_SHARE_MAX;
use assay_load::{Load, LoadError, LoadWindow};
use assay_model::{WarmUp, WarmUpEnd};
use assay_stats::{Phase, SteadyRule, SteadyState};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Length of slices: so many to the cap, within these bounds, seconds.
const SLICES_TO_CAP: f64 = 40.0;
const SLICE_S: (f64, f64) = (0.5, 2.0);
/// Slices that throughput and response time at the end are taken from.
const LAST_SLICES: usize = 5;

/// How a server is warmed up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WarmUpPlan {
    /// The load of each slice.
    pub load: Load,
    /// Length of a slice.
    pub slice: Duration,
    /// Shortest time.
    pub min: Duration,
    /// Longest time.
    pub cap: Duration,
}

impl WarmUpPlan {
    /// With slices that are longer where there is more time.
    pub fn within(load: Load, min: Duration, cap: Duration) -> Self {
        let slice_s = (cap.as_secs_f64() / SLICES_TO_CAP).clamp(SLICE_S.0, SLICE_S.1);
        WarmUpPlan { load, slice: Duration::from_secs_f64(slice_s), min, cap }
    }
}

/// How warm-up went.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmedUp {
    /// What is stored of it.
    pub warm_up: WarmUp,
    /// Right answers per second of the last slices: of a few users, a rate to begin a search with.
    pub throughput_per_s: Option<f64>,
    /// 99th percentile of the response time in the last slices, the median over them.
    pub response_p99_ms: Option<f64>,
}

/// How a server is warmed up, and how that went.
#[derive(Debug, Clone, Default)]
pub struct WarmUpPhase {
    /// Absent: not at all.
    pub plan: Option<WarmUpPlan>,
    /// Once it is over.
    pub done: Option<WarmedUp>,
}

impl From<Option<WarmUpPlan>> for WarmUpPhase {
    fn from(plan: Option<WarmUpPlan>) -> Self {
        WarmUpPhase { plan, done: None }
    }
}

impl WarmUpPhase {
    /// Warms the server up, where that is planned.
    ///
    /// # Errors
    /// Those of the load source.
    pub fn run(&mut self, with: &mut Context<'_>) -> Result<Option<WarmUp>, LoadError> {
        let Some(plan) = &self.plan else { return Ok(None) };
        let done = warm_up(plan, with)?;
        Ok(Some(self.done.insert(done).warm_up.clone()))
    }
}

/// Warms a server up. Looked at is the CPU time of the server per request where its process is known, else the median of the
/// service time.
fn warm_up(plan: &WarmUpPlan, with: &mut Context<'_>) -> Result<WarmedUp, LoadError> {
    let Context { source, watcher, stop, on_event, .. } = with;
    let rule = SteadyRule::default();
    let mut state = SteadyState::new(rule);
    let knows_server = watcher.knows_server();
    let slice = LoadWindow { load: plan.load, settle: Duration::ZERO, length: plan.slice, slow_above: None };
    let (mut duration_s, mut requests, mut rates, mut p99s_ms) = (0.0, 0, Vec::new(), Vec::new());
    let mut compiling = Compiling::over(rule.slices);
    let (min_s, cap_s) = (plan.min.as_secs_f64(), plan.cap.as_secs_f64());
    let is_steady =
        |state: &SteadyState, compiling: &Compiling| state.phase() == Phase::Steady && !compiling.is_much();
    let is_over = |state: &SteadyState, compiling: &Compiling, duration_s: f64| {
        cap_s <= duration_s || is_steady(state, compiling) && min_s <= duration_s
    };
    while !is_over(&state, &compiling, duration_s) && !stop.load(Ordering::Relaxed) {
        let mut on_progress =
            |progress| MeasureEvent::of_sessions(&progress).into_iter().for_each(&mut *on_event);
        let measured = source.window(&slice, stop, &mut on_progress)?;
        watcher.end_load(&measured);
        let seen = watcher.seen(measured.start_monotonic_ns, measured.end_monotonic_ns);
        let service_ms = measured.service.value_at_quantile(0.5) as f64 / 1e6;
        let cpu_ms = server_cpu_ms(&measured, &seen);
        let figure = if knows_server { cpu_ms } else { Some(service_ms).filter(|_| measured.completed > 0) };
        // A slice without an answer has no figure; the rule then starts counting anew.
        state.push(figure.filter(|f| f.is_finite()).unwrap_or(f64::NAN));
        compiling.push(&seen);
        duration_s += measured.seconds();
        requests += measured.completed;
        let throughput_per_s = measured.achieved_rate_per_s().unwrap_or(0.0);
        rates.push(throughput_per_s);
        p99s_ms.push(measured.response.value_at_quantile(0.99) as f64 / 1e6);
        on_event(MeasureEvent::WarmUp {
            elapsed_s: duration_s,
            throughput_per_s,
            cpu_ms_per_request: cpu_ms,
        });
    }
    let figure = if knows_server { "CPU time per request" } else { "median service time" };
    let is_steady = is_steady(&state, &compiling);
    on_event(MeasureEvent::WarmedUp { is_steady, duration_s });
    let last = |figures: &[f64]| {
        let last = &figures[figures.len().saturating_sub(LAST_SLICES)..];
        assay_stats::median(last).filter(|figure| *figure > 0.0)
    };
    Ok(WarmedUp {
        warm_up: WarmUp {
            rule: format!(
                "{figure} in slices of {} s: {}{}",
                slice.length.as_secs_f64(),
                rule.describe(),
                compiling.describe()
            ),
            ended_by: if is_steady { WarmUpEnd::Steady } else { WarmUpEnd::Cap },
            duration_s,
            requests,
            cpu_ms_per_request: if knows_server { state.series().to_vec() } else { Vec::new() },
        },
        throughput_per_s: last(&rates),
        response_p99_ms: last(&p99s_ms),
    })
}

/// What JIT compilers used in the last slices.
struct Compiling {
    slices: usize,
    /// CPU time of compilers and of the whole server by slice, nanoseconds; of slices in which both are known.
    last: VecDeque<(u64, u64)>,
}

impl Compiling {
    fn over(slices: usize) -> Compiling {
        Compiling { slices, last: VecDeque::new() }
    }

    fn push(&mut self, seen: &Observation) {
        if self.slices <= self.last.len() {
            self.last.pop_front();
        }
        self.last.extend(seen.compilers_cpu_ns.zip(seen.server_cpu_ns));
    }

    /// Of the server's CPU time; absent where it has no compilers.
    fn share(&self) -> Option<f64> {
        let (compilers_ns, server_ns) = self.last.iter().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        (server_ns != 0).then(|| compilers_ns as f64 / server_ns as f64)
    }

    fn is_much(&self) -> bool {
        self.share().is_some_and(|share| COMPILERS_SHARE_MAX <= share)
    }

    /// The rule in words, and how it stands.
    fn describe(&self) -> String {
        self.share().map_or(String::new(), |share| {
            format!(
                "; and JIT compilers below {:.0} % of the CPU time of the last {} slices: {:.0} %",
                100.0 * COMPILERS_SHARE_MAX,
                self.slices,
                100.0 * share
            )
        })
    }
}
