//! Any text as a file with options: the seeds of the fuzz target `options_read`, whole, cut and torn.

use assay_jdk::options::{judge_by_table, options_in_file};
use assay_testkit::{SplitMix, testdata};
use std::fs;

/// Texts that are torn in as many places.
const TORN: u64 = 5;

fn seeds() -> Vec<Vec<u8>> {
    let entries = fs::read_dir(testdata("../fuzz/corpus/options_read")).expect("the seeds").flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

/// Reads it, and has it judged: no panic, and every remark is on one of its options.
fn read_any(bytes: &[u8]) -> usize {
    let options = options_in_file(&String::from_utf8_lossy(bytes));
    let texts: Vec<String> = options.into_iter().map(|option| option.text).collect();
    for release in [8, 17, 28] {
        let verdict = judge_by_table(&texts, release);
        assert!(verdict.remarks.iter().all(|remark| remark.option < texts.len()), "{texts:?}");
    }
    texts.len()
}

#[test]
fn the_seeds_have_options_and_no_cut_or_tear_of_them_panics() {
    let seeds = seeds();
    assert!(5 < seeds.len());
    for seed in &seeds {
        assert!(read_any(seed) > 0, "{}", String::from_utf8_lossy(seed));
        (0..seed.len()).step_by(47).for_each(|end| {
            read_any(&seed[..end]);
        });
    }
    let mut random = SplitMix(47);
    for seed in &seeds {
        for _ in 0..TORN {
            let mut torn = seed.clone();
            let at = (random.bits() % torn.len() as u64) as usize;
            torn[at] = (random.bits() % 256) as u8;
            read_any(&torn);
        }
    }
}
