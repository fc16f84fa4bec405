//! Counts of one stretch: requests and errors by operation and kind, with a few samples of what went wrong.

use crate::law::Span;
use crate::measured::{Counts, ErrorKind};
use crate::scenario::Scenario;
use crate::timeline::CompletionTimeline;
use assay_model::{OperationCount, Problem};

/// Samples that are kept of each kind of error.
const SAMPLES_PER_KIND_MAX: u8 = 4;
/// Characters of an answer's body in a sample.
const SAMPLE_CHARS_MAX: usize = 160;

pub(crate) struct Tally {
    /// Source of the problems.
    url: String,
    start_ns: u64,
    end_ns: u64,
    samples: [u8; ErrorKind::ALL.len()],
    counts: Counts,
}

impl Tally {
    pub fn new(url: &str, scenario: &Scenario, Span { begun_ns, start_ns, end_ns }: Span) -> Self {
        let operations = scenario
            .operations
            .iter()
            .zip(scenario.asked_shares())
            .map(|(operation, asked_share)| OperationCount {
                name: operation.name.clone(),
                asked_share,
                requests: 0,
                errors: 0,
            })
            .collect();
        let counts = Counts {
            requests: 0,
            completed: 0,
            errors_by_kind: [0; ErrorKind::ALL.len()],
            operations,
            completions: CompletionTimeline::new(start_ns, end_ns - start_ns),
            settling: CompletionTimeline::new(begun_ns, start_ns - begun_ns),
            drained: 0,
            problems: Vec::new(),
        };
        Tally { url: url.to_owned(), start_ns, end_ns, samples: [0; ErrorKind::ALL.len()], counts }
    }

    /// The stretch ends earlier than planned.
    pub fn end_at(&mut self, end_ns: u64) {
        self.end_ns = self.end_ns.min(end_ns);
    }

    pub fn requests(&self) -> u64 {
        self.counts.requests
    }

    pub fn completed(&self) -> u64 {
        self.counts.completed
    }

    pub fn errors(&self) -> u64 {
        self.counts.errors_by_kind.iter().sum()
    }

    /// A request was answered correctly. One of before the stretch counts as an answer only.
    pub fn answered(&mut self, operation: usize, intended_ns: u64, done_ns: u64) {
        if self.start_ns <= intended_ns {
            self.counts.requests += 1;
            self.counts.operations[operation].requests += 1;
        }
        if (self.start_ns..self.end_ns).contains(&done_ns) {
            self.counts.completed += 1;
            self.counts.completions.record(done_ns);
        } else if done_ns < self.start_ns {
            self.counts.settling.record(done_ns);
        } else {
            self.counts.drained += 1;
        }
    }

    /// A request failed; `operation` is absent when it was never decided. `detail` is only asked for while samples
    /// are kept. One of before the stretch does not count.
    pub fn failed(
        &mut self,
        operation: Option<usize>,
        intended_ns: u64,
        kind: ErrorKind,
        detail: impl FnOnce() -> String,
    ) {
        if intended_ns < self.start_ns {
            return;
        }
        self.counts.requests += 1;
        self.counts.errors_by_kind[kind as usize] += 1;
        let mut name = "";
        if let Some(operation) = operation.map(|at| &mut self.counts.operations[at]) {
            operation.requests += 1;
            operation.errors += 1;
            name = &operation.name;
        }
        let samples = &mut self.samples[kind as usize];
        if *samples < SAMPLES_PER_KIND_MAX {
            *samples += 1;
            let (kind, detail) = (kind.name(), detail());
            let separator = if name.is_empty() { "" } else { " " };
            self.counts.problems.push(Problem::new(&self.url, format!("{kind}: {name}{separator}{detail}")));
        }
    }

    pub fn into_counts(self) -> Counts {
        self.counts
    }
}

/// The start of a body for a message: one line, without control characters.
pub(crate) fn shortened(body: &[u8]) -> String {
    let start = &body[..body.len().min(4 * SAMPLE_CHARS_MAX)];
    let text: String = String::from_utf8_lossy(start)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    match text.char_indices().nth(SAMPLE_CHARS_MAX) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        let (_, scenario) = Scenario::for_url("http://h/").expect("a good URL");
        let span = Span { begun_ns: 0, start_ns: 0, end_ns: 1_000_000_000 };
        Tally::new("http://h", &scenario, span)
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
        let counts = tally.into_counts();
        assert_eq!((made, counts.problems.len(), counts.errors_by_kind[3]), (4, 4, 1_000));
        assert_eq!(counts.problems[0].text, "status: GET / status 500");
    }

    #[test]
    fn an_answer_after_the_end_counts_as_request_but_not_as_throughput() {
        let mut tally = tally();
        tally.answered(0, 5, 999_999_999);
        tally.answered(0, 5, 1_000_000_000);
        let counts = tally.into_counts();
        assert_eq!((counts.requests, counts.completed, counts.completions.total()), (2, 1, 1));
    }

    #[test]
    fn a_body_is_shortened_to_one_printable_line() {
        assert_eq!(shortened(b"<html>\r\n\t<b>no\x1b[31m</b>"), "<html> <b>no[31m</b>");
        assert_eq!(shortened(&[b'x'; 10_000]).len(), SAMPLE_CHARS_MAX + 3);
        assert_eq!(shortened("é".repeat(10_000).as_bytes()).chars().count(), SAMPLE_CHARS_MAX + 3);
    }
}
