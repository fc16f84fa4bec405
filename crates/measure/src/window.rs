//! A window of load, the same for every procedure: how it is run, and what is stored of it.

use crate::attribution::of_slowest;
use crate::config::Bounds;
use crate::event::MeasureEvent;
use crate::judge;
use crate::measurement::MeasurementId;
use crate::observation::{Observation, Watcher, server_cpu_ms};
use crate::validity::{WindowFacts, check_window};
use crate::warm_up::WarmedUp;
use assay_linux::monotonic_ns;
use assay_load::{Load, LoadError, LoadSource, LoadWindow, Measured, summary_ms};
use assay_model::{LatencyLimit, Problem, Window, metric};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What holds for every window of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Common<'a> {
    /// What is accepted.
    pub bounds: &'a Bounds,
    /// Limits of the response time; none where windows have none.
    pub limits: &'a [LatencyLimit],
    /// Requests that took longer are kept one by one.
    pub kept_above: Duration,
    /// Connections of the load source at most.
    pub connections: u32,
    /// How warm-up went, if there was one.
    pub warmed_up: Option<&'a WarmedUp>,
    /// Whether the server's own process is known.
    pub knows_server: bool,
    /// Which measurement it is.
    pub turn: MeasurementId,
}

/// Runs a window of load and samples the server and the machine during it. Returns `None` if it was stopped. Tells when the
/// load begins, and how far it is.
///
/// # Errors
/// Those of [`LoadSource::window`].
pub(crate) fn run(
    wanted: &LoadWindow,
    source: &mut dyn LoadSource,
    watcher: &mut dyn Watcher,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(MeasureEvent),
) -> Result<Option<(Measured, Observation)>, LoadError> {
    let machine = watcher.machine_speed();
    let logs = watcher.begin_window(wanted.settle);
    let settle_ns = u64::try_from(wanted.settle.as_nanos()).unwrap_or(u64::MAX);
    on_event(MeasureEvent::WindowBegins { start_monotonic_ns: monotonic_ns().saturating_add(settle_ns) });
    let planned_s = (wanted.settle + wanted.length).as_secs_f64();
    let offered_rate_per_s = match wanted.load {
        Load::Open { rate_per_s, .. } => Some(rate_per_s),
        Load::Closed { .. } => None,
    };
    let mut on_progress = |progress| {
        let of_load = || MeasureEvent::Load { progress, planned_s, offered_rate_per_s };
        on_event(MeasureEvent::of_sessions(&progress).unwrap_or_else(of_load));
    };
    let measured = source.logged_window(wanted, logs, stop, &mut on_progress)?;
    watcher.end_load(&measured);
    if measured.stopped {
        return Ok(None);
    }
    let seen = watcher.seen(measured.start_monotonic_ns, measured.end_monotonic_ns);
    Ok(Some((measured, Observation { machine, ..seen })))
}

/// The stored form of a window, with what disturbed it, what was checked, and why its slowest requests took long; and what is judged
/// of it.
pub(crate) fn judged(measured: &Measured, seen: &Observation, common: &Common<'_>) -> (Window, WindowFacts) {
    let Common { bounds, knows_server, .. } = *common;
    let mut window = figures(measured, seen, common);
    window.disturbances = judge::disturbances(bounds, measured, seen, knows_server);
    let facts = WindowFacts {
        disturbances: window.disturbances.clone(),
        ..WindowFacts::of(measured, seen, common.limits, bounds)
    };
    let (checks, facts) = check_window(facts, common.warmed_up, common.connections, knows_server, bounds);
    window.checks = checks;
    window.attribution = of_slowest(measured, common.kept_above, seen);
    (window, facts)
}

/// Of each completed request. Injectors report the share of the busiest one only.
fn generator_cpu_ms(measured: &Measured) -> Option<f64> {
    let share = measured.generator_cpu_share().filter(|_| measured.injectors.is_empty())?;
    let length_ns = measured.end_monotonic_ns.saturating_sub(measured.start_monotonic_ns);
    (0 < measured.completed).then(|| share * length_ns as f64 / 1e6 / measured.completed as f64)
}

fn figures(measured: &Measured, seen: &Observation, common: &Common<'_>) -> Window {
    let response_ms = summary_ms(&measured.response);
    let cpu_ms = server_cpu_ms(measured, seen);
    let known = [
        (metric::THROUGHPUT_PER_S, measured.achieved_rate_per_s()),
        (metric::RESPONSE_P50_MS, response_ms.p50),
        (metric::RESPONSE_P99_MS, response_ms.p99),
        (metric::CPU_MS_PER_REQUEST, cpu_ms),
        (
            metric::CPU_WITHOUT_JIT_MS_PER_REQUEST,
            cpu_ms.zip(seen.compilers_share()).map(|(ms, compilers)| ms * (1.0 - compilers)),
        ),
        (metric::GENERATOR_CPU_MS_PER_REQUEST, generator_cpu_ms(measured)),
    ];
    let no_cpu = match cpu_ms {
        Some(_) => None,
        None if measured.completed == 0 => Some("no request completed"),
        None if common.knows_server => Some("the window is too short to read CPU time twice"),
        None => Some("the server's process is not known"),
    };
    let no_cpu = no_cpu.map(|why| Problem::new(metric::CPU_MS_PER_REQUEST, why));
    Window {
        block: common.turn.block,
        attempt: common.turn.attempt,
        start_monotonic_ns: measured.start_monotonic_ns,
        end_monotonic_ns: measured.end_monotonic_ns,
        requests: measured.requests,
        completed: measured.completed,
        errors: measured.errors(),
        metrics: known.into_iter().filter_map(|(id, value)| Some((id.to_owned(), value?))).collect(),
        response_ms,
        service_ms: summary_ms(&measured.service),
        send_lag_ms: summary_ms(&measured.send_lag),
        generator_cpu_share: measured.generator_cpu_share(),
        operations: measured.operation_figures(),
        machine: seen.machine,
        problems: measured.problems.iter().cloned().chain(no_cpu).collect(),
        ..Window::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::InjectorPart;

    #[test]
    fn the_generator_s_time_of_a_request_leaves_out_what_it_used_outside_of_the_window() {
        let load = Load::Closed { users: 1, think: None };
        let of = |completed, injectors: Vec<InjectorPart>| {
            // Half of a processor in 3 s of load, of which the window is 2 s.
            let measured = Measured {
                completed,
                generator_cpu_ns: 1_500_000_000,
                generator_wall_ns: 3_000_000_000,
                injectors,
                ..Measured::empty(load, 1, (0, 2_000_000_000))
            };
            generator_cpu_ms(&measured)
        };
        assert_eq!(of(1000, vec![]), Some(1.0));
        assert_eq!(of(0, vec![]), None, "absent, not infinite");
        assert_eq!(of(1000, vec![InjectorPart::default()]), None, "of several the busiest alone is known");
    }
}
