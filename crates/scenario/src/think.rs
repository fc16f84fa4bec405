//! How long a user thinks after an answer.

use crate::file::{ThinkFile, ThinkLaw};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};

const NS_PER_MS: f64 = 1e6;
/// Longest that can be asked for, a week.
const MS_MAX: f64 = 7.0 * 86_400_000.0;

/// The law of a think time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Think {
    /// Always so long, ms.
    Constant(f64),
    /// Evenly between two times, ms.
    Uniform(f64, f64),
    /// Exponential with this mean, ms.
    Exponential(f64),
}

impl Think {
    /// From the file's form, or what is wrong with it.
    pub(crate) fn of(file: &ThinkFile) -> Result<Think, String> {
        let (think, times) = match *file {
            ThinkFile::Ms(ms) => (Think::Constant(ms), [ms, ms]),
            ThinkFile::Law(ThinkLaw { mean: Some(mean), from: None, to: None }) => {
                (Think::Exponential(mean), [mean, mean])
            }
            ThinkFile::Law(ThinkLaw { mean: None, from: Some(from), to: Some(to) }) => {
                (Think::Uniform(from, to), [from, to])
            }
            ThinkFile::Law(_) => {
                return Err("think_ms is a number, { from = , to = } or { mean = }".to_owned());
            }
        };
        let is_right = times.iter().all(|ms| (0.0..=MS_MAX).contains(ms)) && times[0] <= times[1];
        is_right
            .then_some(think)
            .ok_or_else(|| format!("think_ms takes times from 0 to {MS_MAX}, the lesser one first"))
    }

    /// The mean, seconds.
    pub fn mean_s(self) -> f64 {
        match self {
            Think::Constant(ms) | Think::Exponential(ms) => ms / 1e3,
            Think::Uniform(from, to) => f64::midpoint(from, to) / 1e3,
        }
    }

    /// The next time, ns. A constant one draws nothing.
    pub fn draw_ns(self, random: &mut ChaCha8Rng) -> u64 {
        let ms = match self {
            Think::Constant(ms) => ms,
            Think::Uniform(from, to) => from + random.random::<f64>() * (to - from),
            Think::Exponential(mean) => {
                let of_mean: f64 = Exp1.sample(random);
                of_mean * mean
            }
        };
        (ms * NS_PER_MS) as u64
    }
}

/// The law of think times that is given, or the usual one.
pub(crate) fn thought(
    file: Option<&ThinkFile>,
    usual: Option<Think>,
    wrong: &mut dyn FnMut(String),
) -> Option<Think> {
    match file.map(Think::of) {
        Some(Err(what)) => {
            wrong(what);
            None
        }
        Some(Ok(think)) => Some(think),
        None => usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    /// Mean and shares below 0.5 and 1.5 of what is expected on average, of many draws.
    fn drawn(think: Think, mean_ms: f64) -> (f64, f64, f64) {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let times: Vec<f64> = (0..100_000).map(|_| think.draw_ns(&mut random) as f64 / NS_PER_MS).collect();
        let below = |ms: f64| times.iter().filter(|time| **time < ms).count() as f64 / times.len() as f64;
        (times.iter().sum::<f64>() / times.len() as f64, below(0.5 * mean_ms), below(1.5 * mean_ms))
    }

    #[track_caller]
    fn check((mean, half, more): (f64, f64, f64), expected: [f64; 3]) {
        let is_near = |value: f64, wanted: f64| (value - wanted).abs() <= 0.01 * wanted.max(0.5);
        assert!(is_near(mean, expected[0]) && is_near(half, expected[1]) && is_near(more, expected[2]));
    }

    #[test]
    fn draws_follow_their_law() {
        check(drawn(Think::Constant(20.0), 20.0), [20.0, 0.0, 1.0]);
        check(drawn(Think::Uniform(10.0, 30.0), 20.0), [20.0, 0.0, 1.0]);
        check(drawn(Think::Uniform(0.0, 40.0), 20.0), [20.0, 0.25, 0.75]);
        let exponential = [20.0, 1.0 - (-0.5_f64).exp(), 1.0 - (-1.5_f64).exp()];
        check(drawn(Think::Exponential(20.0), 20.0), exponential);
    }
}
