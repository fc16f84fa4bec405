//! Which of several generators one is.

use serde::{Deserialize, Serialize};

/// Which of several generators that share one load this one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// From 0.
    pub number: u32,
    /// How many share the load.
    pub of: u32,
}

impl Part {
    /// A generator that makes all of the load.
    pub const WHOLE: Part = Part { number: 0, of: 1 };

    /// The seed of this part: the first has the seed of the whole, and the others are far from it and each other, since
    /// a generator counts its seed up with each run.
    pub fn seed(self, seed: u64) -> u64 {
        /// 2^64 divided by the golden ratio: multiples of it are spread evenly (Knuth, TAOCP vol. 3, 6.4).
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        seed.wrapping_add(u64::from(self.number).wrapping_mul(GOLDEN))
    }

    /// This part's share of a number of things that cannot be halved; the first parts get what is left over.
    pub fn share(self, whole: u32) -> u32 {
        let of = self.of.max(1);
        whole / of + u32::from(self.number < whole % of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_first_part_keeps_the_seed() {
        for whole in 0..20 {
            let sum: u32 = (0..6).map(|number| Part { number, of: 6 }.share(whole)).sum();
            assert_eq!(sum, whole);
        }
        assert_eq!(Part::WHOLE.seed(42), 42);
        assert_ne!(Part { number: 1, of: 2 }.seed(42), Part { number: 2, of: 3 }.seed(42));
    }
}
