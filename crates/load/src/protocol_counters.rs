//! Protocol events on the connections of a load run.

use crate::recorder::{counts, empty_histogram, sum, summary_ms};
use assay_model::{Protocol, ProtocolSummary};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Counts that belong to connections, not to single requests. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProtocolCounters {
    /// On all of them.
    pub protocol: Protocol,
    /// Requests that one may carry at once, as asked.
    pub streams: u32,
    /// The fewest that the server allowed, where it allowed fewer.
    pub streams_allowed: Option<u32>,
    /// Those on which the server took no more requests and said so.
    pub left: u64,
    /// Requests that the server failed alone.
    pub reset: u64,
    /// Messages that the server sent unasked.
    pub pushed: u64,
    /// From the accepted and secure connection to the first request that it can carry, where anything is said before.
    #[serde(with = "counts")]
    pub openings: Histogram<u64>,
}

impl ProtocolCounters {
    /// Nothing yet.
    pub fn nothing(protocol: Protocol, streams: usize) -> ProtocolCounters {
        let streams = u32::try_from(streams).unwrap_or(u32::MAX);
        ProtocolCounters {
            protocol,
            streams,
            streams_allowed: None,
            left: 0,
            reset: 0,
            pushed: 0,
            openings: empty_histogram(),
        }
    }

    /// A server allows so many requests at once on a connection.
    pub(crate) fn allowed(&mut self, streams: usize) {
        let streams = u32::try_from(streams).unwrap_or(u32::MAX);
        if streams < self.streams {
            self.streams_allowed = Some(self.streams_allowed.map_or(streams, |fewest| fewest.min(streams)));
        }
    }

    /// What was spoken on the connections of another generator, too.
    pub fn add_all(&mut self, others: &ProtocolCounters) {
        // Named one by one, so that what is added to it later cannot be forgotten here.
        let ProtocolCounters { protocol, streams, streams_allowed, left, reset, pushed, openings } = others;
        (self.protocol, self.streams) = (*protocol, *streams);
        self.streams_allowed = self.streams_allowed.into_iter().chain(*streams_allowed).min();
        self.left = self.left.saturating_add(*left);
        self.reset = self.reset.saturating_add(*reset);
        self.pushed = self.pushed.saturating_add(*pushed);
        sum(&mut self.openings, openings);
    }

    /// The stored form.
    pub(crate) fn summary(&self) -> Option<ProtocolSummary> {
        (self.protocol != Protocol::Other).then(|| ProtocolSummary {
            name: self.protocol,
            streams: self.streams,
            streams_allowed_min: self.streams_allowed,
            closed_by_server: self.left,
            reset_by_server: self.reset,
            pushed_by_server: (self.protocol == Protocol::WebSocket).then_some(self.pushed),
            opening_ms: (!self.openings.is_empty()).then(|| summary_ms(&self.openings)),
        })
    }
}
