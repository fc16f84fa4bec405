//! The smallest size at which something holds, from few noisy trials: a memory limit, a CPU quota.
//!
//! Each trial at a size says "holds" or "does not". The chance to hold rises with the size, from almost never to almost always, within a part of
//! it that is not known: it is taken to be logistic over the logarithm of the size. Middle and width have a joint posterior on a grid, and the
//! next trial is made where the variance of the answer is expected to be least. Now and then a trial holds or fails by accident, whatever the
//! size; that such a trial is outweighed and not believed is what the share of accidents is for.
//!
//! The answer is the size at which [`HOLDS`] of the trials hold. The middle would not do: half of all trials fail there. Once it is known well
//! enough, one size is a candidate and is tried until it is proved. It stays the candidate while it holds: chosen anew after each trial, it
//! would move to smaller sizes with each success, and no size would be proved.
//!
//! Sequential design for a threshold: Watson and Pelli, "QUEST: a Bayesian adaptive psychometric method", Perception & Psychophysics 33 (1983);
//! Kontsevich and Tyler, "Bayesian adaptive estimation of psychometric slope and threshold", Vision Research 39 (1999).

use crate::interval::TAIL;
use assay_model::Estimate;

/// Share of the trials that hold at the answer.
pub const HOLDS: f64 = 0.95;
/// Trials that hold or fail by accident.
const ACCIDENTS: f64 = 0.01;
/// Middles on the grid.
const MIDDLES: usize = 320;
/// So far beyond the ends of the range the middle may lie, as a logarithm: then no size in it holds, or each does.
const BEYOND: f64 = 0.25;
/// Widths, as parts of the size: from a server that falls over within a page to one that degrades over a fifth of its size; and how probable
/// each is before any trial. Most edges are sharp: a heap is too small for what lives in it, or a limit for what is charged.
const WIDTHS: [f64; 7] = [0.0012, 0.0025, 0.005, 0.01, 0.018, 0.03, 0.05];
const PRIOR: [f64; 7] = [1.0, 1.0, 1.0, 0.8, 0.4, 0.15, 0.05];
/// Sizes of which the next trial is chosen: so many quantiles of the posterior.
const CANDIDATES: usize = 24;
/// The answer is known when the upper end of its interval is at most so many times the lower one.
const PRECISION: f64 = 1.10;
/// And when so many trials at the candidate held and none failed.
const PROOFS: u32 = 5;
/// The size that is to be proved holds with at least this probability, by what is known.
const PROVABLE: f64 = 0.93;
/// A share of the posterior beyond an end of the range that is an answer.
const SURE: f64 = 0.95;

/// Trials at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriedSize {
    /// The size.
    pub size: f64,
    /// Trials that held.
    pub holds: u32,
    /// Trials that did not.
    pub fails: u32,
}

/// What is known of the smallest size that holds.
#[derive(Debug, Clone, PartialEq)]
pub enum SmallestSize {
    /// The smallest that was proved, with the 95 % interval of the size at which [`HOLDS`] of the trials hold.
    Found(Estimate),
    /// The trials so far do not decide; the best guess.
    Undecided(Estimate),
    /// Not even the largest size holds.
    NoneHolds,
    /// The smallest size of the range holds already.
    AllHold,
}

/// A search for the smallest size that holds.
#[derive(Debug, Clone)]
pub struct SizeSearch {
    /// Sizes that are tried are multiples of it.
    step: f64,
    low: f64,
    high: f64,
    tried: Vec<TriedSize>,
    /// The size that is to be proved, while it holds.
    candidate: Option<f64>,
    /// Logarithms of the middles.
    middles: Vec<f64>,
    /// Log prior and likelihood, middle by middle, of each width.
    likelihood: Vec<f64>,
}

impl SizeSearch {
    /// Between two sizes, in multiples of `step`; none where these leave no choice.
    pub fn of(low: f64, high: f64, step: f64) -> Option<SizeSearch> {
        let is_usable = [low, high, step].iter().all(|of| of.is_finite() && 0.0 < *of);
        if !is_usable {
            return None;
        }
        let (low, high) = ((low / step).ceil() * step, (high / step).ceil() * step);
        if high <= low {
            return None;
        }
        let (from, to) = (low.ln() - BEYOND, high.ln() + BEYOND);
        let middle = |at: usize| from + (to - from) * at as f64 / (MIDDLES - 1) as f64;
        let middles: Vec<f64> = (0..MIDDLES).map(middle).collect();
        let likelihood = PRIOR.map(f64::ln).repeat(MIDDLES);
        Some(SizeSearch { step, low, high, tried: Vec::new(), candidate: None, middles, likelihood })
    }

    /// The sizes that were tried, the smallest first.
    pub fn tried(&self) -> &[TriedSize] {
        &self.tried
    }

    /// Takes a trial in.
    pub fn add(&mut self, size: f64, holds: bool) {
        if !(size.is_finite() && 0.0 < size) {
            return;
        }
        let ln_size = size.ln();
        for (middle, row) in self.middles.iter().zip(self.likelihood.chunks_exact_mut(WIDTHS.len())) {
            for (width, sum) in WIDTHS.iter().zip(row) {
                let chance = chance(ln_size, *middle, *width);
                *sum += if holds { chance.ln() } else { (1.0 - chance).ln() };
            }
        }
        let at = self.tried.partition_point(|of| of.size < size);
        let is_there = self.tried.get(at).is_some_and(|of| of.size.total_cmp(&size).is_eq());
        if !is_there {
            self.tried.insert(at, TriedSize { size, holds: 0, fails: 0 });
        }
        let of = &mut self.tried[at];
        if holds {
            of.holds += 1;
        } else {
            of.fails += 1;
        }
        self.choose_candidate();
    }

    /// A candidate that failed is none any more, and there is one once the answer is known well enough.
    fn choose_candidate(&mut self) {
        self.candidate = self.candidate.filter(|size| self.has_not_failed(*size));
        if self.candidate.is_none() {
            let weights = self.weights();
            let (low, high) = self.interval(&weights);
            self.candidate = (high <= low * PRECISION).then(|| self.provable(&weights));
        }
    }

    fn at(&self, size: f64) -> Option<&TriedSize> {
        self.tried.iter().find(|of| of.size.total_cmp(&size).is_eq())
    }

    fn has_not_failed(&self, size: f64) -> bool {
        self.at(size).is_none_or(|of| of.fails == 0)
    }

    /// The size of the next trial; none once the answer is known.
    pub fn next(&self) -> Option<f64> {
        if !matches!(self.answer(), SmallestSize::Undecided(_)) {
            return None;
        }
        let weights = self.weights();
        if let Some(size) = self.edge_to_try(&weights).or(self.candidate) {
            return Some(size);
        }
        let candidates = (0..CANDIDATES).map(|at| (at as f64 + 0.5) / CANDIDATES as f64);
        let mut sizes: Vec<f64> =
            candidates.map(|share| self.rounded(self.quantile(&weights, share).exp())).collect();
        sizes.dedup_by(|a, b| a.total_cmp(b).is_eq());
        sizes.into_iter().min_by(|a, b| {
            self.expected_variance(&weights, *a).total_cmp(&self.expected_variance(&weights, *b))
        })
    }

    /// What is known.
    pub fn answer(&self) -> SmallestSize {
        let weights = self.weights();
        let (none, all) = self.beyond(&weights);
        let is_proved = |size: f64| self.at(size).is_some_and(|of| PROOFS <= of.holds && of.fails == 0);
        if SURE <= none && self.at(self.high).is_some_and(|of| 2 <= of.fails) {
            return SmallestSize::NoneHolds;
        }
        if SURE <= all && is_proved(self.low) {
            return SmallestSize::AllHold;
        }
        let (low, high) = self.interval(&weights);
        let ends = |estimate: f64| Estimate {
            estimate,
            low: Some(low.min(estimate)),
            high: Some(high.max(estimate)),
        };
        match self.candidate {
            Some(size) if is_proved(size) => SmallestSize::Found(ends(size)),
            candidate => SmallestSize::Undecided(ends(candidate.unwrap_or_else(|| self.provable(&weights)))),
        }
    }

    /// Shares of the posterior in which no size of the range holds, and in which each does.
    fn beyond(&self, weights: &[f64]) -> (f64, f64) {
        let (low, high) = (self.low.ln(), self.high.ln());
        let share = |is_in: &dyn Fn(f64) -> bool| {
            self.answers().zip(weights).filter(|(answer, _)| is_in(*answer)).map(|(_, weight)| weight).sum()
        };
        (share(&|answer| high < answer), share(&|answer| answer < low))
    }

    /// An end of the range that is to be tried, where most of the posterior lies beyond it.
    fn edge_to_try(&self, weights: &[f64]) -> Option<f64> {
        let (none, all) = self.beyond(weights);
        if 0.6 <= none {
            return Some(self.high);
        }
        (0.6 <= all).then_some(self.low)
    }

    /// Logarithm of the answer for each middle and width.
    fn answers(&self) -> impl Iterator<Item = f64> {
        let odds = (HOLDS / (1.0 - HOLDS)).ln();
        self.middles.iter().flat_map(move |middle| WIDTHS.iter().map(move |width| middle + odds * width))
    }

    /// The posterior: before any trial all middles have equal chances.
    fn weights(&self) -> Vec<f64> {
        let largest = self.likelihood.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut weights: Vec<f64> = self.likelihood.iter().map(|of| (of - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        weights
    }

    fn quantile(&self, weights: &[f64], share: f64) -> f64 {
        let mut sorted: Vec<(f64, f64)> = self.answers().zip(weights.iter().copied()).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        let at = sorted.iter().find(|(_, weight)| {
            sum += weight;
            share <= sum
        });
        at.or(sorted.last()).map_or(f64::NAN, |(answer, _)| *answer)
    }

    fn interval(&self, weights: &[f64]) -> (f64, f64) {
        (self.quantile(weights, TAIL).exp(), self.quantile(weights, 1.0 - TAIL).exp())
    }

    /// The smallest multiple of the step that has not failed and holds with enough probability, by what is known.
    fn provable(&self, weights: &[f64]) -> f64 {
        let likely = |size: f64| {
            let ln_size = size.ln();
            let chances = self.middles.iter().flat_map(|of| WIDTHS.iter().map(move |width| (of, width)));
            let sum =
                |(weight, (middle, width)): (&f64, (&f64, &f64))| weight * chance(ln_size, *middle, *width);
            weights.iter().zip(chances).map(sum).sum::<f64>()
        };
        let from = self.quantile(weights, 0.05);
        let to = self.quantile(weights, 0.999).max(from);
        let sizes = (0..=64).map(|at| self.rounded((from + (to - from) * f64::from(at) / 64.0).exp()));
        let mut provable =
            sizes.into_iter().filter(|size| PROVABLE <= likely(*size) && self.has_not_failed(*size));
        provable.next().unwrap_or_else(|| self.rounded(to.exp()))
    }

    fn rounded(&self, size: f64) -> f64 {
        ((size / self.step).ceil() * self.step).clamp(self.low, self.high)
    }

    /// Variance of the answer's logarithm that is expected after a trial of this size.
    fn expected_variance(&self, weights: &[f64], size: f64) -> f64 {
        let ln_size = size.ln();
        // Sums of weight, answer and its square, of trials that hold and that do not.
        let mut sums = [[0.0_f64; 3]; 2];
        let of_each = self.middles.iter().flat_map(|of| WIDTHS.iter().map(move |width| (of, width)));
        for (((middle, width), answer), weight) in of_each.zip(self.answers()).zip(weights) {
            let chance = chance(ln_size, *middle, *width);
            for (sum, share) in sums.iter_mut().zip([chance, 1.0 - chance]) {
                let weight = weight * share;
                sum[0] += weight;
                sum[1] += weight * answer;
                sum[2] += weight * answer * answer;
            }
        }
        sums.iter().filter(|of| 0.0 < of[0]).map(|of| of[2] - of[1] * of[1] / of[0]).sum()
    }
}

/// The chance that a trial holds.
fn chance(ln_size: f64, middle: f64, width: f64) -> f64 {
    let logistic = 1.0 / (1.0 + (-(ln_size - middle) / width).exp());
    ACCIDENTS + (1.0 - 2.0 * ACCIDENTS) * logistic
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(low: f64, high: f64, truth: f64) -> (SizeSearch, u32) {
        let mut search = SizeSearch::of(low, high, 1.0).expect("a range");
        let mut trials = 0;
        while let Some(size) = search.next() {
            search.add(size, truth <= size);
            trials += 1;
            assert!(trials < 60, "{:?}", search.tried());
        }
        (search, trials)
    }

    #[test]
    fn a_sharp_edge_is_found_within_five_percent_and_proved_five_times() {
        let (search, trials) = search(100.0, 800.0, 317.0);
        let SmallestSize::Found(found) = search.answer() else { panic!("{:?}", search.answer()) };
        assert!((317.0..=332.0).contains(&found.estimate), "{found:?} after {trials}");
        let (low, high) = found.ends().expect("an interval");
        assert!(low <= found.estimate && found.estimate <= high && high <= low * PRECISION, "{found:?}");
        let proofs =
            search.tried().iter().find(|of| of.size == found.estimate).map(|of| (of.holds, of.fails));
        assert!(proofs.is_some_and(|(holds, fails)| PROOFS <= holds && fails == 0), "{proofs:?}");
        assert!(trials <= 18, "{trials}: {:?}", search.tried());
    }

    #[test]
    fn where_nothing_or_everything_holds_that_is_said_after_few_trials() {
        let (of_none, trials) = search(100.0, 800.0, 5000.0);
        assert_eq!(of_none.answer(), SmallestSize::NoneHolds);
        assert!(trials <= 8, "{trials}");
        let (of_all, trials) = search(100.0, 800.0, 1.0);
        assert_eq!(of_all.answer(), SmallestSize::AllHold);
        assert!(trials <= 10, "{trials}");
    }

    #[test]
    fn a_candidate_is_kept_while_it_holds_and_given_up_when_it_fails() {
        let mut search = SizeSearch::of(100.0, 800.0, 1.0).expect("a range");
        while search.candidate.is_none() {
            let size = search.next().expect("a size");
            search.add(size, 317.0 <= size);
        }
        let candidate = search.candidate;
        for _ in 0..PROOFS - 1 {
            assert_eq!(search.next(), candidate);
            search.add(candidate.expect("one"), true);
        }
        search.add(candidate.expect("one"), false);
        assert_ne!(search.candidate, candidate);
        assert!(matches!(search.answer(), SmallestSize::Undecided(_)), "{:?}", search.answer());
    }

    #[test]
    fn one_accident_does_not_move_the_answer() {
        let mut search = SizeSearch::of(100.0, 800.0, 1.0).expect("a range");
        search.add(700.0, false);
        let mut trials = 0;
        while let Some(size) = search.next() {
            search.add(size, 300.0 <= size);
            trials += 1;
            assert!(trials < 40, "{:?}", search.tried());
        }
        let SmallestSize::Found(found) = search.answer() else { panic!("{:?}", search.answer()) };
        assert!((300.0..=315.0).contains(&found.estimate), "{found:?}");
    }

    #[test]
    fn a_range_without_a_choice_is_none_and_a_size_that_is_no_number_says_nothing() {
        for (low, high, step) in
            [(0.0, 1.0, 1.0), (5.0, 5.0, 1.0), (9.0, 5.0, 1.0), (1.0, f64::NAN, 1.0), (1.0, 2.0, 0.0)]
        {
            assert!(SizeSearch::of(low, high, step).is_none(), "{low} {high} {step}");
        }
        let mut search = SizeSearch::of(1.0, 100.0, 1.0).expect("a range");
        let before = search.next();
        search.add(f64::NAN, true);
        assert_eq!((search.tried(), search.next()), (&[][..], before));
    }
}
