//! Which requests of a window each limit holds for.

use assay_load::{LimitedTimes, Measured, WindowDetail};
use assay_model::LatencyLimit;
use assay_stats::capacity::LimitedRequests;

const NS_PER_MS: f64 = 1e6;

/// Operations with limits of their own, each once, in the order of the limits: the load source counts each apart.
pub fn limited_apart(limits: &[LatencyLimit]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in limits.iter().filter_map(|limit| limit.operation.as_ref()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// For each limit the requests that it holds for; absent where the load source did not count them apart.
pub(crate) fn times_of<'a>(
    detail: &'a WindowDetail,
    limits: &[LatencyLimit],
) -> Vec<Option<&'a LimitedTimes>> {
    let apart = limited_apart(limits);
    let of = |limit: &LatencyLimit| match &limit.operation {
        None => Some(&detail.limited),
        Some(operation) => detail.apart.get(apart.iter().position(|name| name == operation)?),
    };
    limits.iter().map(of).collect()
}

/// How each limit fared in a window.
pub(crate) fn requests_of(
    measured: &Measured,
    limits: &[LatencyLimit],
    percentile: f64,
) -> Vec<LimitedRequests> {
    let longest_ns = measured.response.max();
    let of = |(times, limit): (Option<&LimitedTimes>, &LatencyLimit)| LimitedRequests {
        requests: times.map_or(0, LimitedTimes::requests),
        misses: times.map_or(0, |times| times.misses(limit_ns(limit.limit_ms))),
        percentile_ms: times
            .and_then(|times| times.percentile_ns(percentile, longest_ns))
            .map(|ns| ns as f64 / NS_PER_MS),
    };
    times_of(&measured.detail, limits).into_iter().zip(limits).map(of).collect()
}

/// A limit in nanoseconds.
pub(crate) fn limit_ns(limit_ms: f64) -> u64 {
    (limit_ms * NS_PER_MS) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_load::{ArrivalLaw, Load};

    #[test]
    fn each_limit_is_held_against_the_requests_that_it_holds_for() {
        let limit =
            |limit_ms, name: Option<&str>| LatencyLimit { limit_ms, operation: name.map(str::to_owned) };
        let limits =
            [limit(10.0, None), limit(50.0, Some("a")), limit(90.0, Some("a")), limit(9.0, Some("b"))];
        assert_eq!(limited_apart(&limits), ["a", "b"]);
        let load = Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s: 500.0 };
        let mut measured = Measured::empty(load, 1, (0, 2_000_000_000));
        measured.detail.limited.right.record_n(20_000_000, 500).expect("in range");
        let mut own = LimitedTimes::empty();
        own.right.record_n(60_000_000, 40).expect("in range");
        measured.detail.apart.push(own);
        let found = requests_of(&measured, &limits, 99.0);
        let counts: Vec<_> = found.iter().map(|of| (of.requests, of.misses)).collect();
        assert_eq!(
            counts,
            [(500, 500), (40, 40), (40, 0), (0, 0)],
            "b was not counted: nothing is known of it"
        );
        let round = |of: &LimitedRequests| of.percentile_ms.map(f64::round);
        assert_eq!(found.iter().map(round).collect::<Vec<_>>(), [Some(20.0), Some(60.0), Some(60.0), None]);
    }
}
