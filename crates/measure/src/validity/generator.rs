//! Whether the generator, and not the server, was judged.

use super::facts::{RunFacts, WindowFacts};
use super::lag::{Lag, lag, lag_of};
use super::verdict::{verdict, worst};
use crate::config::Bounds;
use assay_load::Priority;
use assay_model::{Check, LatencyLimit, ValidityCheck};
use assay_text::percent;

/// Windows that count: in the others it was detected already.
fn counted<'a>(facts: &'a RunFacts<'_>) -> impl Iterator<Item = &'a WindowFacts> {
    facts.windows.iter().filter(|w| w.disturbances.is_empty())
}

/// Fails where the lag leaves no limit an answer; a limit that it leaves none has none, and the others stand.
pub(super) fn lag_of_limits(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    let kept_up = || counted(facts).filter(|w| w.is_sustained && w.sent > 0);
    let of = |(index, (_, rate)): (usize, &(LatencyLimit, Option<f64>))| -> Option<Lag> {
        rate.map_or_else(|| lag_of(index, kept_up()), |rate| lag(index, rate, facts))
    };
    let lags: Option<Vec<Lag>> = facts.limits.iter().enumerate().map(of).collect();
    let Some(lags) = lags.filter(|lags| !lags.is_empty()) else {
        return verdict(Check::GeneratorLag, None, "no window that counts and that the server kept up with");
    };
    let is_early = |lag: &Lag| lag.late_share <= facts.miss_share;
    let each: Vec<String> = facts
        .limits
        .iter()
        .zip(&lags)
        .map(|((limit, _), lag)| {
            let not = if is_early(lag) { "" } else { ", too many: no answer" };
            format!("{limit} {}{not}", percent::share(lag.late_share))
        })
        .collect();
    let evidence = format!(
        "requests sent later than {:.0} % of a limit, near its rate: {}, limit {}",
        100.0 * bounds.lag_part_of_limit,
        each.join(", "),
        percent::share(facts.miss_share)
    );
    verdict(Check::GeneratorLag, Some(lags.iter().any(is_early)), evidence)
}

/// Of a window without limits: whether the generator was late beside the answers as a whole.
pub(super) fn lag_of_window(facts: &RunFacts<'_>) -> ValidityCheck {
    match facts.windows.iter().find_map(|w| w.late_generator.clone()) {
        Some(why) => verdict(Check::GeneratorLag, Some(false), why),
        None => verdict(Check::GeneratorLag, Some(true), "as early as the answers need, or earlier"),
    }
}

pub(super) fn cpu(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    let Some((most, rate)) = worst(counted(facts), |w| w.generator_cpu_share) else {
        return verdict(Check::GeneratorCpu, None, "not known for any window that counts");
    };
    let evidence = format!(
        "at most {} of a core, at {rate:.0}/s, limit {}",
        percent::share(most),
        percent::share(bounds.generator_cpu_share)
    );
    verdict(Check::GeneratorCpu, Some(most <= bounds.generator_cpu_share), evidence)
}

/// No fault where it did not run in real time: what that does shows in the lag.
pub(super) fn priority(facts: &RunFacts<'_>) -> ValidityCheck {
    let known = || facts.windows.iter().filter_map(|w| w.priority.as_ref());
    let lower = known().find(|priority| **priority != Priority::RealTime);
    match lower.or_else(|| known().next()) {
        Some(priority) => {
            let passed = (*priority == Priority::RealTime).then_some(true);
            verdict(Check::GeneratorPriority, passed, priority.to_string())
        }
        None => verdict(Check::GeneratorPriority, None, "not known of a load that was made elsewhere"),
    }
}
