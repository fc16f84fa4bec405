//! One window of load: its figures in the stored form, and in the form that a method takes.

use crate::config::CapacityConfig;
use crate::seen::{Seen, server_cpu_ms};
use assay_load::{Measured, WindowDetail, summary_ms};
use assay_model::{CapacityStep, CapacityWindow, Problem};
use assay_stats::capacity::{Ask, LoadWindow, Step};

const NS_PER_MS: f64 = 1e6;

/// Answers that may lack in a window whose server keeps up: 1 % of the requests, and three times the root of their number, by
/// which a window's requests differ from those of the one before by chance.
pub(crate) fn is_sustained(requests: u64, answers: u64) -> bool {
    let requests = requests as f64;
    0.0 < requests && requests <= answers as f64 + 0.01 * requests + 3.0 * requests.sqrt()
}

/// A step in the stored form.
pub(crate) fn stored_step(step: Step) -> CapacityStep {
    match step {
        Step::Bracket => CapacityStep::Bracket,
        Step::Refine => CapacityStep::Refine,
        Step::Confirm => CapacityStep::Confirm,
        Step::Overload => CapacityStep::Overload,
        Step::Level => CapacityStep::Level,
    }
}

/// A limit in nanoseconds.
pub(crate) fn limit_ns(limit_ms: f64) -> u64 {
    (limit_ms * NS_PER_MS) as u64
}

/// The stored form of a window; `left_out` says why it does not count.
pub(crate) fn stored(
    config: &CapacityConfig,
    ask: &Ask,
    measured: &Measured,
    detail: &WindowDetail,
    seen: &Seen,
    left_out: Vec<String>,
) -> CapacityWindow {
    let seconds = measured.seconds();
    let per_s = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    let has_requests = !measured.response.is_empty();
    let ms = |ns: u64| ns as f64 / NS_PER_MS;
    CapacityWindow {
        step: stored_step(ask.step),
        start_monotonic_ns: measured.start_monotonic_ns,
        rest_s: ask.rest_s,
        settle_s: ask.settle_s,
        window_s: seconds,
        asked_rate_per_s: ask.rate_per_s,
        sent_rate_per_s: per_s(measured.service.len()),
        reached_rate_per_s: per_s(measured.completed),
        requests: measured.requests,
        errors: measured.errors(),
        misses: config.limits_ms.iter().map(|limit| detail.misses(limit_ns(*limit))).collect(),
        response_ms_min: has_requests.then(|| ms(measured.response.min())),
        response_ms_p90: has_requests.then(|| ms(measured.response.value_at_quantile(0.9))),
        response_ms: summary_ms(&measured.response),
        limited_ms: detail.percentile_ns(config.percentile, measured.response.max()).map(ms),
        send_lag_ms_p99: summary_ms(&measured.send_lag).p99,
        generator_cpu_share: measured.generator_cpu_share(),
        server_cpu_ms: server_cpu_ms(measured, seen),
        machine: seen.machine,
        is_sustained: is_sustained(measured.requests, measured.completed),
        left_out,
    }
}

/// The form that a method takes. It knows one count of requests, against which both answers and misses stand: where limits hold
/// for some operations only, misses are given in the proportion that they have among those.
pub(crate) fn for_method(window: &CapacityWindow, detail: &WindowDetail) -> LoadWindow {
    let limited = detail.requests();
    let scaled = |misses: &u64| {
        if limited == 0 || limited == window.requests {
            return *misses;
        }
        (*misses as f64 * window.requests as f64 / limited as f64).round() as u64
    };
    LoadWindow {
        rate_per_s: window.asked_rate_per_s,
        window_s: window.window_s,
        requests: window.requests,
        answers: (window.reached_rate_per_s * window.window_s).round() as u64,
        misses: window.misses.iter().map(scaled).collect(),
        percentile_ms: window.limited_ms,
    }
}

/// What was kept of a window; a source that keeps nothing cannot be used.
pub(crate) fn detail_of(measured: &Measured) -> Result<&WindowDetail, Problem> {
    let lacks = || Problem::new("load", "the load source keeps no response times of limited operations");
    measured.detail.as_ref().ok_or_else(lacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_sustained_up_to_a_percent_and_chance() {
        assert!(is_sustained(10_000, 9_600));
        assert!(!is_sustained(10_000, 9_599));
        assert!(is_sustained(10, 5) && !is_sustained(0, 0) && !is_sustained(1_000_000, 980_000));
    }

    #[test]
    fn misses_keep_their_share_where_limits_hold_for_some_operations() {
        let mut detail = WindowDetail::empty();
        detail.limited.record_n(20_000_000, 500).expect("in range");
        let window = CapacityWindow {
            step: CapacityStep::Refine,
            start_monotonic_ns: 0,
            rest_s: 0.0,
            settle_s: 1.0,
            window_s: 2.0,
            asked_rate_per_s: 500.0,
            sent_rate_per_s: 500.0,
            reached_rate_per_s: 499.5,
            requests: 1_000,
            errors: 0,
            misses: vec![500, 0],
            response_ms_min: None,
            response_ms_p90: None,
            response_ms: Default::default(),
            limited_ms: Some(20.0),
            send_lag_ms_p99: None,
            generator_cpu_share: None,
            server_cpu_ms: None,
            machine: None,
            is_sustained: true,
            left_out: Vec::new(),
        };
        let given = for_method(&window, &detail);
        assert_eq!((given.requests, given.answers, given.misses), (1_000, 999, vec![1_000, 0]));
    }
}
