//! Layouts of all releases, and memory that lies: each release's structures are made with blocks that are known.

use crate::synthetic;
use crate::synthetic::{RELEASES, damage, length};
use assay_allocators::{Survey, survey};
use assay_model::Allocator;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

#[test]
fn blocks_of_every_release_are_told_apart() {
    for release in RELEASES {
        for seed in 0..20 {
            let process = release.process(seed, 500);
            let survey = survey(&process.image, &[]);
            let what = format!("glibc {}, seed {seed}", release.name);
            assert_eq!(survey.allocator, Some(Allocator::Glibc), "{what}");
            assert_eq!(survey.arenas.len(), 2, "{what}");
            assert_eq!(survey.problems, [], "{what}");
            assert!(survey.not_walkable.is_empty(), "{what}: {:x?}", survey.not_walkable);
            let seen: Vec<_> = survey.blocks.iter().map(|b| (b.address, b.bytes, b.state)).collect();
            for (seen, made) in seen.iter().zip(&process.blocks) {
                assert_eq!(seen, made, "{what}: {:x} {:x}", seen.0, made.0);
            }
            assert_eq!(seen.len(), process.blocks.len(), "{what}");
        }
    }
}

/// Whatever the memory holds: an answer, of bounded size, in bounded time, in the form that was promised.
fn check_promises(survey: &Survey, image: &synthetic::Image, what: &str) {
    let neighbours = survey.blocks.iter().zip(survey.blocks.iter().skip(1));
    for (block, next) in neighbours {
        let start = next.address - u64::from(next.header_bytes);
        assert!(block.address + block.bytes <= start, "{what}: {block:x?} {next:x?}");
    }
    for pair in survey.ranges.windows(2) {
        assert!(pair[0].addresses.end <= pair[1].addresses.start, "{what}: {pair:x?}");
    }
    for block in &survey.blocks {
        let index = survey.ranges.partition_point(|range| range.addresses.end <= block.address);
        let range = survey.ranges.get(index).map(|range| range.addresses.clone()).unwrap_or_default();
        assert!(
            range.start <= block.address && block.addresses().end <= range.end,
            "{what}: {block:x?} {range:x?}"
        );
    }
    let bytes: u64 = image.mappings.iter().map(|m| length(&m.addresses)).sum();
    assert!(survey.blocks.len() as u64 <= bytes / 16, "{what}");
    assert!(survey.problems.len() < 10_000, "{what}");
    assert!(survey.not_walkable.iter().all(|gap| gap.start < gap.end), "{what}");
}

#[test]
fn damaged_memory_gives_an_answer_that_keeps_its_promises() {
    let mut slowest = Duration::ZERO;
    let (mut damaged, mut told) = (0, 0);
    for seed in 0..600 {
        let release = RELEASES[seed as usize % RELEASES.len()];
        let mut image = release.process(seed, 300).image;
        let whole = survey(&image, &[]);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        damage(&mut image, &mut random, 1 << (seed % 9));
        let start = Instant::now();
        let survey = survey(&image, &[]);
        slowest = slowest.max(start.elapsed());
        damaged += usize::from(survey.blocks != whole.blocks);
        told += usize::from(!survey.problems.is_empty() || !survey.not_walkable.is_empty());
        check_promises(&survey, &image, &format!("glibc {}, seed {seed}", release.name));
    }
    println!("slowest: {slowest:?}; {damaged} of 600 differed, {told} said that something was wrong");
    assert!(200 < damaged && 100 < told, "the damage did not reach the structures: {damaged}, {told}");
    assert!(slowest < Duration::from_secs(120), "{slowest:?}");
}
