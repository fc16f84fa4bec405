//! What the kernel writes of a thread when it ends: `struct taskstats`.

use super::netlink::{Message, attribute, long, messages, number, short};
use crate::Schedstat;
use std::ops::RangeInclusive;

/// `TASKSTATS_TYPE_PID`, `_STATS`, `_AGGR_PID`.
const PID: u16 = 1;
const STATS: u16 = 3;
const OF_THREAD: u16 = 4;
/// Places in `struct taskstats` (`linux/taskstats.h`).
const AT: Places = Places {
    slices: 16,
    run_delay_ns: 24,
    block_io_ns: 40,
    run_ns: 72,
    name: 80,
    tid: 128,
    elapsed_us: 144,
    user_us: 152,
    kernel_us: 160,
    minor_faults: 168,
    major_faults: 176,
    voluntary_switches: 272,
    involuntary_switches: 280,
    tgid: 368,
};
const NAME_BYTES: usize = 32;
/// From here on a record says of which process its thread was (Linux 5.19).
const VERSION_WITH_TGID: u16 = 12;

struct Places {
    slices: usize,
    run_delay_ns: usize,
    block_io_ns: usize,
    run_ns: usize,
    name: usize,
    tid: usize,
    elapsed_us: usize,
    user_us: usize,
    kernel_us: usize,
    minor_faults: usize,
    major_faults: usize,
    voluntary_switches: usize,
    involuntary_switches: usize,
    tgid: usize,
}

/// What a thread had used when it ended.
///
/// Folklore: `run` is as of the last timer interrupt, switch or wake-up on the thread's processor: the kernel does not bring it up to date
/// before it sends the record. Of C programs whose threads run for 1 ms and end, it had a third (Linux 6.18). A thread that never waited
/// has run for `elapsed_ns` less the time that it was ready to run: see [`ExitRecord::run_ns`].
/// Held by: `a_thousand_threads_that_came_and_went_between_two_readings_are_in_the_account`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitRecord {
    /// Thread id, in the machine's PID namespace.
    pub tid: u32,
    /// Its process; absent before Linux 5.19.
    pub tgid: Option<u32>,
    /// The kernel's name of it, up to 15 bytes.
    pub name: String,
    /// From its start to its end.
    pub elapsed_ns: u64,
    /// Run time and delays; absent on old kernels unless they account delays.
    pub run: Option<Schedstat>,
    /// Timer interrupts that met it in user mode, as time: a sample, and not scaled to `run_ns`.
    pub sampled_user_ns: u64,
    /// Those that met it in the kernel.
    pub sampled_kernel_ns: u64,
    /// Page faults that needed no read from a disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Times that it gave its processor up to wait for something.
    pub voluntary_switches: u64,
    /// Times that the kernel took the processor away.
    pub involuntary_switches: u64,
    /// Time blocked on block devices; 0 unless the kernel accounts delays.
    pub block_io_ns: u64,
}

impl ExitRecord {
    /// The least and the most CPU time that it can have used; of a thread that never waited both are the same. `interrupt_ns`: between
    /// two timer interrupts. `None` on old kernels unless they account delays.
    pub fn run_ns(&self, interrupt_ns: u64) -> Option<RangeInclusive<u64>> {
        let Schedstat { run_ns, wait_ns, .. } = self.run?;
        let most_ns =
            self.elapsed_ns.saturating_sub(wait_ns).min(run_ns.saturating_add(interrupt_ns)).max(run_ns);
        Some(if self.voluntary_switches == 0 { most_ns..=most_ns } else { run_ns..=most_ns })
    }
}

/// The records in what was received from the family. `Err` when one is not laid out as it should be.
///
/// Folklore: version 15 (Linux 6.14) put fields into the middle, version 16 took them out again: the thread's number, which stands behind
/// that place and in an attribute of its own, shows it. Held by: `a_record_laid_out_otherwise_is_refused`.
pub(super) fn records(received: &[u8], family: u16) -> Result<Vec<ExitRecord>, OtherLayout> {
    let of_family = |message| match message {
        Message::OfFamily { family: of, attributes } if of == family => attribute(attributes, OF_THREAD),
        _ => None,
    };
    messages(received).filter_map(of_family).map(|thread| record(thread).ok_or(OtherLayout)).collect()
}

/// A record of another layout than the documented one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OtherLayout;

fn record(thread: &[u8]) -> Option<ExitRecord> {
    let tid = number(attribute(thread, PID)?, 0)?;
    let stats = attribute(thread, STATS)?;
    let time = |at| Some(long(stats, at)?.saturating_mul(1000));
    let run = Schedstat {
        run_ns: long(stats, AT.run_ns)?,
        wait_ns: long(stats, AT.run_delay_ns)?,
        slices: long(stats, AT.slices)?,
    };
    let name = stats.get(AT.name..)?.get(..NAME_BYTES)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(ExitRecord {
        tid: number(stats, AT.tid).filter(|own| *own == tid)?,
        tgid: if VERSION_WITH_TGID <= short(stats, 0)? { Some(number(stats, AT.tgid)?) } else { None },
        name: String::from_utf8_lossy(name).into_owned(),
        elapsed_ns: time(AT.elapsed_us)?,
        // A thread that ends has run.
        run: Some(run).filter(|run| run.run_ns != 0),
        sampled_user_ns: time(AT.user_us)?,
        sampled_kernel_ns: time(AT.kernel_us)?,
        minor_faults: long(stats, AT.minor_faults)?,
        major_faults: long(stats, AT.major_faults)?,
        voluntary_switches: long(stats, AT.voluntary_switches)?,
        involuntary_switches: long(stats, AT.involuntary_switches)?,
        block_io_ns: long(stats, AT.block_io_ns)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What Linux 6.18 sent when a thread of a Python program ended that had used 50 ms of CPU time.
    const RECEIVED: &[u8] = include_bytes!("../../../../testdata/linux/exit-record-6.18.bin");
    const FAMILY: u16 = 31;
    /// The structure in it.
    const STATS_AT: usize = 36;

    /// The same with a number of the structure changed.
    fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut received = RECEIVED.to_vec();
        received[STATS_AT + at..][..bytes.len()].copy_from_slice(bytes);
        received
    }

    #[test]
    fn a_record_of_the_kernel_is_read() {
        let read = records(RECEIVED, FAMILY).expect("the documented layout");
        assert_eq!(
            read,
            [ExitRecord {
                tid: 1831,
                tgid: Some(1790),
                name: "python3".to_owned(),
                elapsed_ns: 50_477_000,
                run: Some(Schedstat { run_ns: 50_045_821, wait_ns: 94_025, slices: 10 }),
                sampled_user_ns: 12_000_000,
                sampled_kernel_ns: 40_000_000,
                minor_faults: 5,
                major_faults: 0,
                voluntary_switches: 5,
                involuntary_switches: 4,
                block_io_ns: 0,
            }]
        );
        assert_eq!(records(RECEIVED, FAMILY + 1), Ok(Vec::new()), "another family's");
    }

    #[test]
    fn a_record_of_an_old_kernel_does_not_say_whose_thread_it_was() {
        let read = records(&with(0, &11u16.to_ne_bytes()), FAMILY).expect("the documented layout");
        assert_eq!((read[0].tgid, read[0].elapsed_ns), (None, 50_477_000));
    }

    #[test]
    fn a_kernel_that_does_not_account_delays_leaves_the_run_time_unknown() {
        let read = records(&with(AT.run_ns, &[0; 8]), FAMILY).expect("the documented layout");
        assert_eq!((read[0].run, read[0].sampled_user_ns), (None, 12_000_000));
    }

    #[test]
    fn a_record_laid_out_otherwise_is_refused() {
        assert_eq!(records(&with(AT.tid, &7u32.to_ne_bytes()), FAMILY), Err(OtherLayout));
    }

    proptest! {
        #[test]
        fn nothing_received_makes_it_panic(at in 0usize..596, with in any::<u8>(), end in 0usize..=596) {
            let mut received = RECEIVED.to_vec();
            received[at] = with;
            let _ = records(&received[..end], FAMILY);
        }
    }
}
