//! Any bytes as what controller and injector send each other: no panic, and no message without the token.
//! `crates/inject/src/any_bytes_tests.rs` runs the seeds as a normal test.
#![no_main]

use assay_inject::any_bytes_tests::read_any_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read_any_bytes(bytes);
});
