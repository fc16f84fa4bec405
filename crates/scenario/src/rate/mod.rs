//! The rate of an open loop over time: phases that are constant, ramps, steps or have spikes, or arrivals that were recorded.
//!
//! A rate that changes is followed exactly: arrival number n starts when the integral of the rate reaches n (of Poisson arrivals:
//! when it reaches the n-th point of a Poisson process of rate 1; Çinlar, Introduction to Stochastic Processes, 4.7).

mod phases;
mod piece;
mod trace;

pub use piece::RATE_PER_S_MAX;

use piece::Piece;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A rate over time, from the start of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSchedule {
    text: String,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Pieces(Arc<[Piece]>),
    /// Recorded arrivals: nanoseconds from the first, in order.
    Trace(Arc<[u64]>),
}

impl RateSchedule {
    /// Reads phases: `RATE for TIME`, `RATE to RATE for TIME`, `RATE to RATE in N steps for TIME`, `RATE for TIME spike RATE for TIME
    /// every TIME`, one after the other with commas between them; or `trace FILE`, a file of arrival times, which lies in `folder`.
    ///
    /// # Errors
    /// What is wrong, and what mends it.
    pub fn parse(text: &str, folder: &Path) -> Result<RateSchedule, String> {
        let shape = match text.trim().strip_prefix("trace ") {
            Some(file) => Shape::Trace(trace::read(&folder.join(file.trim()))?.into()),
            None => Shape::Pieces(phases::parse(text)?.into()),
        };
        let schedule = RateSchedule { text: text.trim().to_owned(), shape };
        if schedule.count_until(f64::INFINITY) <= 0.0 {
            return Err("its rate is 0 all the time, so there is nothing to send".to_owned());
        }
        Ok(schedule)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// From its start to its end; of recorded arrivals, to just behind the last one.
    pub fn length(&self) -> Duration {
        match &self.shape {
            Shape::Pieces(pieces) => Duration::from_secs_f64(pieces.iter().map(|piece| piece.length_s).sum()),
            Shape::Trace(offsets) => Duration::from_nanos(offsets.last().map_or(0, |last| last + 1)),
        }
    }

    /// How many requests start before a time, in seconds from the start: the integral of the rate, or the count of those recorded.
    pub fn count_until(&self, s: f64) -> f64 {
        match &self.shape {
            Shape::Pieces(pieces) => {
                let mut left_s = s;
                let mut of_piece = |piece: &Piece| {
                    let within_s = left_s.clamp(0.0, piece.length_s);
                    left_s -= within_s;
                    piece.count(within_s)
                };
                pieces.iter().map(&mut of_piece).sum()
            }
            Shape::Trace(offsets) => offsets.partition_point(|offset| (*offset as f64) < s * 1e9) as f64,
        }
    }

    /// Requests per second on average between two times, in seconds from the start.
    pub fn mean_rate_per_s(&self, from_s: f64, to_s: f64) -> f64 {
        (self.count_until(to_s) - self.count_until(from_s)) / (to_s - from_s)
    }

    /// Whether its arrivals are recorded ones, which no law draws.
    pub fn is_trace(&self) -> bool {
        matches!(self.shape, Shape::Trace(_))
    }

    /// A walk through it.
    pub fn walk(&self) -> RateWalk {
        RateWalk { shape: self.shape.clone(), at: 0, begun_s: 0.0, count: 0.0 }
    }
}

/// A walk through a schedule: the time at which each number of requests is reached.
#[derive(Debug, Clone)]
pub struct RateWalk {
    shape: Shape,
    /// The piece that was reached, and time and integral at its beginning.
    at: usize,
    begun_s: f64,
    count: f64,
}

impl RateWalk {
    /// When the integral of the rate reaches `count`, nanoseconds from the start; counts must not fall from call to call. Of recorded
    /// arrivals, when the one of this number starts. None after the end.
    pub fn reach_ns(&mut self, count: f64) -> Option<u64> {
        let pieces = match &self.shape {
            Shape::Trace(offsets) => return offsets.get(count as usize).copied(),
            Shape::Pieces(pieces) => pieces,
        };
        while let Some(piece) = pieces.get(self.at) {
            let whole = piece.count(piece.length_s);
            // Where nothing is sent, nothing is reached.
            if count - self.count < whole {
                return Some(((self.begun_s + piece.time_s(count - self.count)) * 1e9) as u64);
            }
            self.count += whole;
            self.begun_s += piece.length_s;
            self.at += 1;
        }
        None
    }
}

/// As it travels to an injector: recorded arrivals with it, since the file is not there.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    text: String,
    /// Nanoseconds from each recorded arrival to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gaps_ns: Option<Vec<u64>>,
}

impl Serialize for RateSchedule {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let gaps_ns = match &self.shape {
            Shape::Pieces(_) => None,
            Shape::Trace(offsets) => {
                let before = std::iter::once(&0).chain(offsets.iter());
                Some(offsets.iter().zip(before).map(|(this, before)| this - before).collect())
            }
        };
        Sent { text: self.text.clone(), gaps_ns }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for RateSchedule {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let Sent { text, gaps_ns } = Sent::deserialize(from)?;
        let Some(gaps_ns) = gaps_ns else {
            if text.trim().starts_with("trace ") {
                return Err(D::Error::custom("a trace without its arrivals"));
            }
            return RateSchedule::parse(&text, Path::new("")).map_err(D::Error::custom);
        };
        let mut sum = 0_u64;
        let mut add = |gap: u64| {
            sum = sum.checked_add(gap)?;
            Some(sum)
        };
        let offsets: Option<Vec<u64>> = gaps_ns.into_iter().map(&mut add).collect();
        let offsets = offsets.filter(|offsets| trace::is_right(offsets));
        let offsets = offsets.ok_or_else(|| D::Error::custom("a trace that is too long"))?;
        Ok(RateSchedule { text, shape: Shape::Trace(offsets.into()) })
    }
}

#[cfg(test)]
mod tests;
