//! What is judged of a window, and of all windows of a search.

use super::arrivals::{Gaps, gaps_of};
use crate::config::Bounds;
use crate::judge::{is_offered, is_sustained};
use crate::limited::{limit_ns, times_of};
use crate::observation::{Observation, server_cpu_ms};
use crate::warm_up::WarmedUp;
use assay_load::{ArrivalLaw, ErrorKind, LimitedTimes, Load, Measured, Priority, is_of_generator};
use assay_model::{Audit, Disturbance, FromBelow, LatencyLimit, MachineSpeed, OperationCount};

const NS_PER_MS: f64 = 1e6;

/// Standard deviations that are chance.
pub const SIGMAS: f64 = 4.0;

/// How far a count of independent events may by chance be from what is expected, with this variance. Bernstein's inequality, solved
/// for the deviation: for large counts [`SIGMAS`] standard deviations, for rare events more, since one in 1,000 of 15 requests is
/// either none or far too many.
pub(super) fn chance(variance: f64) -> f64 {
    let z2 = SIGMAS * SIGMAS;
    z2 / 6.0 + (z2 * z2 / 36.0 + z2 * variance).sqrt()
}

pub(super) fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// How far the share of an event may by chance be from what is expected, of so many requests.
pub(super) fn chance_share(expected: f64, requests: u64) -> f64 {
    let requests = requests.max(1) as f64;
    chance(requests * expected * (1.0 - expected)) / requests
}

/// Rate up to which a window is clear, as a share of what the server sustains.
const CLEAR_SHARE: f64 = 0.9;

/// What is judged of one window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowFacts {
    /// Offered rate, per second.
    pub offered_rate_per_s: f64,
    /// Whether requests started when arrivals said, and not when users had their answer.
    pub is_open: bool,
    /// Why the generator was late beside the answers as a whole; absent when it was not.
    pub late_generator: Option<String>,
    /// When its middle was, on the monotonic clock, seconds.
    pub at_s: f64,
    /// Length, seconds.
    pub window_s: f64,
    /// Requests whose intended start lies in it.
    pub requests: u64,
    /// Of these, sent ones.
    pub sent: u64,
    /// Right answers that came in it.
    pub answers: u64,
    /// It validates the highest rate of a sweep.
    pub is_validation: bool,
    /// Failed requests by kind, in the order of `ErrorKind::ALL`.
    pub errors_by_kind: [u64; ErrorKind::ALL.len()],
    /// Asked and measured mix.
    pub operations: Vec<OperationCount>,
    /// How the intended starts of what was sent were spread.
    pub gaps: Gaps,
    /// For each limit, requests that the generator sent late by more than a tenth of it.
    pub late: Vec<u64>,
    /// For each limit, the share of requests that missed it.
    pub miss_shares: Vec<f64>,
    /// Whether the generator was early enough for the rate to be that which was asked for.
    pub is_offered: bool,
    /// Priority of the generator's thread; absent where the load was made elsewhere.
    pub priority: Option<Priority>,
    /// CPU time of the generator as a share of one core.
    pub generator_cpu_share: Option<f64>,
    /// Requests that waited for a connection.
    pub connection_waits: u64,
    /// Whether answers kept up.
    pub is_sustained: bool,
    /// Whether it was given to the method.
    pub is_told: bool,
    /// Why it does not count; empty when it does.
    pub disturbances: Vec<Disturbance>,
    /// Step of the wall clock, seconds; absent when it was not looked at.
    pub clock_step_s: Option<f64>,
    /// Why the server is not the one that it was.
    pub restart: Option<String>,
    /// Which causes of disturbance were observed at all.
    pub is_machine_watched: bool,
    /// Share of the time in which some task of the machine waited for a processor.
    pub cpu_some_share: Option<f64>,
    /// How fast the server's machine was just before.
    pub machine: Option<MachineSpeed>,
    /// CPU time of the server for each right answer, milliseconds.
    pub server_cpu_ms: Option<f64>,
    /// Median of the service time, milliseconds; absent when nothing was sent.
    pub service_ms: Option<f64>,
}

impl WindowFacts {
    /// Of a window as it was measured.
    pub fn of(measured: &Measured, seen: &Observation, limits: &[LatencyLimit], bounds: &Bounds) -> Self {
        let (lag, detail) = (&measured.send_lag, &measured.detail);
        let late = |limit: &LatencyLimit| {
            let above_ns = limit_ns(bounds.lag_part_of_limit * limit.limit_ms);
            let above_ns = lag.highest_equivalent(above_ns).saturating_add(1);
            lag.count_between(above_ns, lag.high().max(above_ns))
        };
        let missed = |(times, limit): (Option<&LimitedTimes>, &LatencyLimit)| {
            times.map_or(0.0, |times| share(times.misses(limit_ns(limit.limit_ms)), times.requests()))
        };
        WindowFacts {
            offered_rate_per_s: match measured.load {
                Load::Open { rate_per_s, .. } => rate_per_s,
                Load::Closed { .. } => 0.0,
            },
            is_open: matches!(measured.load, Load::Open { .. }),
            late_generator: measured.invalid_because().into_iter().find(is_of_generator).map(|p| p.text),
            at_s: (measured.start_monotonic_ns as f64 + measured.end_monotonic_ns as f64) / 2e9,
            window_s: measured.seconds(),
            requests: measured.requests,
            sent: measured.service.len(),
            answers: measured.completed,
            is_validation: false,
            errors_by_kind: measured.errors_by_kind,
            operations: measured.operations.clone(),
            gaps: match measured.load {
                Load::Open { arrivals: ArrivalLaw::Poisson, .. } => gaps_of(detail),
                _ => Gaps::default(),
            },
            late: limits.iter().map(late).collect(),
            miss_shares: times_of(detail, limits).into_iter().zip(limits).map(missed).collect(),
            is_offered: is_offered(measured, bounds),
            priority: measured.priority.clone(),
            generator_cpu_share: measured.generator_cpu_share(),
            connection_waits: detail.connection_waits,
            is_sustained: is_sustained(measured),
            is_told: false,
            disturbances: Vec::new(),
            clock_step_s: seen.clock_step_s,
            restart: seen.restart.clone(),
            is_machine_watched: seen.host.is_some(),
            cpu_some_share: seen.host.and_then(|host| host.cpu_some_share),
            machine: seen.machine,
            server_cpu_ms: server_cpu_ms(measured, seen),
            service_ms: (!measured.service.is_empty())
                .then(|| measured.service.value_at_quantile(0.5) as f64 / NS_PER_MS),
        }
    }

    pub(super) fn errors(&self, kind: ErrorKind) -> u64 {
        self.errors_by_kind[kind as usize]
    }

    pub(super) fn all_errors(&self) -> u64 {
        self.errors_by_kind.iter().sum()
    }
}

/// What is judged of the whole.
#[derive(Debug, Clone, Default)]
pub struct RunFacts<'a> {
    /// All windows, in the order of time.
    pub windows: Vec<WindowFacts>,
    /// Rate that the server sustains, per second; absent when that was not found.
    pub sustained_per_s: Option<f64>,
    /// The interval of that rate; absent where there is none.
    pub sustained_interval: Option<(f64, f64)>,
    /// Share of requests that may exceed a limit.
    pub miss_share: f64,
    /// The limits, with the rates that the method found.
    pub limits: Vec<(LatencyLimit, Option<f64>)>,
    /// Connections of the load source at most.
    pub connections: u32,
    /// How warm-up went; absent when there was none.
    pub warmed_up: Option<&'a WarmedUp>,
    /// What the server's own proof said; absent when it was not asked.
    pub audit: Option<Audit>,
    /// Whether the server's process was watched.
    pub knows_server: bool,
    /// Lowest rate that the generator could not offer; absent when it could offer all.
    pub generator_limit_per_s: Option<f64>,
    /// What was found from below, where windows contradict each other.
    pub from_below: Option<FromBelow>,
    /// It was ended before enough was known.
    pub was_stopped: bool,
    /// It was ended because the machine left too few windows that count.
    pub was_too_noisy: bool,
    /// Excluded windows were given to the method all the same, as was asked for.
    pub counts_disturbed: bool,
}

impl RunFacts<'_> {
    /// Windows at rates that the server clearly sustains; where that is not known, the third at the lowest rates.
    pub(super) fn clear(&self) -> Vec<&WindowFacts> {
        let sustained = self.sustained_per_s.or_else(|| {
            let kept_up = self.windows.iter().filter(|w| w.is_sustained).map(|w| w.offered_rate_per_s);
            kept_up.max_by(f64::total_cmp)
        });
        let up_to = |rate: f64| self.windows.iter().filter(move |w| w.offered_rate_per_s <= rate);
        let clear: Vec<&WindowFacts> =
            sustained.map_or_else(Vec::new, |rate| up_to(CLEAR_SHARE * rate).collect());
        if !clear.is_empty() {
            return clear;
        }
        let mut rates: Vec<f64> = self.windows.iter().map(|w| w.offered_rate_per_s).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 3).map_or_else(Vec::new, |rate| up_to(*rate).collect())
    }
}
