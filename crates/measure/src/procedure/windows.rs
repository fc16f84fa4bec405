//! Windows of one load, measured one after the other on a server that is warm.

use super::contract::{Measurement, Procedure, Turn, With};
use crate::attribution::of_slowest;
use crate::config::Bounds;
use crate::judge;
use crate::seen::{Seen, WindowLoad, server_cpu_ms};
use crate::validity::{WindowFacts, check_window};
use crate::warm_up::{WarmUpPlan, WarmedUp, warm_up};
use crate::window::is_sustained;
use assay_load::{Load, LoadError, LoadWindow, Measured, summary_ms};
use assay_model::{Check, Disturbance, Problem, WarmUp, Window, metric};
use std::time::Duration;

/// Requests that take longer than this part of the 99th percentile of warm-up are kept, so that the slowest hundredth of a window is
/// among them also where a window is twice as fast.
const KEPT_PART: f64 = 0.5;
/// Where there was no warm-up.
const KEPT_ABOVE: Duration = Duration::from_millis(1);

/// Checks that make a window useless when they fail: what was loaded was not what was asked for, or no answers were right. The
/// others say something of the server, and the window counts with that mark.
const SPOILING: [Check; 5] =
    [Check::Errors, Check::GeneratorLag, Check::Mix, Check::Arrivals, Check::SentRate];

/// Windows of one load.
#[derive(Debug, Clone)]
pub struct Windows {
    /// The load.
    pub load: Load,
    /// Load before each window that is not counted.
    pub settle: Duration,
    /// Length of a window.
    pub length: Duration,
    /// How the server is warmed up; absent: not at all.
    pub warm_up: Option<WarmUpPlan>,
    /// What is accepted.
    pub bounds: Bounds,
    /// Connections of the load source at most.
    pub connections: u32,
    /// How warm-up went, once it is over.
    pub warmed_up: Option<WarmedUp>,
}

impl Procedure for Windows {
    fn warm_up(&mut self, with: &mut With<'_>) -> Result<Option<WarmUp>, LoadError> {
        let Some(plan) = &self.warm_up else { return Ok(None) };
        let warmed_up = warm_up(plan, with.source, with.watcher, with.stop, with.on_event)?;
        Ok(Some(self.warmed_up.insert(warmed_up).warm_up.clone()))
    }

    fn measure(&mut self, with: &mut With<'_>, turn: Turn) -> Result<Option<Measurement>, LoadError> {
        let p99_ms = self.warmed_up.as_ref().and_then(|w| w.response_p99_ms);
        let kept_above = p99_ms.map_or(KEPT_ABOVE, |ms| Duration::from_secs_f64(KEPT_PART * ms / 1e3));
        let wanted = LoadWindow {
            load: self.load,
            settle: self.settle,
            length: self.length,
            slow_above: Some(kept_above),
        };
        let machine = with.watcher.machine_speed();
        let logs = with.watcher.begin_window();
        let measured = with.source.logged_window(&wanted, logs, with.stop, &mut |_| ())?;
        with.watcher.end_load(&measured);
        if measured.stopped {
            return Ok(None);
        }
        let seen = with.watcher.seen(measured.start_monotonic_ns, measured.end_monotonic_ns);
        let seen = Seen { machine, ..seen };
        let mut window = self.window(&measured, &seen, with.watcher.knows_server(), turn);
        window.attribution = of_slowest(&measured, kept_above, &seen);
        with.watcher.end_window(&WindowLoad { measured: &measured, is_last: turn.is_last }, &mut window);
        Ok(Some(Measurement { window, capacity: None, audit: None }))
    }
}

impl Windows {
    fn window(&self, measured: &Measured, seen: &Seen, knows_server: bool, turn: Turn) -> Window {
        let mut window = window_of(measured, turn);
        window.disturbances = judge::disturbances(&self.bounds, measured, seen, knows_server);
        window.machine = seen.machine;
        match server_cpu_ms(measured, seen) {
            Some(cpu_ms) => drop(window.metrics.insert(metric::CPU_MS_PER_REQUEST.to_owned(), cpu_ms)),
            None if measured.completed == 0 => {
                window.problems.push(Problem::new(metric::CPU_MS_PER_REQUEST, "no request completed"));
            }
            None => window.problems.push(Problem::new(
                metric::CPU_MS_PER_REQUEST,
                "the window is too short to read CPU time twice",
            )),
        }
        let Some(detail) = &measured.detail else { return window };
        let facts = WindowFacts {
            is_sustained: is_sustained(measured.requests, measured.completed),
            is_told: true,
            left_out: window.disturbances.iter().map(|d| d.evidence.clone()).collect(),
            ..WindowFacts::of(measured, detail, seen, &[], &self.bounds)
        };
        window.checks =
            check_window(facts, self.warmed_up.clone(), self.connections, knows_server, &self.bounds);
        for check in window.checks.iter().filter(|check| check.passed == Some(false)) {
            let is_told = window.disturbances.iter().any(|d| d.kind == check.check);
            if SPOILING.contains(&check.check) && !is_told {
                let evidence = check.evidence.clone();
                window.disturbances.push(Disturbance { kind: check.check, evidence });
            }
        }
        window
    }
}

fn window_of(measured: &Measured, turn: Turn) -> Window {
    let (response_ms, service_ms) = (summary_ms(&measured.response), summary_ms(&measured.service));
    let throughput = measured.completed as f64 / measured.seconds();
    let known = [
        (metric::THROUGHPUT_PER_S, Some(throughput).filter(|t| t.is_finite())),
        (metric::RESPONSE_P50_MS, response_ms.p50),
        (metric::RESPONSE_P99_MS, response_ms.p99),
    ];
    Window {
        block: turn.block,
        attempt: turn.attempt,
        start_monotonic_ns: measured.start_monotonic_ns,
        end_monotonic_ns: measured.end_monotonic_ns,
        requests: measured.completed,
        errors: measured.errors(),
        metrics: known.into_iter().filter_map(|(id, value)| Some((id.to_owned(), value?))).collect(),
        response_ms,
        service_ms,
        send_lag_ms: summary_ms(&measured.send_lag),
        operations: measured.operations.clone(),
        disturbances: Vec::new(),
        machine: None,
        checks: Vec::new(),
        attribution: None,
        problems: measured.problems.clone(),
    }
}
