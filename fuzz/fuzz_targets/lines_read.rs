//! Any bytes as lines of a log: no panic, the same however they come, and no prefix where there is none.
//! `crates/lines/tests/all.rs` runs the seeds as a normal test.
#![no_main]

#[path = "../../crates/lines/tests/any_lines/mod.rs"]
mod any_lines;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    any_lines::check(bytes).unwrap();
});
