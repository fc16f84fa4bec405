//! Fuzzing within the tests: damaged logs of every form, more of them with `./check --long`. `ASSAY_TEST_GC_CASES` sets how many,
//! `ASSAY_TEST_GC_SEED` where they begin. The fuzz target `gclog_read` does the same for as long as it is left to.

use crate::damaged::{Dice, check, damaged_log};
use crate::without_end;
use std::fs;
use std::path::PathBuf;

fn originals() -> Vec<Vec<u8>> {
    let mut folders =
        vec![assay_testkit::testdata("gclog"), assay_testkit::testdata("../fuzz/corpus/gclog_read")];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("an entry").path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if matches!(extension, None | Some("log" | "xml")) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 40, "{}", files.len());
    files.into_iter().map(|path| fs::read(path).expect("the log")).collect()
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn damaged_logs_neither_panic_nor_lose_lines() {
    damaged_logs(5_000);
}

#[test]
#[ignore = "long: 150,000 damaged logs"]
fn many_damaged_logs_neither_panic_nor_lose_lines() {
    damaged_logs(150_000);
}

fn damaged_logs(cases: u64) {
    let originals = originals();
    let (first, cases) = (number("ASSAY_TEST_GC_SEED", 1), number("ASSAY_TEST_GC_CASES", cases));
    let mut bytes = 0;
    for seed in first..first + cases {
        let log = damaged_log(&mut Dice::new(seed), &originals);
        bytes += log.len();
        let checked = std::panic::catch_unwind(|| check(&log));
        let wrong = match checked {
            Ok(Ok(())) => continue,
            Ok(Err(wrong)) => wrong,
            Err(_) => "it panics".to_owned(),
        };
        let kept = std::env::temp_dir().join(format!("assay-damaged-{seed}.log"));
        fs::write(&kept, &log).expect("a writable folder");
        panic!("seed {seed} ({}): {wrong}", kept.display());
    }
    println!("{cases} damaged logs of {bytes} bytes");
}

/// That none of it stays in memory: `limits.rs`.
#[test]
fn what_grows_without_end_is_given_up() {
    for piece in without_end::PIECES {
        let log = piece.repeat(2_000_000 / piece.len());
        check(log.as_bytes()).unwrap_or_else(|wrong| panic!("{piece:?}: {wrong}"));
    }
}
