//! Finding the commit that made a program slower by noisy comparisons: probabilistic bisection.
//!
//! Each comparison sets one commit against the last one that is known to be good, and gives a log ratio with its standard error. If commit
//! *j* is the first slow one, commits from *j* on differ by one unknown effect, and those before it do not; if none is, none differs. Each
//! comparison so moves a posterior over "commit *j* is the first" and "no change in this range", and the next one is made where it splits
//! the posterior best. Unlike `git bisect` no answer is final: a comparison that misled is outweighed by later ones.
//!
//! Waeber, Frazier, Henderson: Bisection search with noisy responses, SIAM J. Control Optim. 51 (2013); Burnashev and Zigangirov (1974).

use std::ops::RangeInclusive;

/// Prior probability that there is no change: as probable as that there is one.
const NO_CHANGE_PRIOR: f64 = 0.5;
/// Sizes of the effect that are weighed, evenly spread between the least and the largest on the scale of logarithms.
const EFFECTS: usize = 24;
/// The largest effect: twice as slow, and beyond that a comparison shows it at once.
const EFFECT_MAX: f64 = std::f64::consts::LN_2;

/// One comparison of a commit with the last good one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// Index of the commit; 0 is the first one after the good one.
    pub commit: usize,
    /// Logarithm of the ratio to the good one; above 0 is worse.
    pub log_ratio: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error; infinite where it is known.
    pub freedom: f64,
}

/// What a bisection ends with. Indices are those of [`Compared::commit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstSlow {
    /// This commit is the first slow one.
    Commit(usize),
    /// One of these is: all but the last cannot be measured.
    Range(RangeInclusive<usize>),
    /// None is.
    NoChange,
}

/// A posterior over the commits that may be the first slow one.
#[derive(Debug, Clone)]
pub struct Bisection {
    /// Which commits can be measured.
    measurable: Vec<bool>,
    /// Sizes of the effect, as logarithms of ratios.
    effects: Vec<f64>,
    /// Log likelihood of each first slow commit and effect, commit by commit.
    of_commits: Vec<f64>,
    of_no_change: f64,
}

impl Bisection {
    /// Of so many commits after the good one, the last of which is the bad one. `effect_min` is the smallest effect that is looked for, as
    /// logarithm of a ratio: below it there is "no change". None without a commit, or where the effect is not between 0 and that of a ratio
    /// of 2.
    pub fn of(commits: usize, effect_min: f64) -> Option<Bisection> {
        if commits == 0 || !(effect_min > 0.0 && effect_min < EFFECT_MAX) {
            return None;
        }
        let step = (EFFECT_MAX / effect_min).ln() / (EFFECTS - 1) as f64;
        Some(Bisection {
            measurable: vec![true; commits],
            effects: (0..EFFECTS).map(|i| effect_min * (step * i as f64).exp()).collect(),
            of_commits: vec![0.0; commits * EFFECTS],
            of_no_change: 0.0,
        })
    }

    /// Leaves out a commit that cannot be measured.
    pub fn leave_out(&mut self, commit: usize) {
        if let Some(measurable) = self.measurable.get_mut(commit) {
            *measurable = false;
        }
    }

    /// Takes a comparison in. One that is no number, or of no commit, says nothing.
    pub fn add(&mut self, compared: &Compared) {
        let Compared { commit, log_ratio, standard_error, freedom } = *compared;
        let is_usable = log_ratio.is_finite() && standard_error > 0.0 && standard_error.is_finite();
        if !is_usable || self.measurable.len() <= commit {
            return;
        }
        let log_density = |expected: f64| {
            let square = ((log_ratio - expected) / standard_error).powi(2);
            // Student's t, which the normal distribution is the limit of.
            if freedom.is_finite() {
                -(freedom + 1.0) / 2.0 * (square / freedom).ln_1p()
            } else {
                -square / 2.0
            }
        };
        let (same, slow) = (log_density(0.0), self.effects.iter().map(|effect| log_density(*effect)));
        let slow: Vec<f64> = slow.collect();
        for (first, of_effects) in self.of_commits.chunks_exact_mut(EFFECTS).enumerate() {
            let is_slow = first <= commit;
            of_effects
                .iter_mut()
                .zip(&slow)
                .for_each(|(sum, slow)| *sum += if is_slow { *slow } else { same });
        }
        self.of_no_change += same;
    }

    /// Probability of each commit to be the first slow one, and that there is no change.
    pub fn posterior(&self) -> (Vec<f64>, f64) {
        let commits = self.measurable.len();
        let largest = self.of_commits.iter().copied().fold(self.of_no_change, f64::max);
        let of_each = (1.0 - NO_CHANGE_PRIOR) / (commits * EFFECTS) as f64;
        let of_effects = self.of_commits.chunks_exact(EFFECTS);
        let weight =
            |of_effects: &[f64]| of_each * of_effects.iter().map(|sum| (sum - largest).exp()).sum::<f64>();
        let mut weights: Vec<f64> = of_effects.map(weight).collect();
        let no_change = NO_CHANGE_PRIOR * (self.of_no_change - largest).exp();
        let sum = no_change + weights.iter().sum::<f64>();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        (weights, no_change / sum)
    }

    /// Probability that there is no change, had the change the size that speaks most against that. A change of any size that is looked for is
    /// so taken for none as seldom as one of all sizes together would be.
    fn no_change_at_best(&self) -> f64 {
        let largest = self.of_commits.iter().copied().fold(self.of_no_change, f64::max);
        let of_each = (1.0 - NO_CHANGE_PRIOR) / self.measurable.len() as f64;
        let with = |effect: usize| {
            let of_effect = self.of_commits.iter().skip(effect).step_by(EFFECTS);
            of_each * of_effect.map(|sum| (sum - largest).exp()).sum::<f64>()
        };
        let change = (0..EFFECTS).map(with).fold(0.0, f64::max);
        let no_change = NO_CHANGE_PRIOR * (self.of_no_change - largest).exp();
        no_change / (no_change + change)
    }

    /// The commit whose comparison splits the posterior best: whether it is slow is nearest to even odds. None where none can be measured.
    pub fn next(&self) -> Option<usize> {
        let (weights, _) = self.posterior();
        let mut is_slow = 0.0;
        let odds =
            weights.iter().zip(&self.measurable).enumerate().filter_map(|(commit, (weight, measurable))| {
                is_slow += weight;
                measurable.then_some((commit, f64::abs(is_slow - 0.5)))
            });
        odds.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(commit, _)| commit)
    }

    /// The answer, once it is at least so probable; commits that no measurement can part are one answer.
    pub fn answer(&self, probability: f64) -> Option<FirstSlow> {
        if probability <= self.no_change_at_best() {
            return Some(FirstSlow::NoChange);
        }
        let (weights, _) = self.posterior();
        let mut begin = 0;
        for (commit, _) in self.measurable.iter().enumerate().filter(|(_, measurable)| **measurable) {
            if probability <= weights[begin..=commit].iter().sum() {
                let is_one = begin == commit;
                return Some(if is_one {
                    FirstSlow::Commit(commit)
                } else {
                    FirstSlow::Range(begin..=commit)
                });
            }
            begin = commit + 1;
        }
        None
    }

    /// The shortest row of commits that has the first slow one with at least this probability; none where "no change" is too probable for
    /// that.
    pub fn narrowest(&self, probability: f64) -> Option<RangeInclusive<usize>> {
        let (weights, _) = self.posterior();
        let (mut begin, mut sum) = (0, 0.0);
        let mut narrowest: Option<RangeInclusive<usize>> = None;
        for end in 0..weights.len() {
            sum += weights[end];
            while probability <= sum - weights[begin] {
                sum -= weights[begin];
                begin += 1;
            }
            let is_narrower =
                narrowest.as_ref().is_none_or(|range| end - begin < range.end() - range.start());
            if probability <= sum && is_narrower {
                narrowest = Some(begin..=end);
            }
        }
        narrowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(commit: usize, log_ratio: f64) -> Compared {
        Compared { commit, log_ratio, standard_error: 0.01, freedom: f64::INFINITY }
    }

    #[test]
    fn without_a_comparison_half_is_no_change_and_the_bad_one_is_compared_first() {
        let bisection = Bisection::of(4, 0.03).unwrap();
        let (commits, no_change) = bisection.posterior();
        assert!((no_change - 0.5).abs() < 1e-12);
        assert!(commits.iter().all(|commit| (commit - 0.125).abs() < 1e-12), "{commits:?}");
        assert_eq!((bisection.next(), bisection.answer(0.95)), (Some(3), None));
    }

    #[test]
    fn sure_comparisons_find_the_first_slow_commit_as_a_search_by_halves_does() {
        let mut bisection = Bisection::of(16, 0.03).unwrap();
        let mut compared_with = Vec::new();
        while bisection.answer(0.95).is_none() {
            let commit = bisection.next().unwrap();
            compared_with.push(commit);
            bisection.add(&compared(commit, if 5 <= commit { 0.1 } else { 0.0 }));
        }
        assert_eq!(bisection.answer(0.95), Some(FirstSlow::Commit(5)));
        assert_eq!(compared_with, [15, 7, 3, 5, 4]);
    }

    #[test]
    fn a_comparison_that_misled_is_outweighed() {
        let mut bisection = Bisection::of(2, 0.03).unwrap();
        bisection.add(&compared(0, 0.1));
        bisection.add(&compared(1, 0.1));
        assert_eq!(bisection.answer(0.95), Some(FirstSlow::Commit(0)));
        for _ in 0..4 {
            bisection.add(&compared(0, 0.0));
            bisection.add(&compared(1, 0.1));
        }
        assert_eq!(bisection.answer(0.95), Some(FirstSlow::Commit(1)));
    }

    #[test]
    fn commits_that_cannot_be_measured_are_one_answer_with_the_next_that_can() {
        let mut bisection = Bisection::of(4, 0.03).unwrap();
        bisection.leave_out(1);
        for (commit, log_ratio) in [(0, 0.0), (2, 0.1), (3, 0.1)] {
            bisection.add(&compared(commit, log_ratio));
        }
        assert_eq!(bisection.answer(0.95), Some(FirstSlow::Range(1..=2)));
        assert_eq!(bisection.narrowest(0.95), Some(1..=2));
        assert_ne!(bisection.next(), Some(1));
    }

    #[test]
    fn equal_commits_are_no_change_and_a_standard_error_of_one_degree_decides_little() {
        let mut bisection = Bisection::of(3, 0.03).unwrap();
        bisection.add(&Compared { freedom: 1.0, ..compared(2, 0.015) });
        assert_eq!((bisection.answer(0.95), bisection.narrowest(0.95)), (None, None));
        bisection.add(&compared(2, 0.0));
        bisection.add(&compared(2, 0.001));
        assert_eq!(bisection.answer(0.95), Some(FirstSlow::NoChange));
    }

    #[test]
    fn what_is_no_number_says_nothing_and_what_is_no_effect_is_refused() {
        let mut bisection = Bisection::of(2, 0.03).unwrap();
        for bad in
            [compared(0, f64::NAN), compared(7, 0.1), Compared { standard_error: 0.0, ..compared(0, 0.1) }]
        {
            bisection.add(&bad);
        }
        assert!((bisection.posterior().1 - 0.5).abs() < 1e-12);
        assert!(Bisection::of(0, 0.03).is_none());
        assert!([0.0, -0.1, 0.7, f64::NAN].iter().all(|effect| Bisection::of(2, *effect).is_none()));
    }
}
