//! Logs of every kind, also those that this reader is not made for: it never panics, counts every line, and
//! gives the same however the bytes come in. Runs the seeds of the fuzz target
//! (`fuzz/fuzz_targets/gclog_read.rs`) as a test.

use crate::analysed;
use crate::samples::{files, spliced};
use assay_gclog::Records;
use assay_gcstudy::{freed_between, pauses_between};
use proptest::prelude::*;
use std::fs;

/// Comes in portions of seven bytes.
struct InSevens<'a>(&'a [u8]);

impl std::io::Read for InSevens<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let (now, later) = self.0.split_at(self.0.len().min(into.len()).min(7));
        into[..now.len()].copy_from_slice(now);
        self.0 = later;
        Ok(now.len())
    }
}

fn check(name: &str, bytes: &[u8]) -> Records {
    let log = Records::read(name, bytes);
    let of_line =
        |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).split(|b| *b == b'\r').count() as u64;
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines = if bytes.is_empty() { 0 } else { whole.split(|b| *b == b'\n').map(of_line).sum() };
    assert_eq!(log.lines, lines, "{name}");
    assert!(log.lines_not_understood <= log.lines, "{name}");
    assert_eq!(Records::read(name, InSevens(bytes)), log, "{name}");
    let report = analysed::report(bytes);
    assert_eq!(report.pauses.count, log.pauses().count() as u64, "{name}");
    assert_eq!(report.sources[0].lines_not_understood, log.lines_not_understood, "{name}");
    freed_between(&log.records, 0, u64::MAX);
    pauses_between(&log.records, 0, u64::MAX);
    log
}

#[test]
fn seeds_of_the_fuzz_target_are_read_without_panic() {
    let seeds = files(&assay_testkit::testdata("../fuzz/corpus/gclog_read"), "");
    assert!(seeds.len() >= 5, "the seeds are there");
    for path in seeds {
        check(&path.display().to_string(), &fs::read(&path).expect("the seed"));
    }
}

/// Logs of JDK 6 to 14 and of other collectors, beside the checkout (not ours to copy into it).
#[test]
fn sample_logs_of_other_jvms_are_read_without_panic() {
    let samples = files(&assay_testkit::testdata("../../shared/data/gclog"), "");
    if samples.is_empty() {
        assay_testkit::skip!("sample data not there");
    }
    for path in samples {
        let log = check(&path.display().to_string(), &fs::read(&path).expect("the sample"));
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        println!(
            "{name}: {} pauses, {} of {} lines not understood",
            log.pauses().count(),
            log.lines_not_understood,
            log.lines
        );
        let is_unified = name.starts_with("unified") || name.starts_with("rolling");
        let is_whole = log.lines_not_understood == 0 && log.pauses().next().is_some();
        assert!(!(is_unified || name.starts_with("shenandoah")) || is_whole, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// A small fuzzing of its own, since the fuzz target needs a nightly compiler: two seeds spliced, bytes
    /// changed.
    #[test]
    fn damaged_seeds_are_read_without_panic(
        seeds in (0usize..100, 0usize..100),
        cuts in (0usize..4_096, 0usize..4_096),
        damage in prop::collection::vec((0usize..8_192, any::<u8>()), 0..12),
    ) {
        let corpus = files(&assay_testkit::testdata("../fuzz/corpus/gclog_read"), "");
        check("damaged", &spliced(&corpus, seeds, cuts, damage));
    }

    #[test]
    fn huge_numbers_disturb_neither_the_report_nor_the_windows(numbers in prop::array::uniform8("[0-9]{1,25}")) {
        prop_assert_eq!(check("huge", assay_testkit::log_of_numbers(&numbers).as_bytes()).lines, 6);
    }
}
