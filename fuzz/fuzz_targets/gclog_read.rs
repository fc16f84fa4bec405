//! Any bytes as a GC log, and real ones damaged as the bytes say: no panic, every line counted, and the same report however they
//! are cut. `crates/gcstudy/tests/hostile.rs` runs the seeds and some thousand damaged logs as a normal test.
#![no_main]

#[path = "../../crates/gcstudy/tests/damaged/mod.rs"]
mod damaged;

use damaged::{Dice, check, damaged_log};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes).unwrap();
    let seed = bytes.iter().fold(0_u64, |seed, byte| seed.wrapping_mul(257).wrapping_add(u64::from(*byte)));
    check(&damaged_log(&mut Dice::new(seed), &[bytes.to_vec()])).unwrap();
});
