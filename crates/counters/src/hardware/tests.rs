//! Counters of a made-up `perf_event_open`: what is refused, what lies, what takes turns.

use super::event::{Asked, Counted, Counting, GroupCounts, Mode};
use super::*;
use assay_linux::thread_cpu_ns;
use assay_testkit::FakeTree;
use rustix::io::Errno;
use std::io;

/// What a processor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Like {
    Right,
    /// Opening gives an error.
    Refuses(Errno),
    /// Opening gives an error for this event alone.
    Lacks(HardwareEvent),
    /// Opens, and is never on the processor.
    NeverRuns,
    /// Counts nothing.
    Zero,
    /// Gives the sum for each mode, as `task-clock:u` does.
    Liar,
    /// Counts a quarter of the time.
    Multiplexed,
    /// Opens groups for its own thread alone.
    NoOther(Errno),
    /// Reading gives an error.
    Unreadable,
}

#[derive(Debug, Clone, Copy)]
struct Fake(Like);

impl Counting for Fake {
    fn open(&self, tid: Option<u32>, asked: &[Asked]) -> io::Result<Box<dyn Counted>> {
        match self.0 {
            Like::Refuses(error) => return Err(error.into()),
            Like::Lacks(event) if asked.iter().any(|(of, _)| *of == event) => return Err(Errno::NOENT.into()),
            Like::NoOther(error) if tid.is_some() => return Err(error.into()),
            _ => {}
        }
        Ok(Box::new(FakeGroup {
            like: self.0,
            began_ns: thread_cpu_ns(),
            is_own: tid.is_none(),
            asked: asked.to_vec(),
        }))
    }
}

#[derive(Debug)]
struct FakeGroup {
    like: Like,
    began_ns: u64,
    is_own: bool,
    asked: Vec<Asked>,
}

impl Counted for FakeGroup {
    fn read(&mut self) -> io::Result<GroupCounts> {
        // This thread is in user mode for all of its loop; others have used 1 s.
        let enabled_ns = if self.is_own { thread_cpu_ns() - self.began_ns } else { 1_000_000_000 };
        let count = |(_, mode): &Asked| match (self.like, mode) {
            (Like::Zero, _) => 0,
            (Like::Liar, _) | (_, Mode::User) => enabled_ns,
            (_, Mode::Kernel) => enabled_ns / 100,
            (_, Mode::Both) => enabled_ns + enabled_ns / 100,
        };
        let running_ns = match self.like {
            Like::NeverRuns => 0,
            Like::Multiplexed => enabled_ns / 4,
            _ => enabled_ns,
        };
        if self.like == Like::Unreadable {
            return Err(Errno::IO.into());
        }
        Ok(GroupCounts { enabled_ns, running_ns, counts: self.asked.iter().map(count).collect() })
    }
}

fn gauge(like: Like) -> (FakeTree, HardwareGauge) {
    let tree = FakeTree::with(&[
        ("proc/sys/kernel/perf_event_paranoid", "2\n"),
        ("proc/7/task/7/comm", "a\n"),
        ("proc/7/task/8/comm", "b\n"),
    ]);
    let proc = ProcRoot::at(tree.path().join("proc"));
    let gauge = HardwareGauge::start_with(Box::new(Fake(like)), proc, 7);
    (tree, gauge)
}

/// What is said of the first event that is left out.
fn said(like: Like) -> (String, String) {
    let (_tree, gauge) = gauge(like);
    assert_eq!(gauge.counters(), None, "{like:?}: no figure");
    let row = gauge.left_out().first().expect("said").clone();
    (row.why, row.enable)
}

#[test]
fn counters_that_cannot_be_had_or_trusted_give_no_figure_and_say_what_would() {
    let cases = [
        (Like::Refuses(Errno::NOENT), "does not count instructions", "virtual PMU"),
        (Like::Refuses(Errno::OPNOTSUPP), "does not count instructions", "bare metal"),
        (Like::Refuses(Errno::ACCESS), "perf_event_paranoid is 2", "CAP_PERFMON"),
        (Like::Refuses(Errno::PERM), "perf_event_paranoid is 2", "CAP_PERFMON"),
        (Like::Refuses(Errno::NOSYS), "no such call", "CONFIG_PERF_EVENTS"),
        (Like::Refuses(Errno::MFILE), "too few files", "ulimit -n"),
        (Like::Refuses(Errno::BUSY), "somebody else", "nmi_watchdog"),
        (Like::NeverRuns, "never ran", "whose processor counts it"),
        (Like::Zero, "counted nothing of a busy loop", "whose processor counts it"),
        (Like::Liar, "does not tell the modes apart", "whose processor counts it"),
        (Like::Unreadable, "refuses", "CAP_PERFMON"),
    ];
    for (like, why, enable) in cases {
        let (said_why, said_enable) = said(like);
        assert!(said_why.contains(why) && said_enable.contains(enable), "{like:?}: {said_why} {said_enable}");
    }
}

#[test]
fn an_event_that_the_processor_lacks_is_left_out_and_the_others_are_counted() {
    let (_tree, mut gauge) = gauge(Like::Lacks(HardwareEvent::BackendStalls));
    for _ in 0..6 {
        gauge.look();
    }
    let counters = gauge.counters().expect("counters");
    assert_eq!((counters.threads, counters.threads_missed, counters.turns), (2, 0, 6));
    let events: Vec<HardwareEvent> = counters.figures.iter().map(|figure| figure.event).collect();
    assert!(
        events.contains(&HardwareEvent::FrontendStalls) && !events.contains(&HardwareEvent::BackendStalls)
    );
    assert_eq!(gauge.left_out().len(), 1);
    assert!(gauge.left_out()[0].figure.contains("backend-stall-cycles"));
}

#[test]
fn counts_are_added_up_over_threads_and_modes_stay_apart() {
    let (_tree, mut gauge) = gauge(Like::Right);
    gauge.look();
    let counters = gauge.counters().expect("counters");
    assert_eq!(counters.figures.len(), 1, "one group had its turn");
    let cycles = counters.figures[0];
    assert_eq!(
        (cycles.event, cycles.user, cycles.kernel),
        (HardwareEvent::Cycles, 2_000_000_000, 20_000_000)
    );
    assert!(!cycles.is_multiplexed() && cycles.enabled_ns == 2_000_000_000);
    assert_eq!(cycles.user_per_1000_instructions(), Some(1000.0));
}

#[test]
fn counts_of_a_part_of_the_time_are_not_scaled_and_say_so() {
    let (_tree, mut gauge) = gauge(Like::Multiplexed);
    gauge.look();
    let cycles = gauge.counters().expect("counters").figures[0];
    assert!(cycles.is_multiplexed());
    assert_eq!(
        (cycles.user, cycles.enabled_ns, cycles.running_ns),
        (2_000_000_000, 2_000_000_000, 500_000_000)
    );
}

#[test]
fn threads_that_cannot_be_counted_are_missed_and_not_zero() {
    let (_tree, mut gauge) = gauge(Like::NoOther(Errno::MFILE));
    gauge.look();
    let counters = gauge.counters().expect("the events themselves can be trusted");
    assert_eq!((counters.threads, counters.threads_missed, counters.figures.len()), (0, 2, 0));
}

#[test]
fn new_threads_are_taken_in_at_the_next_look_and_a_process_that_is_gone_keeps_its_counts() {
    let (tree, mut gauge) = gauge(Like::Right);
    tree.write("proc/7/task/9/comm", b"c\n");
    gauge.look();
    assert_eq!(gauge.counters().map(|counters| counters.threads), Some(3));
    std::fs::remove_dir_all(tree.path().join("proc/7")).expect("ours");
    gauge.look();
    gauge.look();
    let counters = gauge.counters().expect("counters");
    assert_eq!(counters.threads, 3);
    assert_eq!(counters.figures[0].user, 2_000_000_000, "of the two that were there in its turn");
}
