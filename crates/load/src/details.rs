//! What a result gives of a load run in detail: operations with their figures, rates and response times over time, the percentile
//! curve, the slowest requests.

use crate::measured::Measured;
use assay_model::{LatencyPoint, LoadInterval, OperationCount, Protocol, RatePoint, SlowestRequest};
use assay_scenario::RateSchedule;

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;
/// Most points of a rate over time; a second each of a shorter run.
const RATE_POINTS_MAX: usize = 240;

impl Measured {
    /// The operations, each with what its requests took and how they ended.
    pub fn operation_figures(&self) -> Vec<OperationCount> {
        let has_statuses = matches!(self.spoken.protocol, Protocol::Http1 | Protocol::Http2);
        let operations = self.operations.iter().enumerate();
        let with_figures = operations.map(|(at, of)| OperationCount {
            figures: self.breakdown.operations.get(at).map(|kept| kept.figures(self.seconds(), has_statuses)),
            ..of.clone()
        });
        with_figures.collect()
    }

    /// Requests and their response times over time.
    pub fn timeline(&self) -> Vec<LoadInterval> {
        let ended_ns = self.end_monotonic_ns.saturating_sub(self.start_monotonic_ns);
        let at = |after_ns| self.start_monotonic_ns.saturating_add(after_ns);
        let answered = |from_ns, to_ns| self.completions.completed_between(at(from_ns), at(to_ns));
        self.breakdown.intervals.stored(ended_ns, answered)
    }

    /// The slowest requests, the slowest first.
    pub fn slowest(&self) -> Vec<SlowestRequest> {
        let ms = |ns: u64| ns as f64 / NS_PER_MS;
        let name = |at: u32| self.operations.get(at as usize).map(|of| of.name.clone());
        let slowest = self.breakdown.slowest.iter().map(|one| SlowestRequest {
            operation: one.operation.and_then(name),
            at_s: one.after_ns as f64 / NS_PER_S,
            response_ms: ms(one.response_ns),
            service_ms: one.service_ns.map(ms),
            failed: one.failed,
        });
        slowest.collect()
    }

    /// The rate that was offered along a schedule and the one that was answered, over time.
    pub fn rates(&self, schedule: &RateSchedule) -> Vec<RatePoint> {
        let length_s = self.seconds();
        let points = (length_s.ceil() as usize).clamp(1, RATE_POINTS_MAX);
        let at_s = |point: usize| length_s * point as f64 / points as f64;
        let ns = |s: f64| self.start_monotonic_ns + (s * NS_PER_S) as u64;
        let rates = |point: usize| {
            let (from_s, to_s) = (at_s(point), at_s(point + 1));
            let answered = self.completions.completed_between(ns(from_s), ns(to_s));
            RatePoint {
                from_s,
                to_s,
                offered_per_s: schedule.mean_rate_per_s(from_s, to_s),
                answered_per_s: answered / (to_s - from_s),
            }
        };
        if length_s > 0.0 { (0..points).map(rates).collect() } else { Vec::new() }
    }

    /// The response times as a curve, with percentiles equally far apart in the number of nines, as far as the
    /// number of requests carries: a percentile that less than one request lies above is left out.
    pub fn response_curve(&self) -> Vec<LatencyPoint> {
        let ms_at = |quantile: f64| self.response.value_at_quantile(quantile) as f64 / NS_PER_MS;
        LatencyPoint::curve(self.response.len(), ms_at)
    }
}
