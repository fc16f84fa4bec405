//! Loads a server until it is steady: slices of load from a few users, until the rule of [`assay_stats`] holds or the time is
//! over.

use crate::event::CapacityEvent;
use crate::seen::Watcher;
use crate::validity::server_cpu_ms;
use assay_load::{Load, LoadError, LoadSource, LoadWindow};
use assay_stats::{Phase, SteadyRule, SteadyState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a server is warmed up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WarmUpPlan {
    /// Users who each wait for their answer: so many requests are in flight at most, whatever the server can do.
    pub users: u32,
    /// Length of a slice.
    pub slice: Duration,
    /// Longest time.
    pub cap: Duration,
}

impl Default for WarmUpPlan {
    /// Eight users, slices of a second, two minutes at most.
    fn default() -> Self {
        WarmUpPlan { users: 8, slice: Duration::from_secs(1), cap: Duration::from_secs(120) }
    }
}

/// How warm-up went.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmedUp {
    /// Whether the rule held, and not only the time was over.
    pub is_steady: bool,
    /// How long it took, seconds.
    pub duration_s: f64,
    /// The rule in words, with the figure that it looked at.
    pub rule: String,
    /// Right answers per second of the last slices: what so few users get is a rate to begin with.
    pub throughput_per_s: Option<f64>,
}

/// Slices that the throughput is taken from.
const LAST_SLICES: usize = 5;

/// Warms a server up. Looked at is the CPU time of the server per request where its process is known, else the median of the
/// service time.
///
/// # Errors
/// Those of the load source.
pub fn warm_up(
    plan: &WarmUpPlan,
    source: &mut dyn LoadSource,
    watcher: &mut dyn Watcher,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(CapacityEvent),
) -> Result<WarmedUp, LoadError> {
    let rule = SteadyRule::default();
    let mut state = SteadyState::new(rule);
    let slice = LoadWindow {
        load: Load::Closed { users: plan.users, think: Duration::ZERO },
        settle: Duration::ZERO,
        length: plan.slice,
        slow_above: None,
    };
    let (mut duration_s, mut rates) = (0.0, Vec::new());
    while state.phase() != Phase::Steady
        && duration_s < plan.cap.as_secs_f64()
        && !stop.load(Ordering::Relaxed)
    {
        let measured = source.window(&slice, stop, &mut |_| ())?;
        let seen = watcher.seen(measured.start_monotonic_ns, measured.end_monotonic_ns);
        let service_ms = measured.service.value_at_quantile(0.5) as f64 / 1e6;
        let figure = match watcher.knows_server() {
            true => server_cpu_ms(&measured, &seen),
            false => Some(service_ms).filter(|_| measured.completed > 0),
        };
        // A slice without an answer has no figure; the rule then starts counting anew.
        state.push(figure.filter(|f| f.is_finite()).unwrap_or(f64::NAN));
        duration_s += measured.seconds();
        let throughput_per_s =
            if measured.seconds() > 0.0 { measured.completed as f64 / measured.seconds() } else { 0.0 };
        rates.push(throughput_per_s);
        on_event(CapacityEvent::WarmUp { elapsed_s: duration_s, throughput_per_s });
    }
    let figure = if watcher.knows_server() { "CPU time per request" } else { "median service time" };
    let is_steady = state.phase() == Phase::Steady;
    on_event(CapacityEvent::WarmedUp { is_steady, duration_s });
    let last = &rates[rates.len().saturating_sub(LAST_SLICES)..];
    Ok(WarmedUp {
        is_steady,
        duration_s,
        rule: format!("{figure} in slices of {} s: {}", plan.slice.as_secs_f64(), rule.describe()),
        throughput_per_s: assay_stats::median(last).filter(|rate| *rate > 0.0),
    })
}
