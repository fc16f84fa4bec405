//! Whether the event can be trusted: it is run against loops of our own, whose answer is known, before it is used.
//!
//! That an event is listed, or opens, proves nothing: some count nothing, and some do not distinguish user mode from the kernel.

use super::event::{Events, NotOpened, Record, SampleTarget};
use assay_linux::thread_cpu_ns;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};

const RATE_PER_S: u32 = 2000;
/// CPU time of each loop: 30 samples.
const LOOP_NS: u64 = 15_000_000;
/// Samples of a loop lie within this factor of what its CPU time should give.
const FACTOR: u64 = 2;
/// At least this share of a loop's samples, in percent, is in its own mode.
const OWN_PERCENT: u64 = 80;

/// A hypervisor that stops the processor for half of a loop swallows the ticks of the event, not the loop's CPU time: an event that can be
/// trusted then seems to lose samples. A wrong one is wrong each time.
const TRIALS_MAX: usize = 4;

/// Why the event is not used.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The kernel does not open it.
    Kernel(io::Error),
    /// The kernel opens it and refuses the memory for its samples.
    Memory(io::Error),
    /// `/proc/stat` lists no processor.
    NoProcessors,
    /// It was opened, and what it said of a known loop is wrong.
    Wrong(String),
}

impl Refusal {
    /// Whether the kernel does not have the event.
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Refusal::Kernel(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl From<NotOpened> for Refusal {
    fn from(error: NotOpened) -> Refusal {
        match error {
            NotOpened::Open(error) => Refusal::Kernel(error),
            NotOpened::Map(error) => Refusal::Memory(error),
        }
    }
}

/// Tries the event on this thread.
pub(crate) fn try_event(events: &dyn Events) -> Result<(), Refusal> {
    let mut tried = try_once(events);
    for _ in 1..TRIALS_MAX {
        if !matches!(tried, Err(Refusal::Wrong(_))) {
            break;
        }
        tried = try_once(events);
    }
    tried
}

fn try_once(events: &dyn Events) -> Result<(), Refusal> {
    let mut samples = events.open(SampleTarget::Self_, RATE_PER_S)?;
    let mut in_kernel = in_kernel().map_err(Refusal::Kernel)?;
    let loops: [(&str, bool, &mut dyn FnMut()); 2] =
        [("in user mode", false, &mut in_user_mode), ("reading zeros, in the kernel", true, &mut in_kernel)];
    for (what, is_kernel, work) in loops {
        let cpu_ns = burn(work);
        let (mut own, mut all) = (0u64, 0u64);
        while let Some(record) = samples.next() {
            if let Record::Sample(sample) = record {
                all += 1;
                own += u64::from(sample.kernel.is_empty() != is_kernel);
            }
        }
        let expected = cpu_ns * u64::from(RATE_PER_S) / 1_000_000_000;
        if all * FACTOR < expected || expected * FACTOR < all {
            return Err(Refusal::Wrong(format!(
                "a loop of {} ms {what} gave {all} samples instead of {expected}",
                cpu_ns / 1_000_000
            )));
        }
        if own * 100 < all * OWN_PERCENT {
            return Err(Refusal::Wrong(format!("of {all} samples of a loop {what} only {own} say so")));
        }
    }
    Ok(())
}

pub(crate) fn burn(work: &mut dyn FnMut()) -> u64 {
    let began = thread_cpu_ns();
    loop {
        work();
        let used = thread_cpu_ns().saturating_sub(began);
        if LOOP_NS <= used {
            return used;
        }
    }
}

/// Reads zeros, which the kernel writes.
///
/// # Errors
/// Where there is no `/dev/zero`.
pub(crate) fn in_kernel() -> io::Result<impl FnMut()> {
    let mut zeros = File::open("/dev/zero")?;
    let mut buffer = vec![0u8; 256 << 10];
    Ok(move || {
        // Each one is tried: where one fails the next does, and the loop has the wrong mode, which is found.
        let _ = zeros.read_exact(&mut buffer);
    })
}

pub(crate) fn in_user_mode() {
    let mut sum = 0u64;
    for i in 0..100_000u64 {
        sum = black_box(sum ^ i);
    }
    black_box(sum);
}
