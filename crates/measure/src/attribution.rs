//! Why requests were late: slow requests and what happened meanwhile, on one time line.
//!
//! A cause counts for a miss when the request had kept the limit without the time that the cause took from it: of a pause the
//! part that lies between intended start and end, of a cause that is known as a mean over an interval that share of the part
//! within. One miss may have several causes, or none of those watched: it stays unexplained then. The queue that a pause
//! leaves behind is not attributed to it, for nothing shows how long it would have been without.
//!
//! What happens all the time touches many misses by chance. So beside the misses overlapped stands how many requests of as many
//! would have been, drawn at random times with the lengths that all requests had.

use crate::limited::times_of;
use crate::observation::{Observation, Span};
use assay_load::{LimitedTimes, Measured, SlowRequest, WindowDetail};
use assay_model::{AttributedCause, LateCause, LatencyLimit, LimitAttribution, OperationCount};
use std::collections::BTreeMap;
use std::time::Duration;

/// Lengths of requests that stand for all when chance is reckoned.
const LENGTHS: u64 = 20;
/// A lateness of the generator, or a wait for a connection, that touches a request. Every one has microseconds of it.
const OWN_TOUCH_NS: u64 = 1_000_000;
const NS_PER_MS: f64 = 1e6;
/// A request that the generator sent later than this was late.
const LATE_NS: u64 = 1_000_000;
/// From which quantile on the requests of a window without limits are its slowest, and how many requests that needs.
const SLOWEST_FROM: f64 = 0.99;
const REQUESTS_MIN: u64 = 100;

/// Why the slowest hundredth of the requests of one window took long, which has no limits of its own. Absent where there were too
/// few, or not all of them were kept one by one; longer ones than `kept_above` were.
pub(crate) fn of_slowest(
    measured: &Measured,
    kept_above: Duration,
    seen: &Observation,
) -> Option<LimitAttribution> {
    let detail = &measured.detail;
    let limit_ns = measured.response.value_at_quantile(SLOWEST_FROM);
    let are_kept = detail.slow_not_kept == 0 && kept_above <= Duration::from_nanos(limit_ns);
    if !are_kept || measured.response.len() < REQUESTS_MIN {
        return None;
    }
    let mut attribution = Attribution::new(&[LatencyLimit::of_all(limit_ns as f64 / NS_PER_MS)], &[]);
    attribution.add(&SlowWindow::of(measured, seen));
    attribution.finish().pop().filter(|of| 0 < of.misses)
}

/// The misses of one window and the observations during it.
#[derive(Debug, Clone, Copy)]
pub struct SlowWindow<'a> {
    /// What the window kept.
    pub detail: &'a WindowDetail,
    /// Times of causes; those of one cause do not overlap.
    pub spans: &'a [Span],
    /// Causes that were looked for.
    pub watched: &'a [LateCause],
    /// Operations of the load, in the scenario's order.
    pub operations: &'a [OperationCount],
    /// Start and end of the window.
    pub range_ns: (u64, u64),
    /// Of all requests of the window, those that the generator sent late by more than a millisecond.
    pub late_share: f64,
}

impl<'a> SlowWindow<'a> {
    /// Of a window as it was measured.
    pub(crate) fn of(measured: &'a Measured, seen: &'a Observation) -> Self {
        let lag = &measured.send_lag;
        let late = lag.count_between(LATE_NS, lag.high().max(LATE_NS));
        SlowWindow {
            detail: &measured.detail,
            spans: &seen.spans,
            watched: &seen.watched,
            operations: &measured.operations,
            range_ns: (measured.start_monotonic_ns, measured.end_monotonic_ns),
            late_share: late as f64 / measured.requests.max(1) as f64,
        }
    }
}

/// Adds up the causes of windows.
#[derive(Debug, Clone)]
pub struct Attribution {
    limits: Vec<LatencyLimit>,
    found: Vec<OfLimit>,
}

#[derive(Debug, Clone)]
struct OfLimit {
    limit: LatencyLimit,
    /// The only operations that it holds for; empty: all.
    operations: Vec<String>,
    misses: u64,
    unexplained: u64,
    causes: BTreeMap<LateCause, OfCause>,
}

#[derive(Debug, Clone, Copy, Default)]
struct OfCause {
    misses: u64,
    overlapped: u64,
    expected: Option<f64>,
}

impl Attribution {
    /// For these limits, of which those of no single operation hold for `limited` together, or for all where that is empty.
    pub fn new(limits: &[LatencyLimit], limited: &[String]) -> Self {
        let of = |limit: &LatencyLimit| OfLimit {
            limit: limit.clone(),
            operations: limit.operation.as_ref().map_or_else(|| limited.to_vec(), |name| vec![name.clone()]),
            misses: 0,
            unexplained: 0,
            causes: BTreeMap::new(),
        };
        Attribution { limits: limits.to_vec(), found: limits.iter().map(of).collect() }
    }

    /// Adds a window.
    pub fn add(&mut self, window: &SlowWindow<'_>) {
        let lines: Vec<(LateCause, TimeLine)> =
            window.watched.iter().map(|cause| (*cause, TimeLine::of(window.spans, *cause))).collect();
        // Of each limit, since the requests that it holds for have lengths of their own.
        let chances = |times: Option<&LimitedTimes>| -> Vec<(LateCause, Option<f64>)> {
            let chance = |line: &TimeLine| line.chance(times?, window.range_ns);
            let of_lines = lines.iter().map(|(cause, line)| (*cause, chance(line)));
            let own = [(LateCause::GeneratorLag, Some(window.late_share)), (LateCause::ConnectionWait, None)];
            of_lines.chain(own).collect()
        };
        let chances: Vec<_> = times_of(window.detail, &self.limits).into_iter().map(chances).collect();
        let mut losses: Vec<Loss> = Vec::with_capacity(chances.len());
        for slow in &window.detail.slow {
            losses.clear();
            losses.extend(lines.iter().map(|(cause, line)| line.loss(*cause, slow)));
            losses.extend(own_losses(slow));
            let response_ns = slow.done_ns.saturating_sub(slow.intended_ns);
            let operation = slow.operation.and_then(|at| window.operations.get(at as usize));
            let holds_for = |of: &OfLimit| {
                of.operations.is_empty() || operation.is_none_or(|slow| of.operations.contains(&slow.name))
            };
            for (limit, chances) in self.found.iter_mut().zip(&chances).filter(|(of, _)| holds_for(of)) {
                limit.add(response_ns, &losses, chances);
            }
        }
    }

    /// The stored form.
    pub fn finish(self) -> Vec<LimitAttribution> {
        self.found.into_iter().map(OfLimit::finish).collect()
    }
}

impl OfLimit {
    fn add(&mut self, response_ns: u64, losses: &[Loss], chances: &[(LateCause, Option<f64>)]) {
        let limit_ns = self.limit.limit_ms * NS_PER_MS;
        if response_ns as f64 <= limit_ns {
            return;
        }
        self.misses += 1;
        let mut is_explained = false;
        for (loss, (_, chance)) in losses.iter().zip(chances) {
            let cause = self.causes.entry(loss.cause).or_default();
            let counts = response_ns as f64 - loss.lost_ns <= limit_ns;
            is_explained |= counts;
            cause.misses += u64::from(counts);
            cause.overlapped += u64::from(loss.is_overlapped);
            if let Some(chance) = chance {
                *cause.expected.get_or_insert(0.0) += chance;
            }
        }
        self.unexplained += u64::from(!is_explained);
    }

    fn finish(self) -> LimitAttribution {
        let mut causes: Vec<AttributedCause> = self
            .causes
            .into_iter()
            .map(|(cause, of)| AttributedCause {
                cause,
                misses: of.misses,
                overlapped: of.overlapped,
                expected: of.expected,
            })
            .collect();
        // Stable: causes that count for equally many stay in the order in which they are listed.
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.misses));
        LimitAttribution {
            limit_ms: self.limit.limit_ms,
            operation: self.limit.operation,
            misses: self.misses,
            causes,
            unexplained: self.unexplained,
        }
    }
}

/// What a cause took from one request.
#[derive(Debug, Clone, Copy)]
struct Loss {
    cause: LateCause,
    lost_ns: f64,
    is_overlapped: bool,
}

/// Time that a request waited for a connection, or a session.
fn wait_ns(slow: &SlowRequest) -> u64 {
    slow.sendable_ns.min(slow.done_ns).saturating_sub(slow.intended_ns)
}

/// What the request's own instants say.
fn own_losses(slow: &SlowRequest) -> [Loss; 2] {
    let of = |cause, ns: u64| Loss { cause, lost_ns: ns as f64, is_overlapped: OWN_TOUCH_NS < ns };
    let lag_ns = slow.sent_ns.map_or(0, |sent_ns| sent_ns.saturating_sub(slow.sendable_ns));
    [of(LateCause::GeneratorLag, lag_ns), of(LateCause::ConnectionWait, wait_ns(slow))]
}

/// The times of one cause in their order, with the time lost until the end of each.
struct TimeLine {
    spans: Vec<Span>,
    lost_until_ns: Vec<f64>,
}

impl TimeLine {
    fn of(spans: &[Span], cause: LateCause) -> Self {
        let mut spans: Vec<Span> = spans
            .iter()
            .filter(|s| s.cause == cause && s.start_ns < s.end_ns && 0.0 < s.share)
            .copied()
            .collect();
        spans.sort_by_key(|span| span.start_ns);
        let lost_until_ns = spans
            .iter()
            .scan(0.0, |sum, span| {
                *sum += span.share.min(1.0) * (span.end_ns - span.start_ns) as f64;
                Some(*sum)
            })
            .collect();
        TimeLine { spans, lost_until_ns }
    }

    /// Time lost before an instant.
    fn lost_before(&self, at_ns: u64) -> f64 {
        let begun = self.spans.partition_point(|span| span.start_ns < at_ns);
        let Some(last) = begun.checked_sub(1) else { return 0.0 };
        let span = self.spans[last];
        let rest_ns = span.end_ns.saturating_sub(at_ns) as f64 * span.share.min(1.0);
        self.lost_until_ns[last] - rest_ns
    }

    fn loss(&self, cause: LateCause, slow: &SlowRequest) -> Loss {
        let lost_ns = self.lost_before(slow.done_ns) - self.lost_before(slow.intended_ns);
        Loss { cause, lost_ns, is_overlapped: 0.0 < lost_ns }
    }

    /// How likely the cause touches a request of the window that it has nothing to do with.
    fn chance(&self, times: &LimitedTimes, (from_ns, to_ns): (u64, u64)) -> Option<f64> {
        let all = &times.right;
        if to_ns <= from_ns || all.is_empty() {
            return None;
        }
        let of_length = |number: u64| {
            let length_ns = all.value_at_quantile((number as f64 + 0.5) / LENGTHS as f64);
            self.touching_ns(length_ns, from_ns, to_ns) as f64 / (to_ns - from_ns) as f64
        };
        Some((0..LENGTHS).map(of_length).sum::<f64>() / LENGTHS as f64)
    }

    /// Of the instants in a range, those at which a request of this length can start and meet the cause.
    fn touching_ns(&self, length_ns: u64, from_ns: u64, to_ns: u64) -> u64 {
        let (mut covered_ns, mut until_ns) = (0, from_ns);
        for span in &self.spans {
            let start_ns = span.start_ns.saturating_sub(length_ns).max(until_ns);
            let end_ns = span.end_ns.min(to_ns);
            covered_ns += end_ns.saturating_sub(start_ns);
            until_ns = until_ns.max(end_ns);
        }
        covered_ns
    }
}

#[cfg(test)]
mod tests;
