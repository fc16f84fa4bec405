//! How many users an open loop begins with.

use crate::LoadError;
use crate::generator::{GeneratorConfig, SESSIONS_MAX, within};

/// As many users as requests arrive in this time are enough for a server that answers within half of it; more come when all are busy.
const ARRIVALS_OF_S: f64 = 0.2;
/// So many of each kind there are at least.
const OF_KIND_MIN: f64 = 2.0;
/// Points at which the rate of a schedule is looked at.
const POINTS: u32 = 600;

/// Users that an open loop at this rate begins with, where their number is not fixed. Those who think take no part in requests under way.
pub(crate) fn of_rate(config: &GeneratorConfig, rate_per_s: f64) -> u32 {
    let parts = f64::from(config.shared.part().of.max(1));
    let rate_per_s = config.rate.as_ref().map_or(rate_per_s, |schedule| {
        let point_s = (schedule.length().as_secs_f64() / f64::from(POINTS)).max(1.0);
        let at = |point: u32| f64::from(point) * point_s;
        let rates = (0..POINTS).map(|point| schedule.mean_rate_per_s(at(point), at(point + 1)));
        rates.fold(0.0, f64::max)
    }) / parts;
    let kinds = config.scenario.users.len() as f64;
    let busy = (rate_per_s * ARRIVALS_OF_S).ceil().max(OF_KIND_MIN * kinds).min(f64::from(config.sessions));
    let thinking = (rate_per_s * config.scenario.think_mean_s()).ceil();
    (busy + thinking).min(f64::from(SESSIONS_MAX)) as u32
}

/// Whether a fixed number of users can be had.
pub(crate) fn check(config: &GeneratorConfig) -> Result<(), LoadError> {
    let Some(users) = config.users else { return Ok(()) };
    let kinds = config.scenario.users.len() as u32;
    within("users", users, 1..=SESSIONS_MAX, "use 1 to 1000000")?;
    let fix = "use at least one of each kind of users, and of injectors so many for each";
    within("users", users, kinds..=SESSIONS_MAX, fix)
}
