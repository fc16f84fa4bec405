//! The second rung: samples of what runs on the processors, by the kernel's CPU clock, with the stacks of kernel and user mode.
//!
//! Every processor is sampled and what belongs to other processes is thrown away: threads that start and end meanwhile are in it, and
//! the cost does not depend on how many there are. Samples give shares; how much CPU time there was, the clocks know exactly.

mod account;
mod activity;
mod event;
mod jvm_group;
// The library behind it knows the interface of these architectures; elsewhere nothing can be opened.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod kernel;
mod perf_map;
mod place;
mod refused;
mod trial;

pub(crate) use account::{Clocked, account_of};
pub(crate) use activity::activity_of_call;
pub(crate) use event::CpuClock;
pub use event::{Events, NotOpened, Record, Sample, SampleTarget, Samples};
pub(crate) use perf_map::PerfMap;
pub(crate) use place::place_all;
pub(crate) use refused::Refused;

use assay_linux::{KernelSymbols, ProcRoot, thread_cpu_ns};
use std::collections::{BTreeSet, HashMap};
use trial::try_event;
pub(crate) use trial::{Refusal, burn, in_kernel, in_user_mode};

/// Samples in a second of a processor: prime, so that they do not run in step with the kernel's own timer.
pub(crate) const RATE_PER_S: u32 = 199;
/// Stacks that are kept; samples beyond them are counted without their frames.
const STACKS_MAX: usize = 100_000;
/// Addresses of the kernel whose function is remembered.
const ADDRESSES_MAX: usize = 200_000;
/// Records that are read in one go, so that a storm of them cannot hold the reader.
const RECORDS_MAX: usize = 1_000_000;

/// Where a thread was sampled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Stack {
    pub(crate) tid: u32,
    pub(crate) is_kernel: bool,
    /// Functions of the kernel by their numbers in [`KernelFunctions`], the leaf first; `None` has no name.
    pub(crate) kernel: Vec<Option<u32>>,
    /// Addresses in user mode, the leaf first: all callers, or the leaf alone.
    pub(crate) user: Vec<u64>,
}

/// Samples since the last restart.
#[derive(Debug, Clone, Default)]
pub(crate) struct SampledStacks {
    pub(crate) stacks: HashMap<Stack, u64>,
    pub(crate) lost: u64,
    pub(crate) throttled: u64,
    pub(crate) reading_cpu_ns: u64,
}

/// Names of the kernel's functions, by numbers.
#[derive(Debug, Default)]
pub(crate) struct KernelFunctions {
    symbols: Option<KernelSymbols>,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    of_address: HashMap<u64, Option<u32>>,
}

impl KernelFunctions {
    fn number_of(&mut self, address: u64) -> Option<u32> {
        if let Some(number) = self.of_address.get(&address) {
            return *number;
        }
        let number = self.symbols.as_ref().and_then(|symbols| symbols.name_at(address)).map(|name| {
            *self.numbers.entry(name.to_owned()).or_insert_with(|| {
                self.names.push(name.to_owned());
                self.names.len() as u32 - 1
            })
        });
        if self.of_address.len() < ADDRESSES_MAX {
            self.of_address.insert(address, number);
        }
        number
    }

    /// The name of a number.
    pub(crate) fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }

    /// Whether the kernel shows its symbols.
    pub(crate) fn are_known(&self) -> bool {
        self.symbols.is_some()
    }
}

/// A process that is sampled.
#[derive(Debug)]
pub(crate) struct Sampling {
    pid: u32,
    rings: Vec<Box<dyn Samples>>,
    pub(crate) names: KernelFunctions,
    pub(crate) seen: SampledStacks,
    /// Whether frame pointers lead through the stacks of user mode.
    has_frame_pointers: bool,
}

impl Sampling {
    /// Tries the event, and starts sampling every processor.
    pub(crate) fn start(
        events: &dyn Events,
        proc: &ProcRoot,
        pid: u32,
        has_frame_pointers: bool,
    ) -> Result<Sampling, Refused> {
        let settings = proc.read_perf_settings().unwrap_or_default();
        let refused = |refusal| Refused::because(&refusal, settings.paranoid);
        try_event(events).map_err(refused)?;
        let cpus = proc.read_online_cpus().map_err(|e| Refused::unreadable(&e))?;
        if cpus.is_empty() {
            return Err(refused(Refusal::NoProcessors));
        }
        let open = |cpu: &u32| events.open(SampleTarget::Cpu(*cpu), RATE_PER_S);
        let rings = cpus.iter().map(open).collect::<Result<_, _>>();
        let rings = rings.map_err(|e: NotOpened| refused(e.into()))?;
        let names = KernelFunctions {
            symbols: proc.read_kernel_symbols().ok().flatten(),
            ..KernelFunctions::default()
        };
        Ok(Sampling { pid, rings, names, seen: SampledStacks::default(), has_frame_pointers })
    }

    /// Processors that are sampled.
    pub(crate) fn cpus(&self) -> u32 {
        u32::try_from(self.rings.len()).unwrap_or(u32::MAX)
    }

    /// Every sampled address in user mode.
    pub(crate) fn user_addresses(&self) -> BTreeSet<u64> {
        self.seen.stacks.keys().flat_map(|stack| stack.user.iter().copied()).collect()
    }

    /// Reads what the kernel has written.
    pub(crate) fn read(&mut self) {
        let began = thread_cpu_ns();
        for ring in &mut self.rings {
            for _ in 0..RECORDS_MAX {
                match ring.next() {
                    None => break,
                    Some(Record::Sample(sample)) if sample.pid == self.pid => {
                        add(&mut self.seen, &mut self.names, sample, self.has_frame_pointers);
                    }
                    Some(Record::Lost(number)) => self.seen.lost = self.seen.lost.saturating_add(number),
                    Some(Record::Throttled) => self.seen.throttled += 1,
                    Some(Record::Sample(_) | Record::Nothing) => {}
                }
            }
        }
        self.seen.reading_cpu_ns += thread_cpu_ns().saturating_sub(began);
    }

    /// Discards the samples.
    pub(crate) fn restart(&mut self) {
        self.seen = SampledStacks::default();
    }
}

fn add(seen: &mut SampledStacks, names: &mut KernelFunctions, sample: Sample, has_frame_pointers: bool) {
    let mut stack = Stack {
        tid: sample.tid,
        is_kernel: !sample.kernel.is_empty(),
        kernel: sample.kernel.iter().map(|address| names.number_of(*address)).collect(),
        user: sample.user,
    };
    if !has_frame_pointers {
        stack.user.truncate(1);
    }
    if STACKS_MAX <= seen.stacks.len() && !seen.stacks.contains_key(&stack) {
        stack = Stack { kernel: Vec::new(), user: Vec::new(), ..stack };
    }
    *seen.stacks.entry(stack).or_default() += 1;
}
