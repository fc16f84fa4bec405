//! Heaps of millions of malloc blocks: each is identified, and the memory that a snapshot takes stays below its bound.

use crate::program::{own_peak_bytes, within};
use assay_memory::{ReadOptions, read};
use assay_testkit::{Running, skip, testdata};
use std::path::PathBuf;
use std::process::Command;

/// The promise, whatever the size of the target.
const PEAK_BYTES_MAX: u64 = 100 << 20;
/// Bytes that the program asks for: with malloc's header, blocks lie 48 bytes apart.
const BLOCK_BYTES: u64 = 40;
/// For one snapshot on a busy machine, in the debug build.
const SECONDS_MAX: u64 = 300;

/// `testdata/allocators/many.c`; `None` where there is no C compiler.
fn compiled() -> Option<PathBuf> {
    let to = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("many-{}", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-o"]).arg(&to).arg(testdata("allocators/many.c"));
    compiler.status().is_ok_and(|status| status.success()).then_some(to)
}

#[test]
fn millions_of_blocks_are_told_apart_in_bounded_memory() {
    let Some(program) = compiled() else { skip!("no C compiler") };
    // `ASSAY_TEST_BLOCKS=20000000` for more than a test has time for.
    let asked = std::env::var("ASSAY_TEST_BLOCKS").ok().and_then(|count| count.parse().ok());
    let many = asked.unwrap_or(5_000_000);
    for (count, kind) in [(many, "plain"), (many / 4, "random"), (many / 4, "linked"), (many / 4, "holes")] {
        let mut command = Command::new(&program);
        command.args([count.to_string(), BLOCK_BYTES.to_string(), kind.to_owned()]);
        let target = Running::start(&mut command, "ready");
        target.freeze();
        let report = within(SECONDS_MAX, || read(target.pid(), &ReadOptions::default())).expect("our child");
        let allocator = report.allocator.as_ref().expect("glibc");
        let (used, freed_bytes) = (allocator.used_blocks.unwrap_or(0), allocator.freed_bytes.unwrap_or(0));
        let peak_bytes = own_peak_bytes();
        println!(
            "{count} blocks, {kind}: {used} used, {freed_bytes} bytes freed; {} bytes resident, {} ms of CPU; \
             at most {peak_bytes} bytes allocated so far; {:?}",
            report.rss_bytes,
            report.scan_cpu_ns / 1_000_000,
            report.problems
        );
        assert_eq!(report.difference_bytes, 0, "{kind}");
        let entries: u64 = report.entries.iter().map(|entry| entry.resident_bytes).sum();
        assert_eq!(entries, report.rss_bytes, "{kind}");
        // The C library has a few of its own.
        let kept = if kind == "holes" { count / 2 } else { count };
        assert!((kept..kept + 20).contains(&used), "{kind}: {used} of {kept}");
        let given_back = (count - kept) * BLOCK_BYTES;
        assert!(given_back <= freed_bytes && freed_bytes < given_back + (1 << 20), "{kind}: {freed_bytes}");
        assert!(peak_bytes <= PEAK_BYTES_MAX, "{kind}: {peak_bytes}");
    }
    let _ = std::fs::remove_file(program);
}
