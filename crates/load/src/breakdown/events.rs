//! What is kept of the server-sent events of one operation's answers.

use crate::recorder::{counts, empty_histogram, sum, summary_ms};
use assay_model::EventFigures;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Events of one answer that came together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventsCame {
    /// How many, at least one.
    pub count: u32,
    /// How long the first of them took.
    pub after: After,
}

/// How long an event took, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The first of an answer: from the intended start of its request.
    Start(u64),
    /// Another one: from the event before it.
    Event(u64),
}

/// Times of events, nanoseconds: each event is in one of the two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventRecord {
    #[serde(with = "counts")]
    first: Histogram<u64>,
    #[serde(with = "counts")]
    gaps: Histogram<u64>,
}

impl EventRecord {
    pub fn empty() -> Self {
        EventRecord { first: empty_histogram(), gaps: empty_histogram() }
    }

    pub fn came(&mut self, events: EventsCame) {
        match events.after {
            After::Start(ns) => self.first.saturating_record(ns),
            After::Event(ns) => self.gaps.saturating_record(ns),
        }
        self.gaps.saturating_record_n(0, u64::from(events.count.saturating_sub(1)));
    }

    pub fn add(&mut self, other: &EventRecord) {
        let EventRecord { first, gaps } = other;
        sum(&mut self.first, first);
        sum(&mut self.gaps, gaps);
    }

    pub fn is_possible(&self, requests: u64) -> bool {
        self.first.len() <= requests && (self.gaps.is_empty() || !self.first.is_empty())
    }

    pub fn figures(&self) -> EventFigures {
        EventFigures {
            events: self.first.len().saturating_add(self.gaps.len()),
            first_event_ms: summary_ms(&self.first),
            event_gap_ms: summary_ms(&self.gaps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_come_together_have_no_gap_between_them() {
        let mut record = EventRecord::empty();
        record.came(EventsCame { count: 3, after: After::Start(5_000_000) });
        record.came(EventsCame { count: 1, after: After::Event(7_000_000) });
        let figures = record.figures();
        assert_eq!(figures.events, 4);
        assert!((figures.first_event_ms.max.expect("one") / 5.0 - 1.0).abs() < 0.001);
        assert_eq!(figures.event_gap_ms.p50, Some(0.0));
        assert!((figures.event_gap_ms.max.expect("one") / 7.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn where_no_event_came_there_are_none_and_no_times() {
        let figures = EventRecord::empty().figures();
        assert_eq!((figures.events, figures.first_event_ms.p50, figures.event_gap_ms.max), (0, None, None));
    }
}
