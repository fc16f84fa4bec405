//! A search for the capacity: many windows of load, which together are the one window of a trial.

use super::contract::{Measurement, Procedure, Turn, With};
use crate::account::ServerData;
use crate::conduct::{Means, measure};
use crate::config::CapacityConfig;
use crate::method::method_of;
use crate::seen::WindowLoad;
use crate::warm_up::{WarmUpPlan, WarmedUp, warm_up};
use assay_load::{IntervalLogs, LoadError, LoadSource, LoadWindow, Measured, Progress};
use assay_model::{
    Audit, CapacityReport, CapacityWindow, Disturbance, LatencySummary, Metric, WarmUp, Window, metric,
};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Problems of a capacity that are told of its window, too; all are in its own report.
const PROBLEMS_MAX: usize = 30;

/// A search for the capacity.
#[derive(Debug, Clone)]
pub struct CapacitySearch {
    /// What is searched for.
    pub config: CapacityConfig,
    /// How the server is warmed up; absent: not at all.
    pub warm_up: Option<WarmUpPlan>,
    /// How warm-up went, once it is over.
    pub warmed_up: Option<WarmedUp>,
}

impl CapacitySearch {
    /// The search alone, for a server that no trial started.
    ///
    /// # Errors
    /// The load source gives no window at all.
    pub fn find(&self, with: &mut With<'_>) -> Result<CapacityReport, LoadError> {
        let throughput_per_s = self.warmed_up.as_ref().and_then(|w| w.throughput_per_s);
        let mut method = method_of(&self.config, throughput_per_s);
        let means = Means {
            source: with.source,
            method: &mut *method,
            watcher: with.watcher,
            data: with.data.as_mut().map(|data| &mut **data as &mut dyn ServerData),
            warmed_up: self.warmed_up.clone(),
        };
        measure(&self.config, means, with.stop, with.on_event)
    }
}

impl Procedure for CapacitySearch {
    fn warm_up(&mut self, with: &mut With<'_>) -> Result<Option<WarmUp>, LoadError> {
        let Some(plan) = &self.warm_up else { return Ok(None) };
        let warmed_up = warm_up(plan, with.source, with.watcher, with.stop, with.on_event)?;
        Ok(Some(self.warmed_up.insert(warmed_up).warm_up.clone()))
    }

    fn measure(&mut self, with: &mut With<'_>, turn: Turn) -> Result<Option<Measurement>, LoadError> {
        let mut source = Kept { source: with.source, last: None };
        let mut data = with.data.as_mut().map(|data| Asked { data: &mut **data, last: None });
        let report = self.find(&mut With {
            source: &mut source,
            watcher: with.watcher,
            data: data.as_mut().map(|data| data as &mut dyn ServerData),
            stop: with.stop,
            on_event: with.on_event,
        })?;
        let audit = data.and_then(|data| data.last);
        let mut window = window_of(&report, turn);
        if let Some(measured) = source.last {
            with.watcher.end_window(&WindowLoad { measured: &measured, is_last: turn.is_last }, &mut window);
        }
        Ok(Some(Measurement { window, capacity: Some(report), audit }))
    }
}

/// Keeps the last window of load, which the observers get.
struct Kept<'a> {
    source: &'a mut dyn LoadSource,
    last: Option<Measured>,
}

impl LoadSource for Kept<'_> {
    fn logged_window(
        &mut self,
        window: &LoadWindow,
        logs: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let measured = self.source.logged_window(window, logs, stop, on_progress)?;
        self.last = Some(measured.clone());
        Ok(measured)
    }

    fn rest(&mut self, length: Duration, stop: &AtomicBool) {
        self.source.rest(length, stop);
    }
}

/// Keeps what the server said last.
struct Asked<'a> {
    data: &'a mut dyn ServerData,
    last: Option<Audit>,
}

impl ServerData for Asked<'_> {
    fn audit(&mut self) -> Option<Audit> {
        self.last = self.data.audit();
        self.last.clone()
    }

    fn reset(&mut self) -> Result<(), String> {
        self.data.reset()
    }
}

/// All windows of load as one of the trial. A capacity that is not valid counts for nothing: each check that failed is a
/// disturbance.
fn window_of(report: &CapacityReport, turn: Turn) -> Window {
    let end_ns = |w: &CapacityWindow| w.start_monotonic_ns.saturating_add((w.window_s.max(0.0) * 1e9) as u64);
    let sum =
        |count: fn(&CapacityWindow) -> u64| report.windows.iter().map(count).fold(0_u64, u64::saturating_add);
    let failed = report.checks.iter().filter(|check| check.passed == Some(false));
    Window {
        block: turn.block,
        attempt: turn.attempt,
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
                kind: check.check,
                evidence: format!("{}: {}", check.check, check.evidence),
            })
            .collect(),
        machine: None,
        checks: Vec::new(),
        attribution: None,
        problems: report.problems.iter().take(PROBLEMS_MAX).cloned().collect(),
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
