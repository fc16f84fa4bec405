//! Which results of a method hold: the generator can be the bottleneck, and then the server's limit is not known.
//!
//! Response times count from the intended start, so that the lag of the generator is in them. It makes them longer and the rate at
//! a limit lower, never the other way round. How much lower is bounded: a request that misses the limit L was late by more than
//! a tenth of L, or had taken more than 0.9 L without any lag. Where no more requests are that late than may miss the limit (so the
//! percentile of the lag, the same that the limits hold for, is at most L / 10), the rate lies between those at 0.9 L and at L.
//! Where more are, the limit has no answer. That is asked of the windows near the rate alone, since lag at other rates does not
//! change it. The tenth is what a shared machine leaves of a limit of 10 ms: of a thread that sleeps 1 ms, the 99th percentile of
//! the lateness was 2.5 to 3.8 ms at the usual priority beside other work, and 0.06 ms where it ran first; with the former, 10 ms
//! cannot be judged and 25 ms hardly, with the latter both can.
//!
//! The highest rate that is sustained does not ask for response times: lag is of no matter to it as long as the rate was offered.

use crate::config::Bounds;
use crate::validity::{RunFacts, Steadiness, WindowFacts, lag, told};
use assay_model::{LimitRate, Metric, Problem, Reason, metric};
use assay_stats::capacity::{Capacity, SearchConfig};

/// The capacity as far as it holds, and why the rest is absent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgedCapacity {
    pub capacity: Capacity,
    pub absences: Vec<Problem>,
}

/// Removes results that the generator leaves undecided.
pub(crate) fn answer(mut capacity: Capacity, facts: &RunFacts<'_>, bounds: &Bounds) -> JudgedCapacity {
    let mut absences = Vec::new();
    let mut absent =
        |reason: Reason, about: &str, why: String| absences.push(Problem::because(reason, about, why));
    let beyond = facts.generator_limit_per_s;
    if let Some(rate) = beyond {
        absent(
            Reason::LoadGenerator,
            "capacity",
            format!(
                "the generator is the limit here, not the server: it could not offer {rate:.1}/s twice in a \
                    row. Nothing is known of the server beyond that rate"
            ),
        );
    }
    let was_overloaded = told(facts).any(|w| w.is_offered && !w.is_sustained);
    if beyond.is_some() && !was_overloaded && capacity.max_rate_per_s.take().is_some() {
        let why = "the generator could not offer a rate that the server does not sustain";
        absent(Reason::LoadGenerator, metric::MAX_RATE_PER_S, why.to_owned());
    } else if capacity.max_rate_per_s.is_none() {
        let why = "no rate was found that the server just sustains: it kept up with all that were tried, or with none";
        absent(Reason::Other, metric::MAX_RATE_PER_S, why.to_owned());
    }
    for (index, limit) in capacity.limits.iter_mut().enumerate() {
        let why = match limit.rate_per_s {
            None => Some((Reason::Other, never_crossed(limit))),
            Some(rate) => {
                let why = why_not(index, limit.limit_ms, rate.estimate, facts, bounds);
                why.map(|why| (Reason::LoadGenerator, why))
            }
        };
        if let Some((reason, why)) = why {
            limit.rate_per_s = None;
            absent(reason, &Metric::rate_at_limit(&limit.limit()).id, why);
        }
    }
    if capacity.limits.iter().any(|limit| limit.rate_per_s.is_none()) {
        capacity.critical_rate_per_s = None;
        let why = "it needs a rate at every limit, and one is not known";
        absent(Reason::Other, metric::CRITICAL_RATE_PER_S, why.to_owned());
    }
    let has_intervals =
        capacity.limits.iter().any(|limit| limit.rate_per_s.is_some_and(|rate| rate.low.is_some()));
    if has_intervals && !capacity.is_precise {
        let wanted = SearchConfig::new(1.0).half_width_share;
        let sustained_per_s = capacity.max_rate_per_s.map(|rate| rate.estimate);
        let why = Steadiness::of(&facts.windows, sustained_per_s).why_not(wanted);
        let why = why.unwrap_or_else(|| "a longer budget, or a quieter machine, narrows them".to_owned());
        absent(Reason::Other, "capacity", format!("the intervals are wider than requested: {why}"));
    }
    JudgedCapacity { capacity, absences }
}

fn never_crossed(limit: &LimitRate) -> String {
    match (limit.last_success_per_s, limit.first_failure_per_s) {
        (None, Some(rate)) => format!("no rate that was tried keeps it, not even {rate:.1}/s"),
        (Some(rate), None) => format!("every rate that was tried keeps it, up to {rate:.1}/s"),
        (Some(_), Some(_)) => {
            "too little is known between the rates that keep it and those that do not".to_owned()
        }
        (None, None) => "no window that counts says anything about it".to_owned(),
    }
}

/// Why a rate does not stand: each time it is the generator's doing.
fn why_not(
    index: usize,
    limit_ms: f64,
    rate_per_s: f64,
    facts: &RunFacts<'_>,
    bounds: &Bounds,
) -> Option<String> {
    let misses = |w: &WindowFacts| w.miss_shares.get(index).is_some_and(|share| facts.miss_share < *share);
    if facts.generator_limit_per_s.is_some() && !told(facts).any(misses) {
        return Some("only rates that the generator could not offer miss it".to_owned());
    }
    let lag = lag(index, rate_per_s, facts)?;
    (facts.miss_share < lag.late_share).then(|| {
        let part = 100.0 * bounds.lag_part_of_limit;
        format!(
            "near {rate_per_s:.0}/s the generator sent {:.1} % of the requests more than {:.1} ms late, \
                {part:.0} % of the limit ({:.1} % may miss it). It cannot be distinguished from the server \
                here",
            100.0 * lag.late_share,
            bounds.lag_part_of_limit * limit_ms,
            100.0 * facts.miss_share
        )
    })
}
