//! What is asked of a load, and how far it got.

use crate::arrivals::ArrivalLaw;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The law of one load run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Load {
    /// Requests start when the arrivals say, whether the server keeps up or not.
    Open {
        /// How intended starts are spread.
        arrivals: ArrivalLaw,
        /// Requests per second.
        rate_per_s: f64,
    },
    /// Each user waits for the answer, thinks, and sends the next request: finds what the server can do at most.
    Closed {
        /// Number of users.
        users: u32,
        /// Time from an answer to the user's next request; absent: as the scenario says.
        think: Option<Duration>,
    },
}

/// How far a run has got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Since the start of the run.
    pub elapsed: Duration,
    /// Requests that are finished, well or not.
    pub requests: u64,
    /// Of these, answered correctly.
    pub completed: u64,
    /// Of these, failed.
    pub errors: u64,
    /// Requests in flight.
    pub in_flight: u32,
    /// Median and 99th percentile of the response times so far; absent before the first, and of several generators together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<(u64, u64)>,
    /// How far users have begun their sessions, before the load; absent during it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting: Option<SessionProgress>,
}

/// How many users have begun their sessions before a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionProgress {
    /// So many have.
    pub begun: u64,
    /// Of so many.
    pub users: u64,
    /// About the time that the others take: at the pace so far, and no faster than the scenario lets them begin.
    pub left: Duration,
}

/// When a load begins, when recording does, and when it ends; `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub begun_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
}
