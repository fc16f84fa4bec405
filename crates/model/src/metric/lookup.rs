//! Metrics by identifier, and those that are made from a name.

use super::definition::{Better, Feels, Metric};
use super::emulated::EMULATED;
use super::lists::{CRITICAL_RATE_PER_S, MAX_RATE_PER_S, METRICS, PER_BENCHMARK, PER_PROCESS};
use crate::LatencyLimit;
use std::borrow::Cow;
use std::cmp::Ordering;

impl Metric {
    /// All metrics with a fixed identifier: [`METRICS`], then [`EMULATED`].
    pub fn of_servers() -> impl Iterator<Item = &'static Metric> {
        METRICS.iter().chain(EMULATED)
    }

    /// The metric with this identifier: one of [`METRICS`] or [`EMULATED`], one of [`PER_BENCHMARK`] with a benchmark's name, one of
    /// [`PER_PROCESS`] with a role, or that of a limit.
    pub fn by_id(id: &str) -> Option<Metric> {
        if let Some(limit) = limit_of(id) {
            return Some(Metric::rate_at_limit(&limit));
        }
        if let Some((kind, name)) = id.split_once('/') {
            return Metric::of_benchmark(kind, name).or_else(|| Metric::of_process(kind, name));
        }
        Metric::of_servers().find(|m| m.id == id).cloned()
    }

    /// Whether it is counted in an emulated guest, and nowhere else.
    pub fn is_emulated(&self) -> bool {
        self.id.starts_with("emulated_")
    }

    /// Whether it is a rate that a search for a capacity gives, and nothing else does.
    pub fn is_of_capacity(&self) -> bool {
        self.id == CRITICAL_RATE_PER_S || self.id == MAX_RATE_PER_S || limit_of(&self.id).is_some()
    }

    /// The highest rate that keeps one limit of the response time.
    pub fn rate_at_limit(limit: &LatencyLimit) -> Metric {
        let of = limit.operation.as_ref().map_or_else(String::new, |operation| format!("/{operation}"));
        Metric {
            id: Cow::Owned(format!("{RATE_AT}{}{RATE_AT_UNIT}{of}", limit.limit_ms)),
            title: Cow::Owned(format!("Rate within {limit}")),
            unit: "requests/s",
            better: Better::Higher,
            source: "highest rate of Poisson arrivals at which the study's percentile of the response time keeps the limit",
            feels: Feels::Time,
            start_percent_max: None,
            on_request: true,
        }
    }

    /// A metric of one benchmark; `kind` is the identifier of one of [`PER_BENCHMARK`].
    pub fn of_benchmark(kind: &str, benchmark: &str) -> Option<Metric> {
        let kind = PER_BENCHMARK.iter().find(|m| m.id == kind)?;
        Some(Metric {
            id: Cow::Owned(format!("{}/{benchmark}", kind.id)),
            title: Cow::Owned(format!("{} in {benchmark}", kind.title)),
            ..kind.clone()
        })
    }

    /// A metric of one process; `kind` is the identifier of one of [`PER_PROCESS`].
    pub fn of_process(kind: &str, role: &str) -> Option<Metric> {
        let kind = PER_PROCESS.iter().find(|m| m.id == kind)?;
        Some(Metric {
            id: Cow::Owned(format!("{}/{role}", kind.id)),
            title: Cow::Owned(format!("{}: {role}", kind.title)),
            ..kind.clone()
        })
    }

    /// [`METRICS`], then those of benchmarks, processes and limits that occur among the identifiers, then [`EMULATED`]: the order of reports.
    pub fn all_with<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<Metric> {
        let made = ids.into_iter().filter(|id| id.contains('/') || limit_of(id).is_some());
        let (mut of_limits, mut of_names): (Vec<&str>, Vec<&str>) =
            made.partition(|id| limit_of(id).is_some());
        let by_operation = |id: &str| limit_of(id).map(|limit| (limit.operation, limit.limit_ms));
        of_limits.sort_unstable_by(|a, b| {
            by_operation(a).partial_cmp(&by_operation(b)).unwrap_or(Ordering::Equal)
        });
        of_limits.dedup();
        let kinds = || PER_BENCHMARK.iter().chain(PER_PROCESS);
        let place = |id: &str| kinds().position(|m| id.split('/').next() == Some(&*m.id));
        of_names.sort_unstable_by(|a, b| place(a).cmp(&place(b)).then_with(|| by_numbers(a, b)));
        of_names.dedup();
        let made = of_names.into_iter().chain(of_limits);
        let made = made.filter_map(Metric::by_id);
        METRICS.iter().cloned().chain(made).chain(EMULATED.iter().cloned()).collect()
    }
}

/// Around a limit in the identifier of its metric.
const RATE_AT: &str = "rate_at_";
const RATE_AT_UNIT: &str = "_ms_per_s";

/// The limit in the identifier of a metric. Written as the identifier of that limit is, and not otherwise.
fn limit_of(id: &str) -> Option<LatencyLimit> {
    let (rate, operation) = match id.split_once('/') {
        Some((rate, operation)) => (rate, Some(operation.to_owned())),
        None => (id, None),
    };
    let text = rate.strip_prefix(RATE_AT)?.strip_suffix(RATE_AT_UNIT)?;
    let limit_ms: f64 = text.parse().ok()?;
    let is_limit = limit_ms.is_finite() && limit_ms > 0.0 && limit_ms.to_string() == text;
    is_limit.then_some(LatencyLimit { limit_ms, operation })
}

/// The order of texts in which 8192 comes before 262144.
fn by_numbers(a: &str, b: &str) -> Ordering {
    fn next<'t>(rest: &mut &'t str) -> Option<&'t str> {
        let is_digit = rest.chars().next()?.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (run, left) = rest.split_at(end);
        *rest = left;
        Some(run)
    }
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        let (run_a, run_b) = (next(&mut rest_a), next(&mut rest_b));
        let number = |run: Option<&str>| run?.parse::<u64>().ok();
        let order = match (number(run_a), number(run_b)) {
            (Some(a), Some(b)) => a.cmp(&b).then_with(|| run_a.cmp(&run_b)),
            _ => run_a.cmp(&run_b),
        };
        if order != Ordering::Equal || run_a.is_none() {
            return order;
        }
    }
}
