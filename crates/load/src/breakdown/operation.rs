//! What is kept of one operation.

use super::events::{EventRecord, EventsCame};
use crate::error_kind::ErrorKind;
use crate::grpc;
use crate::recorder::{counts, empty_histogram, sum, summary_ms};
use assay_model::{ErrorCount, OperationFigures, StatusCount};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Different statuses that are counted apart: all that a server in its right mind sends.
const STATUSES_MAX: usize = 64;

/// Response times and ends of the requests of one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationRecord {
    /// Nanoseconds from the intended start; failed requests count with the time until that was known.
    #[serde(with = "counts")]
    pub response: Histogram<u64>,
    /// Answered correctly within the run.
    pub completed: u64,
    /// Failed requests by kind, in the order of `ErrorKind::ALL`.
    pub errors_by_kind: [u64; ErrorKind::ALL.len()],
    /// Answers by status, upwards: how many, and how many of them were not expected.
    statuses: Vec<(u16, u64, u64)>,
    body_bytes: u64,
    /// Of server-sent events, where its answers are streams of them.
    events: Option<Box<EventRecord>>,
}

impl OperationRecord {
    pub(super) fn empty() -> Self {
        OperationRecord {
            response: empty_histogram(),
            completed: 0,
            errors_by_kind: [0; ErrorKind::ALL.len()],
            statuses: Vec::new(),
            body_bytes: 0,
            events: None,
        }
    }

    /// Its answers are streams of server-sent events.
    pub(crate) fn await_events(&mut self) {
        self.events.get_or_insert_with(|| Box::new(EventRecord::empty()));
    }

    /// Events of one of its answers came.
    pub(crate) fn streamed(&mut self, events: EventsCame) {
        if let Some(record) = &mut self.events {
            record.came(events);
        }
    }

    pub(super) fn received(&mut self, status: u16, body_bytes: u64, is_unexpected: bool) {
        self.body_bytes = self.body_bytes.saturating_add(body_bytes);
        self.count(status, 1, u64::from(is_unexpected));
    }

    fn count(&mut self, status: u16, answers: u64, unexpected: u64) {
        match self.statuses.binary_search_by_key(&status, |(status, ..)| *status) {
            Ok(at) => {
                let (_, sum, of_them) = &mut self.statuses[at];
                *sum = sum.saturating_add(answers);
                *of_them = of_them.saturating_add(unexpected);
            }
            Err(at) if self.statuses.len() < STATUSES_MAX => {
                self.statuses.insert(at, (status, answers, unexpected));
            }
            Err(_) => (),
        }
    }

    pub(super) fn add(&mut self, other: &OperationRecord) {
        let OperationRecord { response, completed, errors_by_kind, statuses, body_bytes, events } = other;
        sum(&mut self.response, response);
        self.completed = self.completed.saturating_add(*completed);
        for (sum, count) in self.errors_by_kind.iter_mut().zip(errors_by_kind) {
            *sum = sum.saturating_add(*count);
        }
        statuses.iter().for_each(|(status, answers, unexpected)| self.count(*status, *answers, *unexpected));
        self.body_bytes = self.body_bytes.saturating_add(*body_bytes);
        if let Some(events) = events {
            self.await_events();
            self.events.iter_mut().for_each(|sum| sum.add(events));
        }
    }

    pub(super) fn is_possible(&self, requests: u64) -> bool {
        let errors = self.errors_by_kind.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        let statuses = self.statuses.as_slice();
        self.response.len() <= requests
            && self.completed <= requests
            && errors.is_some_and(|errors| errors <= requests)
            && self.events.as_ref().is_none_or(|events| events.is_possible(requests))
            && statuses.len() <= STATUSES_MAX
            && statuses.is_sorted_by(|one, next| one.0 < next.0)
            && statuses.iter().all(|(_, answers, unexpected)| unexpected <= answers && *answers <= requests)
    }

    /// The stored form, of a run of so many seconds.
    pub fn figures(&self, seconds: f64, has_statuses: bool) -> OperationFigures {
        let statuses = self.statuses.iter().filter(|_| has_statuses);
        OperationFigures {
            achieved_rate_per_s: (seconds > 0.0).then(|| self.completed as f64 / seconds),
            response_ms: summary_ms(&self.response),
            errors_by_kind: error_counts(&self.errors_by_kind),
            statuses: statuses
                .map(|&(status, answers, unexpected)| {
                    // Those of HTTP begin at 100.
                    let name = grpc::name(status).map(str::to_owned);
                    StatusCount { status, name, answers, unexpected }
                })
                .collect(),
            body_bytes: self.body_bytes,
            events: self.events.as_ref().map(|events| events.figures()),
        }
    }
}

/// Kinds of errors that there were.
pub(crate) fn error_counts(by_kind: &[u64; ErrorKind::ALL.len()]) -> Vec<ErrorCount> {
    let counts = ErrorKind::ALL.iter().zip(by_kind).filter(|(_, requests)| **requests > 0);
    counts.map(|(kind, requests)| ErrorCount { kind: kind.stored(), requests: *requests }).collect()
}
