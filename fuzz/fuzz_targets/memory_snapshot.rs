//! Any bytes as a recording of memory that is looked at: no panic, and entries that add up to the RSS of the mappings.
//! Then words of it are changed, chosen by the last bytes: most mutations would not get past the compression.
#![no_main]

use assay_linux::{MemorySource, Recording};
use assay_memory::{ReadOptions, read_source};
use libfuzzer_sys::fuzz_target;

const BYTES_MAX: u64 = 16 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut recording) = Recording::read(bytes, BYTES_MAX) else { return };
    let report = read_source(&recording, &ReadOptions::default());
    let sum: u64 = report.entries.iter().map(|entry| entry.resident_bytes).sum();
    assert_eq!(sum.abs_diff(report.rss_bytes), report.difference_bytes.unsigned_abs());
    // The same with words changed, chosen by the bytes themselves.
    let ranges: Vec<_> = recording.recorded_ranges().collect();
    for change in bytes.rchunks_exact(12).take(64) {
        let place = u32::from_le_bytes([change[0], change[1], change[2], change[3]]);
        let Some(range) = ranges.get(place as usize % ranges.len().max(1)) else { return };
        let word_bytes = recording.word_bytes().max(1);
        let words = (range.end - range.start) / word_bytes;
        let at = range.start + u64::from(place >> 8) % words.max(1) * word_bytes;
        let _ = recording.set_bytes(at, &change[4..]);
    }
    read_source(&recording, &ReadOptions::default());
});
