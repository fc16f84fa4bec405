//! How late the generator was at the rates that decide over a limit.

use super::facts::{RunFacts, WindowFacts};

/// Windows up to this factor from a rate are near it.
const NEAR: f64 = 1.25;

/// Windows that were given to the method, except those in which the generator was the limit.
pub(crate) fn told<'a>(facts: &'a RunFacts<'_>) -> impl Iterator<Item = &'a WindowFacts> {
    facts.windows.iter().filter(|w| w.is_told && w.is_offered)
}

/// How late requests were sent at the rates that decide over a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lag {
    /// Share of requests that were sent later than a tenth of the limit.
    pub late_share: f64,
    /// Requests that were sent.
    pub sent: u64,
}

/// Of the windows near a rate, or of the one nearest to it; absent without any.
pub(crate) fn lag(index: usize, rate_per_s: f64, facts: &RunFacts<'_>) -> Option<Lag> {
    let distance = |w: &WindowFacts| (w.offered_rate_per_s / rate_per_s).ln().abs();
    let sent = |w: &&WindowFacts| 0 < w.sent;
    let near: Vec<&WindowFacts> = told(facts).filter(sent).filter(|w| distance(w) <= NEAR.ln()).collect();
    let nearest = || told(facts).filter(sent).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let chosen = if near.is_empty() { Vec::from_iter(nearest()) } else { near };
    lag_of(index, chosen)
}

/// Of given windows, all requests alike.
pub(super) fn lag_of<'a>(index: usize, windows: impl IntoIterator<Item = &'a WindowFacts>) -> Option<Lag> {
    let (mut late, mut sent) = (0_u64, 0_u64);
    for window in windows {
        late = late.saturating_add(*window.late.get(index)?);
        sent = sent.saturating_add(window.sent);
    }
    (0 < sent).then(|| Lag { late_share: late as f64 / sent as f64, sent })
}
