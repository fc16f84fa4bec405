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

/// Details of a load run, kept besides its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowDetail {
    /// Response times of right answers, nanoseconds from the intended start, of the operations that limits hold for.
    #[serde(with = "counts")]
    pub limited: Histogram<u64>,
    /// Failed requests of these operations; one that never became an operation is among them.
    pub limited_failed: u64,
    /// Requests of these operations that took longer than asked, in the order in which they ended.
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
            limited: empty_histogram(),
            limited_failed: 0,
            slow: Vec::new(),
            slow_not_kept: 0,
            connection_waits: 0,
            gaps: empty_histogram(),
        }
    }

    /// Requests of the limited operations, failed ones included.
    pub fn requests(&self) -> u64 {
        self.limited.len().saturating_add(self.limited_failed)
    }

    /// Requests that took longer than a limit, or failed. The histogram resolves times to 0.1 %; one that it cannot distinguish
    /// from the limit keeps it.
    pub fn misses(&self, limit_ns: u64) -> u64 {
        let above = self.limited.highest_equivalent(limit_ns).saturating_add(1);
        let high = self.limited.high().max(above);
        self.limited.count_between(above, high).saturating_add(self.limited_failed)
    }

    /// A percentile, 0 to 100, of the response times, nanoseconds. A failed request took longer than any right answer;
    /// where the percentile falls on one it is the longest time there was, at least `failed_ns`. Absent without requests.
    pub fn percentile_ns(&self, percentile: f64, failed_ns: u64) -> Option<u64> {
        let requests = self.requests();
        if requests == 0 {
            return None;
        }
        let rank = ((percentile / 100.0 * requests as f64).ceil() as u64).clamp(1, requests);
        if rank <= self.limited.len() {
            // The middle of the rank: no rounding of the quotient can reach its neighbours.
            return Some(self.limited.value_at_quantile((rank as f64 - 0.5) / self.limited.len() as f64));
        }
        Some(self.limited.max().max(failed_ns))
    }
}

/// Fills a [`WindowDetail`] while the load runs.
pub struct WindowRecorder {
    /// For each operation of the scenario: whether limits hold for it.
    is_limited: Vec<bool>,
    slow_above_ns: Option<u64>,
    last_sent: Option<u64>,
    detail: WindowDetail,
}

impl WindowRecorder {
    /// For operations in the scenario's order; requests that take longer than `slow_above_ns` are kept one by one.
    pub fn new(is_limited: Vec<bool>, slow_above_ns: Option<u64>) -> Self {
        let mut detail = WindowDetail::empty();
        if slow_above_ns.is_some() {
            detail.slow.reserve_exact(SLOW_REQUESTS_MAX);
        }
        WindowRecorder { is_limited, slow_above_ns, last_sent: None, detail }
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
        if !operation.is_none_or(|at| self.is_limited.get(at).copied().unwrap_or(true)) {
            return;
        }
        let response_ns = times.response_ns();
        if is_right {
            self.detail.limited.saturating_record(response_ns);
        } else {
            self.detail.limited_failed += 1;
        }
        if self.slow_above_ns.is_none_or(|above| response_ns <= above) {
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
        WindowRecorder::new(vec![true, false], Some(slow_above_ms * MS))
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
        assert_eq!((detail.requests(), detail.limited_failed), (100, 2));
        assert_eq!([10, 50, 98, 5_000].map(|ms| detail.misses(ms * MS)), [90, 50, 2, 2]);
        let percentile = |p| detail.percentile_ns(p, 700 * MS).map(|ns| ns / MS);
        assert_eq!([50.0, 98.0, 99.0, 100.0].map(percentile), [Some(50), Some(98), Some(700), Some(700)]);
        assert_eq!(
            detail.slow.len(),
            89,
            "88 right ones beyond 10 ms, and the one that never became an operation"
        );
        assert_eq!(WindowDetail::empty().percentile_ns(99.0, 1), None);
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
