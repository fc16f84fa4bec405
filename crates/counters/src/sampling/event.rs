//! The kernel's event that takes samples: the CPU clock of `perf_event_open`.
//!
//! It is a software event: a timer of the kernel, so that it works where there are no hardware counters. Its timer does not come through
//! while interrupts are off: the work of an interrupt handler is sampled right behind it.

use std::io;

/// Who is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleTarget {
    /// The calling thread.
    Self_,
    /// Whoever runs on a processor.
    Cpu(u32),
}

/// A sample: a thread, and its stack with the leaf first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// Its process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// Addresses in the kernel; empty when it was in user mode.
    pub kernel: Vec<u64>,
    /// Addresses in user mode.
    pub user: Vec<u64>,
}

/// What the kernel reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// What ran.
    Sample(Sample),
    /// So many samples found no room.
    Lost(u64),
    /// The kernel paused sampling.
    Throttled,
    /// Nothing that counts here.
    Nothing,
}

/// Samples of one event.
pub trait Samples: std::fmt::Debug + Send {
    /// The next record, if there is one.
    fn next(&mut self) -> Option<Record>;
}

/// Why sampling could not start: opening the event and mapping its ring buffer fail for different reasons.
#[derive(Debug)]
pub enum NotOpened {
    /// The kernel does not open it (`perf_event_open`).
    Open(io::Error),
    /// It does, and refuses the memory for the samples (`mmap`).
    Map(io::Error),
}

impl From<io::Error> for NotOpened {
    fn from(error: io::Error) -> NotOpened {
        NotOpened::Open(error)
    }
}

/// Opens events; a test has others.
pub trait Events {
    /// Starts sampling.
    ///
    /// # Errors
    /// Those of the kernel.
    fn open(&self, whom: SampleTarget, rate_per_s: u32) -> Result<Box<dyn Samples>, NotOpened>;
}

/// The kernel's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuClock;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
impl Events for CpuClock {
    fn open(&self, _: SampleTarget, _: u32) -> Result<Box<dyn Samples>, NotOpened> {
        Err(NotOpened::Open(io::ErrorKind::Unsupported.into()))
    }
}
