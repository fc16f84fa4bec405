//! A capacity in sentences.

use assay_kit::number::{count, percent, significant, tick};
use assay_kit::text::clean;
use assay_model::{CapacityReport, Estimate, LateCause, LimitRate, Metric, Problem, Reason, SearchStep};

/// How good the intervals of a search are. The figures are those of searches for simulated servers of known capacity
/// (`crates/stats/tests/capacity/table.rs`), which do not reach what is aimed at.
pub const HOW_SURE: &str = "Intervals are meant to hold the true rate in 95 of 100 searches. In searches on \
    simulated servers of known capacity, 95 in 100 did. If pauses rather than the rate decide a limit, 61 to \
    85 did.";

/// `p99`, `p99.9`.
pub fn percentile(report: &CapacityReport) -> String {
    format!("p{}", tick(report.percentile))
}

/// `812 requests a second (790 to 835)`.
pub fn rate(estimate: &Estimate) -> String {
    let point = significant(estimate.estimate);
    match interval(estimate) {
        Some(interval) => format!("{point} requests/s ({interval})"),
        None => format!("{point} requests/s (no interval)"),
    }
}

/// The same in few words.
fn per_second(estimate: &Estimate) -> String {
    let interval = interval(estimate).unwrap_or_else(|| "no interval".to_owned());
    format!("{}/s ({interval})", significant(estimate.estimate))
}

/// The rate that is reported for a limit, per second: the highest of a window that kept it. Its estimate is where the limit is crossed; it
/// stands alone where no such window is known, and where a sweep scored a rate below one that kept the limit.
pub fn kept(limit: &LimitRate) -> Option<f64> {
    let estimate = limit.rate_per_s?.estimate;
    Some(limit.last_success_per_s.map_or(estimate, |kept| kept.min(estimate)))
}

/// A rate of a window, which was measured and not estimated: enough digits to find it in the table of windows, and to distinguish neighbours.
pub fn measured(rate_per_s: f64) -> String {
    match rate_per_s {
        whole if (100.0..1e15).contains(&whole) => count(whole.round() as u64),
        small => tick((10.0 * small).round() / 10.0),
    }
}

/// `805 requests a second; the limit is crossed at 812 (790 to 835)`.
fn kept_words(limit: &LimitRate, estimate: &Estimate) -> (String, String) {
    match kept(limit) {
        Some(kept) if kept < estimate.estimate || limit.last_success_per_s == Some(kept) => {
            let crossed = significant(estimate.estimate);
            let interval =
                interval(estimate).map_or_else(|| " (no interval)".to_owned(), |ends| format!(" ({ends})"));
            (
                format!("{} requests/s", measured(kept)),
                format!("; the limit is crossed at {crossed}{interval}"),
            )
        }
        _ => (rate(estimate), String::new()),
    }
}

/// Why an end of an interval is its estimate, as in results of versions that moved an estimate to the nearest window.
pub fn end_at_estimate(limit: &LimitRate) -> Option<&'static str> {
    let Estimate { estimate, low, high } = limit.rate_per_s?;
    if low == Some(estimate) && limit.first_failure_per_s.is_some_and(|missed| missed <= estimate) {
        return Some("missed already below its interval");
    }
    (high == Some(estimate) && limit.last_success_per_s.is_some_and(|kept| estimate <= kept))
        .then_some("kept even above its interval")
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

/// A limit with the operation that it alone holds for: `200 ms of checkout`.
pub fn limit_of(limit_ms: f64, operation: Option<&str>) -> String {
    let of = operation.map_or_else(String::new, |operation| format!(" of {}", clean(operation)));
    format!("{}{of}", limit(limit_ms))
}

/// The same of a limit with its rate.
pub fn limit_with_rate(of: &LimitRate) -> String {
    limit_of(of.limit_ms, of.operation.as_deref())
}

/// The answer: what it keeps, and what it sustains.
pub fn answer(report: &CapacityReport) -> Vec<String> {
    let percentile = percentile(report);
    let under = |limit: &LimitRate| {
        let of = match (&limit.operation, report.limited_operations.as_slice()) {
            (Some(operation), _) => format!(" of {operation}"),
            (None, []) => String::new(),
            (None, names) => format!(" of {}", names.join(", ")),
        };
        format!("{percentile}{of} under {}", self::limit(limit.limit_ms))
    };
    let mut sentences = Vec::new();
    match report.limits.iter().find_map(|limit| Some((limit, limit.rate_per_s?))) {
        Some((found, estimate)) => {
            let (under, (rate, crossed)) = (under(found), kept_words(found, &estimate));
            let by_max = if found.limited_by_max { format!(", {LIMITED_BY_MAX}") } else { crossed };
            sentences.push(format!("Sustains {rate} with {under}{by_max}."));
        }
        None => sentences.extend(report.limits.first().map(|first| {
            let under = under(first);
            match without_rate(report, first) {
                WithoutRate::MissedAt(rate) => {
                    format!(
                        "Does not keep {under} even at {} requests/s, the lowest rate measured.",
                        significant(rate)
                    )
                }
                WithoutRate::KeptUpTo(rate) => {
                    format!(
                        "Sustains at least {} requests/s with {under}. No higher rate was measured.",
                        significant(rate)
                    )
                }
                WithoutRate::Because(why) => format!("The highest rate with {under} is unknown: {why}."),
            }
        })),
    }
    sentences.extend(operations_with_limits(report, percentile.as_str()));
    sentences.push(match &report.max_rate_per_s {
        Some(max) => {
            let there =
                at_most(report, max.estimate).and_then(|s| Some((s.limited_ms?, s.offered_rate_per_s)));
            let there = there.map_or_else(String::new, |(ms, rate)| {
                format!("; {percentile} at {}/s is {} ms", significant(rate), significant(ms))
            });
            format!("The maximum is {}{there}.", per_second(max))
        }
        None => "The maximum rate was not found.".to_owned(),
    });
    sentences
}

/// Of each operation with limits of its own the first limit that has a rate, where the sentence before named another.
fn operations_with_limits(report: &CapacityReport, percentile: &str) -> Vec<String> {
    let found = || report.limits.iter().filter_map(|limit| Some((limit, limit.rate_per_s?)));
    let first = found().next().map(|(limit, _)| &limit.operation);
    let mut named: Vec<&String> = Vec::new();
    let mut sentences = Vec::new();
    for (limit, rate) in found().filter(|(limit, _)| first != Some(&limit.operation)) {
        let Some(operation) = limit.operation.as_ref().filter(|name| !named.contains(name)) else { continue };
        named.push(operation);
        let under = self::limit(limit.limit_ms);
        let (rate, crossed) = kept_words(limit, &rate);
        sentences
            .push(format!("With {percentile} of {operation} under {under} it sustains {rate}{crossed}."));
    }
    sentences
}

/// What to do with the answer: repair what makes it useless, or look at what makes requests late.
pub fn next_step(report: &CapacityReport) -> String {
    if report.valid == Some(false) {
        return "→ Repair what the checks found, then measure again.".to_owned();
    }
    let with_misses = report.attribution.iter().filter_map(|attribution| {
        let most = attribution.causes.iter().max_by_key(|c| c.misses).filter(|c| c.misses > 0)?;
        Some((attribution, most.cause, most.misses, attribution.misses))
    });
    let with_misses = with_misses.max_by_key(|(.., misses, _)| *misses);
    match with_misses {
        Some((attribution, of, misses, all)) => format!(
            "→ To sustain more, begin with {}: without it {} of the requests beyond {} would have kept the limit.",
            cause(of),
            percent(misses, all),
            limit_of(attribution.limit_ms, attribution.operation.as_deref())
        ),
        None if report.attribution.is_empty() => {
            "→ To learn what makes requests late, name the server's process (--pid).".to_owned()
        }
        None => {
            "→ To sustain more, find what the server waits for: assay time PID under this load.".to_owned()
        }
    }
}

/// Of the sustained window with the highest rate up to this one.
fn at_most(report: &CapacityReport, rate_per_s: f64) -> Option<&SearchStep> {
    let steps = report.steps().filter(|(window, step)| step.is_sustained && window.counts());
    let below = steps.map(|(_, step)| step).filter(|step| step.offered_rate_per_s <= rate_per_s);
    below.max_by(|a, b| a.offered_rate_per_s.total_cmp(&b.offered_rate_per_s))
}

/// What is known of a limit that has no rate.
enum WithoutRate {
    /// No lower rate was measured.
    MissedAt(f64),
    /// No higher rate was measured.
    KeptUpTo(f64),
    Because(&'static str),
}

/// Of a limit that is kept at all rates that are sustained.
pub const LIMITED_BY_MAX: &str = "limited by the maximum";

/// What is known of a limit that has no rate, in a few words.
pub fn absent(report: &CapacityReport, limit: &LimitRate) -> String {
    match without_rate(report, limit) {
        WithoutRate::MissedAt(rate) => format!("missed already at {}/s", significant(rate)),
        WithoutRate::KeptUpTo(rate) => format!("kept at all rates, up to {}/s", significant(rate)),
        WithoutRate::Because(why) => why.to_owned(),
    }
}

fn without_rate(report: &CapacityReport, limit: &LimitRate) -> WithoutRate {
    let id = Metric::rate_at_limit(&limit.limit()).id;
    if report.problems.iter().any(|p| p.about == id && p.reason == Reason::LoadGenerator) {
        return WithoutRate::Because("inconclusive: the load generator may have been the bottleneck");
    }
    match (limit.last_success_per_s, limit.first_failure_per_s) {
        (None, Some(rate)) => WithoutRate::MissedAt(rate),
        (Some(rate), None) => WithoutRate::KeptUpTo(rate),
        (Some(_), Some(_)) => WithoutRate::Because("too few windows to say"),
        (None, None) => WithoutRate::Because("no window shows it"),
    }
}

/// Problems that are not among the reasons why the result is not valid: failed checks, or without one all problems.
pub fn other_problems(report: &CapacityReport) -> Vec<(String, String)> {
    let failed: Vec<_> = report.checks.iter().filter(|c| c.passed == Some(false)).collect();
    if report.valid == Some(false) && failed.is_empty() {
        return Vec::new();
    }
    let is_reason = |p: &&Problem| failed.iter().any(|c| c.check.word() == p.about);
    Problem::listed(report.problems.iter().filter(|p| !is_reason(p)))
}

/// What stands for the misses that no cause explains.
pub const UNEXPLAINED: &str = "unexplained";

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
