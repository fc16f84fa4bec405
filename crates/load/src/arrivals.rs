//! When requests should start: pure, seeded sequences of offsets, so that open load can be tested without a clock
//! and repeated exactly. The offsets say nothing of when a request was really sent.

pub use assay_scenario::{Part, RATE_PER_S_MAX};
use assay_scenario::{RateSchedule, RateWalk};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const NS_PER_S: f64 = 1e9;

/// How intended starts are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalLaw {
    /// Equal gaps.
    Constant,
    /// Independent, exponentially distributed gaps: many users who know nothing of each other.
    Poisson,
}

impl ArrivalLaw {
    /// The endless sequence of intended starts, nanoseconds from the start of the run, strictly increasing.
    pub fn arrivals(self, rate_per_s: f64, seed: u64) -> Arrivals {
        self.arrivals_of(Part::WHOLE, rate_per_s, seed)
    }

    /// The intended starts of one of several generators along a schedule: where its integral reaches whole numbers, dealt out in
    /// turn, or of Poisson arrivals where it reaches the points of a Poisson process of rate 1, of which each generator has its own
    /// part. Recorded arrivals are dealt out in turn, whatever the law.
    pub fn arrivals_along(self, schedule: &RateSchedule, part: Part, seed: u64) -> Arrivals {
        let of = part.of.max(1);
        let counts = match self {
            ArrivalLaw::Poisson if !schedule.is_trace() => Counts::Poisson {
                mean: f64::from(of),
                sum: 0.0,
                random: Box::new(ChaCha8Rng::seed_from_u64(seed)),
            },
            _ => Counts::Even { number: u64::from(part.number), step: u64::from(of) },
        };
        Arrivals::Along { walk: schedule.walk(), counts }
    }

    /// The intended starts of one of several generators that share `rate_per_s` in equal parts. Constant arrivals are
    /// dealt out in turn, so that together they are exactly those of one generator; Poisson streams are independent,
    /// each with its own part of the rate, and their sum is a Poisson stream of the whole rate. The parts of one
    /// load need different seeds ([`Part::seed`]).
    pub fn arrivals_of(self, part: Part, rate_per_s: f64, seed: u64) -> Arrivals {
        match self {
            ArrivalLaw::Constant => Arrivals::Constant {
                gap_ns: gap_ns(rate_per_s),
                number: u64::from(part.number),
                step: u64::from(part.of.max(1)),
            },
            ArrivalLaw::Poisson => Arrivals::Poisson {
                gap_ns: gap_ns(rate_per_s / f64::from(part.of.max(1))),
                sum_ns: 0.0,
                last_ns: None,
                random: Box::new(ChaCha8Rng::seed_from_u64(seed)),
            },
        }
    }
}

/// How many requests have started when the next one does, as an integral of the rate.
#[derive(Debug, Clone)]
pub enum Counts {
    /// 0, 1, 2, ..., of which one of several generators takes its own.
    Even {
        /// Of the next request.
        number: u64,
        /// To the one after it.
        step: u64,
    },
    /// The points of a Poisson process.
    Poisson {
        /// Of the gaps: the number of generators.
        mean: f64,
        /// All gaps so far.
        sum: f64,
        /// Draws the gaps.
        random: Box<ChaCha8Rng>,
    },
}

impl Counts {
    fn next(&mut self) -> f64 {
        match self {
            Counts::Even { number, step } => {
                let this = *number;
                *number += *step;
                this as f64
            }
            Counts::Poisson { mean, sum, random } => {
                let gap: f64 = Exp1.sample(random);
                *sum += gap * *mean;
                *sum
            }
        }
    }
}

/// A sequence of intended starts; the same seed gives the same one on every machine.
#[derive(Debug, Clone)]
pub enum Arrivals {
    /// Offsets 0, 1/rate, 2/rate, ...; each is computed from its number, so that rounding does not add up.
    Constant {
        /// 1/rate.
        gap_ns: f64,
        /// Of the next request.
        number: u64,
        /// To the one after it.
        step: u64,
    },
    /// A Poisson process: independent exponential gaps with the mean 1/rate. The first gap lies before the first request.
    Poisson {
        /// 1/rate.
        gap_ns: f64,
        /// All gaps so far.
        sum_ns: f64,
        /// The offset before.
        last_ns: Option<u64>,
        /// Draws the gaps.
        random: Box<ChaCha8Rng>,
    },
    /// Along a rate that changes; may fall together where arrivals were recorded so.
    Along {
        /// When so many have started.
        walk: RateWalk,
        /// How many have.
        counts: Counts,
    },
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match self {
            Arrivals::Constant { gap_ns, number, step } => {
                let this = *number;
                *number += *step;
                match this {
                    0 => Some(0),
                    _ if gap_ns.is_finite() => Some((this as f64 * *gap_ns) as u64),
                    _ => None,
                }
            }
            Arrivals::Poisson { gap_ns, sum_ns, last_ns, random } => {
                let gap: f64 = Exp1.sample(random);
                *sum_ns += gap * *gap_ns;
                // Two draws can fall into one nanosecond; the later one moves to the next.
                let least = last_ns.map_or(0, |last| last + 1);
                *last_ns = sum_ns.is_finite().then(|| (*sum_ns as u64).max(least));
                *last_ns
            }
            Arrivals::Along { walk, counts } => walk.reach_ns(counts.next()),
        }
    }
}

/// The gap between requests, kept within what the offsets can express: a rate that is no number or not positive
/// gives one request only, a rate beyond `RATE_PER_S_MAX` that rate.
fn gap_ns(rate_per_s: f64) -> f64 {
    if rate_per_s > 0.0 { NS_PER_S / rate_per_s.min(RATE_PER_S_MAX) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn constant_arrivals_do_not_drift() {
        let offsets: Vec<u64> = ArrivalLaw::Constant.arrivals(3.0, 1).take(3_000_001).collect();
        assert_eq!(offsets[0], 0);
        assert_eq!(offsets[1], 333_333_333);
        assert_eq!(offsets[3_000_000], 1_000_000 * 1_000_000_000);
    }

    /// Largest distance between the gaps of the first `n` arrivals and the exponential law (Kolmogorov-Smirnov).
    fn distance_to_exponential(arrivals: Arrivals, rate_per_s: f64, n: usize) -> f64 {
        let offsets: Vec<u64> = arrivals.take(n + 1).collect();
        let mut gaps: Vec<f64> = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
        gaps.sort_by(f64::total_cmp);
        distance_of(&gaps, rate_per_s)
    }

    fn distance_of(sorted_gaps: &[f64], rate_per_s: f64) -> f64 {
        let n = sorted_gaps.len() as f64;
        sorted_gaps.iter().enumerate().fold(0.0_f64, |worst, (i, gap)| {
            let law = 1.0 - (-gap * rate_per_s).exp();
            worst.max((law - i as f64 / n).abs()).max(((i + 1) as f64 / n - law).abs())
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
                ArrivalLaw::Poisson.arrivals(100.0, seed).take_while(|offset| *offset < 1_000_000_000).count()
                    as f64
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        assert!((mean - 100.0).abs() < 2.0, "mean {mean}");
        assert!((0.75..1.3).contains(&(variance / mean)), "index of dispersion {}", variance / mean);
    }

    #[test]
    fn constant_arrivals_dealt_out_to_several_are_together_exactly_those_of_one() {
        for of in 1..=7 {
            let mut together: Vec<u64> = (0..of)
                .flat_map(|number| {
                    let part = Part { number, of };
                    ArrivalLaw::Constant.arrivals_of(part, 333.3, part.seed(1)).take(1_000)
                })
                .collect();
            together.sort_unstable();
            let one: Vec<u64> = ArrivalLaw::Constant.arrivals(333.3, 1).take(together.len()).collect();
            assert_eq!(together, one, "{of} parts");
        }
    }

    #[test]
    fn poisson_streams_of_parts_are_together_a_poisson_stream_of_the_whole_rate() {
        let mut together: Vec<u64> = (0..3)
            .flat_map(|number| {
                let part = Part { number, of: 3 };
                let arrivals = ArrivalLaw::Poisson.arrivals_of(part, 1_000.0, part.seed(7));
                arrivals.take_while(|offset| *offset < 20_000_000_000)
            })
            .collect();
        together.sort_unstable();
        let n = together.len() - 1;
        let mut gaps: Vec<f64> = together.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
        gaps.sort_by(f64::total_cmp);
        let distance = distance_of(&gaps, 1_000.0);
        assert!(distance < critical_distance(n), "distance {distance}");
        assert!((n as f64 - 20_000.0).abs() < 4.0 * 20_000.0_f64.sqrt(), "{n} arrivals");
    }

    fn schedule(text: &str) -> RateSchedule {
        RateSchedule::parse(text, std::path::Path::new("")).expect(text)
    }

    #[test]
    fn arrivals_along_a_ramp_are_as_many_as_its_integral_says_at_every_second() {
        let text = "0 to 1000 for 10s, 1000 for 5s, 1000 to 100 in 4 steps for 8s, 50 for 10s spike 2000 for 1s every 5s";
        let schedule = schedule(text);
        let offsets: Vec<u64> = ArrivalLaw::Constant.arrivals_along(&schedule, Part::WHOLE, 1).collect();
        for s in 0..=33_u32 {
            let before = offsets.iter().filter(|offset| **offset < u64::from(s) * 1_000_000_000).count();
            let count = schedule.count_until(f64::from(s));
            assert!((before as f64 - count).abs() <= 1.0, "{before} arrivals until {s} s instead of {count}");
        }
        assert_eq!(offsets.len(), 5_000 + 5_000 + 2 * 1_000 + 2 * 700 + 2 * 400 + 2 * 100 + 4_400);
        assert!(offsets.is_sorted());
    }

    #[test]
    fn poisson_arrivals_along_a_ramp_vary_about_its_integral_as_much_as_they_should() {
        let schedule = schedule("0 to 400 for 2s");
        // Of each half: 100 and 300 on average, with as much variance.
        let counts: Vec<[f64; 2]> = (0..400)
            .map(|seed| {
                let offsets = ArrivalLaw::Poisson.arrivals_along(&schedule, Part::WHOLE, seed);
                let (early, late): (Vec<u64>, Vec<u64>) = offsets.partition(|offset| *offset < 1_000_000_000);
                [early.len() as f64, late.len() as f64]
            })
            .collect();
        for (half, want) in [(0, 100.0), (1, 300.0)] {
            let mean = counts.iter().map(|count| count[half]).sum::<f64>() / 400.0;
            let variance = counts.iter().map(|count| (count[half] - mean).powi(2)).sum::<f64>() / 400.0;
            assert!((mean - want).abs() < 4.0 * (want / 400.0_f64).sqrt(), "half {half}: mean {mean}");
            assert!((0.75..1.3).contains(&(variance / mean)), "half {half}: {}", variance / mean);
        }
    }

    #[test]
    fn a_schedule_dealt_out_to_several_is_together_exactly_that_of_one() {
        for of in 1..=5 {
            let schedule = schedule("10 to 1000 for 3s, 0 for 1s, 200 for 1s");
            let part = |number| ArrivalLaw::Constant.arrivals_along(&schedule, Part { number, of }, 1);
            let mut together: Vec<u64> = (0..of).flat_map(part).collect();
            together.sort_unstable();
            let one: Vec<u64> = ArrivalLaw::Constant.arrivals_along(&schedule, Part::WHOLE, 1).collect();
            assert_eq!(together, one, "{of} parts");
        }
    }

    #[test]
    fn recorded_arrivals_come_as_recorded_whatever_the_law() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("t"), "7\n7.5\n7.5\n9\n").expect("written");
        let schedule = RateSchedule::parse("trace t", folder.path()).expect("good");
        for law in [ArrivalLaw::Constant, ArrivalLaw::Poisson] {
            let part = |number, of| law.arrivals_along(&schedule, Part { number, of }, 1).collect::<Vec<_>>();
            assert_eq!(part(0, 1), [0, 500_000_000, 500_000_000, 2_000_000_000]);
            assert_eq!([part(0, 2), part(1, 2)], [[0, 500_000_000], [500_000_000, 2_000_000_000]]);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_and_another_seed_others() {
        let of = |seed| ArrivalLaw::Poisson.arrivals(50.0, seed).take(100).collect::<Vec<_>>();
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn a_seeds_sequence_stays_the_same_across_releases() {
        let first: Vec<u64> = ArrivalLaw::Poisson.arrivals(1_000.0, 1).take(3).collect();
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
