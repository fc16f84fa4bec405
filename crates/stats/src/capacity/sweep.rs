//! The published way: a search for the highest load by ramps and steps, then level after level.
//!
//! After the published rules of SPECjbb2015 as its run logs show them. The ramp goes up to a base in ten steps, the base runs
//! for a while, the ramp is walked again, then come base + 100, and 20, 24, 28.8, ... more each time. The first rate that is
//! not kept ends the round; the last that was is the next base, until a base no longer rises. Then levels of 1 % of the
//! highest rate attempted are loaded, upwards, until three in a row are not kept.
//!
//! A sweep gives no intervals: its rules have none.

use super::score::{Level, score};
use super::{Capacity, Method, WindowRequest, WindowResult};
use assay_model::{CapacityStep, LatencyLimit};

/// Limits and rules of a sweep. [`SweepConfig::new`] has the published ones.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepConfig {
    /// Limits of the response time.
    pub limits: Vec<LatencyLimit>,
    /// First base of the search for the highest load, per second.
    pub first_base_per_s: f64,
    /// All durations are multiplied with it: 1 as published.
    pub time_factor: f64,
    /// How far sent and answered rate may be from the asked rate at a level, as a share.
    pub tolerance_share: f64,
    /// So many standard deviations of Poisson counts they may be farther. The published rules have none of it (0): their
    /// windows are long. With random arrivals or a small `time_factor` they would fail levels by chance.
    pub poisson_deviations: f64,
}

impl SweepConfig {
    /// The published durations and tolerances, for Poisson arrivals.
    pub fn new(limits: Vec<LatencyLimit>) -> Self {
        SweepConfig {
            limits,
            first_base_per_s: 100.0,
            time_factor: 1.0,
            tolerance_share: 0.01,
            poisson_deviations: 3.5,
        }
    }
}

/// Tolerance while the highest load is searched for.
const SEARCH_TOLERANCE_SHARE: f64 = 0.05;
const RAMP_STEPS: u32 = 10;
const RAMP_SETTLE_S: f64 = 3.0;
const BASE_S: f64 = 30.0;
const FIRST_STEP_PER_S: f64 = 100.0;
const NEXT_STEP_PER_S: f64 = 20.0;
const STEP_GROWTH: f64 = 1.2;
/// No generator asks for more.
const RATE_MAX_PER_S: f64 = 1e8;
const WARM_UP_S: f64 = 180.0;
const WARM_UP_SHARE: f64 = 0.1;
const LEVEL_SHARE: f64 = 0.01;
/// The published 3 to 30 s and 60 to 90 s end early "often at min": the least of both.
const LEVEL_SETTLE_S: f64 = 3.0;
const LEVEL_S: f64 = 60.0;
/// Retried levels settled for 44 to 171 s.
const RETRY_SETTLE_S: f64 = 60.0;
const RETRIES: u32 = 10;
const FAILURES_IN_A_ROW: u32 = 3;
/// A sweep ends here even when everything is kept, which no server that set the highest rate does.
const LEVELS_MAX: u32 = 150;
/// Windows that the machine disturbed, in all; behind them the sweep gives up.
const LOST_MAX: u32 = 200;

/// Where a sweep is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Up to the base in steps, for the first or second time.
    Ramp { base: f64, step: u32, is_second: bool },
    /// At the base for a while, after the first ramp.
    Base { base: f64 },
    /// Above the base: the rate, and what the next one is higher by.
    Climb { base: f64, rate: f64, next_step: f64 },
    /// At a tenth of the highest rate.
    WarmUp,
    /// Levels, numbered from 1; a second time with a longer settling.
    Levels { number: u32, is_retry: bool },
    /// No more windows.
    Done,
}

/// The decisions of a sweep.
#[derive(Debug, Clone)]
pub struct Sweep {
    config: SweepConfig,
    phase: Phase,
    /// Highest rate that was tried before the levels; each level is 1 % of it.
    attempted_per_s: f64,
    settled_per_s: Option<f64>,
    /// Levels so far, upwards, each as it ended.
    levels: Vec<Level>,
    retries_left: u32,
    failures: u32,
    lost: u32,
    used_s: f64,
}

impl Sweep {
    /// A sweep that has not begun.
    pub fn new(config: SweepConfig) -> Self {
        let base = config.first_base_per_s;
        Sweep {
            config,
            phase: Phase::Ramp { base, step: 1, is_second: false },
            attempted_per_s: 0.0,
            settled_per_s: None,
            levels: Vec::new(),
            retries_left: RETRIES,
            failures: 0,
            lost: 0,
            used_s: 0.0,
        }
    }

    /// The last base that held, per second.
    pub fn settled_per_s(&self) -> Option<f64> {
        self.settled_per_s
    }

    fn ask(&self, step: CapacityStep, rate_per_s: f64, settle_s: f64, window_s: f64) -> WindowRequest {
        let factor = self.config.time_factor;
        WindowRequest {
            rate_per_s,
            cool_down_s: 0.0,
            settle_s: settle_s * factor,
            window_s: window_s * factor,
            step,
        }
    }

    fn is_kept(&self, window: &WindowResult, tolerance_share: f64) -> bool {
        let asked = window.rate_per_s * window.window_s;
        let slack = tolerance_share * asked + self.config.poisson_deviations * asked.sqrt();
        // Of a few requests the slack is all: half of them must be answered in any case.
        window.requests / 2 < window.answers
            && [window.requests, window.answers].iter().all(|count| (*count as f64 - asked).abs() <= slack)
    }

    /// What follows a rate of the search for the highest load.
    fn after_search(&mut self, rate: f64, is_kept: bool) -> Phase {
        self.attempted_per_s = self.attempted_per_s.max(rate);
        match self.phase {
            Phase::Ramp { base, step, is_second } if is_kept => match (step < RAMP_STEPS, is_second) {
                (true, _) => Phase::Ramp { base, step: step + 1, is_second },
                (false, false) => Phase::Base { base },
                (false, true) => self.climb(base, base, FIRST_STEP_PER_S, NEXT_STEP_PER_S),
            },
            Phase::Base { base } if is_kept => {
                self.settled_per_s = Some(base);
                Phase::Ramp { base, step: 1, is_second: true }
            }
            Phase::Climb { base, rate, next_step } if is_kept => {
                self.climb(base, rate, next_step, next_step * STEP_GROWTH)
            }
            Phase::Climb { base, rate, next_step } => {
                // The limits met before this rate; the first climb is by another step.
                let before = if next_step == NEXT_STEP_PER_S { base } else { rate - next_step / STEP_GROWTH };
                if base < before {
                    Phase::Ramp { base: before, step: 1, is_second: false }
                } else {
                    Phase::WarmUp
                }
            }
            _ => Phase::WarmUp,
        }
    }

    fn climb(&self, base: f64, from: f64, by: f64, next_step: f64) -> Phase {
        let rate = from + by;
        if rate < RATE_MAX_PER_S { Phase::Climb { base, rate, next_step } } else { Phase::WarmUp }
    }

    fn after_level(&mut self, number: u32, is_retry: bool, window: &WindowResult) -> Phase {
        let is_kept = self.is_kept(window, self.config.tolerance_share);
        if !is_kept && !is_retry && 0 < self.retries_left {
            self.retries_left -= 1;
            return Phase::Levels { number, is_retry: true };
        }
        // Without a request there is no percentile, and nothing was kept.
        let percentiles_ms: Vec<Option<f64>> = (0..self.config.limits.len())
            .map(|at| window.limits.get(at)?.percentile_ms.filter(|ms| !ms.is_nan()))
            .collect();
        let is_sustained = is_kept && percentiles_ms.iter().any(Option::is_some);
        self.failures = if is_sustained { 0 } else { self.failures + 1 };
        let percentiles_ms = percentiles_ms.into_iter().map(|ms| ms.unwrap_or(f64::INFINITY)).collect();
        self.levels.push(Level { rate_per_s: window.rate_per_s, percentiles_ms, is_sustained });
        if self.failures < FAILURES_IN_A_ROW && number < LEVELS_MAX {
            Phase::Levels { number: number + 1, is_retry: false }
        } else {
            Phase::Done
        }
    }
}

impl Method for Sweep {
    fn next(&self) -> Option<WindowRequest> {
        if LOST_MAX < self.lost {
            return None;
        }
        let search = |rate| self.ask(CapacityStep::Bracket, rate, RAMP_SETTLE_S, RAMP_SETTLE_S);
        Some(match self.phase {
            Phase::Ramp { base, step, .. } => search(base * f64::from(step) / f64::from(RAMP_STEPS)),
            Phase::Base { base } => self.ask(CapacityStep::Bracket, base, RAMP_SETTLE_S, BASE_S),
            Phase::Climb { rate, .. } => search(rate),
            Phase::WarmUp => {
                let rate = WARM_UP_SHARE * self.attempted_per_s;
                self.ask(CapacityStep::Bracket, rate, WARM_UP_S - RAMP_SETTLE_S, RAMP_SETTLE_S)
            }
            Phase::Levels { number, is_retry } => {
                let settle_s = if is_retry { RETRY_SETTLE_S } else { LEVEL_SETTLE_S };
                let rate = LEVEL_SHARE * f64::from(number) * self.attempted_per_s;
                self.ask(CapacityStep::Level, rate, settle_s, LEVEL_S)
            }
            Phase::Done => return None,
        })
    }

    fn take(&mut self, ask: &WindowRequest, mut window: WindowResult) {
        self.used_s += ask.settle_s + ask.window_s;
        (window.rate_per_s, window.window_s) = (ask.rate_per_s, ask.window_s);
        self.phase = match self.phase {
            Phase::Levels { number, is_retry } => self.after_level(number, is_retry, &window),
            Phase::WarmUp => Phase::Levels { number: 1, is_retry: false },
            Phase::Done => Phase::Done,
            _ => {
                let is_kept = self.is_kept(&window, SEARCH_TOLERANCE_SHARE);
                self.after_search(ask.rate_per_s, is_kept)
            }
        };
    }

    fn spend(&mut self, seconds: f64) {
        if seconds.is_finite() {
            self.used_s += seconds.max(0.0);
        }
    }

    fn lose(&mut self, ask: &WindowRequest) {
        self.used_s += ask.settle_s + ask.window_s;
        self.lost += 1;
    }

    fn capacity(&self) -> Capacity {
        Capacity { used_s: self.used_s, ..score(&self.levels, &self.config.limits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::LimitedRequests;

    fn limits() -> Vec<LatencyLimit> {
        vec![LatencyLimit::of_all(50.0)]
    }

    /// Answers all that is asked up to a rate, and that rate beyond it.
    fn give(ask: &WindowRequest, up_to_per_s: f64) -> WindowResult {
        let answered = ask.rate_per_s.min(up_to_per_s);
        WindowResult {
            rate_per_s: ask.rate_per_s,
            window_s: ask.window_s,
            requests: (ask.rate_per_s * ask.window_s).round() as u64,
            answers: (answered * ask.window_s).round() as u64,
            refused: 0,
            limits: vec![LimitedRequests {
                requests: (ask.rate_per_s * ask.window_s).round() as u64,
                misses: 0,
                percentile_ms: Some(if ask.rate_per_s <= up_to_per_s { 10.0 } else { 1000.0 }),
            }],
        }
    }

    /// A server that gives way at 3934 at first, then at 4187, then on its way up again, as that of the published run did.
    #[test]
    fn the_published_rates_are_tried() {
        let mut sweep = Sweep::new(SweepConfig { poisson_deviations: 0.0, ..SweepConfig::new(limits()) });
        let mut tried = Vec::new();
        while let Some(ask) = sweep.next().filter(|_| sweep.phase != Phase::WarmUp) {
            tried.push(ask.rate_per_s.round());
            let up_to = match sweep.settled_per_s {
                Some(settled) if 4000.0 < settled => 3000.0,
                Some(settled) if 3000.0 < settled => 3900.0,
                _ => 3500.0,
            };
            sweep.take(&ask, give(&ask, up_to));
        }
        let first: Vec<f64> = vec![10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0, 100.0];
        assert_eq!(tried[..11], first);
        assert_eq!(tried[21..27], [200.0, 220.0, 244.0, 273.0, 307.0, 349.0]);
        assert!(tried.contains(&3295.0) && tried.contains(&3934.0), "{tried:?}");
        // The published run rounded each rate.
        assert!((sweep.attempted_per_s - 4187.0).abs() < 1.0, "{}", sweep.attempted_per_s);
        assert_eq!(sweep.settled_per_s.map(f64::round), Some(4038.0));
    }

    #[test]
    fn levels_end_after_three_failures_in_a_row_and_each_is_retried_once() {
        let mut sweep = Sweep::new(SweepConfig { poisson_deviations: 0.0, ..SweepConfig::new(limits()) });
        let mut asks = Vec::new();
        while let Some(ask) = sweep.next() {
            sweep.take(&ask, give(&ask, 500.0));
            asks.push(ask);
        }
        let levels: Vec<_> = asks.iter().filter(|ask| ask.step == CapacityStep::Level).collect();
        let failed: Vec<_> = sweep.levels.iter().filter(|level| !level.is_sustained).collect();
        assert_eq!(failed.len(), 3);
        assert_eq!(levels.len(), sweep.levels.len() + 3, "one more try for each of the failed ones");
        let capacity = sweep.capacity();
        let max = capacity.max_rate_per_s.expect("levels were kept").estimate;
        // Within a level and the tolerance of what the server answers.
        assert!((max / 500.0 - 1.0).abs() < 0.025, "{max}");
        assert_eq!(capacity.limits[0].rate_per_s.map(|rate| (rate.low, rate.high)), Some((None, None)));
    }

    #[test]
    fn a_server_that_answers_nothing_ends_the_sweep() {
        let mut sweep = Sweep::new(SweepConfig::new(limits()));
        let mut windows = 0;
        while let Some(ask) = sweep.next() {
            windows += 1;
            sweep.take(&ask, WindowResult { answers: 0, ..give(&ask, 1.0) });
        }
        assert!(windows < 40, "{windows}");
        assert_eq!(sweep.capacity().critical_rate_per_s, None);
    }
}
