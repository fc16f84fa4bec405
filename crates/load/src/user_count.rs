//! How many users an open loop begins with.

use assay_scenario::{RateSchedule, Scenario};

/// As many users as requests arrive in this time are enough for a server that answers within half of it; more come when all are busy.
const ARRIVALS_OF_S: f64 = 0.2;
/// So many of each kind there are at least.
const OF_KIND_MIN: f64 = 2.0;
/// Points at which the rate of a schedule is looked at.
const POINTS: u32 = 600;

/// Users for a rate of a scenario, of whom so many may have a request under way. Those who think come on top.
pub(crate) fn of_rate(scenario: &Scenario, rate_per_s: f64, busy_max: u32) -> u32 {
    let busy_min = OF_KIND_MIN * scenario.users.len() as f64;
    let busy = (rate_per_s * ARRIVALS_OF_S).ceil().max(busy_min).min(f64::from(busy_max));
    let thinking = (rate_per_s * scenario.think_mean_s()).ceil();
    (busy + thinking) as u32
}

/// The highest rate of a schedule, as far as its points show it.
pub(crate) fn highest_per_s(schedule: &RateSchedule) -> f64 {
    let point_s = (schedule.length().as_secs_f64() / f64::from(POINTS)).max(1.0);
    let at = |point: u32| f64::from(point) * point_s;
    let rates = (0..POINTS).map(|point| schedule.mean_rate_per_s(at(point), at(point + 1)));
    rates.fold(0.0, f64::max)
}
