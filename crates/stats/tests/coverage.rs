//! Holds what the documentation claims of the intervals: over thousands of virtual studies they contain the
//! truth as often as they say, equal variants are called equal, and a real difference is found.

use crate::virtual_study::{Drift, Noise, Shape, study};
use assay_stats::{Statistic, compare_paired, compare_unpaired, estimate, estimate_ratio};

const STUDIES: u64 = 2_500;
/// Four standard errors of a share of 95 % over that many studies, in percent: what luck may do.
const LUCK: f64 = 1.75;

fn share(studies: u64, mut hit: impl FnMut(u64) -> bool) -> f64 {
    (0..studies).filter(|seed| hit(*seed)).count() as f64 / studies as f64 * 100.0
}

#[test]
fn intervals_of_paired_ratios_contain_the_truth_in_93_to_97_of_100_studies() {
    for (shape, deviation) in
        [(Shape::Normal, 0.05), (Shape::LogNormal, 0.05), (Shape::LogNormal, 0.3), (Shape::HeavyTailed, 0.05)]
    {
        for blocks in [4, 6, 8, 12] {
            let mut noise = Noise::seeded(blocks as u64);
            let covered = share(STUDIES, |seed| {
                let pairs = study(&mut noise, Drift::BetweenBlocks, blocks, (shape, deviation), 1.5);
                let ratio = compare_paired(&pairs, seed).unwrap().ratio;
                ratio.low.unwrap() <= 1.5 && 1.5 <= ratio.high.unwrap()
            });
            println!("paired, {shape:?} {deviation}, {blocks} blocks: {covered:.1} %");
            assert!((93.0..=97.0).contains(&covered), "{shape:?} {deviation}, {blocks} blocks: {covered} %");
        }
    }
}

/// Two runs of a study on the same machine, which differ in number of blocks and in spread.
#[test]
fn intervals_of_independent_runs_contain_the_truth_in_93_to_98_of_100_comparisons() {
    for (shape, deviations) in [
        (Shape::Normal, (0.05, 0.05)),
        (Shape::LogNormal, (0.02, 0.1)),
        (Shape::LogNormal, (0.3, 0.3)),
        (Shape::HeavyTailed, (0.05, 0.05)),
    ] {
        for blocks in [(4, 4), (4, 8), (8, 8), (12, 5)] {
            let mut noise = Noise::seeded((blocks.0 * 100 + blocks.1) as u64);
            let mut run = |blocks: usize, level: f64, deviation: f64| -> Vec<f64> {
                (0..blocks).map(|_| level * noise.factor(shape, deviation)).collect()
            };
            let covered = share(STUDIES, |_| {
                let (before, after) = (run(blocks.0, 1.0, deviations.0), run(blocks.1, 1.5, deviations.1));
                let ratio = compare_unpaired(&after, &before).unwrap().ratio;
                ratio.low.unwrap() <= 1.5 && 1.5 <= ratio.high.unwrap()
            });
            println!("unpaired, {shape:?} {deviations:?}, {blocks:?} blocks: {covered:.1} %");
            assert!(
                (93.0..=98.0).contains(&covered),
                "{shape:?} {deviations:?}, {blocks:?} blocks: {covered} %"
            );
        }
    }
}

#[test]
fn equal_variants_show_a_difference_in_at_most_5_of_100_studies() {
    for (drift, shown_min) in [(Drift::BetweenBlocks, 2.0), (Drift::WithinBlocks, 0.0)] {
        for blocks in [3, 4, 6, 8, 12] {
            let mut noise = Noise::seeded(100 + blocks as u64);
            let shown = share(STUDIES, |seed| {
                let pairs = study(&mut noise, drift, blocks, (Shape::LogNormal, 0.02), 1.0);
                compare_paired(&pairs, seed).unwrap().verdict.is_shown()
            });
            println!("A/A, drift {drift:?}, {blocks} blocks: {shown:.1} % shown");
            assert!(
                shown <= 5.0 + LUCK,
                "{drift:?}, {blocks} blocks: {shown} % of A/A studies show a difference"
            );
            // A comparison that never shows anything would pass the line above. Drift within the blocks is
            // noise of alternating sign: it widens the intervals more than it moves them.
            assert!(shown >= shown_min, "{drift:?}, {blocks} blocks: only {shown} %");
        }
    }
}

#[test]
fn five_percent_at_two_percent_noise_is_found_with_8_blocks() {
    for drift in [Drift::BetweenBlocks, Drift::WithinBlocks] {
        let mut noise = Noise::seeded(7);
        let found = share(STUDIES, |seed| {
            let pairs = study(&mut noise, drift, 8, (Shape::LogNormal, 0.02), 1.05);
            compare_paired(&pairs, seed).unwrap().verdict.is_shown()
        });
        println!("power, 5 % at 2 % noise, drift {drift:?}, 8 blocks: {found:.1} %");
        assert!(found >= 90.0, "{drift:?}: found in {found} % of the studies");
    }
}

#[test]
fn intervals_of_pooled_quotients_contain_the_truth() {
    for blocks in [4, 6, 8, 12] {
        let mut noise = Noise::seeded(200 + blocks as u64);
        let covered = share(STUDIES, |seed| {
            let windows: Vec<(f64, f64)> = (0..blocks)
                .map(|_| {
                    let requests = 1_000.0 * noise.factor(Shape::LogNormal, 0.2);
                    (requests * 156.0 * noise.factor(Shape::Normal, 0.03), requests)
                })
                .collect();
            let got = estimate_ratio(&windows, seed).unwrap();
            got.low.unwrap() <= 156.0 && 156.0 <= got.high.unwrap()
        });
        println!("pooled quotient, {blocks} blocks: {covered:.1} %");
        assert!((92.5..=97.0).contains(&covered), "{blocks} blocks: {covered} %");
    }
}

#[test]
fn intervals_of_a_geometric_mean_of_skewed_values_contain_the_truth() {
    for blocks in [4, 6, 8, 12] {
        let mut noise = Noise::seeded(300 + blocks as u64);
        let covered = share(STUDIES, |seed| {
            let values: Vec<f64> = (0..blocks).map(|_| noise.factor(Shape::LogNormal, 0.5)).collect();
            let got = estimate(&values, Statistic::GeometricMean, seed).unwrap();
            got.low.unwrap() <= 1.0 && 1.0 <= got.high.unwrap()
        });
        println!("geometric mean, {blocks} blocks: {covered:.1} %");
        assert!((93.0..=97.0).contains(&covered), "{blocks} blocks: {covered} %");
    }
}
