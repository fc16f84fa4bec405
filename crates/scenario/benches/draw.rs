//! What drawing the next operation costs: from a deck, and beside it, in the same run, independently by running sums of the weights,
//! which it must not be slower than. The weights are the airline's. `cargo bench -p assay-scenario --bench draw`

use assay_scenario::Deck;
use criterion::{Criterion, criterion_group, criterion_main};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::hint::black_box;

const WEIGHTS: [f64; 8] = [2.1, 51.5, 7.7, 2.6, 10.3, 20.6, 2.6, 2.6];

fn draw(criterion: &mut Criterion) {
    let mut deck = Deck::new(WEIGHTS, 1, 1);
    criterion.bench_function("deck", |bench| bench.iter(|| black_box(deck.draw())));

    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut sum = 0.0;
    let sums = WEIGHTS.map(|weight| {
        sum += weight;
        sum
    });
    criterion.bench_function("independent", |bench| {
        bench.iter(|| {
            let draw = random.random::<f64>() * sum;
            black_box(sums.partition_point(|sum| *sum <= draw).min(sums.len() - 1))
        });
    });
}

criterion_group!(benches, draw);
criterion_main!(benches);
