//! Groups of counters of the processor, by the kernel's `perf_event_open`.

use assay_model::HardwareEvent;
use std::io;

/// In which mode an event is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// User mode alone.
    User,
    /// The kernel alone.
    Kernel,
    /// Both together.
    Both,
}

/// What one counter of a group counts.
pub type CounterEvent = (HardwareEvent, Mode);

/// Counts of a group since it was opened, in the order of its events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupCounts {
    /// Time for which the thread ran.
    pub enabled_ns: u64,
    /// Of it, that for which the group was on the processor.
    pub running_ns: u64,
    /// Of each event.
    pub counts: Vec<u64>,
}

/// Counters that are on a processor together or not at all.
pub trait Counted: std::fmt::Debug + Send {
    /// Reads them.
    ///
    /// # Errors
    /// Those of the kernel.
    fn read(&mut self) -> io::Result<GroupCounts>;
}

/// Opens groups; a test has others.
pub trait Counting: std::fmt::Debug + Send {
    /// Begins to count. `tid`: the thread; `None` for the calling one.
    ///
    /// # Errors
    /// Those of the kernel.
    fn open(&self, tid: Option<u32>, asked: &[CounterEvent]) -> io::Result<Box<dyn Counted>>;
}

/// The kernel's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Processor;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
impl Counting for Processor {
    fn open(&self, _: Option<u32>, _: &[CounterEvent]) -> io::Result<Box<dyn Counted>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
