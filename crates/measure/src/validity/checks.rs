//! The checks, one function each. What is not known gives no verdict.

use super::facts::{RunFacts, WindowFacts, chance, chance_share, share};
use super::verdict::{verdict, worst};
use super::{generator, mix, steadiness};
use crate::config::Bounds;
use crate::validation::TOLERANCE_SHARE;
use crate::warm_up::WarmedUp;
use assay_load::ErrorKind;
use assay_model::{Check, Problem, ValidityCheck, WarmUpEnd};
use assay_text::percent;

/// Share of the time in which some task waits for a processor, at the lowest rate, that a server alone hardly makes.
const PRESSED_SHARE: f64 = 0.25;
/// Refused connections in one window that are taken for a server that is down.
const REFUSED_MAX: u64 = 10;

/// All checks, in the order in which they are shown.
pub fn check(facts: &RunFacts<'_>, bounds: &Bounds) -> Vec<ValidityCheck> {
    [
        complete(facts),
        warm_up(facts),
        mix::shares(facts),
        mix::operations(facts, true),
        arrivals(facts),
        sent_rate(facts, bounds),
        generator::lag_of_limits(facts, bounds),
        generator::cpu(facts, bounds),
        generator::priority(facts),
        connections(facts, bounds),
        errors(facts, bounds),
        lost_responses(facts, bounds),
        disturbance(facts, bounds),
        pressure(facts),
        steadiness::check(facts),
        restart(facts),
        clock(facts, bounds),
        audit(facts),
    ]
    .into_iter()
    .chain(path(facts))
    .chain(validation(facts))
    .collect()
}

/// Checks of one window that is measured for its own sake, and not on the way to a capacity. A check without a verdict is
/// left out. Gives the window back.
pub(crate) fn check_window(
    window: WindowFacts,
    warmed_up: Option<&WarmedUp>,
    connections: u32,
    knows_server: bool,
    bounds: &Bounds,
) -> (Vec<ValidityCheck>, WindowFacts) {
    let is_open = window.is_open;
    let windows = vec![window];
    let mut facts = RunFacts { windows, warmed_up, connections, knows_server, ..RunFacts::default() };
    let of_open_load =
        || [arrivals(&facts), sent_rate(&facts, bounds), connections_of_window(&facts, bounds)];
    let checks = [
        warm_up(&facts),
        mix::shares(&facts),
        mix::operations(&facts, false),
        generator::lag_of_window(&facts),
        generator::cpu(&facts, bounds),
        generator::priority(&facts),
        errors_of_window(&facts, bounds),
        lost_responses(&facts, bounds),
        restart(&facts),
        clock(&facts, bounds),
    ]
    .into_iter()
    .chain(is_open.then(of_open_load).into_iter().flatten())
    .filter(|check| check.passed.is_some())
    .collect();
    (checks, facts.windows.remove(0))
}

fn complete(facts: &RunFacts<'_>) -> ValidityCheck {
    let evidence = match (facts.was_stopped, facts.windows.len()) {
        (true, n) => format!("stopped after {n} windows"),
        (false, 0) => "no window was measured".to_owned(),
        (false, n) => format!("{n} windows"),
    };
    verdict(Check::Complete, Some(!facts.was_stopped && !facts.windows.is_empty()), evidence)
}

fn warm_up(facts: &RunFacts<'_>) -> ValidityCheck {
    match &facts.warmed_up {
        None => verdict(Check::WarmUp, None, "no warm-up was requested"),
        Some(of) => {
            let is_steady = of.warm_up.ended_by == WarmUpEnd::Steady;
            let how = if is_steady { "reached a steady state in" } else { "did not reach a steady state in" };
            let evidence = format!("{how} {:.0} s ({})", of.warm_up.duration_s, of.warm_up.rule);
            verdict(Check::WarmUp, Some(is_steady), evidence)
        }
    }
}

fn arrivals(facts: &RunFacts<'_>) -> ValidityCheck {
    // Beyond what the server takes, requests that find no place are not sent: what is left is no Poisson process.
    let judged: Vec<&WindowFacts> =
        facts.windows.iter().filter(|w| w.is_sustained && w.gaps.are_foreign().is_some()).collect();
    let relative = |w: &WindowFacts| Some(w.gaps.distance? / w.gaps.distance_max());
    let Some((worst, rate)) = worst(judged.iter().copied(), relative) else {
        return verdict(Check::Arrivals, None, "no window with enough requests that the server kept up with");
    };
    let evidence = format!(
        "{} windows. The gaps farthest from exponential ones, at {rate:.0}/s, differ by {worst:.2} of the \
            bound for chance (Kolmogorov-Smirnov)",
        judged.len()
    );
    verdict(Check::Arrivals, Some(worst <= 1.0), evidence)
}

/// How far a rate is off, in units of its bound.
fn rate_off(count: f64, asked: f64, bound_share: f64) -> f64 {
    (count - asked).abs() / (bound_share * asked).max(chance(asked))
}

fn sent_rate(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    let judged: Vec<&WindowFacts> = facts.windows.iter().filter(|w| w.is_sustained).collect();
    if judged.is_empty() {
        return verdict(Check::SentRate, None, "no window that the server kept up with");
    }
    let asked = |w: &WindowFacts| w.offered_rate_per_s * w.window_s;
    // A request that found the bound of requests in flight reached was not sent on purpose: it is an error, not an arrival.
    let refused = |w: &WindowFacts| w.errors(ErrorKind::OverBound);
    let sent = |w: &WindowFacts| (w.sent + refused(w)) as f64;
    let (sent_all, asked_all) = judged.iter().fold((0.0, 0.0), |(s, a), w| (s + sent(w), a + asked(w)));
    let off = |w: &WindowFacts| Some(rate_off(sent(w), asked(w), bounds.sent_rate_share));
    let in_all = rate_off(sent_all, asked_all, bounds.sent_rate_share);
    let (in_one, rate) = worst(judged.iter().copied(), off).unwrap_or((0.0, 0.0));
    let bound = percent::share(bounds.sent_rate_share);
    let with_refused = match judged.iter().map(|w| refused(w)).sum::<u64>() {
        0 => String::new(),
        refused => format!(", with {refused} that found the most in flight and were not sent,"),
    };
    let evidence = format!(
        "{sent_all:.0} requests sent{with_refused} of {asked_all:.0} offered ({:+.2} %), limit {bound} or the \
            range of chance{}",
        100.0 * (sent_all / asked_all.max(f64::MIN_POSITIVE) - 1.0),
        if in_one > 1.0 { format!("; one window at {rate:.0}/s is beyond") } else { String::new() }
    );
    verdict(Check::SentRate, Some(in_all <= 1.0 && in_one <= 1.0), evidence)
}

/// A share of the requests in clear windows, each and all together, against a bound and what chance explains.
fn in_clear(
    facts: &RunFacts<'_>,
    check: Check,
    what: &str,
    bound: f64,
    part: impl Fn(&WindowFacts) -> u64,
) -> ValidityCheck {
    let clear = facts.clear();
    let judged: Vec<&WindowFacts> = clear.into_iter().filter(|w| w.requests > 0).collect();
    let off = |part: u64, requests: u64| share(part, requests) / (bound + chance_share(bound, requests));
    let Some((in_one, rate)) = worst(judged.iter().copied(), |w| Some(off(part(w), w.requests))) else {
        return verdict(check, None, "no window at a rate that the server clearly sustains");
    };
    let (some, all) = judged.iter().fold((0, 0), |(s, a), w| (s + part(w), a + w.requests));
    let most = judged.iter().map(|w| share(part(w), w.requests)).fold(0.0, f64::max);
    let evidence = format!(
        "{some} of {all} requests {what} ({}), at most {} of a window, most beyond chance at {rate:.0}/s, \
            limit {}",
        percent::share(share(some, all)),
        percent::share(most),
        percent::share(bound)
    );
    verdict(check, Some(in_one <= 1.0 && off(some, all) <= 1.0), evidence)
}

/// Connections run out behind a server that holds requests for so long that as many arrive meanwhile. Where as many as arrive within
/// the longest limit are there, those on them exceed it already, and what waits for one waits behind them, here or in the server:
/// more connections would decide nothing.
fn connections(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    let longest_ms = facts.limits.iter().map(|(limit, _)| limit.limit_ms).fold(0.0, f64::max);
    let enough = |w: &WindowFacts| (w.offered_rate_per_s * longest_ms / 1e3).ceil();
    let waits =
        |w: &WindowFacts| if f64::from(facts.connections) < enough(w) { w.connection_waits } else { 0 };
    let what = format!(
        "waited for one of {} connections where more than so many arrive within {longest_ms} ms",
        facts.connections
    );
    let mut check = in_clear(facts, Check::Connections, &what, bounds.connection_wait_share, waits);
    if check.passed == Some(false) {
        let most = facts.clear().into_iter().map(enough).fold(0.0, f64::max);
        check.evidence += &format!("; --connections {most:.0} are enough");
    }
    check
}

/// Of a window without limits: of one that the server kept up with, since beyond that a queue is to be expected.
fn connections_of_window(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    if !facts.windows.iter().all(|w| w.is_sustained) {
        return verdict(Check::Connections, None, "the server did not keep up");
    }
    let what = format!("waited for one of {} connections", facts.connections);
    in_clear(facts, Check::Connections, &what, bounds.connection_wait_share, |w| w.connection_waits)
}

/// Of a window without limits: all of its requests are judged, at whatever rate, and one without any is nothing.
fn errors_of_window(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    let sum = |of: fn(&WindowFacts) -> u64| facts.windows.iter().map(of).sum::<u64>();
    let (errors, requests) = (sum(WindowFacts::all_errors), sum(|w| w.requests));
    let evidence =
        format!("{errors} of {requests} requests failed, limit {}", percent::share(bounds.error_share));
    verdict(Check::Errors, Some(0 < requests && share(errors, requests) <= bounds.error_share), evidence)
}

fn errors(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    in_clear(facts, Check::Errors, "failed", bounds.error_share, WindowFacts::all_errors)
}

fn lost_responses(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    in_clear(facts, Check::LostResponses, "had no answer", bounds.lost_share, |w| {
        w.errors(ErrorKind::Timeout).saturating_add(w.errors(ErrorKind::Broken))
    })
}

fn disturbance(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    if facts.windows.is_empty() {
        return verdict(Check::Disturbance, None, "no window was measured");
    }
    let lost: Vec<&WindowFacts> = facts.windows.iter().filter(|w| !w.disturbances.is_empty()).collect();
    let (number, of) = (lost.len(), facts.windows.len());
    let why = |w: &&WindowFacts| w.disturbances.iter().map(|d| &*d.evidence).collect::<Vec<_>>().join("; ");
    let why = lost.last().map_or_else(String::new, |w| format!(" (the last: {})", why(w)));
    if facts.counts_disturbed && number > 0 {
        let evidence =
            format!("{number} of {of} windows were disturbed{why}, and count because of --count-disturbed");
        return verdict(Check::Disturbance, Some(false), evidence);
    }
    let unwatched = match (facts.windows.iter().any(|w| w.is_machine_watched), facts.knows_server) {
        (false, _) => "; the machine was not watched",
        (true, false) => {
            "; without the server's process other processes' use of the processors cannot be distinguished from its own (--pid)"
        }
        (true, true) => "",
    };
    let is_good = share(number as u64, of as u64) <= bounds.windows_lost_share;
    let passed = if is_good && number == 0 && !facts.windows.iter().any(|w| w.is_machine_watched) {
        None
    } else {
        Some(is_good)
    };
    let accepted = percent::share(bounds.windows_lost_share);
    if facts.was_too_noisy {
        return verdict(Check::Disturbance, Some(false), too_noisy(facts, &lost));
    }
    verdict(
        Check::Disturbance,
        passed,
        format!("{number} of {of} windows were left out as disturbed{why}, limit {accepted}{unwatched}"),
    )
}

/// Why it was ended: what disturbed windows, how often, and what helps against what did so most.
fn too_noisy(facts: &RunFacts<'_>, lost: &[&WindowFacts]) -> String {
    let mut kinds: Vec<(Check, usize, &str)> = Vec::new();
    for disturbance in lost.iter().flat_map(|w| &w.disturbances) {
        match kinds.iter_mut().find(|(kind, ..)| *kind == disturbance.kind) {
            Some((_, times, last)) => (*times, *last) = (*times + 1, &disturbance.evidence),
            None => kinds.push((disturbance.kind, 1, &disturbance.evidence)),
        }
    }
    kinds.sort_by_key(|(_, times, _)| std::cmp::Reverse(*times));
    let why: Vec<String> =
        kinds.iter().map(|(kind, times, last)| format!("{kind} {times} times, the last: {last}")).collect();
    let remedy = match kinds.first() {
        Some((Check::GeneratorLag, ..)) => {
            "let the generator run first (sudo prlimit --pid $$ --rtprio=1) or on another host"
        }
        _ => {
            "stop what else runs, or give the server and the generator processors of their own; --count-disturbed counts such windows"
        }
    };
    format!(
        "the machine is too noisy for an answer, and the search ended early: {} of {} windows were left out as disturbed ({}); {remedy}",
        lost.len(),
        facts.windows.len(),
        why.join("; ")
    )
}

/// No verdict: near its capacity the server's own threads wait for processors, on the machine that the load takes whole. What others
/// take is judged by [`disturbance`].
fn pressure(facts: &RunFacts<'_>) -> ValidityCheck {
    let Some((_, most)) = pressures(facts).max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return verdict(
            Check::CpuPressure,
            None,
            "not known of any window that counts and that the server kept up with",
        );
    };
    let (lowest_rate, at_lowest) = at_lowest(facts).unwrap_or((0.0, most));
    let evidence = format!(
        "a task of the machine waited for a processor in {} of the time at {lowest_rate:.0}/s, the lowest \
            rate, at most in {} (PSI, cpu some), not judged",
        percent::share(at_lowest),
        percent::share(most)
    );
    verdict(Check::CpuPressure, None, evidence)
}

/// Rates of the windows that count and that the server kept up with, and the share of the time in which some task of the machine waited
/// for a processor.
fn pressures(facts: &RunFacts<'_>) -> impl Iterator<Item = (f64, f64)> {
    let counts = facts.windows.iter().filter(|w| w.disturbances.is_empty() && w.is_sustained);
    counts.filter_map(|w| Some((w.offered_rate_per_s, w.cpu_some_share?)))
}

fn at_lowest(facts: &RunFacts<'_>) -> Option<(f64, f64)> {
    pressures(facts).min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Why it is not known whether the result is valid, where no check failed: processors were scarce even at the lowest rate, and who used
/// them is not known without the server's process.
pub(crate) fn unknown(facts: &RunFacts<'_>) -> Option<Problem> {
    let (rate, share) =
        at_lowest(facts).filter(|(_, share)| !facts.knows_server && PRESSED_SHARE < *share)?;
    let what = format!(
        "not known whether the result is valid: at {rate:.0}/s, the lowest rate, a task waited for a \
            processor in {} of the time. It is unknown whether the server or other processes used the \
            processors: name the server's process with --pid",
        percent::share(share)
    );
    Some(Problem::new(Check::CpuPressure.word(), what))
}

/// Absent where no windows contradict each other.
fn path(facts: &RunFacts<'_>) -> Option<ValidityCheck> {
    let found = facts.from_below.as_ref()?;
    let rate = |rate: Option<f64>| rate.map_or_else(|| "no rate".to_owned(), |rate| format!("{rate:.0}/s"));
    let limits = facts.limits.iter().zip(&found.limits_per_s);
    let limits: Vec<String> = limits.map(|((limit, _), of)| format!("{limit} up to {}", rate(*of))).collect();
    let evidence = format!(
        "the server's capacity depends on its earlier load: {:.0}/s was kept at one time, and {:.0}/s was \
            missed by far at another. Raised step by step from a low rate after a rest, it sustains {} and \
            keeps {}. As searched, in jumps, it sustains {}",
        found.kept_per_s,
        found.missed_per_s,
        rate(found.max_rate_per_s),
        limits.join(", "),
        rate(facts.sustained_per_s)
    );
    Some(verdict(Check::Path, Some(false), evidence))
}

/// Of a sweep: whether its highest rate was reached once more. Absent for a search.
fn validation(facts: &RunFacts<'_>) -> Option<ValidityCheck> {
    let steps = || facts.windows.iter().filter(|w| w.is_validation);
    steps().next()?;
    let off = |w: &WindowFacts| {
        let asked = w.offered_rate_per_s * w.window_s;
        let worst = [w.sent, w.answers].map(|n| rate_off(n as f64, asked, TOLERANCE_SHARE));
        Some(worst[0].max(worst[1]))
    };
    let counted = || steps().filter(|w| w.disturbances.is_empty());
    let Some((most, rate)) = worst(counted(), off) else {
        return Some(verdict(Check::Validation, None, "every step to the highest rate was left out"));
    };
    let evidence = format!(
        "{} steps up to the highest rate. Sent and answered rate differ most at {rate:.0}/s, by {most:.2} of \
            the limit, {} or the range of chance. The server was not restarted before",
        counted().count(),
        percent::share(TOLERANCE_SHARE)
    );
    Some(verdict(Check::Validation, Some(most <= 1.0), evidence))
}

fn restart(facts: &RunFacts<'_>) -> ValidityCheck {
    if let Some(why) = facts.windows.iter().find_map(|w| w.restart.as_ref()) {
        return verdict(Check::Restart, Some(false), why.clone());
    }
    // Beyond what it sustains, a server may refuse what it has no place for.
    let refused = facts.clear().into_iter().map(|w| w.errors(ErrorKind::Connect)).max().unwrap_or(0);
    if refused > REFUSED_MAX {
        let what = format!(
            "{refused} connections were refused in one window at a rate that the server sustains, limit \
                {REFUSED_MAX}"
        );
        return verdict(Check::Restart, Some(false), what);
    }
    match facts.knows_server {
        true => verdict(Check::Restart, Some(true), "the same process from start to end"),
        false => {
            verdict(Check::Restart, Some(true), format!("at most {refused} refused connections in a window"))
        }
    }
}

fn clock(facts: &RunFacts<'_>, bounds: &Bounds) -> ValidityCheck {
    let Some((most, _)) = worst(&facts.windows, |w| w.clock_step_s.map(f64::abs)) else {
        return verdict(Check::Clock, None, "not watched");
    };
    let (most_ms, max_ms) = (1e3 * most, 1e3 * bounds.clock_step_s);
    let evidence = format!("the wall clock was set by at most {most_ms:.1} ms, limit {max_ms:.0} ms");
    verdict(Check::Clock, Some(most <= bounds.clock_step_s), evidence)
}

fn audit(facts: &RunFacts<'_>) -> ValidityCheck {
    match &facts.audit {
        None => verdict(Check::Audit, None, "no audit was requested"),
        Some(audit) => verdict(Check::Audit, Some(audit.passed), audit.detail.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_allows_four_standard_deviations_of_large_counts() {
        assert!((chance(1e6) / 4_000.0 - 1.0).abs() < 0.001);
        assert!((5.0..6.0).contains(&chance(0.0)));
    }
}
