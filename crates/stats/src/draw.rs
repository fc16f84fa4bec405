//! Seeded draws with replacement, the only randomness of this crate.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded stream of indices. The mapping from bits to an index is written out here, and not taken from a
/// distribution of `rand`, so that a newer `rand` cannot change an old study's interval.
pub(crate) struct Draws(ChaCha8Rng);

impl Draws {
    pub(crate) fn seeded(seed: u64) -> Self {
        Draws(ChaCha8Rng::seed_from_u64(seed))
    }

    /// An index below `n`, uniform up to n / 2^64.
    pub(crate) fn index(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }
}
