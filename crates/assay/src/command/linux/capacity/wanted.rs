//! What a result says about a rate that a limit should be kept up to.

use crate::arguments::AtLeast;
use assay_model::{Estimate, GateCase, GateVerdict, LimitRate};

/// The condition that fails is that the highest rate which keeps the limit is lower. Figures that cannot be used decide nothing.
pub fn judge(limits: &[LimitRate], wanted: &AtLeast, is_usable: bool) -> GateCase {
    let limit = limits.iter().find(|limit| limit.limit() == wanted.limit);
    let (measured, verdict, remedy) = match limit {
        _ if !is_usable => (None, GateVerdict::Undecided, "the result is not shown to be valid"),
        None => (None, GateVerdict::Undecided, "the result does not have this limit"),
        Some(limit) => of_limit(limit, wanted.rate_per_s),
    };
    GateCase {
        condition: format!("less than {} requests/s under {}", wanted.rate_per_s, wanted.limit),
        variant: None,
        baseline: None,
        measured,
        again: None,
        unit: "requests/s",
        verdict,
        remedy: remedy.into(),
    }
}

fn of_limit(limit: &LimitRate, wanted_per_s: f64) -> (Option<Estimate>, GateVerdict, &'static str) {
    let is_lower = |rate: f64| rate < wanted_per_s;
    let bare = |rate: f64| Some(Estimate { estimate: rate, low: None, high: None });
    match (limit.rate_per_s, limit.last_success_per_s, limit.first_failure_per_s) {
        (Some(rate), ..) => {
            let verdict = GateVerdict::of(Some(rate), is_lower);
            let remedy = if rate.ends().is_some() { LONGER } else { NO_INTERVAL };
            (Some(rate), verdict, remedy)
        }
        // Every rate that was tried kept it, or missed it: one side is known.
        (None, Some(kept), None) if !is_lower(kept) => (bare(kept), GateVerdict::Passes, ALL_KEPT),
        (None, None, Some(missed)) if missed <= wanted_per_s => {
            (bare(missed), GateVerdict::Holds, ALL_MISSED)
        }
        _ => (None, GateVerdict::Undecided, NOT_FOUND),
    }
}

const LONGER: &str = "the interval contains the threshold: a longer --budget would narrow it";
const NO_INTERVAL: &str = "a sweep gives no interval: --method search does";
const ALL_KEPT: &str = "the highest rate that was tried, and it kept the limit";
const ALL_MISSED: &str = "the lowest rate that was tried, and it missed the limit";
const NOT_FOUND: &str = "no rate was found at which keeping the limit ends: a longer --budget may find it";

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::LatencyLimit;

    #[track_caller]
    fn check(
        (rate, kept, missed): (Option<(f64, f64)>, Option<f64>, Option<f64>),
        wanted_per_s: f64,
        want: GateVerdict,
    ) {
        let rate_per_s = rate.map(|(low, high)| Estimate {
            estimate: (low + high) / 2.0,
            low: Some(low),
            high: Some(high),
        });
        let limit = LimitRate {
            limit_ms: 25.0,
            operation: None,
            rate_per_s,
            last_success_per_s: kept,
            first_failure_per_s: missed,
            limited_by_max: false,
        };
        assert_eq!(of_limit(&limit, wanted_per_s).1, want, "{limit:?} at {wanted_per_s}");
    }

    fn at_25_ms(operation: Option<&str>) -> AtLeast {
        let operation = operation.map(str::to_owned);
        AtLeast { rate_per_s: 500.0, limit: LatencyLimit { limit_ms: 25.0, operation } }
    }

    #[test]
    fn a_limit_of_one_operation_is_judged_by_its_own_rate() {
        let limit = |operation: Option<&str>, rate: f64| LimitRate {
            limit_ms: 25.0,
            operation: operation.map(str::to_owned),
            rate_per_s: Some(Estimate { estimate: rate, low: Some(0.9 * rate), high: Some(1.1 * rate) }),
            last_success_per_s: None,
            first_failure_per_s: None,
            limited_by_max: false,
        };
        let limits = [limit(None, 900.0), limit(Some("checkout"), 200.0)];
        assert_eq!(judge(&limits, &at_25_ms(None), true).verdict, GateVerdict::Passes);
        let case = judge(&limits, &at_25_ms(Some("checkout")), true);
        assert_eq!(case.verdict, GateVerdict::Holds);
        assert_eq!(case.condition, "less than 500 requests/s under 25 ms of checkout");
    }

    #[test]
    fn a_rate_is_too_low_only_beyond_noise() {
        let found = (Some((480.0, 530.0)), Some(500.0), Some(510.0));
        check(found, 531.0, GateVerdict::Holds);
        check(found, 500.0, GateVerdict::NotShown);
        check(found, 480.0, GateVerdict::Passes);
    }

    #[test]
    fn where_no_rate_was_found_one_side_may_decide() {
        check((None, Some(160.0), None), 150.0, GateVerdict::Passes);
        check((None, Some(160.0), None), 500.0, GateVerdict::Undecided);
        check((None, None, Some(40.0)), 500.0, GateVerdict::Holds);
        check((None, None, Some(40.0)), 20.0, GateVerdict::Undecided);
        check((None, None, None), 20.0, GateVerdict::Undecided);
    }

    #[test]
    fn a_sweep_and_a_result_that_is_not_valid_decide_nothing() {
        let rate = Estimate { estimate: 600.0, low: None, high: None };
        let limit = LimitRate {
            limit_ms: 25.0,
            operation: None,
            rate_per_s: Some(rate),
            last_success_per_s: Some(600.0),
            first_failure_per_s: Some(620.0),
            limited_by_max: false,
        };
        assert_eq!(of_limit(&limit, 500.0).1, GateVerdict::Undecided);
        let case = judge(&[limit], &at_25_ms(None), false);
        assert_eq!(case.verdict, GateVerdict::Undecided);
    }
}
