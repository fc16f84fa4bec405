//! Rules of sessions that hold for all kinds of users: how fast they begin, and how long they last.

use crate::file::{LengthFile, LengthLaw, SessionFile};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Sessions that begin in a second at most, where the scenario does not say it.
const STARTS_PER_S: f64 = 100.0;
const STARTS_PER_S_MAX: f64 = 100_000.0;
/// Longest session that can be asked for.
const LENGTH_MAX: u32 = 1_000_000;

/// Rules of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRules {
    /// Sessions that begin in a second at most, outside of the figures.
    pub starts_per_s: f64,
    /// How many operations are drawn in a session before it ends; absent: it never ends by itself.
    pub(crate) length: Option<Length>,
}

/// The law of how many operations are drawn in a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Length {
    /// Each number alike, both ends among them.
    Uniform(u32, u32),
    /// Geometric with this mean: after each operation the session ends with the same probability.
    Geometric(f64),
}

impl SessionRules {
    /// From the file's form; what is wrong goes to `wrong`.
    pub(crate) fn of(file: &SessionFile, wrong: &mut dyn FnMut(String)) -> SessionRules {
        let starts_per_s = file.starts_per_s.unwrap_or(STARTS_PER_S);
        if !(starts_per_s > 0.0 && starts_per_s <= STARTS_PER_S_MAX) {
            wrong(format!(
                "[session] starts_per_s = {starts_per_s}: use more than 0 and at most {STARTS_PER_S_MAX}"
            ));
        }
        let length = file.length.as_ref().and_then(Length::of);
        if file.length.is_none() && file.end.is_some() {
            wrong(
                "[session] end: nothing ends a session; say with length how many operations one has"
                    .to_owned(),
            );
        }
        if file.length.is_some() && !file.restart_after.is_empty() {
            wrong("[session] length and restart_after exclude each other: a session ends by the one or the other".to_owned());
        }
        if file.length.is_some() && !length.is_some_and(Length::is_possible) {
            wrong(format!(
                "[session] length is a number of operations, {{ from = , to = }} or {{ mean = }}, of 1 to {LENGTH_MAX}, the lesser one first"
            ));
        }
        SessionRules { starts_per_s, length }
    }
}

impl Length {
    fn of(file: &LengthFile) -> Option<Length> {
        match *file {
            LengthFile::Operations(number) => Some(Length::Uniform(number, number)),
            LengthFile::Law(LengthLaw { from: Some(from), to: Some(to), mean: None }) => {
                Some(Length::Uniform(from, to))
            }
            LengthFile::Law(LengthLaw { from: None, to: None, mean: Some(mean) }) => {
                Some(Length::Geometric(mean))
            }
            LengthFile::Law(_) => None,
        }
    }

    fn is_possible(self) -> bool {
        match self {
            Length::Uniform(from, to) => (1..=to).contains(&from) && to <= LENGTH_MAX,
            Length::Geometric(mean) => (1.0..=f64::from(LENGTH_MAX)).contains(&mean),
        }
    }

    /// On average.
    pub fn mean(self) -> f64 {
        match self {
            Length::Uniform(from, to) => f64::midpoint(from.into(), to.into()),
            Length::Geometric(mean) => mean,
        }
    }

    /// Of a new session.
    pub fn draw(self, random: &mut ChaCha8Rng) -> u32 {
        match self {
            Length::Uniform(from, to) => random.random_range(from..=to),
            Length::Geometric(mean) if mean <= 1.0 => 1,
            Length::Geometric(mean) => {
                // By the inverse of its distribution; the random number is not 0.
                let above = (1.0 - random.random::<f64>()).ln() / (1.0 - 1.0 / mean).ln();
                (1.0 + above.floor()).min(f64::from(LENGTH_MAX)) as u32
            }
        }
    }

    /// The rest of a session that is met at any time, so that those of many users do not end together. A longer session is met more
    /// often (Feller, An Introduction to Probability Theory and Its Applications, vol. 2, XI.4); a geometric one has no memory.
    pub fn draw_rest(self, random: &mut ChaCha8Rng) -> u32 {
        let Length::Uniform(from, to) = self else { return self.draw(random) };
        loop {
            let length = random.random_range(from..=to);
            if random.random_range(1..=to) <= length {
                return random.random_range(1..=length);
            }
        }
    }
}
