//! When requests should start: pure, seeded sequences of offsets, so that open load can be tested without a clock
//! and repeated exactly. The offsets say nothing of when a request was really sent.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1};

const NS_PER_S: f64 = 1e9;

/// Highest rate that is accepted, requests per second; far beyond what one generator can send.
pub const RATE_PER_S_MAX: f64 = 10_000_000.0;

/// How intended starts are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalLaw {
    /// Equal gaps.
    Constant,
    /// Independent, exponentially distributed gaps: many users who know nothing of each other.
    Poisson,
}

impl ArrivalLaw {
    /// The endless sequence of intended starts, nanoseconds from the start of the stretch, strictly increasing.
    pub fn arrivals(self, rate_per_s: f64, seed: u64) -> Arrivals {
        match self {
            ArrivalLaw::Constant => Arrivals::Constant(ConstantArrivals::new(rate_per_s)),
            ArrivalLaw::Poisson => Arrivals::Poisson(Box::new(PoissonArrivals::new(rate_per_s, seed))),
        }
    }
}

/// A sequence of intended starts of either law.
#[derive(Debug, Clone)]
pub enum Arrivals {
    /// Equal gaps.
    Constant(ConstantArrivals),
    /// Exponential gaps.
    Poisson(Box<PoissonArrivals>),
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match self {
            Arrivals::Constant(arrivals) => arrivals.next(),
            Arrivals::Poisson(arrivals) => arrivals.next(),
        }
    }
}

/// The gap between requests, kept within what the offsets can express: a rate that is no number or not positive
/// gives one request only, a rate beyond `RATE_PER_S_MAX` that rate.
fn gap_ns(rate_per_s: f64) -> f64 {
    if rate_per_s > 0.0 { NS_PER_S / rate_per_s.min(RATE_PER_S_MAX) } else { f64::INFINITY }
}

/// Offsets 0, 1/rate, 2/rate, ...; each is computed from its number, so that rounding does not add up.
#[derive(Debug, Clone)]
pub struct ConstantArrivals {
    gap_ns: f64,
    number: u64,
}

impl ConstantArrivals {
    /// `rate_per_s` requests per second.
    pub fn new(rate_per_s: f64) -> Self {
        ConstantArrivals { gap_ns: gap_ns(rate_per_s), number: 0 }
    }
}

impl Iterator for ConstantArrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let number = self.number;
        self.number += 1;
        match number {
            0 => Some(0),
            _ if self.gap_ns.is_finite() => Some((number as f64 * self.gap_ns) as u64),
            _ => None,
        }
    }
}

/// A Poisson process: independent exponential gaps with the mean 1/rate. The first gap lies before the first request.
#[derive(Debug, Clone)]
pub struct PoissonArrivals {
    gap_ns: f64,
    sum_ns: f64,
    last_ns: Option<u64>,
    random: ChaCha8Rng,
}

impl PoissonArrivals {
    /// `rate_per_s` requests per second on average; the same seed gives the same sequence on every machine.
    pub fn new(rate_per_s: f64, seed: u64) -> Self {
        PoissonArrivals {
            gap_ns: gap_ns(rate_per_s),
            sum_ns: 0.0,
            last_ns: None,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }
}

impl Iterator for PoissonArrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let gap: f64 = Exp1.sample(&mut self.random);
        self.sum_ns += gap * self.gap_ns;
        if !self.sum_ns.is_finite() {
            return None;
        }
        // Two draws can fall into one nanosecond; the later one moves to the next.
        let offset = match self.last_ns {
            Some(last) => (self.sum_ns as u64).max(last + 1),
            None => self.sum_ns as u64,
        };
        self.last_ns = Some(offset);
        Some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn constant_arrivals_do_not_drift() {
        let offsets: Vec<u64> = ConstantArrivals::new(3.0).take(3_000_001).collect();
        assert_eq!(offsets[0], 0);
        assert_eq!(offsets[1], 333_333_333);
        assert_eq!(offsets[3_000_000], 1_000_000 * 1_000_000_000);
    }

    /// Largest distance between the gaps of the first `n` arrivals and the exponential law (Kolmogorov-Smirnov).
    fn distance_to_exponential(arrivals: Arrivals, rate_per_s: f64, n: usize) -> f64 {
        let offsets: Vec<u64> = arrivals.take(n + 1).collect();
        let mut gaps: Vec<f64> = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
        gaps.sort_by(f64::total_cmp);
        gaps.iter().enumerate().fold(0.0_f64, |worst, (i, gap)| {
            let law = 1.0 - (-gap * rate_per_s).exp();
            worst.max((law - i as f64 / n as f64).abs()).max(((i + 1) as f64 / n as f64 - law).abs())
        })
    }

    /// Critical value of the statistic at the 0.1 % level.
    fn critical_distance(n: usize) -> f64 {
        1.949 / (n as f64).sqrt()
    }

    #[test]
    fn poisson_gaps_pass_kolmogorov_smirnov_against_the_exponential_law() {
        for seed in 1..=5 {
            let distance =
                distance_to_exponential(ArrivalLaw::Poisson.arrivals(1_000.0, seed), 1_000.0, 20_000);
            assert!(distance < critical_distance(20_000), "seed {seed}: distance {distance}");
        }
    }

    #[test]
    fn kolmogorov_smirnov_rejects_equal_gaps_and_a_rate_that_is_5_percent_off() {
        let equal = distance_to_exponential(ArrivalLaw::Constant.arrivals(1_000.0, 1), 1_000.0, 20_000);
        assert!(equal > critical_distance(20_000));
        let off = distance_to_exponential(ArrivalLaw::Poisson.arrivals(1_050.0, 1), 1_000.0, 20_000);
        assert!(off > critical_distance(20_000));
    }

    #[test]
    fn poisson_counts_vary_as_much_as_their_mean() {
        let counts: Vec<f64> = (0..400)
            .map(|seed| {
                PoissonArrivals::new(100.0, seed).take_while(|offset| *offset < 1_000_000_000).count() as f64
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        assert!((mean - 100.0).abs() < 2.0, "mean {mean}");
        assert!((0.75..1.3).contains(&(variance / mean)), "index of dispersion {}", variance / mean);
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_and_another_seed_others() {
        let of = |seed| PoissonArrivals::new(50.0, seed).take(100).collect::<Vec<_>>();
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn a_seeds_sequence_stays_the_same_across_releases() {
        let first: Vec<u64> = PoissonArrivals::new(1_000.0, 1).take(3).collect();
        assert_eq!(first, [446_903, 603_604, 1_818_402]);
    }

    proptest! {
        #[test]
        fn arrivals_strictly_increase_at_every_rate(rate in 1e-3..RATE_PER_S_MAX, seed: u64) {
            for law in [ArrivalLaw::Constant, ArrivalLaw::Poisson] {
                let offsets: Vec<u64> = law.arrivals(rate, seed).take(2_000).collect();
                prop_assert!(offsets.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }

        #[test]
        fn a_senseless_rate_ends_instead_of_panicking(
            rate in prop_oneof![Just(f64::NAN), Just(0.0), Just(-1.0), Just(f64::INFINITY), Just(f64::MIN_POSITIVE)]
        ) {
            for law in [ArrivalLaw::Constant, ArrivalLaw::Poisson] {
                prop_assert!(law.arrivals(rate, 1).take(10).count() <= 10);
            }
        }
    }
}
