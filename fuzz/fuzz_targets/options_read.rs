//! Any text as a file with options of a JVM: no panic, and every remark is on one of its options.
//! `crates/jdk/tests/flags/any_text.rs` runs the seeds as a normal test.
#![no_main]

use assay_jdk::options::{judge_by_table, options_in_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let options = options_in_file(&String::from_utf8_lossy(bytes));
    let texts: Vec<String> = options.into_iter().map(|option| option.text).collect();
    for release in [8, 17, 28] {
        let verdict = judge_by_table(&texts, release);
        assert!(verdict.remarks.iter().all(|remark| remark.option < texts.len()));
    }
});
