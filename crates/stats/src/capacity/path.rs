//! Whether what a server can do depends on what it was asked before: one that stays slow behind an overload, that falls over a cliff
//! and does not come back, or that leaks. One rate then has two answers, and a search that jumps between rates finds neither.
//!
//! A window that was kept, and on one side of it in time at least three windows at lower rates that were missed by far, are no noise:
//! pauses and clumps move shares by some percent. Nor is a rate that was missed by far behind an overload, and is kept after a rest, for
//! which it is tried once more. Then the server rests, and the load is raised step by step from a low rate.

use super::ceiling::is_overload;
use super::{Capacity, Method, WindowRequest, WindowResult};
use assay_model::{CapacityStep, FromBelow};

/// Missed by far: so large a part of the requests is beyond the limit, or without an answer.
const FAR_SHARE: f64 = 0.2;
/// Answers kept up: no more than this part of them came in the next window.
const LOST_SHARE_MAX: f64 = 0.03;
/// Windows at a rate that is lower by this factor or more contradict one that was kept.
const LOWER: f64 = 0.9;
/// So many of them, and so large a part of all on that side of it.
const MISSED_MIN: usize = 3;
const MISSED_PART: f64 = 2.0 / 3.0;
/// Requests of a window that says anything.
const REQUESTS_MIN: u64 = 100;
/// A rate up to so many times one that was missed is near it.
const SUSPECT_NEAR: f64 = 1.25;
/// Rates that are tried once more.
const RETRIES_MAX: u32 = 2;
/// Rest before that, and before the load is raised, seconds.
const REST_S: f64 = 15.0;
const SETTLE_S: f64 = 1.0;
const WINDOW_S: f64 = 4.0;
/// The first rate, as a part of the lowest that was missed, and the step to the next.
const FIRST_PART: f64 = 0.5;
const STEP: f64 = 1.12;
const STEPS_MAX: u32 = 40;

/// A window, as far as it is compared.
#[derive(Debug, Clone)]
struct ComparedWindow {
    rate_per_s: f64,
    /// Whether answers kept up, then for each limit whether it was kept; absent where that is neither clear.
    kept: Vec<Option<bool>>,
}

impl ComparedWindow {
    fn of(window: &WindowResult, miss_share: f64) -> Option<ComparedWindow> {
        if window.requests < REQUESTS_MIN {
            return None;
        }
        let share = |count: u64, requests: u64| count as f64 / requests as f64;
        let judged = |missed: f64, accepted: f64| match missed {
            missed if missed <= accepted => Some(true),
            missed if FAR_SHARE <= missed => Some(false),
            _ => None,
        };
        let lost = share(window.requests.saturating_sub(window.answers), window.requests);
        // Of an operation that is rare a window may say nothing.
        let limits = window.limits.iter().map(|of| {
            (REQUESTS_MIN <= of.requests).then(|| judged(share(of.misses, of.requests), miss_share)).flatten()
        });
        let kept = std::iter::once(judged(lost, LOST_SHARE_MAX)).chain(limits).collect();
        Some(ComparedWindow { rate_per_s: window.rate_per_s, kept })
    }
}

/// The rate that was kept, and the highest lower one that was missed on one side of it.
fn contradiction(windows: &[ComparedWindow]) -> Option<(f64, f64)> {
    let of = |at: usize, what: usize, side: &[ComparedWindow]| -> Option<f64> {
        let kept = windows.get(at).filter(|window| window.kept.get(what) == Some(&Some(true)))?;
        let verdict = |window: &ComparedWindow| Some((window.rate_per_s, (*window.kept.get(what)?)?));
        let is_lower = |(rate, _): &(f64, bool)| *rate <= LOWER * kept.rate_per_s;
        let mut lower: Vec<(f64, bool)> = side.iter().filter_map(verdict).filter(is_lower).collect();
        lower.sort_by(|a, b| b.0.total_cmp(&a.0));
        // From the highest down to the last of so many that were missed: what was kept far below contradicts nothing.
        let missed = |from: &[(f64, bool)]| from.iter().filter(|(_, is_kept)| !is_kept).count();
        let count = (1..=lower.len()).find(|count| MISSED_MIN <= missed(&lower[..*count]))?;
        let is_much = MISSED_PART * count as f64 <= MISSED_MIN as f64;
        lower.iter().find(|(_, is_kept)| is_much && !is_kept).map(|(rate, _)| *rate)
    };
    let judged = windows.first().map_or(0, |window| window.kept.len());
    (0..windows.len()).flat_map(|at| (0..judged).map(move |what| (at, what))).find_map(|(at, what)| {
        let missed = of(at, what, &windows[..at]).or_else(|| of(at, what, &windows[at + 1..]))?;
        Some((windows[at].rate_per_s, missed))
    })
}

/// A search that raises the load from below where its windows contradict each other.
pub struct Climbing<M> {
    method: M,
    miss_share: f64,
    /// Only once the method has ended: its rules say which windows it has.
    waits: bool,
    windows: Vec<ComparedWindow>,
    /// The last window overloaded the server.
    was_overload: bool,
    /// What was missed behind an overload.
    suspects: Vec<ComparedWindow>,
    /// Lowest rate that was missed otherwise.
    missed_per_s: f64,
    retries: u32,
    found: Option<FromBelow>,
    /// The next rate, and how many were tried.
    next: Option<(f64, u32)>,
    used_s: f64,
}

impl<M: Method> Climbing<M> {
    /// `miss_share` of the requests may exceed a limit.
    pub fn new(method: M, miss_share: f64) -> Self {
        Climbing {
            method,
            miss_share,
            waits: false,
            windows: Vec::new(),
            was_overload: false,
            suspects: Vec::new(),
            missed_per_s: f64::INFINITY,
            retries: 0,
            found: None,
            next: None,
            used_s: 0.0,
        }
    }

    /// The same for a method that goes its way to the end whatever its windows say.
    pub fn behind(method: M, miss_share: f64) -> Self {
        Climbing { waits: true, ..Climbing::new(method, miss_share) }
    }

    /// What a window that the method asked for says of those before.
    fn look(&mut self, seen: Option<ComparedWindow>, is_overload: bool) {
        if let Some(missed) = seen.as_ref().filter(|seen| seen.kept.contains(&Some(false))) {
            if self.was_overload {
                self.suspects.push(missed.clone());
            } else {
                self.missed_per_s = self.missed_per_s.min(missed.rate_per_s);
            }
        }
        self.was_overload = is_overload;
        self.windows.extend(seen);
        self.compare();
    }

    /// Whether windows contradict each other, once it is time to ask.
    fn compare(&mut self) {
        let is_time = !self.waits || self.method.next().is_none();
        if let Some((kept_per_s, missed_per_s)) = contradiction(&self.windows).filter(|_| is_time) {
            self.climb(kept_per_s, missed_per_s);
        }
    }

    /// The lowest rate that was missed behind an overload alone: where others near it were missed, too, it is known.
    fn suspect(&self) -> Option<usize> {
        let is_alone = |seen: &ComparedWindow| SUSPECT_NEAR * seen.rate_per_s < self.missed_per_s;
        let alone =
            self.suspects.iter().enumerate().filter(|(_, seen)| self.retries < RETRIES_MAX && is_alone(seen));
        alone.min_by(|a, b| a.1.rate_per_s.total_cmp(&b.1.rate_per_s)).map(|(at, _)| at)
    }

    fn retried(&mut self, window: &WindowResult) {
        let Some(at) = self.suspect() else { return };
        let before = self.suspects.remove(at);
        self.retries += 1;
        let now = ComparedWindow::of(window, self.miss_share);
        let differs = |now: &ComparedWindow| {
            before
                .kept
                .iter()
                .zip(&now.kept)
                .any(|(before, now)| (*before, *now) == (Some(false), Some(true)))
        };
        if now.as_ref().is_some_and(differs) {
            self.climb(before.rate_per_s, before.rate_per_s);
        }
    }

    fn climb(&mut self, kept_per_s: f64, missed_per_s: f64) {
        let lowest = self.windows.iter().filter(|w| w.kept.contains(&Some(false))).map(|w| w.rate_per_s);
        let first = FIRST_PART * lowest.fold(missed_per_s, f64::min);
        let limits = self.windows.first().map_or(0, |window| window.kept.len().saturating_sub(1));
        self.found = Some(FromBelow {
            kept_per_s,
            missed_per_s,
            max_rate_per_s: None,
            limits_per_s: vec![None; limits],
        });
        self.next = Some((first, 0));
    }

    /// A rate on the way up: what is still kept, and whether to go on.
    fn climbed(&mut self, window: &WindowResult) {
        let Some((rate, count)) = self.next.take() else { return };
        let Some(found) = &mut self.found else { return };
        let kept = ComparedWindow::of(window, self.miss_share).map(|seen| seen.kept);
        // Where too few requests came to say anything, the next rate says more.
        let is_kept = |at: usize| kept.as_ref().is_none_or(|kept| kept.get(at) == Some(&Some(true)));
        let is_sustained = is_kept(0);
        if is_sustained && kept.is_some() {
            found.max_rate_per_s = Some(rate);
        }
        for (at, limit) in found.limits_per_s.iter_mut().enumerate() {
            // Only without a miss at a lower rate.
            let was_kept_below = limit.is_some_and(|below| rate <= below * STEP * 1.001) || limit.is_none();
            if is_kept(at + 1) && kept.is_some() && was_kept_below {
                *limit = Some(rate);
            }
        }
        self.next = (is_sustained && count + 1 < STEPS_MAX).then_some((rate * STEP, count + 1));
    }
}

fn seconds(ask: &WindowRequest) -> f64 {
    ask.cool_down_s + ask.settle_s + ask.window_s
}

impl<M: Method> Method for Climbing<M> {
    fn next(&self) -> Option<WindowRequest> {
        let (rate_per_s, cool_down_s) = match (&self.found, self.method.next()) {
            (Some(_), _) => self.next.map(|(rate, count)| (rate, if count == 0 { REST_S } else { 0.0 }))?,
            (None, Some(ask)) => return Some(ask),
            // At the end, so that a search of a server that always answers alike has all of its time.
            (None, None) => (self.suspects[self.suspect()?].rate_per_s, REST_S),
        };
        Some(WindowRequest {
            rate_per_s,
            cool_down_s,
            settle_s: SETTLE_S,
            window_s: WINDOW_S,
            step: CapacityStep::Climb,
        })
    }

    fn take(&mut self, ask: &WindowRequest, window: WindowResult) {
        if self.found.is_some() {
            self.used_s += seconds(ask);
            return self.climbed(&window);
        }
        if ask.step == CapacityStep::Climb {
            self.used_s += seconds(ask);
            return self.retried(&window);
        }
        let (seen, is_overload) = (ComparedWindow::of(&window, self.miss_share), is_overload(&window));
        self.method.take(ask, window);
        self.look(seen, is_overload);
    }

    fn lose(&mut self, ask: &WindowRequest) {
        if ask.step != CapacityStep::Climb {
            self.method.lose(ask);
            return self.compare();
        }
        self.used_s += seconds(ask);
        self.retries += u32::from(self.found.is_none());
        self.next = self.next.filter(|(_, count)| *count < STEPS_MAX).map(|(rate, count)| (rate, count + 1));
    }

    fn spend(&mut self, seconds: f64) {
        self.method.spend(seconds);
    }

    fn capacity(&self) -> Capacity {
        let capacity = self.method.capacity();
        Capacity { from_below: self.found.clone(), used_s: capacity.used_s + self.used_s, ..capacity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::{LimitedRequests, Search, SearchConfig, Sweep, SweepConfig};
    use assay_model::LatencyLimit;

    /// A server that answers so many a second, and after an overload fewer, until it has rested for so long.
    struct Server {
        well_per_s: f64,
        ill_per_s: f64,
        cure_s: f64,
        is_ill: bool,
    }

    impl Server {
        fn answer(&mut self, ask: &WindowRequest) -> WindowResult {
            self.is_ill &= ask.cool_down_s < self.cure_s;
            let most = if self.is_ill { self.ill_per_s } else { self.well_per_s };
            let requests = (ask.rate_per_s * ask.window_s).round();
            let answered = requests.min(most * ask.window_s);
            let is_over = most < ask.rate_per_s;
            self.is_ill |= is_over;
            let misses = if is_over { requests } else { 0.0 };
            WindowResult {
                rate_per_s: ask.rate_per_s,
                window_s: ask.window_s,
                requests: requests as u64,
                answers: answered as u64,
                refused: 0,
                limits: vec![LimitedRequests {
                    requests: requests as u64,
                    misses: misses as u64,
                    percentile_ms: Some(if is_over { 900.0 } else { 5.0 }),
                }],
            }
        }

        fn searched(self) -> (Capacity, Vec<WindowRequest>) {
            let config = SearchConfig { limits: vec![LatencyLimit::of_all(50.0)], ..SearchConfig::new(80.0) };
            self.measured(Climbing::new(Search::new(config), 0.01))
        }

        fn swept(self) -> (Capacity, Vec<WindowRequest>) {
            self.measured(Climbing::behind(
                Sweep::new(SweepConfig::new(vec![LatencyLimit::of_all(50.0)])),
                0.01,
            ))
        }

        fn measured(mut self, mut method: impl Method) -> (Capacity, Vec<WindowRequest>) {
            let mut asked = Vec::new();
            while let Some(ask) = method.next() {
                let window = self.answer(&ask);
                method.take(&ask, window);
                asked.push(ask);
            }
            (method.capacity(), asked)
        }
    }

    #[test]
    fn a_server_that_stays_slow_behind_an_overload_is_found_and_approached_from_below() {
        let (capacity, asked) =
            Server { well_per_s: 317.0, ill_per_s: 100.0, cure_s: 12.0, is_ill: false }.searched();
        let found = capacity.from_below.expect("its windows contradict each other");
        assert!(found.missed_per_s <= found.kept_per_s && found.kept_per_s <= 317.0, "{found:?}");
        let max = found.max_rate_per_s.expect("it was sustained");
        assert!((317.0 / STEP..=317.0).contains(&max), "{found:?}");
        assert_eq!(found.limits_per_s, [Some(max)]);
        let climbed: Vec<&WindowRequest> =
            asked.iter().filter(|ask| ask.step == CapacityStep::Climb).collect();
        let [again, first, ..] = climbed.as_slice() else { panic!("one rate again, then upwards") };
        assert!(again.cool_down_s > 12.0 && first.cool_down_s > 12.0 && first.rate_per_s < again.rate_per_s);
        assert!(climbed[1..].is_sorted_by(|a, b| a.rate_per_s < b.rate_per_s));
    }

    #[test]
    fn a_server_that_always_answers_alike_is_searched_as_ever() {
        let (capacity, asked) =
            Server { well_per_s: 317.0, ill_per_s: 317.0, cure_s: 0.0, is_ill: false }.searched();
        assert_eq!(capacity.from_below, None);
        assert!(asked.iter().all(|ask| ask.step != CapacityStep::Climb));
    }

    #[test]
    fn a_sweep_goes_to_its_end_and_then_the_load_is_raised_where_its_windows_contradict_each_other() {
        let (capacity, asked) =
            Server { well_per_s: 317.0, ill_per_s: 100.0, cure_s: 12.0, is_ill: false }.swept();
        let found = capacity.from_below.expect("the search for the highest load kept what the levels missed");
        assert!(100.0 < found.missed_per_s && found.missed_per_s < found.kept_per_s, "{found:?}");
        let max = found.max_rate_per_s.expect("it was sustained");
        assert!((317.0 / STEP..=317.0 / (1.0 - LOST_SHARE_MAX)).contains(&max), "{found:?}");
        let climbs = asked.iter().position(|ask| ask.step == CapacityStep::Climb).expect("it was raised");
        assert!(asked[climbs..].iter().all(|ask| ask.step == CapacityStep::Climb));
        let of_levels = asked[..climbs].iter().filter(|ask| ask.step == CapacityStep::Level).count();
        let (well, whole) =
            Server { well_per_s: 317.0, ill_per_s: 317.0, cure_s: 0.0, is_ill: false }.swept();
        assert_eq!(well.from_below, None);
        assert!(20 < of_levels && whole.iter().all(|ask| ask.step != CapacityStep::Climb));
    }

    #[test]
    fn a_leak_is_found_by_windows_that_were_kept_before_and_are_missed_later() {
        let seen = |rate_per_s: f64, kept: bool| ComparedWindow { rate_per_s, kept: vec![Some(kept)] };
        let mut windows: Vec<ComparedWindow> = [300.0, 400.0, 480.0].map(|rate| seen(rate, true)).to_vec();
        windows.push(seen(600.0, false));
        assert_eq!(contradiction(&windows), None);
        windows.extend([430.0, 410.0].map(|rate| seen(rate, false)));
        assert_eq!(contradiction(&windows), None, "two may be a stall");
        windows.push(seen(390.0, false));
        assert_eq!(contradiction(&windows), Some((480.0, 430.0)));
        windows.reverse();
        assert_eq!(contradiction(&windows), Some((480.0, 430.0)), "a server that gets faster");
        windows.extend([seen(420.0, true), seen(425.0, true)]);
        windows.rotate_right(2);
        assert_eq!(contradiction(&windows), None, "most of them agree");
    }
}
