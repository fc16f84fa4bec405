//! Virtual time for the tests of the statistics: seeded noise, and studies whose truth is known.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Seeded noise.
pub struct Noise(ChaCha8Rng);

/// How the noise of a measured value is distributed; all have about the standard deviation asked for.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// 1 + normal.
    Normal,
    /// exp(normal): multiplicative.
    LogNormal,
    /// exp(Student's t with 3 degrees of freedom): heavy tails.
    HeavyTailed,
}

impl Noise {
    pub fn seeded(seed: u64) -> Self {
        Noise(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A factor around 1.
    pub fn factor(&mut self, shape: Shape, deviation: f64) -> f64 {
        match shape {
            Shape::Normal => 1.0 + deviation * self.normal(),
            Shape::LogNormal => (deviation * self.normal()).exp(),
            Shape::HeavyTailed => {
                let chi2: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
                let t = self.normal() / (chi2 / 3.0).sqrt();
                // The standard deviation of t(3) is √3.
                (deviation * t / 3f64.sqrt()).exp()
            }
        }
    }
}

/// What the machine does while a study runs.
#[derive(Debug, Clone, Copy)]
pub enum Drift {
    /// Each block has its own speed, a random walk of 10 % a block; both trials of a block share it.
    BetweenBlocks,
    /// The speed goes on changing from trial to trial: half a period of a sine of 30 % over the study, from a
    /// random phase. The order within blocks alternates (A B, B A, ...), so it hits both variants in turn.
    WithinBlocks,
}

/// One study of two variants in blocks. Returns `(variant, baseline)` by block.
pub fn study(
    noise: &mut Noise,
    drift: Drift,
    blocks: usize,
    (shape, deviation): (Shape, f64),
    true_ratio: f64,
) -> Vec<(f64, f64)> {
    let phase = noise.uniform();
    let mut walk = 0.0;
    (0..blocks)
        .map(|block| {
            walk += 0.1 * noise.normal();
            let speed = |trial: usize| match drift {
                Drift::BetweenBlocks => f64::exp(walk),
                Drift::WithinBlocks => {
                    let at = (2 * block + trial) as f64 / (2 * blocks) as f64;
                    1.0 + 0.15 * (std::f64::consts::TAU * (0.5 * at + phase)).sin()
                }
            };
            let first = speed(0) * noise.factor(shape, deviation);
            let second = speed(1) * noise.factor(shape, deviation);
            if block % 2 == 0 { (first * true_ratio, second) } else { (second * true_ratio, first) }
        })
        .collect()
}
