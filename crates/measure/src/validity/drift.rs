//! Whether the server got slower or faster during a search: what it does is then no figure, but an average over its history.
//!
//! Windows are compared only with those at a comparable rate, since load alone makes requests slower. Beyond the maximum, where answers
//! hardly depend on what is asked, the answers a second are the server's speed; up to 60 % of it, where queues are short, the median of
//! the service time is. The trend is the median of
//! the slopes of all such pairs, with Sen's interval: it takes no law of the noise, moves with no outlier such as a full collection, and
//! finds a warm-up that fades as well as a steady growth.

use super::facts::{RunFacts, WindowFacts};
use super::lag::told;
use assay_stats::{PairSlopes, TrendPoint};

/// Rates from this part of the maximum on are beyond it, and those up to that part far below.
const BEYOND: f64 = 1.03;
const FAR_BELOW: f64 = 0.6;
/// Rates below the maximum are comparable within this factor: at 60 % of it the median of one worker rises by 1.5 % for every percent of the
/// rate, and windows are below and above a root in turn.
const ALIKE: f64 = 1.06;
/// Standard deviations of Kendall's S beyond which no chance explains a trend: once in 370 searches of a steady server.
const DEVIATIONS: f64 = 3.0;
/// Fewer pairs show nothing.
const PAIRS_MIN: usize = 10;

/// A change of speed over a search that chance does not explain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drift {
    /// Logarithm of the speed at the end of what was compared over that at its beginning; below 0 the server got slower.
    change: f64,
    /// Its interval.
    low: f64,
    high: f64,
    pairs: usize,
    seconds: f64,
    requests: u64,
}

/// Speeds of windows in groups of comparable rates.
fn speeds(facts: &RunFacts<'_>) -> Vec<TrendPoint> {
    let Some(most) = facts.sustained_per_s else { return Vec::new() };
    let mut windows: Vec<&WindowFacts> = told(facts).collect();
    windows.sort_by(|a, b| a.offered_rate_per_s.total_cmp(&b.offered_rate_per_s));
    let (mut points, mut group, mut lowest) = (Vec::new(), 1, 0.0);
    for window in windows {
        let rate = window.offered_rate_per_s;
        let (group, speed) = if BEYOND * most <= rate {
            (0, Some(window.answers as f64 / window.window_s))
        } else if rate <= FAR_BELOW * most {
            if ALIKE * lowest < rate {
                (group, lowest) = (group + 1, rate);
            }
            (group, window.service_ms.map(|ms| 1.0 / ms))
        } else {
            continue;
        };
        let speed = speed.filter(|speed| 0.0 < *speed && speed.is_finite());
        points.extend(speed.map(|speed| TrendPoint { group, at: window.at_s, value: speed.ln() }));
    }
    points.sort_by(|a, b| a.group.cmp(&b.group).then(a.at.total_cmp(&b.at)));
    points
}

impl Drift {
    /// Absent where chance explains all, or too few windows are comparable.
    pub(crate) fn of(facts: &RunFacts<'_>) -> Option<Drift> {
        let points = speeds(facts);
        let slopes = PairSlopes::of(&points).filter(|slopes| PAIRS_MIN <= slopes.pairs())?;
        let (low, high) = slopes.interval(DEVIATIONS, 1.0);
        if low <= 0.0 && 0.0 <= high {
            return None;
        }
        let first_s = points.iter().map(|point| point.at).fold(f64::INFINITY, f64::min);
        let last_s = points.iter().map(|point| point.at).fold(f64::NEG_INFINITY, f64::max);
        let between = facts.windows.iter().filter(|w| (first_s..=last_s).contains(&w.at_s));
        let seconds = last_s - first_s;
        Some(Drift {
            change: slopes.median() * seconds,
            low: low * seconds,
            high: high * seconds,
            pairs: slopes.pairs(),
            seconds,
            requests: between.map(|w| w.requests).fold(0, u64::saturating_add),
        })
    }

    /// Whether the interval of the maximum, of this width as a logarithm, holds the server as it was at both ends.
    pub(crate) fn is_within(&self, width: f64) -> bool {
        self.change.abs() <= width
    }

    /// What happened, with figures.
    pub(crate) fn words(&self) -> String {
        let percent = |change: f64| 100.0 * change.exp_m1().abs();
        let way = if self.change < 0.0 { "slower" } else { "faster" };
        let [least, most] = if self.change < 0.0 { [self.high, self.low] } else { [self.low, self.high] };
        let by_1000 = percent(self.change * 1e3 / self.requests.max(1) as f64);
        format!(
            "the server got {way} during the search: it did {:.0} % {} ({:.0} to {:.0} %) after {:.0} s and \
                {} requests. That is {by_1000:.2} % for 1,000 requests, by {} pairs of windows at comparable \
                rates",
            percent(self.change),
            if self.change < 0.0 { "less" } else { "more" },
            percent(least),
            percent(most),
            self.seconds,
            self.requests,
            self.pairs
        )
    }

    /// What to do about it.
    pub(crate) fn remedy(&self) -> &'static str {
        match self.change < 0.0 {
            true => {
                "find what grows with the requests (assay gc, assay memory PID --watch), or search again with \
                    a fresh server"
            }
            false => "warm the server up for longer (--warm-up 5m)",
        }
    }
}
