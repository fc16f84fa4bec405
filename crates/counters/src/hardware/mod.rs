//! The third rung: counters of the processor, user mode and kernel apart.
//!
//! Each thread has a group of its own: `inherit` and reading whole groups exclude each other on most kernels, so new threads are found by
//! walking `task/` again at each reading. A group holds instructions and one or two other events, user and kernel, which is as many as a
//! processor has room for; groups take turns, a reading each, so that the kernel need not multiplex them. Where it does all the same, because
//! somebody else counts too, the figure says so, and is not scaled up.
//!
//! Where this was written there were no such counters: tests check it against the interface of the kernel, with a `perf_event_open` of
//! their own, and has not been verified on a processor.

mod event;
// The library behind it knows the interface of these architectures; elsewhere nothing can be opened.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod kernel;
mod trial;

use crate::sampling::{Refusal, Refused};
use assay_linux::ProcRoot;
use assay_model::{HardwareCounters, HardwareEvent, HardwareFigure, LeftOutFigure};
pub(crate) use event::Processor;
pub use event::{Counted, CounterEvent, Counting, GroupCounts, Mode};
use std::collections::BTreeMap;
use trial::try_counter;

/// Events that take turns; instructions are with each of them.
const TURNS: [&[HardwareEvent]; 6] = [
    &[HardwareEvent::Cycles],
    &[HardwareEvent::L1dMisses, HardwareEvent::L1iMisses],
    &[HardwareEvent::LlcMisses],
    &[HardwareEvent::DtlbMisses, HardwareEvent::ItlbMisses],
    &[HardwareEvent::Branches, HardwareEvent::BranchMisses],
    &[HardwareEvent::FrontendStalls, HardwareEvent::BackendStalls],
];
/// Threads that are counted.
const THREADS_MAX: usize = 4_000;

/// Counts of a process, from its start on.
#[derive(Debug)]
pub(crate) struct HardwareGauge {
    counting: Box<dyn Counting>,
    proc: ProcRoot,
    pid: u32,
    /// Groups of events that can be trusted.
    turns: Vec<Vec<HardwareEvent>>,
    turn: usize,
    threads: BTreeMap<u32, Box<dyn Counted>>,
    seen: std::collections::BTreeSet<u32>,
    missed: std::collections::BTreeSet<u32>,
    sums: BTreeMap<HardwareEvent, HardwareFigure>,
    left_out: Vec<LeftOutFigure>,
}

impl HardwareGauge {
    /// Tries which events can be trusted, and begins to count them.
    pub(crate) fn start(counting: Box<dyn Counting>, proc: ProcRoot, pid: u32) -> HardwareGauge {
        let paranoid = proc.read_perf_settings().unwrap_or_default().paranoid;
        let mut left_out = Vec::new();
        let mut is_trusted = |event: HardwareEvent| match try_counter(&*counting, event) {
            Ok(()) => true,
            Err(refusal) => {
                left_out.push(left_out_of(event, &refusal, paranoid));
                false
            }
        };
        // Without instructions the others have nothing to be compared with.
        let turns = if is_trusted(HardwareEvent::Instructions) {
            let trusted =
                |of: &&[HardwareEvent]| of.iter().copied().filter(|event| is_trusted(*event)).collect();
            TURNS.iter().map(trusted).filter(|of: &Vec<HardwareEvent>| !of.is_empty()).collect()
        } else {
            Vec::new()
        };
        let mut gauge = HardwareGauge {
            counting,
            proc,
            pid,
            turns,
            turn: 0,
            threads: BTreeMap::new(),
            seen: Default::default(),
            missed: Default::default(),
            sums: BTreeMap::new(),
            left_out,
        };
        gauge.attach();
        gauge
    }

    /// Reads what was counted, and goes on with the next group.
    pub(crate) fn read(&mut self) {
        let Some(of) = self.turns.get(self.turn).cloned() else { return };
        for group in std::mem::take(&mut self.threads).values_mut() {
            // A thread that has ended keeps its counts until its group is closed.
            if let Ok(counts) = group.read() {
                add(&mut self.sums, &of, &counts);
            }
        }
        self.turn = (self.turn + 1) % self.turns.len();
        self.attach();
    }

    /// Opens the group whose turn it is for each thread that there is.
    fn attach(&mut self) {
        let Some(of) = self.turns.get(self.turn) else { return };
        let asked = asked(of);
        let threads = self.proc.read_thread_ids(self.pid).unwrap_or_default();
        for tid in threads {
            let opened = if self.threads.len() < THREADS_MAX {
                self.counting.open(Some(tid), &asked).ok()
            } else {
                None
            };
            match opened {
                Some(group) => {
                    self.threads.insert(tid, group);
                    self.seen.insert(tid);
                    self.missed.remove(&tid);
                }
                None if self.seen.contains(&tid) => {}
                None => drop(self.missed.insert(tid)),
            }
        }
    }

    /// What was counted; `None` where no event can be trusted.
    pub(crate) fn counters(&self) -> Option<HardwareCounters> {
        if self.turns.is_empty() {
            return None;
        }
        Some(HardwareCounters {
            threads: self.seen.len() as u64,
            threads_missed: self.missed.len() as u64,
            event_groups: self.turns.len() as u64,
            // A counter that was never on the processor has counted nothing, which is not zero.
            figures: self.sums.values().filter(|figure| figure.running_ns != 0).copied().collect(),
        })
    }

    /// Events that are not counted, and why.
    pub(crate) fn left_out(&self) -> &[LeftOutFigure] {
        &self.left_out
    }
}

fn asked(of: &[HardwareEvent]) -> Vec<CounterEvent> {
    let both = |event: HardwareEvent| [(event, Mode::User), (event, Mode::Kernel)];
    both(HardwareEvent::Instructions).into_iter().chain(of.iter().flat_map(|event| both(*event))).collect()
}

fn add(sums: &mut BTreeMap<HardwareEvent, HardwareFigure>, of: &[HardwareEvent], counts: &GroupCounts) {
    let [user_instructions, kernel_instructions, events @ ..] = &counts.counts[..] else { return };
    for (event, pair) in of.iter().zip(events.chunks_exact(2)) {
        let figure = sums.entry(*event).or_insert(HardwareFigure {
            event: *event,
            user: 0,
            kernel: 0,
            user_instructions: 0,
            kernel_instructions: 0,
            enabled_ns: 0,
            running_ns: 0,
        });
        let add = |sum: &mut u64, one: u64| *sum = sum.saturating_add(one);
        add(&mut figure.user, pair[0]);
        add(&mut figure.kernel, pair[1]);
        add(&mut figure.user_instructions, *user_instructions);
        add(&mut figure.kernel_instructions, *kernel_instructions);
        add(&mut figure.enabled_ns, counts.enabled_ns);
        add(&mut figure.running_ns, counts.running_ns);
    }
}

fn left_out_of(event: HardwareEvent, refusal: &Refusal, paranoid: Option<i64>) -> LeftOutFigure {
    let Refused { why, enable } = Refused::of_counter(event.word(), refusal, paranoid);
    LeftOutFigure { figure: format!("hardware counter {}", event.word()), why, enable }
}
