//! Any bytes as a recording of the flight recorder: no panic, and numbers that lead somewhere.
//! `crates/jfr/tests/hostile.rs` runs the seeds as a normal test.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(profile) = assay_jfr::read(std::io::Cursor::new(bytes)) else { return };
    for of in profile.events.values() {
        for stack in &of.stacks {
            assert!((stack.thread as usize) < of.threads.len());
            assert!(stack.frames.iter().all(|frame| (*frame as usize) < of.frames.len()));
        }
    }
});
