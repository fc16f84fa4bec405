//! Counts of one load run: requests and errors by operation and kind, with a few samples of failures.

use crate::breakdown::{Breakdown, EventsCame};
use crate::error_kind::ErrorKind;
use crate::failure_samples::FailureSamples;
use crate::law::{Load, Span};
use crate::measured::Measured;
use crate::recorder::RequestTimes;
use crate::timeline::CompletionTimeline;
use assay_model::{OperationCount, Problem};
use assay_scenario::{Operation, Scenario, Secrets};

pub(crate) struct Tally {
    samples: FailureSamples,
    /// Source of the problems.
    url: String,
    secrets: Secrets,
    measured: Measured,
}

impl Tally {
    pub fn new(url: &str, scenario: &Scenario, load: Load, seed: u64, span: Span) -> Self {
        let Span { begun_ns, start_ns, end_ns } = span;
        let asked = scenario.operations.iter().zip(scenario.asked_shares());
        let count = |(operation, planned_share): (&Operation, f64)| OperationCount {
            selected: Some(0),
            redirects: Some(0),
            ..OperationCount::planned(&operation.name, planned_share)
        };
        let mut breakdown = Breakdown::new(scenario.operations.len(), end_ns - start_ns);
        let of_streams =
            breakdown.operations.iter_mut().zip(&scenario.operations).filter(|of| 0 < of.1.events);
        of_streams.for_each(|(record, _)| record.await_events());
        let measured = Measured {
            operations: asked.map(count).collect(),
            breakdown,
            settling: CompletionTimeline::new(begun_ns, start_ns - begun_ns),
            ..Measured::empty(load, seed, (start_ns, end_ns))
        };
        Tally {
            samples: FailureSamples::default(),
            url: url.to_owned(),
            secrets: scenario.secrets().clone(),
            measured,
        }
    }

    /// The run ends earlier than planned.
    pub fn end_at(&mut self, end_ns: u64) {
        self.measured.end_monotonic_ns = self.measured.end_monotonic_ns.min(end_ns);
    }

    /// What was counted so far.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// An operation was drawn, or began a session, for a request that lies in the run.
    pub fn drew(&mut self, operation: usize) {
        let drawn = &mut self.measured.operations[operation].selected;
        *drawn = Some(drawn.unwrap_or(0) + 1);
    }

    /// A request was answered correctly. One from before the run counts as an answer only.
    pub fn answered(&mut self, operation: usize, intended_ns: u64, done_ns: u64) {
        let Measured { start_monotonic_ns, end_monotonic_ns, .. } = self.measured;
        if start_monotonic_ns <= intended_ns {
            self.measured.requests += 1;
            self.measured.operations[operation].requests += 1;
        }
        if (start_monotonic_ns..end_monotonic_ns).contains(&done_ns) {
            self.measured.completed += 1;
            self.measured.breakdown.operations[operation].completed += 1;
            self.measured.completions.record(done_ns);
        } else if done_ns < start_monotonic_ns {
            self.measured.settling.record(done_ns);
        } else {
            self.measured.drained += 1;
        }
    }

    /// A request failed; `operation` is absent when it was never decided. `detail` is only asked for while samples
    /// are kept. One from before the run does not count.
    pub fn failed(
        &mut self,
        operation: Option<usize>,
        intended_ns: u64,
        kind: ErrorKind,
        detail: impl FnOnce() -> String,
    ) {
        if intended_ns < self.measured.start_monotonic_ns {
            return;
        }
        self.measured.requests += 1;
        self.measured.errors_by_kind[kind as usize] += 1;
        let mut name = "";
        if let Some(at) = operation {
            self.measured.breakdown.operations[at].errors_by_kind[kind as usize] += 1;
            let operation = &mut self.measured.operations[at];
            operation.requests += 1;
            operation.errors += 1;
            name = &operation.name;
        }
        self.samples.add(kind, || {
            // A server may answer with what it was sent.
            let detail = detail();
            let (kind, detail) = (kind.name(), self.secrets.redacted(&detail));
            let separator = if name.is_empty() { "" } else { " " };
            format!("{kind}: {name}{separator}{detail}")
        });
    }

    /// An answer was whole; `error` says what is wrong with it. That of a request from before the run does not count.
    pub fn received(
        &mut self,
        operation: usize,
        intended_ns: u64,
        (status, body_bytes): (u16, u64),
        error: Option<ErrorKind>,
    ) {
        if self.measured.start_monotonic_ns <= intended_ns {
            self.measured.breakdown.received(operation, status, body_bytes, error);
        }
    }

    /// Server-sent events of an answer came. Those of a request from before the run do not count.
    pub fn streamed(&mut self, operation: usize, intended_ns: u64, events: EventsCame) {
        if self.measured.start_monotonic_ns <= intended_ns {
            self.measured.breakdown.operations[operation].streamed(events);
        }
    }

    /// A request of the run ended; `operation` is absent when it was never decided.
    pub fn ended(&mut self, operation: Option<usize>, times: &RequestTimes, is_right: bool) {
        let start_ns = self.measured.start_monotonic_ns;
        self.measured.breakdown.ended(operation, start_ns, times, is_right);
    }

    /// A redirect of a request was followed. One from before the run does not count.
    pub fn redirected(&mut self, operation: usize, intended_ns: u64) {
        if self.measured.start_monotonic_ns <= intended_ns {
            let redirects = &mut self.measured.operations[operation].redirects;
            *redirects = Some(redirects.unwrap_or(0) + 1);
        }
    }

    /// Something that whoever reads the figures should know.
    pub fn note(&mut self, about: String, text: String) {
        self.measured.problems.push(Problem::new(about, text));
    }

    /// A request was sent again, on another connection. One from before the run does not count.
    pub fn sent_again(&mut self, intended_ns: u64) {
        self.measured.sent_again += u64::from(self.measured.start_monotonic_ns <= intended_ns);
    }

    pub fn into_measured(mut self) -> Measured {
        let samples = self.samples.texts().map(|text| Problem::new(&self.url, text));
        self.measured.problems.extend(samples);
        let (again, requests) = (self.measured.sent_again, self.measured.requests);
        if again > 0 {
            let what = format!(
                "{again} of {requests} requests were sent again: the server had closed a connection that was kept alive, or said that it did nothing with them"
            );
            self.measured.problems.push(Problem::new(self.url, what));
        }
        self.measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        let (_, scenario) = crate::for_url("http://h/").expect("a good URL");
        let load = Load::Closed { users: 1, think: None };
        let span = Span { begun_ns: 0, start_ns: 0, end_ns: 1_000_000_000 };
        Tally::new("http://h", &scenario, load, 1, span)
    }

    #[test]
    fn samples_of_errors_are_bounded_and_their_text_is_not_made_in_vain() {
        let (mut tally, mut made) = (tally(), 0);
        for _ in 0..1_000 {
            tally.failed(Some(0), 5, ErrorKind::Status, || {
                made += 1;
                "status 500".to_owned()
            });
        }
        let counts = tally.into_measured();
        assert_eq!((made, counts.problems.len(), counts.errors_by_kind[3]), (64, 1, 1_000));
        assert_eq!(counts.problems[0].text, "status: GET / status 500 (1000 times)");
    }

    #[test]
    fn an_answer_after_the_end_counts_as_request_but_not_as_throughput() {
        let mut tally = tally();
        tally.answered(0, 5, 999_999_999);
        tally.answered(0, 5, 1_000_000_000);
        let counts = tally.into_measured();
        assert_eq!((counts.requests, counts.completed, counts.completions.total()), (2, 1, 1));
    }
}
