//! Protocol events on the connections of a load run.

use crate::protocol::http2::fault;
use crate::protocol::websocket::close;
use crate::recorder::{counts, empty_histogram, sum, summary_ms};
use assay_model::{ClosedByServer, Problem, Protocol, ProtocolSummary};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Those on which the server took no more requests and said so, by the code that it gave.
    pub left: BTreeMap<u32, u64>,
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
            left: BTreeMap::new(),
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

    /// The server ended a connection with this code, which takes the place of one that it gave before.
    pub(crate) fn left(&mut self, code: u32, before: Option<u32>) {
        if let Some(before) = before
            && let Some(count) = self.left.get_mut(&before)
        {
            *count -= 1;
            self.left.retain(|_, count| 0 < *count);
        }
        let count = self.left.entry(code).or_default();
        *count = count.saturating_add(1);
    }

    /// What was spoken on the connections of another generator, too.
    pub fn add_all(&mut self, others: &ProtocolCounters) {
        // Named one by one, so that what is added to it later cannot be forgotten here.
        let ProtocolCounters { protocol, streams, streams_allowed, left, reset, pushed, openings } = others;
        (self.protocol, self.streams) = (*protocol, *streams);
        self.streams_allowed = self.streams_allowed.into_iter().chain(*streams_allowed).min();
        for (code, more) in left {
            let count = self.left.entry(*code).or_default();
            *count = count.saturating_add(*more);
        }
        self.reset = self.reset.saturating_add(*reset);
        self.pushed = self.pushed.saturating_add(*pushed);
        sum(&mut self.openings, openings);
    }

    fn closed(&self, code: u32, connections: u64) -> ClosedByServer {
        let name = match self.protocol {
            Protocol::Http2 => Some(fault::name(code)),
            _ => close::name(code),
        };
        ClosedByServer { code, name: name.map(str::to_owned), connections }
    }

    /// What the server said when it ended connections otherwise than in good order.
    pub(crate) fn findings(&self) -> Vec<Problem> {
        let is_orderly = |code: u32| match self.protocol {
            Protocol::Http2 => code == fault::NO_ERROR,
            _ => close::is_orderly(code),
        };
        let ended = self.left.iter().filter(|(code, _)| !is_orderly(**code));
        ended
            .map(|(code, connections)| {
                let of = self.closed(*code, *connections);
                let what = if *connections == 1 { "connection" } else { "connections" };
                let fix = close::fix(*code).filter(|_| self.protocol != Protocol::Http2);
                let fix = fix.map(|fix| format!("; {fix}")).unwrap_or_default();
                Problem::new(
                    "connections",
                    format!("the server closed {connections} {what} with {}{fix}", of.code_and_name()),
                )
            })
            .collect()
    }

    /// The stored form.
    pub(crate) fn summary(&self) -> Option<ProtocolSummary> {
        (self.protocol != Protocol::Other).then(|| ProtocolSummary {
            name: self.protocol,
            streams: self.streams,
            streams_allowed_min: self.streams_allowed,
            closed_by_server: self.left.values().fold(0, |sum, count| sum.saturating_add(*count)),
            closed_by_code: self
                .left
                .iter()
                .map(|(code, connections)| self.closed(*code, *connections))
                .collect(),
            reset_by_server: self.reset,
            pushed_by_server: (self.protocol == Protocol::WebSocket).then_some(self.pushed),
            opening_ms: (!self.openings.is_empty()).then(|| summary_ms(&self.openings)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_ends_in_good_order_and_then_by_an_error_counts_once_by_the_error() {
        let mut counters = ProtocolCounters::nothing(Protocol::Http2, 1);
        counters.left(fault::NO_ERROR, None);
        counters.left(fault::NO_ERROR, None);
        counters.left(2, Some(fault::NO_ERROR));
        let summary = counters.summary().expect("HTTP/2");
        assert_eq!(summary.closed_by_server, 2);
        let counts: Vec<_> = summary.closed_by_code.iter().map(|of| (of.code, of.connections)).collect();
        assert_eq!(counts, [(0, 1), (2, 1)]);
    }
}
