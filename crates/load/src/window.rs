//! What a window of load keeps beside the histograms of all requests: the response times that limits hold for, slow
//! requests one by one, and how the requests that were sent were spread over time.

use crate::recorder::{RequestTimes, counts, empty_histogram};
use crate::schedule::Waiting;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Slow requests that are kept one by one: 1 MB. The rest is counted.
pub const SLOW_REQUESTS_MAX: usize = 20_000;

/// A shorter wait for a connection is none: one that was just answered is handed on in microseconds.
pub const CONNECTION_WAIT_MIN: Duration = Duration::from_millis(1);

/// A request whose response took long, with its instants on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowRequest {
    /// Position of its operation in the scenario; absent when it was never decided.
    pub operation: Option<u32>,
    /// When it should have started.
    pub intended_ns: u64,
    /// When the generator could have sent it: intended, and a connection and a session were free.
    pub sendable_ns: u64,
    /// When it was sent; absent when it never was.
    pub sent_ns: Option<u64>,
    /// When it was answered, or was known to have failed.
    pub done_ns: u64,
}

/// Requests that limits hold for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitedTimes {
    /// Response times of right answers, nanoseconds from the intended start.
    #[serde(with = "counts")]
    pub right: Histogram<u64>,
    /// Failed requests; one that never became an operation may have been of any, and is among them.
    pub failed: u64,
}

impl LimitedTimes {
    /// Without any request.
    pub fn empty() -> Self {
        LimitedTimes { right: empty_histogram(), failed: 0 }
    }

    fn record(&mut self, response_ns: u64, is_right: bool) {
        if is_right {
            self.right.saturating_record(response_ns);
        } else {
            self.failed += 1;
        }
    }

    /// All of them, failed ones included.
    pub fn requests(&self) -> u64 {
        self.right.len().saturating_add(self.failed)
    }

    /// Requests that took longer than a limit, or failed. The histogram resolves times to 0.1 %; one that it cannot distinguish
    /// from the limit keeps it.
    pub fn misses(&self, limit_ns: u64) -> u64 {
        let above = self.right.highest_equivalent(limit_ns).saturating_add(1);
        let high = self.right.high().max(above);
        self.right.count_between(above, high).saturating_add(self.failed)
    }

    /// A percentile, 0 to 100, of the response times, nanoseconds. A failed request took longer than any right answer;
    /// where the percentile falls on one it is the longest time there was, at least `failed_ns`. Absent without requests.
    pub fn percentile_ns(&self, percentile: f64, failed_ns: u64) -> Option<u64> {
        let requests = self.requests();
        if requests == 0 {
            return None;
        }
        let rank = ((percentile / 100.0 * requests as f64).ceil() as u64).clamp(1, requests);
        if rank <= self.right.len() {
            // The middle of the rank: no rounding of the quotient can reach its neighbours.
            return Some(self.right.value_at_quantile((rank as f64 - 0.5) / self.right.len() as f64));
        }
        Some(self.right.max().max(failed_ns))
    }
}

/// Details of a load run, kept besides its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowDetail {
    /// Requests of the operations that limits hold for together.
    pub limited: LimitedTimes,
    /// Those of each operation with limits of its own, in the order of [`crate::GeneratorConfig::limited_apart`].
    pub apart: Vec<LimitedTimes>,
    /// Requests of all these operations that took longer than asked, in the order in which they ended.
    pub slow: Vec<SlowRequest>,
    /// Slow requests for which there was no room.
    pub slow_not_kept: u64,
    /// Requests of any operation that waited for a free connection or session, longer than [`CONNECTION_WAIT_MIN`].
    pub connection_waits: u64,
    /// Gaps between the intended starts of requests that were sent, one after the other, nanoseconds: whether what the
    /// server got was the asked arrival law. Of several generators, the gaps within each.
    #[serde(with = "counts")]
    pub gaps: Histogram<u64>,
}

impl WindowDetail {
    /// Without any request.
    pub fn empty() -> Self {
        WindowDetail {
            limited: LimitedTimes::empty(),
            apart: Vec::new(),
            slow: Vec::new(),
            slow_not_kept: 0,
            connection_waits: 0,
            gaps: empty_histogram(),
        }
    }
}

/// Operations that limits hold for, by their positions in the scenario.
#[derive(Debug, Clone)]
pub struct Limited {
    /// For each: whether the limits of all hold for it.
    pub together: Vec<bool>,
    /// Those with limits of their own.
    pub apart: Vec<usize>,
}

/// Fills a [`WindowDetail`] while the load runs.
pub struct WindowRecorder {
    limited: Limited,
    slow_above_ns: Option<u64>,
    last_sent: Option<u64>,
    detail: WindowDetail,
}

impl WindowRecorder {
    /// For operations in the scenario's order; requests that take longer than `slow_above_ns` are kept one by one.
    pub fn new(limited: Limited, slow_above_ns: Option<u64>) -> Self {
        let mut detail = WindowDetail::empty();
        detail.apart = limited.apart.iter().map(|_| LimitedTimes::empty()).collect();
        if slow_above_ns.is_some() {
            detail.slow.reserve_exact(SLOW_REQUESTS_MAX);
        }
        WindowRecorder { limited, slow_above_ns, last_sent: None, detail }
    }

    /// A request was given to a connection. In open loop they are, in the order of their intended starts.
    pub fn sent(&mut self, waiting: &Waiting) {
        if waiting.user.is_some() {
            return;
        }
        if let Some(last_ns) = self.last_sent.replace(waiting.intended_ns) {
            self.detail.gaps.saturating_record(waiting.intended_ns.saturating_sub(last_ns));
        }
    }

    /// A request ended.
    pub fn ended(&mut self, operation: Option<usize>, times: &RequestTimes, is_right: bool) {
        let waited_ns = times.sendable_ns.saturating_sub(times.intended_ns);
        self.detail.connection_waits += u64::from(u128::from(waited_ns) > CONNECTION_WAIT_MIN.as_nanos());
        let response_ns = times.response_ns();
        let is_limited = operation.is_none_or(|at| self.limited.together.get(at).copied().unwrap_or(true));
        if is_limited {
            self.detail.limited.record(response_ns, is_right);
        }
        let mut is_apart = false;
        for (own, times) in self.limited.apart.iter().zip(&mut self.detail.apart) {
            if operation.is_none_or(|at| at == *own) {
                times.record(response_ns, is_right);
                is_apart = true;
            }
        }
        let is_slow = self.slow_above_ns.is_some_and(|above| above < response_ns);
        if !is_slow || !(is_limited || is_apart) {
            return;
        }
        if self.detail.slow.len() == SLOW_REQUESTS_MAX {
            self.detail.slow_not_kept += 1;
            return;
        }
        self.detail.slow.push(SlowRequest {
            operation: operation.and_then(|at| u32::try_from(at).ok()),
            intended_ns: times.intended_ns,
            sendable_ns: times.sendable_ns,
            sent_ns: times.sent_ns,
            done_ns: times.done_ns,
        });
    }

    /// What was recorded.
    pub fn into_detail(self) -> WindowDetail {
        self.detail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn times(response_ns: u64) -> RequestTimes {
        RequestTimes { intended_ns: 5, sendable_ns: 5, sent_ns: Some(6), done_ns: 5 + response_ns }
    }

    fn recorder(slow_above_ms: u64) -> WindowRecorder {
        let limited = Limited { together: vec![true, false], apart: Vec::new() };
        WindowRecorder::new(limited, Some(slow_above_ms * MS))
    }

    #[test]
    fn only_limited_operations_count_and_failed_ones_miss_every_limit() {
        let mut recorder = recorder(10);
        for ms in 1..=98 {
            recorder.ended(Some(0), &times(ms * MS), true);
            recorder.ended(Some(1), &times(500 * MS), true);
        }
        recorder.ended(Some(0), &times(MS), false);
        recorder.ended(None, &times(700 * MS), false);
        let detail = recorder.into_detail();
        let limited = &detail.limited;
        assert_eq!((limited.requests(), limited.failed), (100, 2));
        assert_eq!([10, 50, 98, 5_000].map(|ms| limited.misses(ms * MS)), [90, 50, 2, 2]);
        let percentile = |p| limited.percentile_ns(p, 700 * MS).map(|ns| ns / MS);
        assert_eq!([50.0, 98.0, 99.0, 100.0].map(percentile), [Some(50), Some(98), Some(700), Some(700)]);
        assert_eq!(
            detail.slow.len(),
            89,
            "88 right ones beyond 10 ms, and the one that never became an operation"
        );
        assert_eq!(LimitedTimes::empty().percentile_ns(99.0, 1), None);
    }

    #[test]
    fn an_operation_with_limits_of_its_own_is_counted_apart_and_its_slow_requests_are_kept() {
        let limited = Limited { together: vec![true, false, false], apart: vec![1] };
        let mut recorder = WindowRecorder::new(limited, Some(10 * MS));
        for ms in 1..=20 {
            (0..3).for_each(|at| recorder.ended(Some(at), &times(ms * MS), true));
        }
        recorder.ended(Some(1), &times(MS), false);
        recorder.ended(None, &times(30 * MS), false);
        let detail = recorder.into_detail();
        let [own] = detail.apart.as_slice() else { panic!("one operation") };
        assert_eq!((detail.limited.requests(), own.requests(), own.failed), (21, 22, 2));
        assert_eq!([5, 15, 25].map(|ms| own.misses(ms * MS)), [17, 7, 2]);
        assert_eq!(own.percentile_ns(50.0, 30 * MS).map(|ns| ns / MS), Some(11));
        assert_eq!(own.percentile_ns(99.0, 30 * MS).map(|ns| ns / MS), Some(30));
        assert_eq!(detail.slow.len(), 21, "ten of each, and the one that never became an operation");
    }

    #[test]
    fn slow_requests_without_room_are_counted() {
        let mut recorder = recorder(1);
        for _ in 0..SLOW_REQUESTS_MAX + 7 {
            recorder.ended(Some(0), &times(2 * MS), true);
        }
        let detail = recorder.into_detail();
        assert_eq!(
            (detail.slow.len(), detail.slow_not_kept, detail.connection_waits),
            (SLOW_REQUESTS_MAX, 7, 0)
        );
    }

    #[test]
    fn gaps_are_those_of_an_open_loop() {
        let mut recorder = recorder(1);
        for (intended_ns, user) in [(10, None), (30, None), (35, Some(1)), (90, None)] {
            recorder.sent(&Waiting { intended_ns, admitted_ns: intended_ns, user, is_behind_others: false });
        }
        let detail = recorder.into_detail();
        assert_eq!((detail.gaps.len(), detail.gaps.min(), detail.gaps.max()), (2, 20, 60));
    }
}
