//! A capacity in sentences.

use assay_kit::number::{significant, tick};
use assay_model::{CapacityReport, Estimate, LateCause, LimitRate, Metric, Problem, Reason, SearchStep};

/// What the intervals of a search are worth. The figures are those of searches for simulated servers of known capacity
/// (`crates/stats/tests/capacity/table.rs`), which do not reach what is aimed at.
pub const HOW_SURE: &str = "Intervals aim at holding the true rate in 95 of 100 searches. Of searches for simulated servers of known \
     capacity 95 in 100 did; 61 to 85 where pauses decide over a limit and the rate hardly does.";

/// `p99`, `p99.9`.
pub fn percentile(report: &CapacityReport) -> String {
    format!("p{}", tick(report.percentile))
}

/// `812 requests a second (790 to 835)`.
pub fn rate(estimate: &Estimate) -> String {
    let point = significant(estimate.estimate);
    match interval(estimate) {
        Some(interval) => format!("{point} requests a second ({interval})"),
        None => format!("{point} requests a second (no interval)"),
    }
}

/// `790 to 835`.
pub fn interval(estimate: &Estimate) -> Option<String> {
    Some(format!("{} to {}", significant(estimate.low?), significant(estimate.high?)))
}

/// Whether any rate has an interval.
pub fn has_interval(report: &CapacityReport) -> bool {
    let rates = report.limits.iter().map(|limit| limit.rate_per_s);
    rates.chain([report.max_rate_per_s]).flatten().any(|rate| rate.low.is_some())
}

/// A limit: `10 ms`.
pub fn limit(limit_ms: f64) -> String {
    format!("{} ms", tick(limit_ms))
}

/// The answer: what it keeps, and what it sustains.
pub fn answer(report: &CapacityReport) -> Vec<String> {
    let percentile = percentile(report);
    let of = match report.limited_operations.as_slice() {
        [] => String::new(),
        names => format!(" of {}", names.join(", ")),
    };
    let mut sentences = Vec::new();
    match report.limits.iter().find_map(|limit| Some((limit, limit.rate_per_s?))) {
        Some((found, estimate)) => {
            let (limit, rate) = (limit(found.limit_ms), rate(&estimate));
            sentences.push(format!("Keeps {percentile}{of} under {limit} up to {rate}."));
        }
        None => sentences.extend(report.limits.first().map(|first| {
            format!(
                "No rate was found at which {percentile}{of} just keeps {}: {}.",
                limit(first.limit_ms),
                absent(report, first)
            )
        })),
    }
    sentences.push(match &report.max_rate_per_s {
        Some(max) => {
            let there = at_most(report, max.estimate).and_then(|s| Some((s.limited_ms?, s.asked_rate_per_s)));
            let there = there.map_or_else(String::new, |(ms, rate)| {
                format!("; {percentile} at {}/s is {} ms", significant(rate), significant(ms))
            });
            format!("Sustains at most {}{there}.", rate(max))
        }
        None => "What it sustains at most was not found.".to_owned(),
    });
    sentences
}

/// Of the sustained window with the highest rate up to this one.
fn at_most(report: &CapacityReport, rate_per_s: f64) -> Option<&SearchStep> {
    let steps = report.steps().filter(|(window, step)| step.is_sustained && window.counts());
    let below = steps.map(|(_, step)| step).filter(|step| step.asked_rate_per_s <= rate_per_s);
    below.max_by(|a, b| a.asked_rate_per_s.total_cmp(&b.asked_rate_per_s))
}

/// Why a limit has no rate.
pub fn absent(report: &CapacityReport, limit: &LimitRate) -> String {
    let id = Metric::rate_at_limit(limit.limit_ms).id;
    if report.problems.iter().any(|p| p.about == id && p.reason == Reason::LoadGenerator) {
        return "not told from the generator, see problems".to_owned();
    }
    match (limit.last_success_per_s, limit.first_failure_per_s) {
        (None, Some(rate)) => format!("missed already at {}/s", significant(rate)),
        (Some(rate), None) => format!("kept at all rates, up to {}/s", significant(rate)),
        (Some(_), Some(_)) => "too little is known".to_owned(),
        (None, None) => "nothing is known".to_owned(),
    }
}

/// Problems that no failed check tells already.
pub fn other_problems(report: &CapacityReport) -> Vec<(String, String)> {
    let is_told =
        |p: &&Problem| report.checks.iter().any(|c| c.check.word() == p.about && c.passed == Some(false));
    Problem::listed(report.problems.iter().filter(|p| !is_told(p)))
}

/// What stands for the misses that no cause explains.
pub const UNEXPLAINED: &str = "nothing that was watched";

/// A cause of misses, for people.
pub fn cause(cause: LateCause) -> &'static str {
    match cause {
        LateCause::GcPause => "collection pauses",
        LateCause::Safepoint => "other stops of the JVM",
        LateCause::RunQueue => "waiting for a processor",
        LateCause::Throttling => "the CPU limit of its group",
        LateCause::Steal => "processors taken by the hypervisor",
        LateCause::OtherProcesses => "processors used by other processes",
        LateCause::GeneratorLag => "the generator was late",
        LateCause::ConnectionWait => "all connections were busy",
        LateCause::Other => "a cause that this version does not know",
    }
}
