//! How users began their sessions: requests that belong to no operation's figures, counted and timed on their own.

use crate::recorder::{counts, empty_histogram, sum, summary_ms};
use assay_model::SessionStartSummary;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Starts of sessions outside of the figures. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionStarts {
    /// From the first request of a start until the last is answered, of those that came to an end.
    #[serde(with = "counts")]
    pub times: Histogram<u64>,
    /// Those that failed; each is tried again.
    pub failed: u64,
    /// Sessions that the server ended, after which users had to begin again.
    pub ended_by_server: u64,
    /// Those that were made while requests were recorded.
    pub in_window: u64,
    /// The first failure: operation and answer.
    pub failure: Option<String>,
}

impl SessionStarts {
    /// None yet.
    pub fn none() -> SessionStarts {
        SessionStarts { times: empty_histogram(), failed: 0, ended_by_server: 0, in_window: 0, failure: None }
    }

    /// Those of another generator or another run, too.
    pub fn add_all(&mut self, others: &SessionStarts) {
        // Named one by one, so that what is added to it later cannot be forgotten here.
        let SessionStarts { times, failed, ended_by_server, in_window, failure } = others;
        sum(&mut self.times, times);
        self.failed = self.failed.saturating_add(*failed);
        self.ended_by_server = self.ended_by_server.saturating_add(*ended_by_server);
        self.in_window = self.in_window.saturating_add(*in_window);
        self.failure = self.failure.take().or_else(|| failure.clone());
    }

    /// The stored form; absent for none.
    pub fn summary(&self) -> Option<SessionStartSummary> {
        let is_any = 0 < self.times.len().saturating_add(self.failed);
        is_any.then(|| SessionStartSummary {
            count: self.times.len(),
            failed: self.failed,
            ended_by_server: self.ended_by_server,
            in_window: self.in_window,
            ms: summary_ms(&self.times),
        })
    }
}
