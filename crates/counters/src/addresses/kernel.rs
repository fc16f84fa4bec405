//! The kernel's events with addresses, opened and read.

use super::event::{AddressEvents, AddressRecord, AddressTarget, Addresses, FAULTS_PERIOD, Kernel, Unit};
use crate::sampling::NotOpened;
use perf_event::data::endian::Native;
use perf_event::data::parse::{ParseConfig, Parser};
use perf_event::data::{MemOp, Record as Parsed};
use perf_event::events::{Dynamic, Software};
use perf_event::{Builder, SampleFlag, SampleSkid, Sampler};
use std::io;

/// As for samples of stacks; these are smaller.
const BUFFER_BYTES: usize = 256 << 10;
/// Operations from one sample of the processor to the next.
const OPERATIONS_PERIOD: u64 = 100_003;

impl AddressEvents for Kernel {
    fn open(&self, unit: Unit, whose: &AddressTarget) -> Result<Box<dyn Addresses>, NotOpened> {
        let mut event = match unit {
            Unit::PageFaults => Builder::new(Software::PAGE_FAULTS),
            // The units that a kernel has stand below /sys/bus/event_source/devices; one that is not there is not found.
            Unit::Ibs => Builder::new(Dynamic::builder("ibs_op")?.build().map_err(io::Error::other)?),
            Unit::PebsStores => {
                let mut event = Dynamic::builder("cpu")?;
                event.event("mem-stores")?;
                Builder::new(event.build().map_err(io::Error::other)?)
            }
        };
        let mut sampler = with_attributes(&mut event, unit, whose)
            .build()?
            .sampled(BUFFER_BYTES)
            .map_err(NotOpened::Map)?;
        sampler.as_counter_mut().enable()?;
        Ok(Box::new(Ring { sampler, unit }))
    }
}

/// Sets what a unit's event samples, and for whom: <https://man7.org/linux/man-pages/man2/perf_event_open.2.html>.
fn with_attributes<'a, 'b>(
    event: &'a mut Builder<'b>,
    unit: Unit,
    whose: &AddressTarget,
) -> &'a mut Builder<'b> {
    let period = match (unit, whose) {
        // Of the trial every fault: with huge pages there are few.
        (Unit::PageFaults, AddressTarget::Own(_)) => 1,
        (Unit::PageFaults, AddressTarget::Cpu(_)) => FAULTS_PERIOD,
        _ => OPERATIONS_PERIOD,
    };
    event.sample_period(period).include_kernel();
    // The kernel takes addresses of a fault from its registers, and of an operation only from units that know them.
    let addressed = SampleFlag::TID | SampleFlag::ADDR;
    event.sample(if unit == Unit::PageFaults { addressed } else { addressed | SampleFlag::DATA_SRC });
    match unit {
        // The kernel's driver refuses whoever wants to leave out anything, the hypervisor too, which the library leaves out on its own.
        Unit::Ibs => drop(event.include_hv()),
        Unit::PebsStores => drop(event.precise_ip(SampleSkid::RequestZero)),
        Unit::PageFaults => {}
    }
    if let AddressTarget::Cpu(cpu) = whose {
        event.any_pid().one_cpu(*cpu as usize);
    }
    event
}

struct Ring {
    sampler: Sampler,
    unit: Unit,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ring")
    }
}

impl Addresses for Ring {
    fn next(&mut self) -> Option<AddressRecord> {
        let record = self.sampler.next_record()?;
        Some(record.parse_record().map_or(AddressRecord::Nothing, |parsed| record_of(&parsed, self.unit)))
    }
}

impl AddressRecord {
    /// Reads a record from its bytes, as the kernel writes them for a unit's event: `struct perf_event_header` first.
    pub fn of_bytes(bytes: &[u8], unit: Unit) -> AddressRecord {
        let mut event = Builder::new(Software::DUMMY);
        let config: ParseConfig<Native> =
            ParseConfig::from(*with_attributes(&mut event, unit, &AddressTarget::Cpu(0)).attrs());
        let parsed = Parser::new(bytes, config).parse();
        parsed.map_or(AddressRecord::Nothing, |parsed| record_of(&parsed, unit))
    }
}

fn record_of(parsed: &Parsed<'_>, unit: Unit) -> AddressRecord {
    match parsed {
        Parsed::Sample(sample) => {
            let (Some(pid), Some(tid), Some(address)) = (sample.pid(), sample.tid(), sample.addr()) else {
                return AddressRecord::Nothing;
            };
            let stores = || sample.data_src().is_some_and(|source| source.mem_op().contains(MemOp::STORE));
            let is_store = unit == Unit::PebsStores || (unit == Unit::Ibs && stores());
            AddressRecord::Access { pid, tid, address, is_store }
        }
        Parsed::Lost(lost) => AddressRecord::Lost(lost.lost),
        _ => AddressRecord::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_each_unit_is_what_its_driver_takes() {
        let asked = |unit| {
            let mut event = Builder::new(Software::DUMMY);
            let attributes = *with_attributes(&mut event, unit, &AddressTarget::Cpu(0)).attrs();
            let excluded = [
                attributes.exclude_user(),
                attributes.exclude_kernel(),
                attributes.exclude_hv(),
                attributes.exclude_idle(),
                attributes.exclude_host(),
                attributes.exclude_guest(),
            ];
            (attributes.sample_type, attributes.precise_ip(), excluded)
        };
        // PERF_SAMPLE_TID is 1 << 1, ADDR 1 << 3, DATA_SRC 1 << 15.
        assert_eq!(asked(Unit::Ibs), (0x800a, 0, [0; 6]), "the driver refuses whoever leaves out anything");
        assert_eq!(asked(Unit::PebsStores), (0x800a, 2, [0, 0, 1, 0, 0, 0]));
        assert_eq!(asked(Unit::PageFaults), (0xa, 0, [0, 0, 1, 0, 0, 0]));
    }
}
