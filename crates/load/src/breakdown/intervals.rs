//! Requests over time: how many were to start in each interval of a run, how many of them failed, and how long they took.

use crate::recorder::TIME_NS_MAX;
use assay_model::LoadInterval;
use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Most intervals of a run.
const INTERVALS_MAX: u64 = 240;
/// Intervals are whole seconds.
const INTERVAL_NS_MIN: u64 = 1_000_000_000;
/// Times below a microsecond are not distinguished, and others to 1 %: 28 KB for an interval instead of 270.
const RESOLUTION_NS: u64 = 1_000;
const SIGNIFICANT_DIGITS: u8 = 2;
const NS_PER_S: f64 = 1e9;
const NS_PER_MS: f64 = 1e6;

/// The intervals of a run, by the intended starts of requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intervals {
    interval_ns: u64,
    length_ns: u64,
    intervals: Vec<Interval>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Interval {
    #[serde(serialize_with = "to_counts", deserialize_with = "from_counts")]
    response: Histogram<u64>,
    errors: u64,
}

impl Intervals {
    /// Of a run of this length.
    pub fn new(length_ns: u64) -> Self {
        let interval_ns = length_ns.div_ceil(INTERVALS_MAX).next_multiple_of(INTERVAL_NS_MIN);
        let count = if length_ns == 0 { 0 } else { length_ns.div_ceil(interval_ns) };
        let intervals = (0..count).map(|_| Interval { response: empty(), errors: 0 }).collect();
        Intervals { interval_ns, length_ns, intervals }
    }

    /// A request that was to start so long after the beginning ended.
    pub fn record(&mut self, after_ns: u64, response_ns: u64, is_right: bool) {
        let at = usize::try_from(after_ns / self.interval_ns.max(1)).unwrap_or(usize::MAX);
        if let Some(interval) = self.intervals.get_mut(at) {
            interval.response.saturating_record(response_ns);
            interval.errors += u64::from(!is_right);
        }
    }

    pub(super) fn add(&mut self, other: &Intervals) {
        for (sum, one) in self.intervals.iter_mut().zip(&other.intervals) {
            if let Err(never) = sum.response.add(&one.response) {
                unreachable!("histograms of the same bounds add up: {never}");
            }
            sum.errors = sum.errors.saturating_add(one.errors);
        }
    }

    pub(super) fn is_possible(&self, length_ns: u64, requests: u64) -> bool {
        let wanted = Intervals::new(length_ns);
        let total = self.intervals.iter().try_fold(0_u64, |sum, of| {
            (of.errors <= of.response.len()).then(|| sum.saturating_add(of.response.len()))
        });
        (self.interval_ns, self.length_ns, self.intervals.len())
            == (wanted.interval_ns, length_ns, wanted.intervals.len())
            && total.is_some_and(|total| total <= requests)
    }

    /// The stored form, of a run that ended after `ended_ns`; `answered` counts the right answers between two times from the beginning.
    pub fn stored(&self, ended_ns: u64, answered: impl Fn(u64, u64) -> f64) -> Vec<LoadInterval> {
        let ended_ns = ended_ns.min(self.length_ns);
        let begins = (0_u64..).map(|at| at * self.interval_ns).take_while(|from_ns| *from_ns < ended_ns);
        let intervals = self.intervals.iter().zip(begins);
        let stored = intervals.map(|(of, from_ns)| {
            let to_ns = (from_ns + self.interval_ns).min(ended_ns);
            let at = |share| {
                (!of.response.is_empty()).then(|| of.response.value_at_quantile(share) as f64 / NS_PER_MS)
            };
            LoadInterval {
                from_s: from_ns as f64 / NS_PER_S,
                to_s: to_ns as f64 / NS_PER_S,
                requests: of.response.len(),
                errors: of.errors,
                answered_per_s: answered(from_ns, to_ns) / ((to_ns - from_ns) as f64 / NS_PER_S),
                response_ms_p50: at(0.5),
                response_ms_p99: at(0.99),
            }
        });
        stored.collect()
    }
}

fn empty() -> Histogram<u64> {
    match Histogram::new_with_bounds(RESOLUTION_NS, TIME_NS_MAX, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        Err(never) => unreachable!("constant bounds are valid: {never}"),
    }
}

fn to_counts<S: Serializer>(histogram: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
    crate::recorder::counts::serialize(histogram, to)
}

fn from_counts<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
    let mut histogram = empty();
    for (value, count) in Vec::<(u64, u64)>::deserialize(from)? {
        histogram.record_n(value, count).map_err(D::Error::custom)?;
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn intervals_are_whole_seconds_and_as_many_as_are_kept() {
        let of = |length_ns| {
            let intervals = Intervals::new(length_ns);
            (intervals.interval_ns / S, intervals.intervals.len())
        };
        assert_eq!([of(0), of(1), of(10 * S), of(10 * S + 1)], [(0, 0), (1, 1), (1, 10), (1, 11)]);
        assert_eq!([of(240 * S), of(241 * S), of(7 * 86_400 * S)], [(1, 240), (2, 121), (2_520, 240)]);
    }

    #[test]
    fn each_request_is_in_the_interval_of_its_intended_start() {
        let mut intervals = Intervals::new(2 * S + S / 2);
        intervals.record(0, 5_000_000, true);
        intervals.record(S - 1, 3 * S, false);
        intervals.record(2 * S, 7_000_000, true);
        intervals.record(9 * S, 7_000_000, true);
        let stored = intervals.stored(2 * S + S / 2, |from_ns, to_ns| (to_ns - from_ns) as f64 / 1e7);
        let shown: Vec<_> = stored.iter().map(|of| (of.to_s, of.requests, of.errors)).collect();
        assert_eq!(shown, [(1.0, 2, 1), (2.0, 0, 0), (2.5, 1, 0)]);
        assert!(
            stored.iter().all(|of| (of.answered_per_s - 100.0).abs() < 1e-9),
            "a rate, also of the last half second"
        );
        assert!(stored[1].response_ms_p50.is_none() && stored[2].response_ms_p99.is_some());
        let p99 = stored[0].response_ms_p99.expect("two requests");
        assert!((p99 / 3_000.0 - 1.0).abs() < 0.01, "{p99}");
        assert_eq!(intervals.stored(S / 2, |_, _| 0.0).len(), 1, "ended early");
    }
}
