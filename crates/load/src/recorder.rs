//! Response time, service time and send lag of requests, in HdrHistograms of three significant digits, and by
//! interval for the log. Recording a value allocates nothing.

use crate::interval_log::{Interval, IntervalLog, IntervalLogs};
use assay_model::LatencySummary;
use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Largest time that is recorded, nanoseconds: one hour. Longer ones are recorded as this.
pub const TIME_NS_MAX: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// The four instants of a request, on one clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestTimes {
    /// When it should have started.
    pub intended_ns: u64,
    /// When the generator could have sent it: intended, and a connection and a session were free. The intended start where the
    /// generator did not run then, so that what it did not see is its own lateness.
    pub sendable_ns: u64,
    /// When it was sent; absent when it never was.
    pub sent_ns: Option<u64>,
    /// When it was answered, or was known to have failed.
    pub done_ns: u64,
}

impl RequestTimes {
    /// Response time, which the user experiences: from the intended start.
    pub fn response_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.intended_ns)
    }

    /// Service time: from the send.
    pub fn service_ns(&self) -> Option<u64> {
        self.sent_ns.map(|sent_ns| self.done_ns.saturating_sub(sent_ns))
    }

    /// How late the generator was.
    pub fn send_lag_ns(&self) -> Option<u64> {
        self.sent_ns.map(|sent_ns| sent_ns.saturating_sub(self.sendable_ns))
    }
}

/// An empty histogram of nanoseconds.
pub fn empty_histogram() -> Histogram<u64> {
    match Histogram::new_with_bounds(1, TIME_NS_MAX, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        Err(never) => unreachable!("constant bounds are valid: {never}"),
    }
}

/// A histogram between processes: each value with its count. It has the buckets of [`empty_histogram`] on both sides, so no size is
/// taken from a message.
pub(crate) mod counts {
    use super::*;

    pub fn serialize<S: Serializer>(histogram: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
        let counts = histogram.iter_recorded().map(|of| (of.value_iterated_to(), of.count_at_value()));
        to.collect_seq(counts)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
        let mut histogram = empty_histogram();
        for (value, count) in Vec::<(u64, u64)>::deserialize(from)? {
            histogram.record_n(value, count).map_err(D::Error::custom)?;
        }
        Ok(histogram)
    }
}

/// Adds up two histograms of [`empty_histogram`].
pub fn sum(whole: &mut Histogram<u64>, part: &Histogram<u64>) {
    if let Err(never) = whole.add(part) {
        unreachable!("histograms of the same bounds add up: {never}");
    }
}

/// The percentiles of a histogram of nanoseconds.
pub fn summary_ms(histogram: &Histogram<u64>) -> LatencySummary {
    let ms = |ns: u64| (!histogram.is_empty()).then_some(ns as f64 / 1e6);
    LatencySummary {
        p50: ms(histogram.value_at_quantile(0.5)),
        p95: ms(histogram.value_at_quantile(0.95)),
        p99: ms(histogram.value_at_quantile(0.99)),
        p99_9: ms(histogram.value_at_quantile(0.999)),
        max: ms(histogram.max()),
    }
}

/// Records requests over one load run.
pub struct Recorder {
    response: Histogram<u64>,
    service: Histogram<u64>,
    send_lag: Histogram<u64>,
    log: Option<IntervalLog>,
}

/// The histograms of a whole run.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// From the intended start; failed requests count with the time until the failure was known.
    pub response: Histogram<u64>,
    /// From the send, of requests that were sent.
    pub service: Histogram<u64>,
    /// From the moment a request could be sent to the send.
    pub send_lag: Histogram<u64>,
    /// CPU time of the thread that wrote the interval log.
    pub log_cpu_ns: u64,
    /// Why the interval log is not whole.
    pub log_error: Option<String>,
}

impl Recorder {
    /// Median and 99th percentile of the response times by now; absent before the first.
    pub fn response_so_far_ns(&self) -> Option<(u64, u64)> {
        let at = |share| self.response.value_at_quantile(share);
        (!self.response.is_empty()).then(|| (at(0.5), at(0.99)))
    }

    /// Starts recording at `start_ns`; with an interval log if one is asked for.
    pub fn new(start_ns: u64, logs: Option<IntervalLogs>) -> Self {
        Recorder {
            response: empty_histogram(),
            service: empty_histogram(),
            send_lag: empty_histogram(),
            log: logs.map(|logs| IntervalLog::start(start_ns, logs)),
        }
    }

    /// Records one request.
    pub fn record(&mut self, times: &RequestTimes) {
        let response_ns = times.response_ns();
        self.response.saturating_record(response_ns);
        if let Some(service_ns) = times.service_ns() {
            self.service.saturating_record(service_ns);
        }
        if let Some(send_lag_ns) = times.send_lag_ns() {
            self.send_lag.saturating_record(send_lag_ns);
        }
        if let Some(log) = &mut self.log {
            log.current.response.saturating_record(response_ns);
            if let Some(service_ns) = times.service_ns() {
                log.current.service.saturating_record(service_ns);
            }
        }
    }

    /// When `roll` should be called next.
    pub fn next_roll_ns(&self) -> Option<u64> {
        self.log.as_ref().map(|log| log.next_roll_ns)
    }

    /// Closes the interval that ends now, if it is time.
    pub fn roll(&mut self, now_ns: u64) {
        if let Some(log) = &mut self.log
            && now_ns >= log.next_roll_ns
        {
            log.roll(now_ns);
        }
    }

    /// Ends recording; waits until the interval log is written.
    pub fn finish(mut self, now_ns: u64) -> Recorded {
        let (log_cpu_ns, log_error) = match self.log.take() {
            Some(log) => log.finish(now_ns),
            None => (0, None),
        };
        Recorded {
            response: self.response,
            service: self.service,
            send_lag: self.send_lag,
            log_cpu_ns,
            log_error,
        }
    }
}

impl Interval {
    pub(crate) fn empty() -> Self {
        Interval { response: empty_histogram(), service: empty_histogram() }
    }
}
