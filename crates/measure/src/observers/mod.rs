//! Observers: what watches a trial. One that cannot work is listed with its reason and never fails a trial.

mod allocation;
mod completed;
mod contract;
mod edges;
mod ending;
mod gc;
mod group;
mod latency;
mod memory;
mod processes;
mod start;
mod swap;
mod time;

pub use contract::{Observer, Target};
pub use memory::memory_metrics;

use assay_model::ExcludedObserver;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Observers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Observe {
    /// Collections and the reference mode, from the JVM's log.
    Gc,
    /// What the server's Java threads allocate in each window, by the JVM's own counts, read from outside: also where a window has no collection.
    Allocation,
    /// Resident memory, from the server's mappings once a second, and in full once after the last window.
    Memory,
    /// Resident memory by area, from snapshots of every resident byte every few seconds and at the end of each window,
    /// with page faults; in place of `memory`. A snapshot costs some tenths of a second of CPU time.
    Areas,
    /// CPU time of each window by role of the server's threads, user and kernel, with waits for processors, switches and faults.
    Time,
    /// As `time`, and what the kernel does for these threads: system calls, waits for locks, soft interrupts, each timed by programs loaded
    /// into it (BPF). Every system call of the machine takes some tenths of a microsecond longer meanwhile, for all variants alike.
    Kernel,
    /// As `time`, and the stacks that these threads ran, sampled 199 times a second: what a variant spends on each request beyond its
    /// baseline is a differential flame graph of the report. Of windows of one load.
    Stacks,
    /// CPU time and memory (PSS) of each window of the server and its auxiliary processes, by role and in all. Of windows of one load.
    Processes,
    /// Disturbance of the machine.
    Host,
    /// What the server's control group is charged for, and how its limits held it in each window: throttling, and memory that had to be waited for.
    Group,
    /// Pages that go to swap and come back over time, memory of the trial's processes that lies there, and pages for which collections wait.
    Swap,
    /// Interval logs of response times.
    Latency,
    /// The time from the start of the process to the first good answer, as a metric. Of fresh processes.
    Start,
}

/// Input from which the observers of a trial are made.
#[derive(Debug, Clone, Copy)]
pub struct ObserverSetup<'a> {
    /// Those that are wanted.
    pub wanted: &'a [Observe],
    /// Length of a window, seconds.
    pub window_s: f64,
    /// Whether a reference mode is verified: that is read from the GC log.
    pub verifies_mode: bool,
    /// Whether the program ends by itself, and with it its window: of its memory the last look counts.
    pub ends_by_itself: bool,
}

/// An observer with what its samples cost.
struct Working {
    observer: Box<dyn Observer>,
    /// Not before this instant it samples again.
    due: Instant,
}

/// The observers of one trial that still work.
#[derive(Default)]
pub struct Observers {
    working: Vec<Working>,
    /// Those that do not, with the reason.
    pub excluded: Vec<ExcludedObserver>,
}

impl Observers {
    /// Those that the study asks for. A wanted reference mode is verified from the GC log, so that is read then too.
    ///
    /// The machine is watched in any case, by the sampler that runs them: `host` says that windows are judged by it.
    pub fn new(setup: &ObserverSetup<'_>) -> Observers {
        let ObserverSetup { wanted, window_s, verifies_mode, ends_by_itself } = *setup;
        let wants = |o: Observe| wanted.contains(&o);
        let mut working: Vec<Box<dyn Observer>> = Vec::new();
        if wants(Observe::Gc) || verifies_mode {
            working.push(Box::new(gc::GcObserver::default()));
        }
        if wants(Observe::Allocation) {
            working.push(Box::new(allocation::AllocationObserver::default()));
        }
        if ends_by_itself && (wants(Observe::Areas) || wants(Observe::Memory)) {
            working.push(Box::new(ending::EndingMemory::new(wants(Observe::Areas), window_s)));
        } else if wants(Observe::Areas) {
            working.push(Box::new(memory::MemoryObserver::with_areas(window_s)));
        } else if wants(Observe::Memory) {
            working.push(Box::new(memory::MemoryObserver::default()));
        }
        let [traces, samples] = [Observe::Kernel, Observe::Stacks].map(wants);
        if wants(Observe::Time) || traces || samples {
            working.push(Box::new(time::TimeObserver::new(traces, samples)));
        }
        if wants(Observe::Processes) {
            working.push(Box::new(processes::ProcessesObserver::default()));
        }
        if wants(Observe::Group) {
            working.push(Box::new(group::GroupObserver::default()));
        }
        if wants(Observe::Swap) {
            working.push(Box::new(swap::SwapObserver::default()));
        }
        if wants(Observe::Latency) {
            working.push(Box::new(latency::LatencyObserver::default()));
        }
        if wants(Observe::Start) {
            working.push(Box::new(start::StartObserver));
        }
        let due = Instant::now();
        let working = working.into_iter().map(|observer| Working { observer, due }).collect();
        Observers { working, excluded: Vec::new() }
    }

    /// Has each working observer take a step; those that cannot are excluded.
    pub fn each(&mut self, mut step: impl FnMut(&mut dyn Observer) -> Result<(), String>) {
        self.each_working(|working| step(working.observer.as_mut()));
    }

    /// JVM options that they need for an auxiliary process.
    pub fn options_beside(&self, target: &Target, role: &str) -> Vec<String> {
        self.working.iter().flat_map(|working| working.observer.options_beside(target, role)).collect()
    }

    /// Has each sample whose turn it is: one whose sample took long waits so much longer for the next.
    pub(crate) fn sample(&mut self, target: &Target, sleep_after: fn(Duration) -> Duration) {
        let begun = Instant::now();
        self.each_working(|working| {
            if begun < working.due {
                return Ok(());
            }
            let begun = Instant::now();
            working.observer.sample(target)?;
            working.due = begun + sleep_after(begun.elapsed());
            Ok(())
        });
    }

    fn each_working(&mut self, mut step: impl FnMut(&mut Working) -> Result<(), String>) {
        let excluded = &mut self.excluded;
        self.working.retain_mut(|working| match step(working) {
            Ok(()) => true,
            Err(reason) => {
                excluded.push(ExcludedObserver { name: working.observer.name().to_owned(), reason });
                false
            }
        });
    }
}
