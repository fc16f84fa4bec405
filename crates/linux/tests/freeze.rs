//! A process that is stopped for a reading stands still, and goes on unharmed, whatever happens to who stopped it.

use crate::target::worker::{Count, WORKING, send_counted_signal};
use crate::target::{Target, asked_for, ready_until_the_test_ends};
use assay_linux::{Freeze, FreezeError, LiveProcess, MemorySource, ProcRoot};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);
/// Nothing takes so long but a fault.
const HANG: Duration = Duration::from_secs(120);

fn freeze(pid: u32, limit: Duration) -> Result<Freeze, FreezeError> {
    Freeze::start(&ProcRoot::default(), pid, limit)
}

/// The freezer as a process of its own, so that it can be killed.
#[test]
fn as_freezer() {
    let Some((kind, pid)) = asked_for() else { return };
    assert_eq!(kind, "freezer");
    let frozen = freeze(pid.parse().expect("a number"), LONG).expect("a worker");
    ready_until_the_test_ends();
    drop(frozen);
}

struct Worker {
    target: Target,
    live: LiveProcess,
}

impl Worker {
    fn start(idle: usize) -> Worker {
        let target = Target::start_with("worker", &idle.to_string());
        let counters = target.told["counters"];
        // The page of the counters is there as soon as one of them has moved.
        loop {
            let live = LiveProcess::open(&ProcRoot::default(), target.pid()).expect("our child");
            if live.u64(counters).is_some_and(|count| count != 0) {
                return Worker { target, live };
            }
        }
    }

    fn count(&self, count: Count) -> u64 {
        self.live.u64(self.target.told["counters"] + 8 * count as u64).expect("resident")
    }

    fn counts(&self) -> Vec<u64> {
        WORKING.iter().map(|count| self.count(*count)).collect()
    }

    /// Whether everything advances again, and nothing went wrong.
    #[track_caller]
    fn goes_on(&self) {
        let before = self.counts();
        let began = Instant::now();
        while self.counts().iter().zip(&before).any(|(now, before)| now <= before) {
            assert!(began.elapsed() < HANG, "{:?} after {before:?}", self.counts());
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(self.count(Count::Wrong), 0);
        assert_eq!(ProcRoot::default().read_tracer_pid(self.target.pid()).expect("our child"), None);
    }

    /// So many signals were handled in all. The last ones may still wait for the thread that handles them.
    #[track_caller]
    fn has_handled(&self, signals: u64) {
        let began = Instant::now();
        while self.count(Count::Signals) < signals && began.elapsed() < HANG {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(self.count(Count::Signals), signals);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.target.child), signal).expect("our child");
    }
}

#[test]
fn a_frozen_process_stands_still_and_goes_on() {
    let worker = Worker::start(20);
    for _ in 0..20 {
        let frozen = freeze(worker.target.pid(), LONG).expect("our child");
        let before = worker.counts();
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(worker.counts(), before);
        assert!(frozen.is_still_frozen());
        assert!(20 < frozen.threads());
        let stopping_ns = frozen.stopping_ns();
        let times = frozen.end().expect("the freezer's times");
        assert!(stopping_ns == times.stopping_ns && 10_000_000 <= times.stopped_ns, "{times:?}");
        assert!(!times.is_cut_short);
        worker.goes_on();
    }
}

#[test]
fn the_pages_of_a_frozen_process_are_its_rss() {
    let worker = Worker::start(5);
    let frozen = freeze(worker.target.pid(), LONG).expect("our child");
    let live = LiveProcess::open(&ProcRoot::default(), worker.target.pid()).expect("our child");
    for mapping in live.mappings() {
        assert_eq!(
            live.pages().resident_bytes_in(mapping.addresses.clone()),
            mapping.rss_bytes,
            "{mapping:?}"
        );
    }
    // A thread that stands still has a stack pointer, also the one that always runs; one that has ended has none.
    let has_ended = |tid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{}/task/{tid}/stat", worker.target.pid()));
        stat.map_or(true, |stat| stat.contains(") Z ") || stat.contains(") X "))
    };
    for thread in live.threads() {
        assert!(thread.stack_pointer.is_some() || has_ended(thread.tid), "{thread:?}");
    }
    assert!(frozen.is_still_frozen());
    drop(frozen);
    worker.goes_on();
}

#[test]
fn it_is_let_go_at_the_deadline_though_the_caller_holds_on() {
    let worker = Worker::start(0);
    let (limit, began) = (Duration::from_millis(300), Instant::now());
    let frozen = freeze(worker.target.pid(), limit).expect("our child");
    assert!(frozen.is_still_frozen() || limit <= began.elapsed());
    worker.goes_on();
    assert!(!frozen.is_still_frozen());
    let times = frozen.end().expect("the freezer's times");
    assert!(times.is_cut_short && 300_000_000 <= times.stopped_ns, "{times:?}");
}

#[test]
fn it_goes_on_when_the_freezer_is_killed() {
    let worker = Worker::start(3);
    let pid = worker.target.pid();
    for signal in [Signal::KILL, Signal::ABORT, Signal::TERM] {
        let freezer = Target::start_test("freeze::as_freezer", "freezer", &pid.to_string());
        let before = worker.counts();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(worker.counts(), before, "it stands still");
        // Signals that come meanwhile are not lost either.
        let signals = worker.count(Count::Signals);
        for _ in 0..50 {
            send_counted_signal(pid);
        }
        kill_process(Pid::from_child(&freezer.child), signal).expect("our child");
        worker.goes_on();
        worker.has_handled(signals + 50);
    }
}

#[test]
fn no_signal_is_lost() {
    let worker = Worker::start(2);
    let pid = worker.target.pid();
    let sent = std::sync::atomic::AtomicU64::new(0);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // So many that one is being delivered when a thread is told to stop.
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                let waiting = sent.load(Ordering::SeqCst).saturating_sub(worker.count(Count::Signals));
                if waiting < 1000 {
                    send_counted_signal(pid);
                    sent.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        for _ in 0..300 {
            freeze(pid, LONG).expect("our child").end();
        }
        is_over.store(true, Ordering::SeqCst);
    });
    worker.goes_on();
    worker.has_handled(sent.into_inner());
}

#[test]
fn a_stopped_process_stays_stopped_and_a_stop_meanwhile_takes_effect() {
    let worker = Worker::start(2);
    // Stopped before.
    worker.target.stop();
    freeze(worker.target.pid(), LONG).expect("our child").end();
    worker.target.wait_for_state('T');
    worker.signal(Signal::CONT);
    worker.goes_on();
    // Stopped meanwhile.
    let frozen = freeze(worker.target.pid(), LONG).expect("our child");
    worker.signal(Signal::STOP);
    drop(frozen);
    worker.target.wait_for_state('T');
    worker.signal(Signal::CONT);
    worker.goes_on();
    // Continued meanwhile: it must not wait for another signal.
    worker.target.stop();
    let frozen = freeze(worker.target.pid(), LONG).expect("our child");
    worker.signal(Signal::CONT);
    drop(frozen);
    worker.goes_on();
}

#[test]
fn a_thousand_threads_are_stopped() {
    let worker = Worker::start(1000);
    let frozen = freeze(worker.target.pid(), LONG).expect("our child");
    assert!(1000 < frozen.threads());
    let stopping = Duration::from_nanos(frozen.stopping_ns());
    let times = frozen.end().expect("the freezer's times");
    println!(
        "1,000 threads: stopped after {stopping:?}, in all {:?}",
        Duration::from_nanos(times.stopped_ns)
    );
    worker.goes_on();
}

#[test]
fn a_traced_process_is_left_alone_and_its_tracer_named() {
    let worker = Worker::start(0);
    let pid = worker.target.pid();
    let first = Target::start_test("freeze::as_freezer", "freezer", &pid.to_string());
    match freeze(pid, LONG) {
        Err(FreezeError::Traced { tracer_pid, ref tracer, .. }) => {
            assert_eq!(tracer_pid, first.pid());
            assert_eq!(tracer, "assay-freeze");
        }
        other => panic!("{other:?}"),
    }
    drop(first);
    worker.goes_on();
}

#[test]
fn a_process_that_is_killed_ends_and_its_parent_learns_how() {
    let mut worker = Worker::start(3);
    let frozen = freeze(worker.target.pid(), LONG).expect("our child");
    worker.signal(Signal::KILL);
    // The parent hears of it when the tracer has let go.
    drop(frozen);
    let status = worker.target.child.wait().expect("our child");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    match freeze(worker.target.pid(), LONG) {
        Err(FreezeError::Linux(e)) => assert!(e.is_absent(), "{e}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn this_process_cannot_stop_itself() {
    assert!(matches!(freeze(std::process::id(), LONG), Err(FreezeError::Own)));
}
