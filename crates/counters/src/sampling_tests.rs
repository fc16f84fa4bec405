//! Events that cannot be opened, lie, or lose samples, through a made-up `perf_event_open` and made-up files of the kernel: what is
//! missing is said, with what would give it, and the figures of the first rung remain.

use crate::TimeGauge;
use crate::sampling::{Events, Record, Sample, Samples, Whom};
use assay_linux::{ProcRoot, SysRoot, thread_cpu_ns};
use assay_model::{KernelActivity, TimeReport};
use assay_testkit::FakeTree;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::sync::Mutex;

/// What this thread's event says of loops: which samples in which mode.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Trial {
    Right,
    Nothing,
    AlwaysUser,
    TooMany,
}

#[derive(Debug)]
struct Fake {
    trial: Trial,
    /// What the kernel answers to opening an event for a processor.
    cpu: Option<Errno>,
    /// And for this thread.
    own: Option<Errno>,
    /// What a processor's event says.
    records: Mutex<Vec<Record>>,
}

impl Default for Fake {
    fn default() -> Fake {
        Fake { trial: Trial::Right, cpu: None, own: None, records: Mutex::default() }
    }
}

impl Events for Fake {
    fn open(&self, whom: Whom, rate_per_s: u32) -> io::Result<Box<dyn Samples>> {
        let error = if whom == Whom::Self_ { self.own } else { self.cpu };
        if let Some(error) = error {
            return Err(error.into());
        }
        Ok(match whom {
            Whom::Self_ => Box::new(OwnSamples {
                trial: self.trial,
                rate_per_s: u64::from(rate_per_s),
                last_ns: thread_cpu_ns(),
                left: None,
                is_kernel: false,
            }),
            Whom::Cpu(_) => {
                // What is there before the first look belongs to an earlier time, and is read by it.
                let records = std::mem::take(&mut *self.records.lock().expect("nobody panics"));
                Box::new(Recorded { records: records.into(), is_first: true })
            }
        })
    }
}

/// As many samples as the thread's CPU time has, in user mode up to the first reading and in the kernel up to the second.
#[derive(Debug)]
struct OwnSamples {
    trial: Trial,
    rate_per_s: u64,
    last_ns: u64,
    left: Option<u64>,
    is_kernel: bool,
}

impl Samples for OwnSamples {
    fn next(&mut self) -> Option<Record> {
        let now = thread_cpu_ns();
        let due = now.saturating_sub(self.last_ns) * self.rate_per_s / 1_000_000_000;
        let due = match self.trial {
            Trial::Nothing => 0,
            Trial::TooMany => due * 5,
            Trial::Right | Trial::AlwaysUser => due,
        };
        let left = self.left.unwrap_or(due);
        if left == 0 {
            (self.left, self.last_ns, self.is_kernel) = (None, now, true);
            return None;
        }
        self.left = Some(left - 1);
        let kernel = if self.is_kernel && self.trial != Trial::AlwaysUser { vec![1] } else { Vec::new() };
        Some(Record::Sample(Sample { pid: 7, tid: 7, kernel, user: vec![1] }))
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

fn sample(pid: u32, tid: u32, kernel: &[u64]) -> Record {
    Record::Sample(Sample { pid, tid, kernel: kernel.to_vec(), user: vec![0x1000] })
}

const FUTEX: u64 = 0xffff_ffff_8100_0010;

/// The account of a process 7 with threads 7 and 8, of which 8 runs for 1 s.
fn account(events: &Fake, paranoid: &str, kallsyms: &str) -> TimeReport {
    let tree = FakeTree::with(&[
        ("proc/stat", "cpu  1 0 5 90 0 0 1 0 0 0\ncpu0 1 0 5 90 0 0 1 0 0 0\n"),
        ("proc/sys/kernel/perf_event_paranoid", paranoid),
        ("proc/kallsyms", kallsyms),
    ]);
    let write = |run_ns: u64| {
        let ticks = run_ns / 10_000_000;
        for (path, ticks) in
            [("proc/7/stat", ticks), ("proc/7/task/7/stat", 0), ("proc/7/task/8/stat", ticks)]
        {
            let stat = format!("7 (x) S 1 7 7 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 2 0 50 0 0\n");
            tree.write(
                path,
                stat.replace("7 (x)", if path.contains("/8/") { "8 (x)" } else { "7 (x)" }).as_bytes(),
            );
        }
        tree.write("proc/7/task/7/schedstat", b"0 0 1\n");
        tree.write("proc/7/task/8/schedstat", format!("{run_ns} 0 1\n").as_bytes());
        tree.write("proc/7/task/7/status", b"Name:\tx\n");
        tree.write("proc/7/task/8/status", b"Name:\tx\n");
    };
    write(0);
    let (proc, sys) = (ProcRoot::at(tree.path().join("proc")), SysRoot::at(tree.path().join("sys")));
    let mut gauge = TimeGauge::at(proc, &sys, 7).expect("a process");
    gauge.start_sampling_with(events).expect("readable");
    write(1_000_000_000);
    assert!(gauge.look().expect("readable"));
    let report = gauge.report(None);
    assert_eq!(
        (report.process.cpu_ns, report.threads_cpu_ns),
        (1_000_000_000, 1_000_000_000),
        "the first rung"
    );
    report
}

const SYMBOLS: &str = "ffffffff81000000 T __x64_sys_futex\nffffffff81000100 T next\n";

/// Why there are no samples, and what would give them.
#[track_caller]
fn refusal(events: &Fake, paranoid: &str) -> (String, String) {
    let report = account(events, paranoid, SYMBOLS);
    assert_eq!(report.samples, None);
    let of = |figure: &str| {
        let row = report.left_out.iter().find(|row| row.figure == figure).expect("said");
        (row.why.clone(), row.enable.clone())
    };
    assert_eq!(of("what the kernel did"), of("where in the code"));
    of("where in the code")
}

#[test]
fn what_the_kernel_refuses_is_said_with_what_would_allow_it() {
    let cases = [
        (Errno::ACCESS, "2\n", "perf_event_paranoid is 2", "CAP_PERFMON"),
        (Errno::PERM, "4\n", "perf_event_paranoid is 4", "CAP_PERFMON"),
        (Errno::PERM, "-1\n", "filter of system calls", "seccomp"),
        (Errno::ACCESS, "none", "may not", "CAP_PERFMON"),
        (Errno::NOSYS, "2\n", "no such call", "CONFIG_PERF_EVENTS"),
        (Errno::NOENT, "2\n", "no event cpu-clock", "CONFIG_PERF_EVENTS"),
        (Errno::OPNOTSUPP, "2\n", "no event cpu-clock", "CONFIG_PERF_EVENTS"),
        (Errno::MFILE, "2\n", "too few files", "ulimit -n"),
        (Errno::NOMEM, "2\n", "no memory", "perf_event_mlock_kb"),
        (Errno::BUSY, "2\n", "refuses", "root"),
    ];
    for (error, paranoid, why, enable) in cases {
        let (said_why, said_enable) = refusal(&Fake { own: Some(error), ..Fake::default() }, paranoid);
        assert!(
            said_why.contains(why) && said_enable.contains(enable),
            "{error:?}: {said_why} {said_enable}"
        );
    }
}

#[test]
fn an_event_that_opens_for_a_thread_and_not_for_a_processor_is_refused() {
    let (why, enable) = refusal(&Fake { cpu: Some(Errno::ACCESS), ..Fake::default() }, "1\n");
    assert!(why.contains("paranoid is 1") && enable.contains("paranoid=0"), "{why} {enable}");
}

#[test]
fn an_event_that_is_wrong_about_a_known_loop_is_not_used() {
    let cases = [
        (Trial::Nothing, "gave 0 samples"),
        (Trial::TooMany, "instead of"),
        (Trial::AlwaysUser, "in the kernel only 0 say so"),
    ];
    for (trial, what) in cases {
        let (why, _) = refusal(&Fake { trial, ..Fake::default() }, "2\n");
        assert!(why.contains("not to be trusted") && why.contains(what), "{trial:?}: {why}");
    }
}

#[test]
fn lost_samples_and_pauses_are_counted_and_other_processes_left_out() {
    let records = vec![
        sample(7, 8, &[FUTEX]),
        sample(9, 9, &[FUTEX]),
        Record::Lost(5),
        sample(7, 8, &[]),
        Record::Throttled,
        Record::Nothing,
        Record::Lost(2),
        sample(7, 99, &[]),
    ];
    let report = account(&Fake { records: Mutex::new(records), ..Fake::default() }, "0\n", SYMBOLS);
    let samples = report.samples.expect("samples");
    assert_eq!((samples.samples, samples.lost, samples.throttled, samples.cpus), (3, 7, 1, 1));
    assert_eq!(samples.kernel.len(), 1);
    assert_eq!((samples.kernel[0].activity, samples.kernel[0].samples), (Some(KernelActivity::Futex), 1));
    let coverage = samples.coverage.expect("CPU time");
    assert!((coverage - 3.0 / 199.0).abs() < 1e-9, "three samples of 199: {coverage}");
    let unseen = samples.roles.iter().find(|role| role.role.is_none()).expect("thread 99");
    assert_eq!((unseen.samples, unseen.cpu_ns), (1, 0), "the clocks know of no time of it");
}

#[test]
fn without_the_kernel_s_symbols_its_activity_is_unknown() {
    let records = vec![sample(7, 8, &[FUTEX]), sample(7, 8, &[])];
    let hidden = "0000000000000000 T __x64_sys_futex\n";
    let report = account(&Fake { records: Mutex::new(records), ..Fake::default() }, "0\n", hidden);
    let samples = report.samples.as_ref().expect("samples");
    assert_eq!(samples.kernel[0].activity, Some(KernelActivity::Unknown));
    let why = report.left_out.iter().find(|row| row.figure == "what the kernel did").expect("said");
    assert!(why.why.contains("kptr_restrict") && why.enable.contains("kptr_restrict"), "{why:?}");
    assert!(!report.left_out.iter().any(|row| row.figure == "where in the code"));
    assert!(samples.frames.iter().any(|frame| frame.name == "[kernel]"), "{:?}", samples.frames);
}

#[test]
fn a_process_of_whom_nothing_was_sampled_has_no_shares() {
    let samples = account(&Fake::default(), "0\n", SYMBOLS).samples.expect("sampling worked");
    assert_eq!((samples.samples, samples.kernel_share), (0, None));
    assert!(samples.roles.iter().all(|role| role.parts.is_empty()) && samples.kernel.is_empty());
}
