//! Bytes that anybody may send: never a panic, and no message without the token. Runs the seeds of the fuzz target
//! (`fuzz/fuzz_targets/inject_read.rs`) as a test.

use assay_inject::hostile::read_any_bytes;
use assay_testkit::SplitMix;
use std::fs;

/// Names and contents.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = assay_testkit::testdata("../fuzz/corpus/inject_read");
    let entries = fs::read_dir(folder).expect("the seeds").map(|entry| entry.expect("a seed"));
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().expect("a name");
    entries.map(|entry| (name(&entry), fs::read(entry.path()).expect("the seed"))).collect()
}

#[test]
fn seeds_of_the_fuzz_target_are_what_their_names_say() {
    let seeds = seeds();
    assert!(seeds.len() >= 16, "the seeds are there");
    for (name, bytes) in seeds {
        let understood = read_any_bytes(&bytes);
        let messages = match name.as_str() {
            "frames-two-messages" => 2,
            "frames-long-message" => 1,
            _ => usize::from(name.starts_with("message-")),
        };
        let wanted = (messages, usize::from(name == "message-result"));
        assert_eq!((understood.messages, understood.results), wanted, "{name}");
    }
}

#[test]
fn damaged_seeds_are_read_without_panic() {
    let mut random = SplitMix(7);
    for (_, bytes) in seeds().iter().filter(|(_, bytes)| bytes.len() < 1_000) {
        for _ in 0..200 {
            let mut bytes = bytes.clone();
            for _ in 0..=random.bits() % 3 {
                let at = random.bits() as usize % bytes.len();
                match random.bits() % 3 {
                    0 => bytes[at] = random.bits() as u8,
                    1 => bytes.truncate(at + 1),
                    _ => bytes.insert(at, b"0{}[],\":-e9"[random.bits() as usize % 11]),
                }
            }
            read_any_bytes(&bytes);
        }
    }
}
