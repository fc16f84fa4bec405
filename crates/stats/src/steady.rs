//! The rule that ends warm-up: steady when the last slices show neither a trend nor a change of level.
//!
//! A series gets one value a slice of time: CPU milliseconds per request, or throughput. The rule looks at
//! the last `slices` values, or at the last quarter of the series when that is more, so that a server that
//! warms slowly is also judged over a longer segment. Over these values, all relative to their median (so the
//! rule has no unit):
//!
//! 1. **No trend**: the Theil-Sen slope (P. K. Sen, 1968: median of the slopes of all pairs, deaf to single
//!    outliers such as a full collection), over the whole segment, changes the level by at most `drift_max`.
//! 2. **No change point**: wherever the segment is cut in two (at least 3 slices on each side), the medians
//!    of the parts differ by at most `drift_max`, plus what noise alone does to such a difference: one
//!    standard error, with the noise taken from the differences of neighbours, which neither trend nor step
//!    inflates.
//!
//! Both must hold at two slices in a row. The drift that is tolerated does not grow with the noise: a noisy
//! series is not let through sooner, it takes longer. The caller sets the cap.
//!
//! On a machine that others use, too, the level itself moves, by 10 to 20 % for some slices each time, and few
//! segments of 12 are still. So it is also enough that both hold over twice as many slices, or the last half of
//! the series when that is more, where the noise is all that moves the level there and goes back. What still
//! warms up shows over a half as a trend: alone this second look is early more rarely than the first.
//!
//! **Measured** by `tests/steady.rs`: 1,000 series each, cap 60 slices, noise 3 % (6 %) a slice. *Early*
//! means: declared steady while the true level was still more than 5 % from where it ends.
//!
//! | series | steady before the cap, % | early, % | slices until then |
//! | --- | --- | --- | --- |
//! | flat | 100 (100) | 0 (0) | 13.4 (15.7) |
//! | from 4 times the level down, time constant 3 slices | 100 (100) | 0 (0) | 25.7 (27.1) |
//! | the same, 6 slices | 100 (100) | 0 (0) | 36.7 (36.6) |
//! | the same, 12 slices: the excess is 5 % at slice 49 | 84 (91) | 21 (50) | 53.4 (49.9) |
//! | a step down from 1.3 after 8 slices | 100 (100) | 0 (0) | 20.5 (23.0) |
//! | two levels 15 % apart in random turn | 100 (99) | - | 19.3 (21.1) |
//! | falling by 1 % a slice for ever, noise 1 % (3 %) | 0 (20) | 0 (20) | - (31.8) |
//! | flat, wandering by 10 %, of which 0.6 remains at the next slice | 99 | 0 | 24.9 |
//! | from 4 times the level down, 6 slices, wandering so | 92 | 4 | 38.8 |
//!
//! Against always waiting for the cap, that saves 46 of 60 slices for a flat start and 23 to 34 for the
//! warm-ups that end in time. The rule cannot see a warm-up slower than a quarter of the time watched, nor a
//! step that is still to come; comparisons are paired by block for this reason too.

use crate::quantile::{median, quantile_of_sorted};

/// Slices on each side of a cut, at least.
const SIDE_SLICES_MIN: usize = 3;
/// Slices judged, at most: pairs grow with the square.
const JUDGED_SLICES_MAX: usize = 240;
/// Verdicts in a row.
const IN_A_ROW: u32 = 2;

/// Makes a median absolute deviation the standard deviation of normal noise.
const MAD_TO_DEVIATION: f64 = 1.4826;

/// The rule's two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyRule {
    /// Slices that are judged, at least; 6 or more (fewer are taken as 6).
    pub slices: usize,
    /// Change of the level over the judged slices that counts as none, as a share of the level.
    pub drift_max: f64,
}

impl Default for SteadyRule {
    fn default() -> Self {
        SteadyRule { slices: 12, drift_max: 0.05 }
    }
}

impl SteadyRule {
    /// The rule in words, for stored results and reports. Its exact form stands at the top of this file.
    pub fn describe(&self) -> String {
        let drift_percent = (self.drift_max * 1e5).round() / 1e3;
        format!("drift of at most {drift_percent} % over the last {} slices or more", self.slices_min())
    }

    /// Slices that are judged, at least.
    fn slices_min(&self) -> usize {
        self.slices.max(2 * SIDE_SLICES_MIN)
    }

    /// Whether these slices, oldest first, show neither trend nor change point. `None` when there are fewer
    /// than the rule needs or their median is not positive.
    fn holds(&self, series: &[f64]) -> Option<bool> {
        let wanted = self.slices_min();
        let last = self.is_still(series, wanted.max(series.len() / 4), noise_of_neighbours)?;
        let over_half = || self.is_still(series, (2 * wanted).max(series.len() / 2), noise_about_median);
        Some(last || over_half() == Some(true))
    }

    /// The same of the last slices of the series, as many as wanted; beside a noise, estimated from the judged values.
    fn is_still(&self, series: &[f64], wanted: usize, noise: impl Fn(&[f64]) -> f64) -> Option<bool> {
        let judged = &series[series.len().checked_sub(wanted.min(JUDGED_SLICES_MAX))?..];
        let level = median(judged).filter(|level| *level > 0.0)?;
        let relative: Vec<f64> = judged.iter().map(|v| v / level).collect();
        let is_trendless = trend(&relative).abs() <= self.drift_max;
        Some(is_trendless && !has_change_point(&relative, self.drift_max, noise(&relative)))
    }
}

/// What the series shows so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Too few slices, a trend, or a change of level.
    Warming,
    /// The rule holds.
    Steady,
}

/// Follows a series and says when it is steady.
#[derive(Debug, Clone, Default)]
pub struct SteadyState {
    rule: SteadyRule,
    series: Vec<f64>,
    in_a_row: u32,
}

impl SteadyState {
    /// A fresh series under a rule.
    pub fn new(rule: SteadyRule) -> Self {
        SteadyState { rule, series: Vec::new(), in_a_row: 0 }
    }

    /// Takes the next slice's value. A value that is not positive and finite (a slice without requests has no
    /// CPU time per request) is not part of the series and makes the rule start counting anew.
    pub fn push(&mut self, value: f64) -> Phase {
        if !(value.is_finite() && value > 0.0) {
            self.in_a_row = 0;
            return Phase::Warming;
        }
        self.series.push(value);
        self.in_a_row = if self.rule.holds(&self.series) == Some(true) { self.in_a_row + 1 } else { 0 };
        self.phase()
    }

    /// What the series shows so far.
    pub fn phase(&self) -> Phase {
        if self.in_a_row >= IN_A_ROW { Phase::Steady } else { Phase::Warming }
    }

    /// The values taken, oldest first.
    pub fn series(&self) -> &[f64] {
        &self.series
    }
}

/// Theil-Sen slope times the length: the change over the whole segment.
fn trend(values: &[f64]) -> f64 {
    let n = values.len();
    let mut slopes: Vec<f64> = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .map(|(i, j)| (values[j] - values[i]) / (j - i) as f64)
        .collect();
    slopes.sort_by(f64::total_cmp);
    quantile_of_sorted(&slopes, 0.5) * (n - 1) as f64
}

/// Whether some cut leaves two parts whose medians differ by more than `drift_max` and noise.
fn has_change_point(values: &[f64], drift_max: f64, noise: f64) -> bool {
    let n = values.len();
    (SIDE_SLICES_MIN..=n - SIDE_SLICES_MIN).any(|cut| {
        let (before, after) = values.split_at(cut);
        let (Some(before), Some(after)) = (median(before), median(after)) else { return false };
        // 1.25 = √(π/2): the standard error of a median is that much larger than a mean's (normal noise).
        let standard_error = 1.25 * noise * (1.0 / cut as f64 + 1.0 / (n - cut) as f64).sqrt();
        (after - before).abs() > drift_max + standard_error
    })
}

/// Standard deviation of the noise, from the median absolute difference of neighbours: a difference has √2 times
/// the noise of a value.
fn noise_of_neighbours(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    median(&steps).map_or(0.0, |step| step * MAD_TO_DEVIATION / std::f64::consts::SQRT_2)
}

/// Standard deviation of values about their median, from the median absolute deviation: with all that moves the
/// level and goes back.
fn noise_about_median(values: &[f64]) -> f64 {
    let middle = median(values).unwrap_or(0.0);
    let off: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&off).map_or(0.0, |deviation| deviation * MAD_TO_DEVIATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices_until_steady(values: impl IntoIterator<Item = f64>) -> Option<usize> {
        let mut state = SteadyState::default();
        values.into_iter().position(|v| state.push(v) == Phase::Steady).map(|index| index + 1)
    }

    #[test]
    fn a_constant_series_is_steady_as_soon_as_the_rule_can_say_so() {
        assert_eq!(slices_until_steady([3.0; 60]), Some(13));
    }

    #[test]
    fn the_rule_has_no_unit() {
        let series: Vec<f64> = (0..60).map(|i| 1.0 + 3.0 * (-f64::from(i) / 5.0).exp()).collect();
        let in_milliseconds = slices_until_steady(series.iter().copied());
        let in_nanoseconds = slices_until_steady(series.iter().map(|v| v * 1e6));
        assert!(in_milliseconds.is_some());
        assert_eq!(in_milliseconds, in_nanoseconds);
    }

    #[test]
    fn falling_by_a_percent_a_slice_is_never_steady() {
        assert_eq!(slices_until_steady((0..200).map(|i| 0.99_f64.powi(i))), None);
    }

    #[test]
    fn a_step_inside_the_judged_slices_delays_until_it_has_left_them() {
        let until = slices_until_steady((0..60).map(|i| if i < 8 { 1.3 } else { 1.0 })).unwrap();
        assert!(until > 8 + 9, "steady after {until} slices with a step at 8");
    }

    #[test]
    fn one_full_collection_is_no_change_of_level() {
        let mut series = vec![1.0; 20];
        series[6] = 5.0;
        assert_eq!(slices_until_steady(series), Some(13));
    }

    #[test]
    fn a_slice_without_requests_starts_the_count_anew() {
        let mut state = SteadyState::default();
        for _ in 0..12 {
            assert_eq!(state.push(1.0), Phase::Warming);
        }
        assert_eq!(state.push(f64::NAN), Phase::Warming);
        assert_eq!(state.push(1.0), Phase::Warming);
        assert_eq!(state.push(1.0), Phase::Steady);
        assert_eq!(state.series().len(), 14);
    }

    #[test]
    fn a_rule_of_too_few_slices_is_taken_as_six() {
        let mut state = SteadyState::new(SteadyRule { slices: 0, drift_max: 0.05 });
        assert_eq!((0..20).position(|_| state.push(1.0) == Phase::Steady), Some(6));
    }
}
