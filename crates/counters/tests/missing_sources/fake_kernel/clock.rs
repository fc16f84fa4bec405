//! The event `cpu-clock` of a kernel of a test's own.

use assay_counters::kernel::{Events, NotOpened, Record, Sample, SampleTarget, Samples};
use assay_linux::thread_cpu_ns;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// In `__x64_sys_futex`.
pub const FUTEX: u64 = 0xffff_ffff_8100_0010;

/// What the kernel answers, and what its event says of a thread's own loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockState {
    #[default]
    Right,
    Refused(Errno),
    /// For processors alone.
    RefusedForCpus(Errno),
    /// The memory for the samples.
    NoMemory(Errno),
    Silent,
    /// The first loops only: a hypervisor had stopped the processor.
    SilentAtFirst,
    AlwaysUser,
    TooMany,
}

#[derive(Debug)]
pub struct Clock {
    pub state: ClockState,
    /// What the event of a processor says.
    pub records: Mutex<Vec<Record>>,
    was_tried: AtomicBool,
}

impl Default for Clock {
    /// Of thread 8: three samples in user mode, one in the kernel.
    fn default() -> Clock {
        let records = vec![sample(7, 8, &[]), sample(7, 8, &[FUTEX]), sample(7, 8, &[]), sample(7, 8, &[])];
        Clock {
            state: ClockState::default(),
            records: Mutex::new(records),
            was_tried: AtomicBool::new(false),
        }
    }
}

pub fn sample(pid: u32, tid: u32, kernel: &[u64]) -> Record {
    Record::Sample(Sample { pid, tid, kernel: kernel.to_vec(), user: vec![0x1000] })
}

impl Events for Clock {
    fn open(&self, whom: SampleTarget, rate_per_s: u32) -> Result<Box<dyn Samples>, NotOpened> {
        match (self.state, whom) {
            (ClockState::Refused(error), _) | (ClockState::RefusedForCpus(error), SampleTarget::Cpu(_)) => {
                Err(NotOpened::Open(error.into()))
            }
            (ClockState::NoMemory(error), _) => Err(NotOpened::Map(error.into())),
            (state, SampleTarget::Self_) => Ok(Box::new(OwnSamples {
                state: match (state, self.was_tried.swap(true, Relaxed)) {
                    (ClockState::SilentAtFirst, false) => ClockState::Silent,
                    _ => state,
                },
                rate_per_s: u64::from(rate_per_s),
                last_ns: thread_cpu_ns(),
                left: None,
                is_kernel: false,
            })),
            (_, SampleTarget::Cpu(_)) => {
                // What is there before the first reading belongs to an earlier time, and is read by it.
                let records = std::mem::take(&mut *self.records.lock().expect("nobody panics"));
                Ok(Box::new(Recorded { records: records.into(), is_first: true }))
            }
        }
    }
}

/// As many samples as the thread's CPU time has, in user mode up to the first reading and in the kernel up to the second.
#[derive(Debug)]
struct OwnSamples {
    state: ClockState,
    rate_per_s: u64,
    last_ns: u64,
    left: Option<u64>,
    is_kernel: bool,
}

impl Samples for OwnSamples {
    fn next(&mut self) -> Option<Record> {
        let now = thread_cpu_ns();
        let due = now.saturating_sub(self.last_ns) * self.rate_per_s / 1_000_000_000;
        let due = match self.state {
            ClockState::Silent => 0,
            ClockState::TooMany => due * 5,
            _ => due,
        };
        let left = self.left.unwrap_or(due);
        if left == 0 {
            (self.left, self.last_ns, self.is_kernel) = (None, now, true);
            return None;
        }
        self.left = Some(left - 1);
        let is_kernel = self.is_kernel && self.state != ClockState::AlwaysUser;
        Some(sample(7, 7, if is_kernel { &[1] } else { &[] }))
    }
}

#[derive(Debug)]
struct Recorded {
    records: VecDeque<Record>,
    is_first: bool,
}

impl Samples for Recorded {
    fn next(&mut self) -> Option<Record> {
        if std::mem::take(&mut self.is_first) { None } else { self.records.pop_front() }
    }
}
