//! A part of a schedule: the rate changes evenly, and its integral is known exactly.

/// Highest rate that is accepted, requests per second; far beyond what one generator can send.
pub const RATE_PER_S_MAX: f64 = 10_000_000.0;

/// A time in which the rate changes evenly from one to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    pub length_s: f64,
    pub from_per_s: f64,
    pub to_per_s: f64,
}

impl Piece {
    /// Integral of the rate over the first `s` seconds.
    pub fn count(&self, s: f64) -> f64 {
        let slope = (self.to_per_s - self.from_per_s) / self.length_s;
        (self.from_per_s + 0.5 * slope * s) * s
    }

    /// After how many seconds the integral is `count`; the inverse of `count`, in the form that does not cancel.
    pub fn time_s(&self, count: f64) -> f64 {
        let slope = (self.to_per_s - self.from_per_s) / self.length_s;
        let root = (self.from_per_s * self.from_per_s + 2.0 * count * slope).max(0.0).sqrt();
        let sum = self.from_per_s + root;
        if count <= 0.0 || sum <= 0.0 { 0.0 } else { (2.0 * count / sum).min(self.length_s) }
    }
}
