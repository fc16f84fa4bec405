//! Page faults and units that sample addresses, of a kernel of a test's own. What it writes are bytes, as the kernel's interface has them
//! (`linux/perf_event.h`): a processor with such a unit was not at hand to record them.

use assay_counters::kernel::{AddressEvents, AddressRecord, AddressTarget, Addresses, NotOpened, Unit};
use rustix::io::Errno;

/// `PERF_RECORD_LOST` and `PERF_RECORD_SAMPLE`.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
/// `PERF_MEM_OP_LOAD` and `PERF_MEM_OP_STORE`.
const LOAD: u64 = 2;
const STORE: u64 = 4;

/// What the kernel answers, and what its event says of a thread's own data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnitState {
    #[default]
    Right,
    Refused(Errno),
    /// For processors alone.
    RefusedForCpus(Errno),
    /// The memory for the samples.
    NoMemory(Errno),
    Silent,
    /// Samples without an address.
    NoAddresses,
}

/// Page faults, AMD's unit and Intel's.
#[derive(Debug, Clone, Default)]
pub struct Units {
    pub faults: UnitState,
    pub ibs: UnitState,
    pub pebs: UnitState,
    /// What the unit of the first processor writes.
    pub bytes: Vec<u8>,
}

/// `struct perf_event_header`, and what follows it.
fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + body.len()).expect("short");
    [&kind.to_ne_bytes()[..], &0u16.to_ne_bytes(), &length.to_ne_bytes(), body].concat()
}

/// A load or a store as a unit samples it: thread, address, source of the data, in the order of their bits in `sample_type`.
pub fn access(pid: u32, tid: u32, address: u64, is_store: bool) -> Vec<u8> {
    let source = if is_store { STORE } else { LOAD };
    let body = [&pid.to_ne_bytes()[..], &tid.to_ne_bytes(), &address.to_ne_bytes(), &source.to_ne_bytes()];
    record(SAMPLE, &body.concat())
}

/// So many samples found no room: number of the event, number of samples, and the thread of `sample_id_all`, which is not asked for.
pub fn lost(number: u64) -> Vec<u8> {
    record(LOST, &[1u64.to_ne_bytes(), number.to_ne_bytes()].concat())
}

impl AddressEvents for Units {
    fn open(&self, unit: Unit, whose: &AddressTarget) -> Result<Box<dyn Addresses>, NotOpened> {
        let state = match unit {
            Unit::PageFaults => self.faults,
            Unit::Ibs => self.ibs,
            Unit::PebsStores => self.pebs,
        };
        let bytes = match (state, whose) {
            (UnitState::Refused(error), _) | (UnitState::RefusedForCpus(error), AddressTarget::Cpu(_)) => {
                return Err(NotOpened::Open(error.into()));
            }
            (UnitState::NoMemory(error), _) => return Err(NotOpened::Map(error.into())),
            (UnitState::Silent, AddressTarget::Own(_)) => Vec::new(),
            (UnitState::NoAddresses, AddressTarget::Own(_)) => of_unit(unit, access(1, 1, 0, true)),
            (_, AddressTarget::Own(data)) => of_unit(unit, access(1, 1, data.start + 64, true)),
            (_, AddressTarget::Cpu(0)) if unit != Unit::PageFaults => self.bytes.clone(),
            (_, AddressTarget::Cpu(_)) => Vec::new(),
        };
        Ok(Box::new(Ring { unit, bytes, read: 0 }))
    }
}

/// Page faults have no source.
fn of_unit(unit: Unit, mut access: Vec<u8>) -> Vec<u8> {
    if unit == Unit::PageFaults {
        let length = access.len() - 8;
        access.truncate(length);
        access[6..8].copy_from_slice(&u16::try_from(length).expect("short").to_ne_bytes());
    }
    access
}

/// What was written, read as from the kernel's ring.
#[derive(Debug)]
struct Ring {
    unit: Unit,
    bytes: Vec<u8>,
    read: usize,
}

impl Addresses for Ring {
    fn next(&mut self) -> Option<AddressRecord> {
        let rest = self.bytes.get(self.read..)?;
        let length = usize::from(u16::from_ne_bytes(rest.get(6..8)?.try_into().ok()?));
        self.read += length;
        Some(AddressRecord::of_bytes(rest.get(..length)?, self.unit))
    }
}
