//! Any bytes as a heap dump: no panic, and the same class histogram however the bytes come in.
//! `crates/heap/tests/hprof_hostile.rs` runs the seeds as a normal test.
#![no_main]

use assay_heap::hprof::read;
use libfuzzer_sys::fuzz_target;
use std::io::Read;

/// Gives seven bytes at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = into.len().min(7);
        (&mut self.0).take(count as u64).read(into)
    }
}

fuzz_target!(|bytes: &[u8]| {
    let whole = read(bytes, "fuzz", &|_| {});
    if bytes.starts_with(&[0x1f, 0x8b]) {
        // How far damage lets a packed stream come depends on how much of it is at hand.
        return;
    }
    let in_pieces = read(Trickle(bytes), "fuzz", &|_| {});
    match (whole, in_pieces) {
        (Ok(whole), Ok(in_pieces)) => assert!(whole == in_pieces),
        (Err(whole), Err(in_pieces)) => assert_eq!(whole.to_string(), in_pieces.to_string()),
        (whole, in_pieces) => panic!("{:?} or {:?}", whole.err(), in_pieces.err()),
    }
});
