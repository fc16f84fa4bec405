//! Bytes that are no recording, cut ones and damaged ones: an error or problems, never a panic, and no memory for sizes that lie.

use assay_jfr::{JfrError, Profile, read};
use assay_testkit::{SplitMix, testdata};
use std::io::Cursor;

fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = std::fs::read_dir(testdata("../fuzz/corpus/jfr_read")).expect("seeds");
    let seeds = folder.map(|entry| {
        let entry = entry.expect("a seed");
        (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("a seed"))
    });
    seeds.collect()
}

fn of(bytes: &[u8]) -> Result<Profile, JfrError> {
    read(Cursor::new(bytes))
}

fn recording() -> Vec<u8> {
    let mut seeds = seeds();
    seeds.sort();
    seeds.into_iter().find(|(name, _)| name == "recording-17").expect("the seed").1
}

#[test]
fn every_seed_is_read_or_refused() {
    let seeds = seeds();
    assert!(3 <= seeds.len());
    for (name, bytes) in seeds {
        let profile = of(&bytes);
        assert_eq!(profile.is_ok(), name.starts_with("recording"), "{name}: {profile:?}");
    }
}

#[test]
fn what_does_not_begin_as_a_recording_is_refused_by_name() {
    assert!(matches!(of(b""), Err(JfrError::NotARecording)));
    assert!(matches!(of(b"FLR\0"), Err(JfrError::NotARecording)), "shorter than a header");
    assert!(matches!(of(&[0; 200]), Err(JfrError::NotARecording)));
    let mut old = recording();
    old[4..8].copy_from_slice(&[0, 0, 0, 9]);
    let error = of(&old).expect_err("the commercial format").to_string();
    assert!(error.contains("0.9") && error.contains("8u262"), "{error}");
}

#[test]
fn a_recording_that_is_cut_gives_what_it_has_and_says_so() {
    let whole = recording();
    let events = |profile: &Profile| profile.events.values().map(|of| of.events).sum::<u64>();
    let of_whole = events(&of(&whole).expect("whole"));
    assert_ne!(of_whole, 0);
    for length in (69..whole.len()).step_by(whole.len() / 97 + 1) {
        let profile = of(&whole[..length]).expect("it begins as a recording");
        assert!(!profile.problems.is_empty(), "{length}");
        assert!(events(&profile) <= of_whole);
    }
}

#[test]
fn damage_anywhere_never_panics() {
    let whole = recording();
    let mut random = SplitMix(18);
    for _ in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.bits() % 8 {
            let at = (random.bits() % bytes.len() as u64) as usize;
            bytes[at] = random.bits() as u8;
        }
        if let Ok(profile) = of(&bytes) {
            for of in profile.events.values() {
                let numbered = of.stacks.iter().all(|stack| {
                    (stack.thread as usize) < of.threads.len()
                        && stack.frames.iter().all(|frame| (*frame as usize) < of.frames.len())
                });
                assert!(numbered, "numbers lead somewhere");
            }
        }
    }
}

#[test]
fn a_second_chunk_adds_to_the_first() {
    let one = recording();
    let two = [one.clone(), one.clone()].concat();
    let (one, two) = (of(&one).expect("one"), of(&two).expect("two"));
    assert_eq!((two.chunks, two.duration_ns), (2 * one.chunks, 2 * one.duration_ns));
    for (event, of_one) in &one.events {
        let of_two = &two.events[event];
        assert_eq!((of_two.events, of_two.bytes), (2 * of_one.events, 2 * of_one.bytes));
        assert_eq!((of_two.stacks.len(), of_two.frames.len()), (of_one.stacks.len(), of_one.frames.len()));
    }
}
