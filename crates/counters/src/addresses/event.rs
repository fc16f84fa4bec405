//! Samples with the address of the data that was used: of page faults by the kernel, of loads and stores by the processor.

use perf_event::data::{MemOp, Record as Parsed};
use perf_event::events::{Dynamic, Software};
use perf_event::{Builder, SampleFlag, SampleSkid, Sampler};
use std::io;

/// As for samples of stacks; these are smaller.
const BUFFER_BYTES: usize = 256 << 10;
/// Page faults from one sample to the next: prime. A fault takes 0.5 µs or more, so that at most 20,000 a second are sampled.
pub(crate) const FAULTS_PERIOD: u64 = 97;
/// Operations from one sample of the processor to the next.
const OPERATIONS_PERIOD: u64 = 100_003;

/// What is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
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

/// What the kernel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressRecord {
    Access {
        pid: u32,
        tid: u32,
        address: u64,
        is_store: bool,
    },
    Lost(u64),
    /// Nothing that counts here.
    Nothing,
}

/// Samples of one processor.
pub(crate) trait Addresses: std::fmt::Debug + Send {
    fn next(&mut self) -> Option<AddressRecord>;
}

/// Opens events; a test has others.
pub(crate) trait AddressEvents: std::fmt::Debug + Send {
    /// Begins to sample a processor; the calling thread for `None`.
    ///
    /// # Errors
    /// Those of the kernel.
    fn open(&self, unit: Unit, cpu: Option<u32>) -> io::Result<Box<dyn Addresses>>;
}

/// The kernel's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel;

impl AddressEvents for Kernel {
    fn open(&self, unit: Unit, cpu: Option<u32>) -> io::Result<Box<dyn Addresses>> {
        let mut builder = match unit {
            Unit::PageFaults => Builder::new(Software::PAGE_FAULTS),
            // The units that a kernel has stand below /sys/bus/event_source/devices; one that is not there is not found.
            Unit::Ibs => Builder::new(Dynamic::builder("ibs_op")?.build().map_err(io::Error::other)?),
            Unit::PebsStores => {
                let mut event = Dynamic::builder("cpu")?;
                event.event("mem-stores")?;
                Builder::new(event.build().map_err(io::Error::other)?)
            }
        };
        let period = match (unit, cpu) {
            // Of the trial every fault: with huge pages there are few.
            (Unit::PageFaults, None) => 1,
            (Unit::PageFaults, Some(_)) => FAULTS_PERIOD,
            _ => OPERATIONS_PERIOD,
        };
        builder.sample_period(period).include_kernel();
        // The kernel takes addresses of a fault from its registers, and of an operation only from units that know them.
        let sampled = SampleFlag::TID | SampleFlag::ADDR;
        builder.sample(if unit == Unit::PageFaults { sampled } else { sampled | SampleFlag::DATA_SRC });
        if unit == Unit::PebsStores {
            builder.precise_ip(SampleSkid::RequestZero);
        }
        if let Some(cpu) = cpu {
            builder.any_pid().one_cpu(cpu as usize);
        }
        let mut sampler = builder.build()?.sampled(BUFFER_BYTES)?;
        sampler.as_counter_mut().enable()?;
        Ok(Box::new(Ring { sampler, unit }))
    }
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
    use perf_event::data::endian::Native;
    use perf_event::data::parse::{ParseConfig, Parser};

    /// A record as the kernel writes it: `struct perf_event_header`, then what was asked for in the order of its bits: thread, address,
    /// source of the data.
    fn parsed(pid: u32, tid: u32, address: u64, source: Option<u64>) -> AddressRecord {
        let mut flags = SampleFlag::TID | SampleFlag::ADDR;
        let mut body = Vec::new();
        body.extend(pid.to_ne_bytes());
        body.extend(tid.to_ne_bytes());
        body.extend(address.to_ne_bytes());
        if let Some(source) = source {
            flags |= SampleFlag::DATA_SRC;
            body.extend(source.to_ne_bytes());
        }
        let mut bytes = 9u32.to_ne_bytes().to_vec();
        bytes.extend(0u16.to_ne_bytes());
        bytes.extend((8 + body.len() as u16).to_ne_bytes());
        bytes.extend(body);
        let mut builder = Builder::new(Software::DUMMY);
        builder.sample(flags);
        let config: ParseConfig<Native> = ParseConfig::from(*builder.attrs());
        let record: Parsed<'_> = Parser::new(&*bytes, config).parse().expect("whole");
        record_of(&record, if source.is_some() { Unit::Ibs } else { Unit::PageFaults })
    }

    #[test]
    fn the_bytes_of_a_sample_are_read_as_the_kernel_writes_them() {
        let access = |is_store| AddressRecord::Access { pid: 7, tid: 8, address: 0x7f00_1234, is_store };
        assert_eq!(parsed(7, 8, 0x7f00_1234, None), access(false));
        // PERF_MEM_OP_LOAD is 2, PERF_MEM_OP_STORE 4, in the lowest five bits.
        assert_eq!(parsed(7, 8, 0x7f00_1234, Some(2)), access(false));
        assert_eq!(parsed(7, 8, 0x7f00_1234, Some(4)), access(true));
    }
}
