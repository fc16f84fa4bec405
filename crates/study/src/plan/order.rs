//! The order of variants in blocks, and every random draw of a run. Pure and seeded.

use assay_model::Design;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The order in which `n` variants have their turn in a block, as indices.
///
/// The first order is drawn from the seed. Fresh design: each block begins with the last variant of the one before
/// (A B C, C A B, B C A), so that over n blocks everyone has every place; the next n blocks go backwards, so that
/// nobody always follows the same neighbour. Duet: likewise, and the first has the first half of the processors in the first window. Resident design: every second block goes backwards (A B C, C B A), which
/// cancels a drift that is linear over two blocks; the pairs of blocks are turned as above.
pub(crate) fn order(n: usize, block: u32, design: Design, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Fisher-Yates.
    for last in (1..n).rev() {
        order.swap(last, random.random_range(0..=last));
    }
    if n == 0 {
        return order;
    }
    let index = block.saturating_sub(1) as usize;
    let (turns, backwards) = match design {
        Design::Fresh | Design::Duet => (index % n, index / n % 2 == 1),
        Design::Resident => (index / 2 % n, index % 2 == 1),
    };
    order.rotate_right(turns);
    if backwards {
        order.reverse();
    }
    order
}

/// The seed of the load that warms a server up: a window sends other requests, or the server would know their unique values already.
pub(crate) fn warm_up_seed(seed: u64, block: u32) -> u64 {
    // Attempts of windows are numbered from 1.
    load_seed(seed, block, 0)
}

/// The seed of the load in a block: the same for all variants, so that they get the same requests and the difference
/// is theirs alone. A repeat gets another one.
pub(crate) fn load_seed(seed: u64, block: u32, attempt: u32) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(block) << 32 | u64::from(attempt));
    // TOML has signed numbers: a seed should be one that can be written there.
    random.random::<u64>() >> 1
}

/// The draws for a fault of a window, the same for all variants: its time as a share of the time in which it may come, and the number of the
/// process that it hits, from 1 to `count`.
pub(crate) fn draw_fault(seed: u64, block: u32, attempt: u32, index: usize, count: u32) -> (f64, u32) {
    let mut random = ChaCha8Rng::seed_from_u64(load_seed(seed, block, attempt));
    // The first stream is the load's.
    random.set_stream(1 + index as u64);
    (random.random_range(0.0..1.0), random.random_range(1..=count.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(n: usize, blocks: u32, design: Design) -> Vec<Vec<usize>> {
        let first = order(n, 1, design, 7);
        // Named by their place in the first block.
        let name = |i: &usize| first.iter().position(|f| f == i).unwrap();
        (1..=blocks).map(|b| order(n, b, design, 7).iter().map(name).collect()).collect()
    }

    #[test]
    fn fresh_blocks_give_everyone_every_place() {
        let got = orders(3, 6, Design::Fresh);
        assert_eq!(got, [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0], [1, 0, 2], [0, 2, 1]]);
    }

    #[test]
    fn resident_blocks_alternate() {
        let got = orders(3, 4, Design::Resident);
        assert_eq!(got, [[0, 1, 2], [2, 1, 0], [2, 0, 1], [1, 0, 2]]);
    }

    #[test]
    fn seeds_differ_by_block_and_attempt_and_repeat_by_study_seed() {
        let warm_ups = [warm_up_seed(1, 1), warm_up_seed(1, 2)];
        let seeds = [load_seed(1, 1, 1), load_seed(1, 1, 2), load_seed(1, 2, 1), load_seed(2, 1, 1)];
        let distinct: std::collections::BTreeSet<u64> = seeds.into_iter().chain(warm_ups).collect();
        assert_eq!(distinct.len(), 6);
        assert_eq!(load_seed(1, 1, 1), seeds[0]);
    }

    #[test]
    fn faults_are_drawn_for_each_window_and_differ_from_each_other() {
        let all: Vec<(f64, u32)> = (0..40).map(|block| draw_fault(1, block, 1, 0, 4)).collect();
        assert!(all.iter().all(|(share, number)| (0.0..1.0).contains(share) && (1..=4).contains(number)));
        assert!((1..=4).all(|number| all.iter().any(|(_, of)| *of == number)), "{all:?}");
        assert!(all.iter().any(|(s, _)| *s < 0.2) && all.iter().any(|(s, _)| 0.8 < *s), "{all:?}");
        assert_eq!(draw_fault(1, 3, 1, 0, 4), all[3]);
        assert_ne!(draw_fault(1, 3, 1, 1, 4), all[3]);
        assert_eq!(draw_fault(1, 3, 1, 0, 1).1, 1);
    }

    #[test]
    fn no_variant_and_one_variant_have_an_order() {
        assert_eq!(order(0, 5, Design::Fresh, 1), Vec::<usize>::new());
        assert_eq!(order(1, 5, Design::Resident, 1), [0]);
    }
}
