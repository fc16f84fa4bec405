//! Samples with the address of the data that was used: of page faults by the kernel, of loads and stores by the processor.

use crate::sampling::NotOpened;
use std::ops::Range;

/// Page faults from one sample to the next: prime. A fault takes 0.5 µs or more, so that at most 20,000 a second are sampled.
pub(crate) const FAULTS_PERIOD: u64 = 97;

/// What is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Page faults, which every kernel counts.
    PageFaults,
    /// Instruction-based sampling of AMD's processors.
    Ibs,
    /// Precise event-based sampling of Intel's: stores.
    PebsStores,
}

impl Unit {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Unit::PageFaults => "page-faults",
            Unit::Ibs => "ibs_op",
            Unit::PebsStores => "cpu/mem-stores",
        }
    }
}

/// What the kernel reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressRecord {
    /// Data was used.
    Access {
        /// By a thread of this process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// Where the data is.
        address: u64,
        /// Whether it was written.
        is_store: bool,
    },
    /// So many samples found no room.
    Lost(u64),
    /// Nothing that counts here.
    Nothing,
}

/// Who is sampled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressTarget {
    /// The calling thread, which is going to use the data at these addresses.
    Own(Range<u64>),
    /// Whoever runs on a processor.
    Cpu(u32),
}

/// Samples of one processor, or of one thread.
pub trait Addresses: std::fmt::Debug + Send {
    /// The next record, if there is one.
    fn next(&mut self) -> Option<AddressRecord>;
}

/// Opens events; a test has others.
pub trait AddressEvents: std::fmt::Debug + Send {
    /// Begins to sample.
    ///
    /// # Errors
    /// Those of the kernel.
    fn open(&self, unit: Unit, whose: &AddressTarget) -> Result<Box<dyn Addresses>, NotOpened>;
}

/// The kernel's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
impl AddressEvents for Kernel {
    fn open(&self, _: Unit, _: &AddressTarget) -> Result<Box<dyn Addresses>, NotOpened> {
        Err(NotOpened::Open(std::io::ErrorKind::Unsupported.into()))
    }
}
