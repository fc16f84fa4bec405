//! Any bytes as an access log: no panic, and what is made of it can be read again.
//! `crates/scenario/tests/access_log_seeds.rs` runs the seeds as a normal test.
#![no_main]

#[path = "../../crates/scenario/tests/any_access_log/mod.rs"]
mod any_access_log;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    any_access_log::check(bytes).unwrap();
});
