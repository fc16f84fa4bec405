//! Whether the server got what was planned: each operation, as often as planned.

use super::facts::{RunFacts, chance, chance_share, share};
use super::verdict::verdict;
use assay_load::operations::{never_drawn, never_sent};
use assay_model::{Check, OperationCount, ValidityCheck};
use assay_text::percent;

/// Expected share of an operation from which it is a large one, and how far large and small ones may be off: the published
/// rule of SPECjbb2015.
const LARGE_SHARE: f64 = 0.10;
const LARGE_OFF_MAX: f64 = 0.05;
const SMALL_OFF_MAX: f64 = 0.01;

/// How far an operation is off, in units of its bound; above 1 it is too far, and chance does not explain it.
fn mix_off(expected: f64, requests: u64, all: u64) -> f64 {
    let off = (share(requests, all) - expected).abs();
    let bound = if expected >= LARGE_SHARE { LARGE_OFF_MAX } else { SMALL_OFF_MAX };
    off / bound.max(chance_share(expected, all))
}

/// Whether operations were drawn as often as planned for the window: by the weights, and with the starts of sessions that are planned.
pub(super) fn shares(facts: &RunFacts<'_>) -> ValidityCheck {
    let Some(first) = facts.windows.first().filter(|w| w.operations.len() > 1) else {
        return verdict(Check::Mix, None, "one operation only");
    };
    let count = first.operations.len();
    let mut all = vec![0_u64; count];
    let mut found: Option<(f64, String)> = None;
    let mut judge = |counts: &[u64], place: &str| {
        let sum: u64 = counts.iter().sum();
        for (operation, requests) in first.operations.iter().zip(counts) {
            let off = mix_off(operation.planned_share, *requests, sum);
            if sum > 0 && found.as_ref().is_none_or(|(most, _)| *most < off) {
                let (is, asked) =
                    (percent::share(share(*requests, sum)), percent::share(operation.planned_share));
                found = Some((
                    off,
                    format!("{}: {is} of {sum} requests {place}, planned {asked}", operation.name),
                ));
            }
        }
    };
    for window in facts.windows.iter().filter(|w| w.operations.len() == count) {
        // What was drawn: what another operation takes the place of depends on the server's answers.
        let counts: Vec<u64> = window.operations.iter().map(|o| o.selected.unwrap_or(o.requests)).collect();
        all.iter_mut().zip(&counts).for_each(|(sum, n)| *sum = sum.saturating_add(*n));
        judge(&counts, "in a window");
    }
    judge(&all, "in all windows");
    let Some((off, what)) = found else { return verdict(Check::Mix, None, "no request became an operation") };
    let rule = "limit 5 percentage points for shares from 10 % on, else 1, or the range of chance";
    verdict(Check::Mix, Some(off <= 1.0), format!("farthest off is {what}; {rule}"))
}

/// Fewer than these draws of an operation say nothing of what it requires.
const DRAWS_MIN: u64 = 10;

/// Whether each planned operation was sent at all. Of one window where chance explains it that none was, nothing is said; of a whole
/// result it is.
pub(super) fn operations(facts: &RunFacts<'_>, is_whole: bool) -> ValidityCheck {
    let planned = || facts.windows.first().into_iter().flat_map(|w| w.operations.iter().enumerate());
    let of = |at: usize, count: &dyn Fn(&OperationCount) -> u64| -> u64 {
        facts.windows.iter().filter_map(|w| w.operations.get(at)).map(count).sum()
    };
    let requests: u64 = facts.windows.iter().map(|w| w.requests).sum();
    let missing = planned().filter(|(at, one)| 0.0 < one.planned_share && of(*at, &|o| o.requests) == 0);
    let reason = |(at, one): (usize, &OperationCount)| {
        let drawn = of(at, &|o| o.selected.unwrap_or(0));
        if DRAWS_MIN <= drawn || is_whole && 0 < drawn {
            return Some(never_sent(&one.name, drawn));
        }
        let expected = one.planned_share * requests as f64;
        let is_chance = expected <= chance(expected);
        (drawn == 0 && (is_whole || !is_chance)).then(|| never_drawn(&one.name, one.planned_share, requests))
    };
    let reasons: Vec<String> = missing.filter_map(reason).collect();
    if requests == 0 || planned().next().is_none() {
        return verdict(Check::Operations, None, "no request became an operation");
    }
    match reasons.as_slice() {
        [] => verdict(Check::Operations, Some(true), "each planned operation was sent"),
        reasons => verdict(Check::Operations, Some(false), reasons.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::WindowFacts;
    use super::*;

    /// Exact, by the binomial distribution: 0.1 % of 15 requests is one or more once in 67 windows, and two once in 9,700.
    #[test]
    fn a_rare_operation_in_a_short_window_is_no_wrong_mix_and_many_of_them_are() {
        assert!(mix_off(0.001, 1, 15) < 1.0 && mix_off(0.001, 2, 15) < 1.0);
        assert!(mix_off(0.001, 8, 15) > 1.0);
        // 2 percentage points of 10,000 requests.
        assert!(mix_off(0.001, 210, 10_000) > 1.0 && mix_off(0.5, 5_600, 10_000) > 1.0);
        assert!(mix_off(0.5, 5_400, 10_000) < 1.0);
    }

    fn count(name: &str, planned_share: f64, selected: u64, requests: u64) -> OperationCount {
        let name = name.to_owned();
        OperationCount {
            name,
            planned_share,
            selected: Some(selected),
            redirects: None,
            requests,
            errors: 0,
            figures: None,
        }
    }

    fn judged(counts: &[OperationCount], is_whole: bool) -> (Option<bool>, String) {
        let requests = counts.iter().map(|one| one.requests).sum();
        let window = WindowFacts { requests, operations: counts.to_vec(), ..WindowFacts::default() };
        let facts = RunFacts { windows: vec![window], ..RunFacts::default() };
        let check = operations(&facts, is_whole);
        (check.passed, check.evidence)
    }

    #[test]
    fn a_planned_operation_that_was_never_sent_has_its_own_reason() {
        let all = [count("login", 0.0, 0, 0), count("browse", 0.7, 70, 70), count("buy", 0.3, 30, 30)];
        assert_eq!(judged(&all, true).0, Some(true), "what is not planned need not be sent");
        let never_drawn = [count("browse", 0.999, 100, 100), count("report", 0.001, 0, 0)];
        assert_eq!(judged(&never_drawn, false).0, Some(true), "one in a thousand, of a hundred");
        let (passed, said) = judged(&never_drawn, true);
        assert_eq!(passed, Some(false));
        assert!(said.contains("report") && said.contains("at least 1000 requests"), "{said}");
        let never_sent = [count("browse", 0.7, 70, 100), count("buy", 0.3, 30, 0)];
        for is_whole in [false, true] {
            let (passed, said) = judged(&never_sent, is_whole);
            assert_eq!(passed, Some(false));
            assert!(said.contains("buy was drawn 30 times and never sent"), "{said}");
        }
    }
}
