//! The kernel's counters, opened and read.

use super::event::{Counted, CounterEvent, Counting, GroupCounts, Mode, Processor};
use assay_model::HardwareEvent;
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware};
use perf_event::{Builder, Counter, ReadFormat};
use std::io;

impl Counting for Processor {
    fn open(&self, tid: Option<u32>, asked: &[CounterEvent]) -> io::Result<Box<dyn Counted>> {
        let mut counters: Vec<Counter> = Vec::with_capacity(asked.len());
        for of in asked {
            let mut builder = builder(*of);
            if let Some(tid) = tid {
                builder.observe_pid(tid.cast_signed());
            }
            let counter = match counters.first_mut() {
                // The leader holds the others until all are there.
                None => builder.enabled(false).build()?,
                Some(leader) => builder.enabled(true).build_with_group(leader)?,
            };
            counters.push(counter);
        }
        let leader = counters.first_mut().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        leader.enable()?;
        Ok(Box::new(Group(counters)))
    }
}

/// The kernel's attributes of an event: <https://man7.org/linux/man-pages/man2/perf_event_open.2.html>.
fn builder((event, mode): CounterEvent) -> Builder<'static> {
    let cache = |which, operation, result| Cache { which, operation, result };
    let missed = |which| cache(which, CacheOp::READ, CacheResult::MISS);
    let mut builder = match event {
        HardwareEvent::Cycles | HardwareEvent::Other => Builder::new(Hardware::CPU_CYCLES),
        HardwareEvent::Instructions => Builder::new(Hardware::INSTRUCTIONS),
        HardwareEvent::Branches => Builder::new(Hardware::BRANCH_INSTRUCTIONS),
        HardwareEvent::BranchMisses => Builder::new(Hardware::BRANCH_MISSES),
        HardwareEvent::FrontendStalls => Builder::new(Hardware::STALLED_CYCLES_FRONTEND),
        HardwareEvent::BackendStalls => Builder::new(Hardware::STALLED_CYCLES_BACKEND),
        HardwareEvent::L1dMisses => Builder::new(missed(CacheId::L1D)),
        HardwareEvent::L1iMisses => Builder::new(missed(CacheId::L1I)),
        HardwareEvent::LlcMisses => Builder::new(missed(CacheId::LL)),
        HardwareEvent::DtlbMisses => Builder::new(missed(CacheId::DTLB)),
        HardwareEvent::ItlbMisses => Builder::new(missed(CacheId::ITLB)),
    };
    builder
        .exclude_user(mode == Mode::Kernel)
        .exclude_kernel(mode == Mode::User)
        .exclude_hv(true)
        .read_format(
            ReadFormat::GROUP
                | ReadFormat::TOTAL_TIME_ENABLED
                | ReadFormat::TOTAL_TIME_RUNNING
                | ReadFormat::ID,
        );
    builder
}

/// The first leads.
#[derive(Debug)]
struct Group(Vec<Counter>);

impl Counted for Group {
    fn read(&mut self) -> io::Result<GroupCounts> {
        let Some(leader) = self.0.first_mut() else { return Ok(GroupCounts::default()) };
        let data = leader.read_group()?;
        let ns = |time: Option<std::time::Duration>| {
            time.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
        };
        let count = |counter: &Counter| data.get(counter).map(|entry| entry.value());
        let counts: Option<Vec<u64>> = self.0.iter().map(count).collect();
        Ok(GroupCounts {
            enabled_ns: ns(data.time_enabled()),
            running_ns: ns(data.time_running()),
            counts: counts.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_event::data::ReadGroup;
    use perf_event::data::endian::Native;
    use perf_event::data::parse::{ParseConfig, Parser};

    #[test]
    fn what_is_asked_of_the_kernel_is_what_its_interface_calls_it() {
        let attributes = |of| {
            let builder = builder(of);
            let attributes = builder.attrs();
            let excluded = (attributes.exclude_user(), attributes.exclude_kernel());
            (attributes.type_, attributes.config, excluded)
        };
        // Types 0 and 3, numbers of `enum perf_hw_id`, and `cache | operation << 8 | result << 16`.
        assert_eq!(attributes((HardwareEvent::Cycles, Mode::Both)), (0, 0, (0, 0)));
        assert_eq!(attributes((HardwareEvent::Instructions, Mode::User)), (0, 1, (0, 1)));
        assert_eq!(attributes((HardwareEvent::BranchMisses, Mode::Kernel)), (0, 5, (1, 0)));
        assert_eq!(attributes((HardwareEvent::BackendStalls, Mode::Both)), (0, 8, (0, 0)));
        assert_eq!(attributes((HardwareEvent::L1dMisses, Mode::Both)), (3, 0x1_0000, (0, 0)));
        assert_eq!(attributes((HardwareEvent::L1iMisses, Mode::Both)), (3, 0x1_0001, (0, 0)));
        assert_eq!(attributes((HardwareEvent::LlcMisses, Mode::Both)), (3, 0x1_0002, (0, 0)));
        assert_eq!(attributes((HardwareEvent::DtlbMisses, Mode::Both)), (3, 0x1_0003, (0, 0)));
        assert_eq!(attributes((HardwareEvent::ItlbMisses, Mode::Both)), (3, 0x1_0004, (0, 0)));
        assert_eq!(builder((HardwareEvent::Cycles, Mode::Both)).attrs().read_format, 0b1111);
    }

    /// `struct read_format` of a group of two: number, time enabled, time running, then value and id of each.
    #[test]
    fn the_bytes_of_a_group_are_read_as_the_kernel_writes_them() {
        let words: [u64; 7] = [2, 4_000, 1_000, 77, 11, 5, 12];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let config: ParseConfig<Native> =
            ParseConfig::from(*builder((HardwareEvent::Cycles, Mode::Both)).attrs());
        let group: ReadGroup = Parser::new(&*bytes, config).parse().expect("whole");
        assert_eq!((group.time_enabled(), group.time_running()), (Some(4_000), Some(1_000)));
        let entries: Vec<(u64, Option<u64>)> = group.entries().map(|of| (of.value(), of.id())).collect();
        assert_eq!(entries, [(77, Some(11)), (5, Some(12))]);
    }
}
