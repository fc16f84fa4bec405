//! What an injector recorded, as it travels: counts, HdrHistograms in their V2 form, completions in 7-bit groups.
//! Bytes travel as base64.
//!
//! Nothing in it is trusted. Histograms must have the buckets of this program's, so that no size is taken from the
//! message; counts must agree with each other.

use assay_load::recorder::{TIME_NS_MAX, empty_histogram};
use assay_load::{
    CompletionTimeline, ErrorKind, Load, Measured, SLOW_REQUESTS_MAX, SlowRequest, WindowDetail,
};
use assay_model::{OperationCount, Problem};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

/// Problems that are taken from one injector.
const PROBLEMS_MAX: usize = 64;
/// Characters of a problem.
const PROBLEM_CHARS_MAX: usize = 1_000;
/// Bytes of the V2 form before the counts: cookie, length, offset, digits, lowest, highest, ratio.
const V2_HEADER_BYTES: usize = 40;

/// A window. Instants count from its start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedForm {
    /// By the clock of the injector.
    pub start_ns: u64,
    pub length_ns: u64,
    pub requests: u64,
    pub completed: u64,
    /// In the order of [`ErrorKind::ALL`].
    pub errors_by_kind: Vec<u64>,
    pub response: String,
    pub service: String,
    pub send_lag: String,
    /// Requests and errors by operation, in the order of the scenario.
    pub operations: Vec<(u64, u64)>,
    pub completions: String,
    pub cpu_ns: u64,
    pub wall_ns: u64,
    pub stopped: bool,
    pub problems: Vec<Problem>,
    pub limited: String,
    pub limited_failed: u64,
    pub slow: Vec<SlowForm>,
    pub slow_not_kept: u64,
    pub connection_waits: u64,
    pub gaps: String,
}

/// Operation, intended, sendable, sent, done.
type SlowForm = (Option<u32>, u64, u64, Option<u64>, u64);

/// What is known of a window before its result.
pub(crate) struct Expected<'a> {
    pub load: Load,
    pub seed: u64,
    /// Length that was asked for.
    pub length_ns: u64,
    /// Start by the controller's clock.
    pub start_ns: u64,
    /// Names and asked shares of the operations.
    pub operations: &'a [OperationCount],
}

impl RecordedForm {
    pub fn of(measured: &Measured) -> RecordedForm {
        let start_ns = measured.start_monotonic_ns;
        let empty = WindowDetail::empty();
        let detail = measured.detail.as_ref().unwrap_or(&empty);
        let since = |ns: u64| ns.saturating_sub(start_ns);
        RecordedForm {
            start_ns,
            length_ns: measured.end_monotonic_ns.saturating_sub(start_ns),
            requests: measured.requests,
            completed: measured.completed,
            errors_by_kind: measured.errors_by_kind.to_vec(),
            response: histogram_text(&measured.response),
            service: histogram_text(&measured.service),
            send_lag: histogram_text(&measured.send_lag),
            operations: measured.operations.iter().map(|one| (one.requests, one.errors)).collect(),
            completions: text_of(&packed(measured.completions.counts())),
            cpu_ns: measured.generator_cpu_ns,
            wall_ns: measured.generator_wall_ns,
            stopped: measured.stopped,
            problems: measured.problems.clone(),
            limited: histogram_text(&detail.limited),
            limited_failed: detail.limited_failed,
            slow: detail
                .slow
                .iter()
                .map(|one| {
                    let sent = one.sent_ns.map(since);
                    (one.operation, since(one.intended_ns), since(one.sendable_ns), sent, since(one.done_ns))
                })
                .collect(),
            slow_not_kept: detail.slow_not_kept,
            connection_waits: detail.connection_waits,
            gaps: histogram_text(&detail.gaps),
        }
    }

    /// Checks all and puts it on the controller's clock.
    pub fn measured(self, expected: &Expected) -> Result<Measured, String> {
        let start_ns = expected.start_ns;
        let errors_by_kind: [u64; ErrorKind::ALL.len()] =
            self.errors_by_kind.as_slice().try_into().map_err(|_| "another number of kinds of errors")?;
        let operations = operations(&self.operations, expected.operations)?;
        let slow = slow(&self.slow, start_ns, expected.operations.len())?;
        let measured = Measured {
            start_monotonic_ns: start_ns,
            end_monotonic_ns: start_ns.saturating_add(self.length_ns.min(expected.length_ns)),
            load: expected.load,
            seed: expected.seed,
            requests: self.requests,
            completed: self.completed,
            errors_by_kind,
            response: histogram(&self.response)?,
            service: histogram(&self.service)?,
            send_lag: histogram(&self.send_lag)?,
            operations,
            completions: completions(&self.completions, start_ns, expected.length_ns)?,
            generator_cpu_ns: self.cpu_ns,
            generator_wall_ns: self.wall_ns,
            priority: None,
            stopped: self.stopped,
            problems: self.problems.into_iter().take(PROBLEMS_MAX).map(shortened).collect(),
            faults: Vec::new(),
            detail: Some(WindowDetail {
                limited: histogram(&self.limited)?,
                limited_failed: self.limited_failed,
                slow,
                slow_not_kept: self.slow_not_kept,
                connection_waits: self.connection_waits,
                gaps: histogram(&self.gaps)?,
            }),
            injectors: Vec::new(),
            ..Measured::empty(expected.load, expected.seed, (start_ns, start_ns))
        };
        agree(&measured)?;
        Ok(measured)
    }
}

/// Counts that say the same must be the same: a message that was made wrongly must not become a figure.
fn agree(measured: &Measured) -> Result<(), String> {
    let sum = |mut counts: &mut dyn Iterator<Item = u64>| (&mut counts).try_fold(0_u64, u64::checked_add);
    let errors = sum(&mut measured.errors_by_kind.iter().copied()).ok_or("too many errors")?;
    let by_operation =
        sum(&mut measured.operations.iter().map(|one| one.requests)).ok_or("too many requests")?;
    let detail = measured.detail.iter();
    let limited = sum(&mut detail.flat_map(|one| [one.limited.len(), one.limited_failed]));
    let checks = [
        (measured.response.len() == measured.requests, "as many response times as requests"),
        (errors <= measured.requests, "no more errors than requests"),
        (measured.service.len() <= measured.requests, "no more service times than requests"),
        (measured.send_lag.len() <= measured.requests, "no more send lags than requests"),
        (by_operation <= measured.requests, "no more requests by operation than in all"),
        (limited.is_some_and(|limited| limited <= measured.requests), "no more limited requests than in all"),
        (
            measured.detail.as_ref().is_none_or(|one| one.connection_waits <= measured.requests),
            "no more waits for a connection than requests",
        ),
        (measured.completions.total() <= measured.completed, "no more completions than answers"),
    ];
    match checks.iter().find(|(holds, _)| !holds) {
        None => Ok(()),
        Some((_, rule)) => Err(format!("its counts contradict each other: not {rule}")),
    }
}

fn operations(
    counts: &[(u64, u64)],
    expected: &[OperationCount],
) -> Result<Vec<OperationCount>, &'static str> {
    if counts.len() != expected.len() {
        return Err("another number of operations");
    }
    let pairs = counts.iter().zip(expected);
    Ok(pairs.map(|(&(requests, errors), one)| OperationCount { requests, errors, ..one.clone() }).collect())
}

fn slow(sent: &[SlowForm], start_ns: u64, operations: usize) -> Result<Vec<SlowRequest>, &'static str> {
    if sent.len() > SLOW_REQUESTS_MAX {
        return Err("too many slow requests");
    }
    if sent.iter().any(|one| one.0.is_some_and(|operation| operation as usize >= operations)) {
        return Err("a slow request of an unknown operation");
    }
    let at = |ns: u64| start_ns.saturating_add(ns);
    let requests = sent.iter().map(|&(operation, intended, sendable, sent, done)| SlowRequest {
        operation,
        intended_ns: at(intended),
        sendable_ns: at(sendable),
        sent_ns: sent.map(at),
        done_ns: at(done),
    });
    Ok(requests.collect())
}

fn shortened(problem: Problem) -> Problem {
    let cut = |text: String| text.chars().filter(|c| !c.is_control()).take(PROBLEM_CHARS_MAX).collect();
    Problem { about: cut(problem.about), text: cut(problem.text), ..problem }
}

fn text_of(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn bytes_of(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|e| format!("bytes that are not understood ({e})"))
}

fn histogram_text(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    match V2Serializer::new().serialize(histogram, &mut bytes) {
        Ok(_) => text_of(&bytes),
        Err(never) => unreachable!("a vector takes all: {never}"),
    }
}

fn histogram(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = bytes_of(text)?;
    let ours = bytes_of(&histogram_text(&empty_histogram()))?;
    // Cookie, then (behind the length of the counts) offset, digits, lowest, highest, ratio.
    let same = |range: std::ops::Range<usize>| bytes.get(range.clone()) == ours.get(range);
    if !same(0..4) || !same(8..V2_HEADER_BYTES) {
        return Err("a histogram with other buckets".to_owned());
    }
    let (head, counts) = bytes.split_at(V2_HEADER_BYTES);
    if head[4..8] != u32::try_from(counts.len()).unwrap_or(u32::MAX).to_be_bytes() {
        return Err("a histogram of another length than it says".to_owned());
    }
    // hdrhistogram 7.6 negates the number of empty buckets, which overflows for the one number that is written like
    // this; no true histogram holds it. Held by:
    // `a_histogram_that_would_overflow_its_reader_is_refused`.
    if counts.windows(9).any(|bytes| bytes == [0xff; 9]) {
        return Err("a histogram with an impossible count".to_owned());
    }
    let histogram = Deserializer::new().deserialize(&mut bytes.as_slice());
    let histogram: Histogram<u64> =
        histogram.map_err(|e| format!("a histogram that cannot be read ({e})"))?;
    // Counts beyond this would saturate in a sum, and the sum would not be exact.
    if histogram.len() > u64::MAX >> 16 {
        return Err("a histogram with impossible counts".to_owned());
    }
    debug_assert_eq!(histogram.high(), TIME_NS_MAX);
    Ok(histogram)
}

/// Counts as base-128 numbers (LEB128); a zero is followed by how many more there are.
fn packed(counts: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |mut number: u32| {
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    };
    let mut rest = counts;
    while let Some((count, behind)) = rest.split_first() {
        put(*count);
        rest = behind;
        if *count == 0 {
            let more = rest.iter().take_while(|count| **count == 0).count();
            put(u32::try_from(more).unwrap_or(u32::MAX));
            rest = &rest[more..];
        }
    }
    bytes
}

fn completions(text: &str, start_ns: u64, length_ns: u64) -> Result<CompletionTimeline, String> {
    let bytes = bytes_of(text)?;
    let mut bytes = bytes.iter();
    let mut timeline = CompletionTimeline::new(start_ns, length_ns);
    let mut buckets = timeline.counts_mut().iter_mut();
    let wrong = || "completions that do not fill the window".to_owned();
    while let Some(count) = unpacked(&mut bytes)? {
        *buckets.next().ok_or_else(wrong)? = count;
        if count == 0 {
            let more = unpacked(&mut bytes)?.ok_or_else(wrong)? as usize;
            // The buckets are zero already.
            if more > buckets.len() {
                return Err(wrong());
            }
            if more > 0 {
                buckets.nth(more - 1);
            }
        }
    }
    let is_full = buckets.len() == 0;
    if is_full { Ok(timeline) } else { Err(wrong()) }
}

fn unpacked(bytes: &mut std::slice::Iter<u8>) -> Result<Option<u32>, String> {
    let mut number = 0_u32;
    for shift in (0..32).step_by(7) {
        let byte = match bytes.next() {
            Some(byte) => u32::from(*byte),
            None if shift == 0 => return Ok(None),
            None => return Err("completions that end within a count".to_owned()),
        };
        let digit = byte & 0x7f;
        if digit << shift >> shift != digit {
            break;
        }
        number |= digit << shift;
        if byte & 0x80 == 0 {
            return Ok(Some(number));
        }
    }
    Err("an impossible count of completions".to_owned())
}

#[cfg(test)]
#[path = "recorded_form_tests.rs"]
mod tests;
