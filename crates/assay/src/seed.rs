//! The seed of a load for which none was given.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Another one for each load, short enough to be typed.
pub fn any() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}
