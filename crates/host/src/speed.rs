//! How fast the machine itself is at the moment: the same work each time, and the CPU time that it takes.
//!
//! A virtual machine shares its cores' caches and its memory with others, whose use no counter in it shows: steal is of time,
//! and a neighbour that empties the cache takes none. Then every program takes more CPU time for the same work, and a server's
//! capacity is lower for as long as that lasts. Two kinds of work tell a slower core (frequency, the other thread of the core)
//! from slower memory. Both are measured on the thread's CPU clock, so that waiting for a processor does not count.
//!
//! A busy neighbour on the other thread of a core takes slots of its pipeline. A chain of operations that wait for each other
//! leaves most of them free and does not notice: on a shared AMD EPYC it took 1.35 to 1.43 ns a step while eight chains side by side
//! took 3.55 to 4.94 ns. So the arithmetic is wide, and is looked at several times, since such neighbours come and go in tenths of a
//! second.

use assay_linux::thread_cpu_ns;
use assay_model::MachineSpeed;
use std::hint::black_box;
use std::time::Duration;

/// Unoptimised, as builds with debug assertions are, probing took more CPU time than all else in tests of studies: they do a part of it.
const WORK_DIVISOR: usize = if cfg!(debug_assertions) { 16 } else { 1 };
/// Slots of the chain: 16 MiB, more than a core's own caches and less than a server's shared one.
const SLOTS: usize = (1 << 22) / WORK_DIVISOR;
/// Chains of arithmetic side by side: more than a core has ports for.
const WIDTH: usize = 8;
/// Steps of arithmetic in a look: some 4 ms.
const COMPUTE_STEPS: u32 = 1_000_000 / WORK_DIVISOR as u32;
/// Looks, and the time between them.
const COMPUTE_LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// Steps through memory: some 10 ms.
const MEMORY_STEPS: u32 = 80_000 / WORK_DIVISOR as u32;
/// Threads at most; one for each processor up to there.
const THREADS_MAX: usize = 64;

/// Work that is always the same. It holds 16 MiB, with debug assertions one.
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

    /// Does the work on as many threads as there are processors: some 30 ms of each, over 110 ms.
    pub fn measure(&self) -> MachineSpeed {
        let first = |thread: usize| thread * (SLOTS / self.threads);
        let taken: Vec<StepTime> = std::thread::scope(|scope| {
            let begun: Vec<_> = (0..self.threads)
                .map(|thread| scope.spawn(move || work(&self.chain, first(thread))))
                .collect();
            begun.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        let mean = |of: fn(&StepTime) -> f64| taken.iter().map(of).sum::<f64>() / taken.len() as f64;
        MachineSpeed { arithmetic_ns: Some(mean(|t| t.arithmetic_ns)), memory_ns: mean(|t| t.memory_ns) }
    }
}

/// CPU time that a step took on one thread.
struct StepTime {
    arithmetic_ns: f64,
    memory_ns: f64,
}

fn work(chain: &[u32], first: usize) -> StepTime {
    let mut arithmetic_ns = 0;
    for look in 0..COMPUTE_LOOKS {
        if 0 < look {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        arithmetic_ns += cpu_ns_of(compute);
    }
    let memory_ns = cpu_ns_of(|| walk(chain, first));
    StepTime {
        arithmetic_ns: arithmetic_ns as f64 / f64::from(COMPUTE_LOOKS * COMPUTE_STEPS),
        memory_ns: memory_ns as f64 / f64::from(MEMORY_STEPS),
    }
}

fn cpu_ns_of(work: impl Fn()) -> u64 {
    let begun_ns = thread_cpu_ns();
    work();
    thread_cpu_ns().saturating_sub(begun_ns)
}

fn compute() {
    let mut chains: [u64; WIDTH] = std::array::from_fn(|chain| chain as u64 + 1);
    for _ in 0..COMPUTE_STEPS {
        for value in &mut chains {
            *value = value.rotate_left(13).wrapping_add(0x9E37_79B9_7F4A_7C15) ^ (*value >> 7);
        }
        // Else the compiler would put the chains into one vector, and they would be a single one again.
        chains = black_box(chains);
    }
}

fn walk(chain: &[u32], first: usize) {
    let mut slot = first;
    for _ in 0..MEMORY_STEPS {
        slot = chain[slot] as usize;
    }
    black_box(slot);
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

    /// Either may be faster, depending on the machine; both must have been measured.
    #[test]
    fn both_kinds_of_work_take_time() {
        let speed = SpeedProbe::new().measure();
        assert!(speed.arithmetic_ns.is_some_and(|ns| 0.0 < ns) && 0.0 < speed.memory_ns, "{speed:?}");
    }
}
