//! The search: all limits and the highest sustained rate at once, in windows that are most informative.
//!
//! The rate doubles until answers no longer keep up. Then each window is placed beside the root of the limit that got the
//! least time so far, or beyond the maximum, until every interval is narrow enough; so one limit that cannot be found
//! well does not starve the others. At last the answers are confirmed by windows that may not change them: where one
//! contradicts, it counts with the others, and the search goes on.

use super::between::{Ends, between, inside, lower};
use super::ceiling::{Ceiling, ceiling, is_overload};
use super::root::{Point, Prior, Root, ends, is_kept, root};
use super::search_config::SearchConfig;
use super::window::{WindowRequest, WindowResult};
use super::{Capacity, Method};
use assay_model::{CapacityStep, Estimate, LimitRate};
use std::cmp::Ordering;

/// Doublings above the first rate, and halvings below it.
const DOUBLINGS: i32 = 24;
const HALVINGS: i32 = 8;
/// A narrow interval is believed after so many windows near the root: a short series may look precise by chance.
const WINDOWS_NEAR_MIN: usize = 6;
/// The same for windows beyond the maximum.
const OVERLOADS_MIN: usize = 4;
/// By which factors windows are beyond the maximum, in turn.
const OVERLOADS: [f64; 2] = [1.06, 1.22];
/// Windows are placed where the expected share is by these factors below and above the target.
const ASIDE: (f64, f64) = (1.7, 2.0);
/// The same for a root just below the maximum: not far above it, where queues take longer to get their usual length than a
/// window lasts.
const ASIDE_SATURATED: (f64, f64) = (2.0, 1.3);
/// So far below the maximum a root is just below it.
const SATURATED: f64 = 0.15;
/// Settling lasts so many times limit · (1 - root / maximum) / (1 - rate / maximum)², within the window's bounds: 1.7 times
/// the time in which a queue of reflected Brownian motion gets its usual length.
const SETTLE_RELAXATIONS: f64 = 1.5;
/// Shortest settling, seconds.
const SETTLE_S_MIN: f64 = 1.0;
/// The first window settles for this part of the budget: the server meets this load for the first time. Without it, a server
/// whose warm-up had ended kept 75 ms worse at half of its maximum than ever after, and the low ends of the intervals went there.
const FIRST_SETTLE_SHARE: f64 = 0.05;
/// A limit that is not kept at this part of the maximum is not looked for at lower rates.
const LOWEST_SHARE: f64 = 0.01;
/// Clumps of requests beyond the limit that a window shall hold at the target.
const CLUMPS_WANTED: f64 = 2.0;
/// Share of the requests that a server may refuse at a rate that it sustains, and the time that such requests are taken to come together
/// for at least, in ms: there is no response time that decides over them.
const REFUSED_SHARE: f64 = 0.01;
const REFUSED_MS: f64 = 100.0;
/// A confirming window speaks for every limit whose expected share there is within this factor of the target.
const CONFIRM_FACTOR: f64 = 4.0;

/// Purpose of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// One of the configuration, or [`Search::refusals`].
    Limit(usize),
    Maximum,
}

/// One limit: what windows say about it.
#[derive(Debug, Clone, Default)]
struct Searched {
    points: Vec<Point>,
    root: Option<Root>,
    /// Windows that confirmed it.
    confirmed: Vec<Point>,
    is_confirmed: bool,
}

/// The decisions of a search.
#[derive(Debug, Clone)]
pub struct Search {
    config: SearchConfig,
    /// All windows that count.
    windows: Vec<(WindowResult, f64)>,
    limits: Vec<Searched>,
    ceiling: Option<Ceiling>,
    /// How long the server is to rest before the next window.
    cool_down_s: f64,
    used_s: f64,
}

impl Search {
    /// A search that knows nothing yet.
    pub fn new(config: SearchConfig) -> Self {
        let limits = vec![Searched::default(); config.limits.len() + 1];
        Search { config, windows: Vec::new(), limits, ceiling: None, cool_down_s: 0.0, used_s: 0.0 }
    }

    /// Behind the limits of the configuration: the highest rate at which the server refuses few requests. One that refuses what finds no
    /// place in a short queue still answers more, the more is asked, where it refuses every tenth: no such rate is sustained.
    fn refusals(&self) -> usize {
        self.config.limits.len()
    }

    /// Share of the requests that may miss a limit.
    fn miss_share(&self, limit: usize) -> f64 {
        if limit == self.refusals() { REFUSED_SHARE } else { self.config.miss_share }
    }

    fn limit_ms(&self, limit: usize) -> f64 {
        self.config.limits.get(limit).map_or(REFUSED_MS, |limit| limit.limit_ms)
    }

    /// Of all requests so far, the share that a limit holds for.
    fn limited_share(&self, limit: usize) -> f64 {
        let sum = |count: &dyn Fn(&WindowResult) -> u64| {
            self.windows.iter().map(|(window, _)| count(window) as f64).sum::<f64>()
        };
        let limited = sum(&|window| window.limits.get(limit).map_or(window.requests, |of| of.requests));
        let all = sum(&|window| window.requests);
        if limited > 0.0 { (limited / all).min(1.0) } else { 1.0 }
    }

    fn rates(&self) -> impl Iterator<Item = f64> {
        self.windows.iter().map(|(window, _)| window.rate_per_s)
    }

    /// Doubling until answers no longer keep up.
    fn bracket(&self) -> Option<f64> {
        if self.ceiling.is_some() {
            return None;
        }
        let Some(highest) = self.rates().max_by(f64::total_cmp) else {
            return Some(self.config.first_rate_per_s);
        };
        (highest < self.config.first_rate_per_s * 2_f64.powi(DOUBLINGS)).then_some(highest * 2.0)
    }

    fn floor_per_s(&self) -> f64 {
        self.config.first_rate_per_s * 0.5_f64.powi(HALVINGS)
    }

    /// Whether there is a rate at the limit: it was kept and not kept, and a lower rate can still be tried.
    fn is_reached(&self, limit: usize) -> (bool, bool) {
        let target = self.miss_share(limit);
        let keeps = |point: &Point| point.share <= target;
        let points = &self.limits[limit].points;
        (is_kept(points, target), points.iter().any(|point| !keeps(point)))
    }

    fn windows_near(&self, target: Target) -> impl Iterator<Item = &(WindowResult, f64)> {
        let root = match target {
            Target::Limit(limit) => self.limits[limit].root,
            Target::Maximum => None,
        };
        let ceiling = self.ceiling.filter(|_| target == Target::Maximum);
        self.windows.iter().filter(move |(window, _)| {
            let ln_rate = window.rate_per_s.ln();
            let beyond = |ceiling: Ceiling| (0.02..0.35).contains(&(ln_rate - ceiling.median));
            root.is_some_and(|root| root.is_near(ln_rate)) || ceiling.is_some_and(beyond)
        })
    }

    /// Half of the width of an interval, as a share: of what the limit's own windows say, for which more are asked.
    fn half_width(&self, target: Target) -> f64 {
        let ends = match target {
            Target::Limit(limit) => self.limits[limit].root.map(|root| (root.low, root.high)),
            Target::Maximum => self.ceiling.map(|ceiling| (ceiling.low, ceiling.high)),
        };
        ends.map_or(f64::INFINITY, |(low, high)| ((high - low) / 2.0).exp_m1())
    }

    /// Limits of the same requests, with how their time compares to that of this one.
    fn alike(&self, limit: usize, wanted: Ordering) -> impl Iterator<Item = usize> {
        let limits = &self.config.limits;
        let is_wanted = move |other: &usize| {
            limit != self.refusals()
                && limits[*other].operation == limits[limit].operation
                && limits[*other].limit_ms.total_cmp(&limits[limit].limit_ms) == wanted
        };
        (0..self.refusals()).filter(is_wanted)
    }

    /// Those that are shorter, and known.
    fn shorter(&self, limit: usize) -> impl Iterator<Item = usize> {
        self.alike(limit, Ordering::Less).filter(|other| self.is_reached(*other) == (true, true))
    }

    /// The root of a limit between the rates that kept it and those that did not, with what the roots of shorter limits say: a request beyond a
    /// limit is beyond every shorter one, too, so the rate at it is no lower than theirs. Near the maximum windows say hardly anything of
    /// long limits; there the short ones bound them. The other way round the least known ones would bound the best known.
    fn alone(&self, limit: usize) -> Option<Ends> {
        let root = self.limits[limit].root?;
        let shorter = || self.shorter(limit).filter_map(|other| self.limits[other].root);
        let low = shorter().map(|other| other.low).fold(root.low, f64::max);
        // Where they contradict each other, each stands for itself.
        let ends = if root.high < low {
            [root.median, root.low, root.high]
        } else {
            inside([shorter().map(|other| other.median).fold(root.median, f64::max), low, root.high])
        };
        let (kept, missed) = self.ends(limit);
        Some(between(ends, kept, missed))
    }

    /// The same, no lower than that of any shorter limit.
    fn answer(&self, limit: usize) -> Option<Ends> {
        let raised = |[own, low, high]: Ends, other: usize| match self.alone(other) {
            Some([middle, _, above]) if own < middle => [middle, low, high.max(above)],
            _ => [own, low, high],
        };
        Some(self.shorter(limit).fold(self.alone(limit)?, raised))
    }

    /// Highest rate that kept a limit and lowest that did not, as logarithms. What misses a longer limit misses this one, too, also in a window
    /// that confirmed the longer one alone.
    fn ends(&self, limit: usize) -> (Option<f64>, Option<f64>) {
        let missed = |limit: usize| ends(self.points(limit), self.miss_share(limit)).1;
        let longer = self.alike(limit, Ordering::Greater).filter_map(missed);
        let missed = missed(limit).into_iter().chain(longer).min_by(f64::total_cmp);
        (self.kept_below(limit, missed.unwrap_or(f64::INFINITY)), missed)
    }

    fn kept_below(&self, limit: usize, most: f64) -> Option<f64> {
        let below = self.points(limit).filter(|point| point.ln_rate() < most);
        ends(below, self.miss_share(limit)).0
    }

    /// All that windows say of a limit, those that confirmed it with the others.
    fn points(&self, limit: usize) -> impl Iterator<Item = &Point> {
        let Searched { points, confirmed, .. } = &self.limits[limit];
        points.iter().chain(confirmed)
    }

    fn is_precise(&self, target: Target) -> bool {
        let enough = if target == Target::Maximum { OVERLOADS_MIN } else { WINDOWS_NEAR_MIN };
        self.half_width(target) <= self.config.half_width_share && enough <= self.windows_near(target).count()
    }

    /// Whether another window could add information.
    fn is_open(&self, target: Target) -> bool {
        let Target::Limit(limit) = target else { return true };
        let lowest = self.rates().min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
        match self.is_reached(limit) {
            // Errors at every rate are no refusals.
            (false, true) if limit == self.refusals() => false,
            (false, true) => {
                self.floor_per_s() < lowest
                    && self.ceiling.is_none_or(|c| c.median + LOWEST_SHARE.ln() < lowest.ln())
            }
            (_, false) => false,
            _ => true,
        }
    }

    fn targets(&self) -> impl Iterator<Item = Target> {
        (0..self.limits.len()).map(Target::Limit).chain([Target::Maximum])
    }

    /// The target that is not precise and got the least time.
    fn refine(&self) -> Option<WindowRequest> {
        let time = |target: &Target| self.windows_near(*target).map(|(_, cost_s)| cost_s).sum::<f64>();
        let target = self
            .targets()
            .filter(|target| self.is_open(*target) && !self.is_precise(*target))
            .min_by(|a, b| time(a).total_cmp(&time(b)))?;
        match target {
            Target::Limit(limit) => self.beside(limit),
            Target::Maximum => {
                let ceiling = self.ceiling?;
                let is_rough = 0.3 < ceiling.high - ceiling.low;
                let count = self.windows_near(target).count();
                let factor = if is_rough { 1.0 } else { OVERLOADS[count % OVERLOADS.len()] };
                Some(self.ask(CapacityStep::Overload, factor * ceiling.median.exp(), None))
            }
        }
    }

    /// On the side of a root where fewer windows are.
    fn beside(&self, limit: usize) -> Option<WindowRequest> {
        let root = self.limits[limit].root?;
        let near = || self.windows_near(Target::Limit(limit));
        let below = near().filter(|(window, _)| window.rate_per_s.ln() < root.median).count();
        let is_saturated = self.ceiling.is_some_and(|ceiling| ceiling.median - SATURATED < root.median);
        let (down, up) = if is_saturated { ASIDE_SATURATED } else { ASIDE };
        let ln_rate = if 2 * below <= near().count() {
            root.median + (-down.ln() / root.slope).max(-0.5).ln_1p()
        } else {
            root.median + (up.ln() / root.slope).ln_1p()
        };
        let most = self.ceiling.map_or(f64::INFINITY, |ceiling| ceiling.median + 0.05);
        // A line through few windows may point anywhere.
        let ln_rate = ln_rate.clamp(root.middle - 0.5, root.middle + 0.5);
        let rate = ln_rate.min(most).exp().max(self.floor_per_s());
        Some(self.ask(CapacityStep::Refine, rate, Some((root, limit))))
    }

    /// At the first answer that no other window confirmed.
    fn confirm(&self) -> Option<WindowRequest> {
        let root = |limit: &Searched| limit.root.filter(|_| !limit.is_confirmed);
        let open = (0..self.limits.len()).filter(|limit| self.is_open(Target::Limit(*limit)));
        let with_limit = |limit: usize| Some((root(&self.limits[limit])?, limit));
        let (root, limit) = open.filter_map(with_limit).next()?;
        Some(self.ask(CapacityStep::Confirm, root.median.exp(), Some((root, limit))))
    }

    fn ask(&self, step: CapacityStep, rate_per_s: f64, limit: Option<(Root, usize)>) -> WindowRequest {
        let root = limit.map(|(root, limit)| (root, self.limit_ms(limit)));
        let clump_s = root.map_or(0.0, |(root, _)| root.clump_s);
        let limited_per_s = rate_per_s * limit.map_or(1.0, |(_, limit)| self.limited_share(limit));
        let enough_s = CLUMPS_WANTED * clump_s.max(1.0 / limited_per_s) / self.config.miss_share;
        let window_s = enough_s.clamp(self.config.window_s_min, self.config.window_s_max);
        let room = |ceiling: Ceiling, ln_rate: f64| (1.0 - (ln_rate - ceiling.median).exp()).max(0.01);
        let settle_s = match (root, self.ceiling) {
            (Some((root, limit_ms)), Some(ceiling)) => {
                let relaxation_s =
                    limit_ms / 1e3 * room(ceiling, root.median) / room(ceiling, rate_per_s.ln()).powi(2);
                SETTLE_RELAXATIONS * relaxation_s
            }
            _ => 0.0,
        };
        let settle_s = settle_s.min(window_s / 2.0).max(self.settle_s_min());
        WindowRequest { rate_per_s, cool_down_s: self.cool_down_s, settle_s, window_s, step }
    }

    /// At least so long.
    fn settle_s_min(&self) -> f64 {
        let first = self.windows.is_empty().then_some(FIRST_SETTLE_SHARE * self.config.budget_s);
        first.unwrap_or(SETTLE_S_MIN).max(SETTLE_S_MIN)
    }

    /// Behind a window that overloaded the server it rests as long as that lasted: there is work left when all requests are
    /// answered. A window near the maximum right behind one at twice of it got half of the answers that later ones at its rate
    /// had, since a server that is loaded so never gets rid of the rest. The same behind a window of which only is known that it
    /// was to go beyond what is sustained.
    fn took(&mut self, ask: &WindowRequest, was_overload: bool) {
        let cost_s = ask.settle_s + ask.window_s;
        self.used_s += ask.cool_down_s + cost_s;
        self.cool_down_s = if was_overload { cost_s } else { 0.0 };
    }

    fn points_of(&self, window: &WindowResult) -> Vec<Option<Point>> {
        let point = |limit| Point::new(window, limit, self.miss_share(limit));
        (0..self.limits.len()).map(point).collect()
    }

    fn count(&mut self, window: WindowResult, cost_s: f64) {
        let points = self.points_of(&window);
        self.windows.push((window, cost_s));
        self.ceiling = ceiling(self.windows.iter().map(|(window, _)| window));
        for (index, point) in points.into_iter().enumerate() {
            self.limits[index].points.extend(point);
            self.limits[index].root = self.root(index);
        }
    }

    /// A window at an answer: what it speaks for is confirmed, unless with it the answer would be elsewhere.
    fn hold_against(&mut self, window: WindowResult, cost_s: f64) {
        let ln_rate = window.rate_per_s.ln();
        let points = self.points_of(&window);
        let mut contradicts = false;
        for (index, point) in points.into_iter().enumerate() {
            let is_near = |root: &Root| root.eta(ln_rate).abs() < CONFIRM_FACTOR.ln();
            let Some(before) = self.limits[index].root.filter(is_near) else { continue };
            self.limits[index].points.extend(point);
            let after = self.root(index);
            let limit = &mut self.limits[index];
            limit.confirmed.extend(limit.points.pop());
            let holds = after.is_some_and(|after| before.low <= after.median && after.median <= before.high);
            limit.is_confirmed = holds;
            contradicts |= !holds;
        }
        if contradicts {
            // It counts with the others.
            self.limits.iter_mut().for_each(|limit| {
                limit.is_confirmed = false;
                limit.confirmed.retain(|point| !point.is_at(ln_rate));
            });
            self.count(window, cost_s);
        }
    }

    fn root(&self, limit: usize) -> Option<Root> {
        let maximum = self.ceiling.map(|ceiling| ceiling.bound());
        let prior = Prior { maximum, limit_s: self.limit_ms(limit) / 1e3 };
        root(&self.limits[limit].points, self.miss_share(limit), prior)
    }

    /// What windows say of a limit that some rates keep and others do not.
    fn known(&self, limit: usize) -> Option<Ends> {
        self.answer(limit).filter(|_| self.is_reached(limit) == (true, true))
    }

    /// The highest rate at which answers keep up with requests, and few are refused.
    fn maximum(&self) -> Option<Ends> {
        let ceiling = self.ceiling.filter(|_| self.windows.iter().any(|(window, _)| is_overload(window)))?;
        let maximum = [ceiling.median, ceiling.low, ceiling.high];
        Some(self.known(self.refusals()).map_or(maximum, |refusals| lower(maximum, refusals)))
    }

    /// The rate at a limit, and whether it is the maximum: one window is too short to miss a limit that it takes a queue of seconds to
    /// miss, and no longer one sustains more than the maximum.
    fn rate_at(&self, limit: usize) -> Option<(Ends, bool)> {
        let maximum = self.maximum();
        match (self.known(limit), maximum) {
            (Some(rate), Some(maximum)) => Some((lower(rate, maximum), maximum[0] <= rate[0])),
            (Some(rate), None) => Some((rate, false)),
            (None, Some(maximum)) if self.is_reached(limit) == (true, false) => {
                // A window that confirmed another limit may have missed this one.
                let (kept, missed) = self.ends(limit);
                let is_missed = missed.is_some_and(|missed| missed <= maximum[0]);
                let kept = kept.filter(|_| is_missed);
                Some((between(maximum, kept, missed.filter(|_| is_missed)), !is_missed))
            }
            (None, _) => None,
        }
    }

    fn limit_capacity(&self, limit: usize) -> LimitRate {
        let rate = self.rate_at(limit);
        let (_, missed) = self.ends(limit);
        let most = self.maximum().map_or(f64::INFINITY, |maximum| maximum[0].next_up());
        let kept = self.kept_below(limit, most.min(missed.unwrap_or(f64::INFINITY)));
        LimitRate {
            limit_ms: self.config.limits[limit].limit_ms,
            operation: self.config.limits[limit].operation.clone(),
            rate_per_s: rate.map(|(rate, _)| estimate(rate)),
            last_success_per_s: kept.map(f64::exp),
            first_failure_per_s: missed.map(f64::exp),
            limited_by_max: rate.is_some_and(|(_, is_maximum)| is_maximum),
        }
    }

    /// Geometric mean of the rates at the limits. Windows near one root say little about the others, and in virtual time the
    /// errors of the roots spread as independent ones: their squares are added.
    fn critical_rate(&self) -> Option<Estimate> {
        let count = self.config.limits.len() as f64;
        let (mut middle, mut below, mut above) = (0.0, 0.0, 0.0);
        for index in 0..self.config.limits.len() {
            let ([median, low, high], _) = self.rate_at(index)?;
            middle += median / count;
            below += ((median - low) / count).powi(2);
            above += ((high - median) / count).powi(2);
        }
        Some(estimate([middle, middle - below.sqrt(), middle + above.sqrt()]))
    }
}

/// From logarithms.
fn estimate([middle, low, high]: Ends) -> Estimate {
    let is_sound = low.is_finite() && high.is_finite() && low <= middle && middle <= high;
    let end = |end: f64| is_sound.then_some(end.exp());
    Estimate { estimate: middle.exp(), low: end(low), high: end(high) }
}

impl Method for Search {
    fn next(&self) -> Option<WindowRequest> {
        let ask = match self.bracket() {
            Some(rate) => Some(self.ask(CapacityStep::Bracket, rate, None)),
            None if self.ceiling.is_none() => None,
            None => self.refine().or_else(|| self.confirm()),
        };
        let is_sound = |ask: &WindowRequest| ask.rate_per_s.is_finite() && 0.0 < ask.rate_per_s;
        ask.filter(is_sound)
            .filter(|ask| self.used_s + ask.cool_down_s + ask.settle_s + ask.window_s <= self.config.budget_s)
    }

    fn take(&mut self, ask: &WindowRequest, window: WindowResult) {
        let window = window.sound(ask, self.refusals());
        self.took(ask, is_overload(&window));
        let cost_s = ask.settle_s + ask.window_s;
        if ask.step == CapacityStep::Confirm {
            self.hold_against(window, cost_s);
        } else {
            self.count(window, cost_s);
        }
    }

    fn lose(&mut self, ask: &WindowRequest) {
        self.took(ask, matches!(ask.step, CapacityStep::Bracket | CapacityStep::Overload));
    }

    fn spend(&mut self, seconds: f64) {
        if seconds.is_finite() {
            self.used_s += seconds.max(0.0);
        }
    }

    fn capacity(&self) -> Capacity {
        let is_done = |target: Target| match target {
            Target::Limit(limit) => {
                !self.is_open(target) || self.limits[limit].is_confirmed && self.is_precise(target)
            }
            Target::Maximum => self.is_precise(target),
        };
        Capacity {
            max_rate_per_s: self.maximum().map(estimate),
            limits: (0..self.config.limits.len()).map(|limit| self.limit_capacity(limit)).collect(),
            critical_rate_per_s: self.critical_rate(),
            is_precise: self.targets().all(is_done),
            from_below: None,
            used_s: self.used_s,
        }
    }
}
