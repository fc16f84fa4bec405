//! Any bytes as a GC log: no panic, and the same log however the bytes are cut.
//! `crates/gclog/tests/corpus.rs` runs the seeds as a normal test.
#![no_main]

use assay_gclog::{GcLogReader, freed_between, pauses_between, summarise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = assay_gclog::read("fuzz", bytes);
    let mut reader = GcLogReader::new("fuzz");
    bytes.chunks(7).for_each(|portion| reader.feed(portion));
    assert_eq!(reader.finish(), whole);
    summarise(&whole);
    freed_between(&whole.events, 0, u64::MAX);
    pauses_between(&whole.events, 0, u64::MAX);
});
