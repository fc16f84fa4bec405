//! The result of one load run: times, errors, mix, and whether it is valid.

use crate::breakdown::{Breakdown, error_counts};
use crate::delivery_tracker::Deliveries;
use crate::error_kind::ErrorKind;
use crate::law::Load;
use crate::operations;
use crate::priority::Priority;
use crate::protocol_counters::ProtocolCounters;
use crate::recorder::{counts, empty_histogram, summary_ms};
use crate::session_starts::SessionStarts;
use crate::timeline::CompletionTimeline;
use crate::tls::Handshakes;
use crate::window::WindowDetail;
use assay_model::{InjectorPart, LoadResult, OperationCount, Problem, Protocol, Reason, schema};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;

/// Send lag that is always accepted. The response time counts from the intended start and so contains the lag; a
/// lag below this stays below what a shared machine's timers can promise.
pub const SEND_LAG_P99_MAX: Duration = Duration::from_millis(1);
/// Send lag that is accepted beside slow answers, as a share of the p99 of the response time: it changes no figure by
/// more than this.
pub const SEND_LAG_SHARE_OF_P99_MAX: f64 = 0.1;
/// Share of a closed loop's run for which its generator may have stood still: it makes as many answers late as would make the send lag of
/// an open loop too large.
const STOOD_STILL_SHARE_MAX: f64 = 0.01;
/// CPU time of the generator, as a share of one core, above which it may have been the bottleneck.
pub const GENERATOR_CPU_SHARE_MAX: f64 = 0.9;
/// Share of failed requests above which the figures describe failures rather than the server.
pub const ERROR_SHARE_MAX: f64 = 0.01;
/// Share of the offered requests that must be answered within the run; below it the figures describe a backlog.
pub const REACHED_SHARE_MIN: f64 = 0.95;

/// Subject of problems which report that the generator was late.
const LAG: &str = "generator-lag";
/// Subject of problems which report that it may have been the bottleneck.
const CPU: &str = "generator";

/// Whether a fault of a load is the generator's, which may be one of several.
pub fn is_of_generator(fault: &Problem) -> bool {
    fault.reason == Reason::LoadGenerator
}

/// One load run.
///
/// Which requests count where:
/// - `requests`, `errors`, `operations` and the histograms hold every request whose intended start lies in the
///   run, also when its answer came while draining afterwards;
/// - `completed` and `completions` hold only what was answered correctly within the run, so that rates are not
///   flattered by the drain; in a window after settling, whenever their requests were to start;
/// - a failed request counts in `response` with the time until its failure was known, one over the bound with the
///   time until it could have been let in at the earliest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Start of the run, `CLOCK_MONOTONIC`.
    pub start_monotonic_ns: u64,
    /// End of the run, before draining.
    pub end_monotonic_ns: u64,
    /// The load that was asked for.
    pub load: Load,
    /// Seed of every random draw.
    pub seed: u64,
    /// Requests whose intended start lies in the run.
    pub requests: u64,
    /// Requests answered correctly within the run.
    pub completed: u64,
    /// Failed requests by kind, in the order of `ErrorKind::ALL`.
    pub errors_by_kind: [u64; ErrorKind::ALL.len()],
    /// Requests that were sent again since the server had closed a connection, used before, without any byte of an answer, or said that it did
    /// nothing with them.
    pub sent_again: u64,
    /// Nanoseconds from the intended start.
    #[serde(with = "counts")]
    pub response: Histogram<u64>,
    /// Nanoseconds from the send, of requests that were sent.
    #[serde(with = "counts")]
    pub service: Histogram<u64>,
    /// Nanoseconds from the moment a request could be sent to the send.
    #[serde(with = "counts")]
    pub send_lag: Histogram<u64>,
    /// Asked and measured mix. Requests over the bound never became an operation and are in none.
    pub operations: Vec<OperationCount>,
    /// What these took and how they ended, by operation and over time.
    pub breakdown: Breakdown,
    /// When requests were answered correctly.
    pub completions: CompletionTimeline,
    /// When requests were answered correctly in the settling before the run.
    pub settling: CompletionTimeline,
    /// Requests answered correctly after the end of the run, while it was drained.
    pub drained: u64,
    /// CPU time of the generator's threads during the run and its drain, with the settling before it.
    pub generator_cpu_ns: u64,
    /// Time of the run and its drain together, with the settling before it.
    pub generator_wall_ns: u64,
    /// How long a closed loop's generator stood still within the run, at least; an open loop's shows it as send lag.
    pub stood_still_ns: u64,
    /// Priority of the generator's thread; absent where the load was made elsewhere.
    #[serde(skip)]
    pub priority: Option<Priority>,
    /// Of messages that are delivered on other connections.
    pub deliveries: Option<Deliveries>,
    /// TLS handshakes since the end of the previous run, most of them before this one began.
    pub handshakes: Handshakes,
    /// Users of the load at its end.
    pub users: u32,
    /// Users who began their sessions outside of the figures since the end of the previous run, most of them before this one began.
    pub session_starts: SessionStarts,
    /// What was spoken since then, and what opening connections took.
    pub spoken: ProtocolCounters,
    /// The run was ended early by its stop flag.
    pub stopped: bool,
    /// Samples of failed requests, and what else went wrong.
    pub problems: Vec<Problem>,
    /// Faults that make the figures useless and do not show in them, such as a lost injector.
    #[serde(skip)]
    pub faults: Vec<Problem>,
    /// What is kept besides.
    pub detail: WindowDetail,
    /// The injectors that made the load together; none when this process did alone.
    #[serde(skip)]
    pub injectors: Vec<InjectorPart>,
}

impl Measured {
    /// A run in which nothing happened, to be filled in by the load source.
    pub fn empty(load: Load, seed: u64, (start_ns, end_ns): (u64, u64)) -> Self {
        Measured {
            start_monotonic_ns: start_ns,
            end_monotonic_ns: end_ns,
            load,
            seed,
            requests: 0,
            completed: 0,
            errors_by_kind: [0; ErrorKind::ALL.len()],
            sent_again: 0,
            response: empty_histogram(),
            service: empty_histogram(),
            send_lag: empty_histogram(),
            operations: Vec::new(),
            breakdown: Breakdown::new(0, end_ns.saturating_sub(start_ns)),
            completions: CompletionTimeline::new(start_ns, end_ns.saturating_sub(start_ns)),
            settling: CompletionTimeline::new(start_ns, 0),
            drained: 0,
            generator_cpu_ns: 0,
            generator_wall_ns: end_ns.saturating_sub(start_ns),
            stood_still_ns: 0,
            priority: None,
            deliveries: None,
            handshakes: Handshakes::none(),
            users: 0,
            session_starts: SessionStarts::none(),
            spoken: ProtocolCounters::nothing(Protocol::Other, 1),
            stopped: false,
            problems: Vec::new(),
            faults: Vec::new(),
            injectors: Vec::new(),
            detail: WindowDetail::empty(),
        }
    }

    /// Failed requests of all kinds.
    pub fn errors(&self) -> u64 {
        self.errors_by_kind.iter().sum()
    }

    /// Length of the run, seconds.
    pub fn seconds(&self) -> f64 {
        self.end_monotonic_ns.saturating_sub(self.start_monotonic_ns) as f64 / NS_PER_S
    }

    /// Right answers, per second; absent for a run of no length.
    pub fn achieved_rate_per_s(&self) -> Option<f64> {
        (self.seconds() > 0.0).then(|| self.completed as f64 / self.seconds())
    }

    /// Requests that were sent, per second; absent for a run of no length.
    pub fn sent_rate_per_s(&self) -> Option<f64> {
        (self.seconds() > 0.0).then(|| self.service.len() as f64 / self.seconds())
    }

    /// CPU time of the generator as a share of one core; absent for a run of no length.
    pub fn generator_cpu_share(&self) -> Option<f64> {
        (self.generator_wall_ns > 0).then(|| self.generator_cpu_ns as f64 / self.generator_wall_ns as f64)
    }

    /// Why the figures should not be used; empty when they may be.
    pub fn invalid_because(&self) -> Vec<Problem> {
        let mut found = self.faults.clone();
        let of_load = |text: String| Problem::new("load", text);
        if self.stopped {
            found.push(of_load("stopped before the end of the measurement".to_owned()));
        }
        if self.requests == 0 {
            found.push(of_load("no request was sent; the measurement is too short for the rate".to_owned()));
            return found;
        }
        if !self.stopped {
            found.extend(operations::missing(&self.operations, self.requests).into_iter().map(of_load));
        }
        found.extend(self.deliveries.as_ref().and_then(Deliveries::wrong).map(of_load));
        let error_share = self.errors() as f64 / self.requests as f64;
        if error_share > ERROR_SHARE_MAX {
            let percent = 100.0 * error_share;
            found.push(of_load(format!(
                "{} of {} requests failed ({percent:.1} %)",
                self.errors(),
                self.requests
            )));
        }
        // Several generators are judged one by one; what is wrong with one is among the faults.
        if self.injectors.is_empty() {
            found.extend(self.generator_faults());
        }
        let reached = self.completed as f64 / self.requests as f64;
        if matches!(self.load, Load::Open { .. }) && reached < REACHED_SHARE_MIN {
            let percent = 100.0 * reached;
            found.push(of_load(
                format!(
                    "only {percent:.1} % of the offered requests were answered within the measurement; response times describe a backlog"
                ),
            ));
        }
        found
    }

    /// Why the generator, and not the server, may have been late or the limit.
    pub fn generator_faults(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut add =
            |about: &str, text: String| found.push(Problem::because(Reason::LoadGenerator, about, text));
        let lag_ms = self.send_lag.value_at_quantile(0.99) as f64 / NS_PER_MS;
        let p99_ms = self.response.value_at_quantile(0.99) as f64 / NS_PER_MS;
        let lag_max_ms = (SEND_LAG_P99_MAX.as_secs_f64() * 1e3).max(SEND_LAG_SHARE_OF_P99_MAX * p99_ms);
        if lag_ms > lag_max_ms {
            add(
                LAG,
                format!(
                    "send lag p99 is {lag_ms:.2} ms, more than the limit of {lag_max_ms:.2} ms; it got too little CPU time"
                ),
            );
        }
        let still_s = self.stood_still_ns as f64 / NS_PER_S;
        if still_s > STOOD_STILL_SHARE_MAX * self.seconds() {
            add(
                LAG,
                format!(
                    "it stood still for {still_s:.2} of {:.1} s: answers waited to be read, and nothing was sent; it was stopped, or got too \
                     little CPU",
                    self.seconds()
                ),
            );
        }
        if let Some(share) = self.generator_cpu_share().filter(|share| *share > GENERATOR_CPU_SHARE_MAX) {
            add(CPU, format!("it used {:.0} % of its core and may have been the bottleneck", 100.0 * share));
        }
        found
    }

    /// The stored form. The reached rate counts correct answers within the run.
    pub fn result(&self) -> LoadResult {
        let mut problems = self.invalid_because();
        let valid = problems.is_empty();
        problems.extend(self.problems.iter().cloned());
        problems.extend(self.spoken.findings());
        LoadResult {
            schema: schema::LOAD.to_owned(),
            started_at: None,
            requests: self.requests,
            errors: self.errors(),
            errors_by_kind: error_counts(&self.errors_by_kind),
            sent_again: self.sent_again,
            offered_rate_per_s: match self.load {
                Load::Open { rate_per_s, .. } => Some(rate_per_s),
                Load::Closed { .. } => None,
            },
            achieved_rate_per_s: self.achieved_rate_per_s().unwrap_or(0.0),
            response_ms: summary_ms(&self.response),
            service_ms: summary_ms(&self.service),
            send_lag_ms: summary_ms(&self.send_lag),
            generator_cpu_share: self.generator_cpu_share(),
            handshakes: self.handshakes.summary(),
            users: Some(self.users).filter(|users| 0 < *users),
            session_starts: self.session_starts.summary(),
            protocol: self.spoken.summary(),
            deliveries: self.deliveries.as_ref().map(|deliveries| deliveries.summary(self.seconds())),
            operations: self.operation_figures(),
            seed: self.seed,
            scenario: None,
            rate_schedule: None,
            rates: Vec::new(),
            timeline: self.timeline(),
            response_curve: self.response_curve(),
            slowest: self.slowest(),
            injectors: self.injectors.clone(),
            valid,
            problems,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::ArrivalLaw;
    use crate::recorder::{Recorder, RequestTimes};

    const MS: u64 = 1_000_000;

    /// A good run: a second, 1000 requests of 1 to 1000 µs.
    fn good() -> Measured {
        let mut recorder = Recorder::new(0, None);
        let mut completions = CompletionTimeline::new(0, 1_000 * MS);
        for n in 0..1_000 {
            let intended_ns = n * MS;
            let done_ns = intended_ns + (n + 1) * 1_000;
            recorder.record(&RequestTimes {
                intended_ns,
                sendable_ns: intended_ns,
                sent_ns: Some(intended_ns + 10_000),
                done_ns,
            });
            completions.record(done_ns);
        }
        let load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 1_000.0 };
        let recorded = recorder.finish(1_001 * MS);
        Measured {
            requests: 1_000,
            completed: 1_000,
            response: recorded.response,
            service: recorded.service,
            send_lag: recorded.send_lag,
            completions,
            generator_cpu_ns: 50 * MS,
            generator_wall_ns: 1_001 * MS,
            ..Measured::empty(load, 1, (0, 1_000 * MS))
        }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Measured), want: &str) {
        let mut measured = good();
        change(&mut measured);
        let result = measured.result();
        assert!(!result.valid);
        assert_eq!(result.problems.len(), 1, "{:?}", result.problems);
        assert_eq!(result.problems[0].text, want);
    }

    #[test]
    fn a_good_stretch_is_valid() {
        let result = good().result();
        assert!(result.valid && result.problems.is_empty(), "{:?}", result.problems);
        assert_eq!((result.requests, result.errors, result.achieved_rate_per_s), (1_000, 0, 1_000.0));
        let p99 = result.response_ms.p99.expect("recorded");
        assert!((p99 - 0.99).abs() < 0.001, "{p99}");
    }

    #[test]
    fn each_fault_makes_the_stretch_invalid_and_is_told() {
        check(|m| m.stopped = true, "stopped before the end of the measurement");
        check(|m| m.errors_by_kind[3] = 11, "11 of 1000 requests failed (1.1 %)");
        check(
            |m| m.send_lag.record_n(3 * MS, 20).expect("in range"),
            "send lag p99 is 3.00 ms, more than the limit of 1.00 ms; it got too little CPU time",
        );
        check(
            |m| m.stood_still_ns = 20 * MS,
            "it stood still for 0.02 of 1.0 s: answers waited to be read, and nothing was sent; it was stopped, or got too little CPU",
        );
        check(|m| m.generator_cpu_ns = 950 * MS, "it used 95 % of its core and may have been the bottleneck");
        check(
            |m| m.completed = 949,
            "only 94.9 % of the offered requests were answered within the measurement; response times describe a backlog",
        );
        check(|m| m.requests = 0, "no request was sent; the measurement is too short for the rate");
    }

    #[test]
    fn a_lag_that_slow_answers_dwarf_is_accepted() {
        let mut measured = good();
        measured.send_lag.record_n(3 * MS, 20).expect("in range");
        measured.response.record_n(900 * MS, 20).expect("in range");
        assert!(measured.result().valid);
    }

    #[test]
    fn percentiles_of_nothing_are_absent() {
        assert_eq!(summary_ms(&empty_histogram()), assay_model::LatencySummary::default());
    }

    #[test]
    fn the_curve_rises_and_ends_where_the_requests_do() {
        let curve = good().response_curve();
        assert_eq!(curve.len(), 36, "1000 requests carry three nines of five");
        assert_eq!(curve[0].percentile, 0.0);
        assert!(
            curve.windows(2).all(|pair| pair[0].percentile < pair[1].percentile && pair[0].ms <= pair[1].ms)
        );
        let last = curve.last().expect("points");
        assert!(last.percentile <= 99.9 && last.percentile > 99.8, "{last:?}");
    }

    #[test]
    fn the_stored_form_keeps_its_keys() {
        let json = serde_json::to_value(good().result()).expect("it is plain data");
        for key in [
            "schema",
            "requests",
            "errors",
            "offered_rate_per_s",
            "achieved_rate_per_s",
            "response_ms",
            "service_ms",
            "send_lag_ms",
            "valid",
            "problems",
        ] {
            assert!(json.get(key).is_some(), "{key}");
        }
        assert!(json["response_ms"].get("p99_9").is_some());
    }
}
