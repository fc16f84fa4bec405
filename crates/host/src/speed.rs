//! How fast the machine itself is at the moment: the same work each time, and the CPU time that it takes.
//!
//! A virtual machine shares its cores' caches and its memory with others, whose use no counter in it shows: steal is of time,
//! and a neighbour that empties the cache takes none. Then every program takes more CPU time for the same work, and a server's
//! capacity is lower for as long as that lasts. Two kinds of work tell a slower core (frequency, the other thread of the core)
//! from slower memory. Both are measured on the thread's CPU clock, so that waiting for a processor does not count.

use assay_linux::thread_cpu_ns;
use assay_model::MachineSpeed;
use std::hint::black_box;

/// Slots of the chain: 16 MiB, more than a core's own caches and less than a server's shared one.
const SLOTS: usize = 1 << 22;
/// Steps of arithmetic: some 3 ms.
const COMPUTE_STEPS: u32 = 2_000_000;
/// Steps through memory: some 10 ms.
const MEMORY_STEPS: u32 = 80_000;
/// Threads at most; one for each processor up to there.
const THREADS_MAX: usize = 64;

/// Work that is always the same. It holds 16 MiB.
#[derive(Debug)]
pub struct SpeedProbe {
    /// One cycle through all slots in a random order: each holds the next one.
    chain: Vec<u32>,
    threads: usize,
}

impl Default for SpeedProbe {
    fn default() -> Self {
        SpeedProbe::new()
    }
}

impl SpeedProbe {
    /// Prepares the work: some 50 ms.
    pub fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        SpeedProbe { chain: cycle(SLOTS), threads }
    }

    /// Does the work on as many threads as there are processors: some 15 ms of each.
    pub fn measure(&self) -> MachineSpeed {
        let first = |thread: usize| thread * (SLOTS / self.threads);
        let speeds: Vec<MachineSpeed> = std::thread::scope(|scope| {
            let begun: Vec<_> = (0..self.threads)
                .map(|thread| scope.spawn(move || work(&self.chain, first(thread))))
                .collect();
            begun.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        let mean = |of: fn(&MachineSpeed) -> f64| speeds.iter().map(of).sum::<f64>() / speeds.len() as f64;
        MachineSpeed { compute_ns: mean(|s| s.compute_ns), memory_ns: mean(|s| s.memory_ns) }
    }
}

fn work(chain: &[u32], first: usize) -> MachineSpeed {
    let begun_ns = thread_cpu_ns();
    let mut value = first as u64 | 1;
    for _ in 0..COMPUTE_STEPS {
        value = value.wrapping_mul(0x2545_F491_4F6C_DD1D).rotate_left(17) ^ 1;
    }
    black_box(value);
    let between_ns = thread_cpu_ns();
    let mut slot = first;
    for _ in 0..MEMORY_STEPS {
        slot = chain[slot] as usize;
    }
    black_box(slot);
    let ended_ns = thread_cpu_ns();
    let per_step =
        |from_ns: u64, to_ns: u64, steps: u32| to_ns.saturating_sub(from_ns) as f64 / f64::from(steps);
    MachineSpeed {
        compute_ns: per_step(begun_ns, between_ns, COMPUTE_STEPS),
        memory_ns: per_step(between_ns, ended_ns, MEMORY_STEPS),
    }
}

/// A permutation of one cycle (Sattolo, "An algorithm to generate a random cyclic permutation", 1986).
fn cycle(slots: usize) -> Vec<u32> {
    let mut chain: Vec<u32> = (0..slots as u32).collect();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for last in (1..slots).rev() {
        // Marsaglia's xorshift: no more than an order without a pattern is asked for.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        chain.swap(last, (random % last as u64) as usize);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_goes_through_every_slot_once() {
        let chain = cycle(1_000);
        let (mut slot, mut steps) = (0, 0);
        while steps == 0 || slot != 0 {
            slot = chain[slot] as usize;
            steps += 1;
        }
        assert_eq!(steps, 1_000);
    }

    /// Which is faster is the machine's to say; that both were measured is not.
    #[test]
    fn both_kinds_of_work_take_time() {
        let speed = SpeedProbe::new().measure();
        assert!(0.0 < speed.compute_ns && 0.0 < speed.memory_ns, "{speed:?}");
    }
}
