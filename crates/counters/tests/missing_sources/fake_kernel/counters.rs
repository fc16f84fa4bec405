//! Counters of the processor of a kernel of a test's own.

use assay_counters::kernel::{Counted, CounterEvent, Counting, GroupCounts, Mode};
use assay_linux::thread_cpu_ns;
use assay_model::HardwareEvent;
use rustix::io::Errno;
use std::io;

/// What a processor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CounterState {
    #[default]
    Right,
    Refused(Errno),
    /// This event alone is refused.
    Lacks(HardwareEvent),
    /// Opens, and is never on the processor.
    NeverRuns,
    /// Counts nothing.
    Zero,
    /// Gives the sum for each mode, as `task-clock:u` does.
    Liar,
    /// Counts user mode, and nothing of the kernel.
    UserOnly,
    /// Counts a quarter of the time.
    Multiplexed,
    /// Opens groups for its own thread alone.
    NoOther(Errno),
    /// Reading gives an error.
    Unreadable,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Counters(pub CounterState);

impl Counting for Counters {
    fn open(&self, tid: Option<u32>, asked: &[CounterEvent]) -> io::Result<Box<dyn Counted>> {
        match self.0 {
            CounterState::Refused(error) => return Err(error.into()),
            CounterState::Lacks(event) if asked.iter().any(|(of, _)| *of == event) => {
                return Err(Errno::NOENT.into());
            }
            CounterState::NoOther(error) if tid.is_some() => return Err(error.into()),
            _ => {}
        }
        let group = Group {
            state: self.0,
            asked: asked.to_vec(),
            last_ns: thread_cpu_ns(),
            reads: 0,
            counts: [0; 2],
        };
        Ok(if tid.is_none() { Box::new(group) } else { Box::new(Other(group)) })
    }
}

/// Of the calling thread, which is in a loop in user mode between the first two readings, and in the kernel between the next two.
#[derive(Debug)]
struct Group {
    state: CounterState,
    asked: Vec<CounterEvent>,
    last_ns: u64,
    reads: u32,
    /// User mode and kernel.
    counts: [u64; 2],
}

impl Group {
    fn counts(&self, enabled_ns: u64, [user, kernel]: [u64; 2]) -> io::Result<GroupCounts> {
        let both = user + kernel;
        let count = |(_, mode): &CounterEvent| match (self.state, mode) {
            (CounterState::Zero, _) | (CounterState::UserOnly, Mode::Kernel) => 0,
            (CounterState::UserOnly, _) => user,
            (CounterState::Liar, _) | (_, Mode::Both) => both,
            (_, Mode::User) => user,
            (_, Mode::Kernel) => kernel,
        };
        let running_ns = match self.state {
            CounterState::NeverRuns => 0,
            CounterState::Multiplexed => enabled_ns / 4,
            CounterState::Unreadable => return Err(Errno::IO.into()),
            _ => enabled_ns,
        };
        Ok(GroupCounts { enabled_ns, running_ns, counts: self.asked.iter().map(count).collect() })
    }
}

impl Counted for Group {
    fn read(&mut self) -> io::Result<GroupCounts> {
        let now_ns = thread_cpu_ns();
        let used = now_ns - self.last_ns;
        let [user, kernel] = if self.reads < 2 { [used, used / 100] } else { [used / 100, used] };
        self.counts = [self.counts[0] + user, self.counts[1] + kernel];
        (self.reads, self.last_ns) = (self.reads + 1, now_ns);
        self.counts(self.counts[0] + self.counts[1], self.counts)
    }
}

/// Of another thread, which has run for 1 s, nearly all of it in user mode.
#[derive(Debug)]
struct Other(Group);

impl Counted for Other {
    fn read(&mut self) -> io::Result<GroupCounts> {
        self.0.counts(1_000_000_000, [1_000_000_000, 10_000_000])
    }
}
