//! The smallest limit of 200 simulated servers, against an exhaustive grid.

use assay_stats::{SizeSearch, SmallestSize};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// A search that takes more is undecided.
const TRIALS_MAX: u32 = 40;
/// Steps of the grid, as a part of the size, and runs at each.
const GRID_STEP: f64 = 0.025;
const GRID_RUNS: u32 = 5;

/// A server in a container: what it needs beside its heap differs from start to start, its collector's work grows as the heap nears the live
/// set, and response times follow it, with noise. Nothing here is the logistic curve that the search takes for given.
struct Server {
    /// Live set, MiB.
    live: f64,
    /// Memory beside the heap, MiB, and its spread from start to start, as a part of it.
    beside: f64,
    beside_spread: f64,
    /// What the arithmetic of the limit takes for it.
    planned_beside: f64,
    /// p99 with a large heap as a part of the limit, and how much of it collections add.
    p99: f64,
    collections: f64,
    /// Spread of p99 from run to run, as a logarithm.
    noise: f64,
    /// Runs that fail, whatever the limit.
    accidents: f64,
}

impl Server {
    fn drawn(random: &mut ChaCha8Rng) -> Server {
        let beside = 40.0 * 12_f64.powf(random.random());
        Server {
            live: 8.0 * 300_f64.powf(random.random()),
            beside,
            beside_spread: random.random_range(0.002..0.008),
            planned_beside: beside * random.random_range(1.03..1.08),
            p99: random.random_range(0.15..0.6),
            collections: random.random_range(0.01..0.1),
            noise: random.random_range(0.01..0.08),
            accidents: random.random_range(0.0..0.004),
        }
    }

    fn holds(&self, limit: f64, random: &mut ChaCha8Rng) -> bool {
        let heap = limit - self.planned_beside;
        let room = heap / self.live - 1.0;
        let drawn = |random: &mut ChaCha8Rng| -> f64 {
            (0..6).map(|_| random.random_range(-1.0..1.0)).sum::<f64>() / 2_f64.sqrt()
        };
        let beside = self.beside * (1.0 + self.beside_spread * drawn(random));
        let p99 = (self.p99 + self.collections / room) * (self.noise * drawn(random)).exp();
        let is_fine = 0.0 < room && heap + beside <= limit && p99 <= 1.0;
        is_fine && self.accidents < random.random()
    }

    /// Bounds as a first run without a limit gives them.
    fn range(&self, random: &mut ChaCha8Rng) -> (f64, f64) {
        let high = self.planned_beside + self.live * random.random_range(2.5..6.0);
        (self.planned_beside + 4.0, high)
    }
}

/// The smallest size of the grid from which on each run held, and the runs that it took.
fn exhaustive(server: &Server, (low, high): (f64, f64), random: &mut ChaCha8Rng) -> (f64, u32) {
    let steps = ((high / low).ln() / GRID_STEP.ln_1p()).ceil() as i32;
    let sizes: Vec<f64> = (0..=steps).map(|at| low * (1.0 + GRID_STEP).powi(at)).collect();
    let mut smallest = f64::NAN;
    for size in sizes.iter().rev() {
        let held = (0..GRID_RUNS).filter(|_| server.holds(*size, random)).count() as u32;
        // An accident at a size whose neighbours hold is none of the size's.
        if held + 1 < GRID_RUNS {
            break;
        }
        if held == GRID_RUNS {
            smallest = *size;
        }
    }
    (smallest, GRID_RUNS * sizes.len() as u32)
}

/// How so many searches went.
#[derive(Debug, Default)]
struct Score {
    /// Within 5 % of the grid's limit.
    near: u32,
    /// At the limit five fresh runs of five held.
    holds: u32,
    /// 10 % below it at least four of five did not.
    fails: u32,
    /// At most a quarter of the grid's runs.
    cheap: u32,
    trials: u32,
    grid_runs: u32,
    /// Searches that went wrong.
    bad: Vec<String>,
}

fn score(seeds: Range<u64>) -> Score {
    let mut score = Score::default();
    for seed in seeds {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let server = Server::drawn(&mut random);
        let range = server.range(&mut random);
        let (grid, grid_runs) = exhaustive(&server, range, &mut random);
        let mut search = SizeSearch::of(range.0, range.1, 1.0).expect("a range");
        let mut trials = 0;
        while let Some(size) = search.next().filter(|_| trials < TRIALS_MAX) {
            search.add(size, server.holds(size, &mut random));
            trials += 1;
        }
        score.trials += trials;
        score.grid_runs += grid_runs;
        let SmallestSize::Found(found) = search.answer() else {
            score.bad.push(format!("{seed}: {:?} after {trials}, grid {grid:.1}", search.answer()));
            continue;
        };
        let limit = found.estimate;
        let held =
            |limit: f64, random: &mut ChaCha8Rng| (0..5).filter(|_| server.holds(limit, random)).count();
        let is_near = (limit / grid - 1.0).abs() <= 0.05;
        score.near += u32::from(is_near);
        score.holds += u32::from(held(limit, &mut random) == 5);
        score.fails += u32::from(held(0.9 * limit, &mut random) <= 1);
        score.cheap += u32::from(4 * trials <= grid_runs);
        if !is_near {
            score.bad.push(format!("{seed}: {limit:.1} after {trials}, grid {grid:.1} ({grid_runs})"));
        }
    }
    score
}

#[test]
fn of_20_simulated_servers_the_limit_is_that_of_the_grid_in_a_quarter_of_its_runs() {
    let score = score(0..20);
    assert!(19 <= score.near && 16 <= score.holds && 19 <= score.fails && 18 <= score.cheap, "{score:#?}");
    assert!(8 * score.trials <= score.grid_runs, "{score:#?}");
}

#[test]
#[ignore = "long: searches of 200 servers, a minute without optimisation"]
fn of_200_simulated_servers_the_limit_is_that_of_the_grid_in_a_quarter_of_its_runs() {
    let score = score(0..200);
    println!("{score:#?}");
    assert!(
        195 <= score.near && 176 <= score.holds && 195 <= score.fails && 185 <= score.cheap,
        "{score:#?}"
    );
    assert!(12 * score.trials <= score.grid_runs, "{score:#?}");
}
