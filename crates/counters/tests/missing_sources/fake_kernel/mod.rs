//! A kernel of a test's own: the files of a process 7 with threads 7 and 8, and calls that are refused or answer wrongly.

mod addresses;
mod clock;
mod counters;
mod programs;

pub use addresses::{UnitState, Units, access, lost};
pub use clock::{Clock, ClockState, FUTEX, sample};
pub use counters::{CounterState, Counters};
pub use programs::ProgramsState;

use assay_counters::{SideGauges, Sides, TimeGauge};
use assay_linux::{ExitListener, ProcRoot, SysRoot};
use assay_model::TimeReport;
use assay_testkit::FakeTree;
use rustix::io::Errno;
use std::os::unix::fs::symlink;

/// The smallest description of types that is one: `struct btf_header`, no types, and the empty name.
const TYPES: &[u8] = &[0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];

/// What the kernel has, and what it answers.
pub struct FakeKernel {
    /// `proc` and `sys`.
    pub tree: FakeTree,
    pub clock: Clock,
    pub counters: Counters,
    pub units: Units,
    pub programs: ProgramsState,
    /// Whether counters of the processor are asked for, as by `--counters`: each is tried, which takes time.
    pub asked: Sides,
    /// The answer to whoever wants records of threads that end.
    pub exits: Errno,
}

pub fn stat(tid: u32, start: u64, (user, system): (u64, u64), block_io: u64) -> String {
    format!(
        "{tid} (a b) c) S 1 7 7 0 -1 0 11 0 2 0 {user} {system} 0 0 20 0 2 0 {start} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 {block_io} 0 0"
    )
}

impl FakeKernel {
    /// One that has every file, the event, the counters and the units. Records of threads that end need a socket of the real one, and
    /// programs a real kernel: both are refused.
    pub fn whole() -> FakeKernel {
        let tree = FakeTree::with(&[
            ("proc/7/cgroup", "0::/shop\n"),
            ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("proc/self/status", "Name:\tassay\nSeccomp:\t0\n"),
            ("proc/sys/kernel/task_delayacct", "1\n"),
            ("proc/sys/kernel/random/boot_id", "0-1-2\n"),
            ("proc/sys/kernel/perf_event_paranoid", "2\n"),
            ("proc/kallsyms", "ffffffff81000000 T __x64_sys_futex\nffffffff81000100 T next\n"),
        ]);
        tree.write("sys/kernel/btf/vmlinux", TYPES);
        let kernel = FakeKernel {
            tree,
            clock: Clock::default(),
            counters: Counters::default(),
            units: Units::default(),
            programs: ProgramsState::NoRight,
            asked: Sides { samples: true, counters: false },
            exits: Errno::PERM,
        };
        kernel.enter_pid_namespace("pid:[4026531836]");
        kernel.advance(0);
        kernel
    }

    /// Counters of the processor in this state.
    pub fn count(&mut self, state: CounterState) {
        self.asked.counters = true;
        self.counters = Counters(state);
    }

    /// Units in these states: AMD's and Intel's.
    pub fn sample_data(&mut self, ibs: UnitState, pebs: UnitState) {
        self.asked.counters = true;
        (self.units.ibs, self.units.pebs) = (ibs, pebs);
    }

    pub fn enter_pid_namespace(&self, namespace: &str) {
        let link = self.tree.path().join("proc/self/ns/pid");
        self.tree.write("proc/self/ns/mnt", b"");
        let _ = std::fs::remove_file(&link);
        symlink(namespace, link).expect("a link");
    }

    /// Writes what there is after so many steps, in each of which thread 8 runs for 1 s, 0.25 s of it in the kernel, and waits for 0.5 s.
    pub fn advance(&self, step: u64) {
        let write = |path: &str, text: String| self.tree.write(path, text.as_bytes());
        write("proc/7/stat", stat(7, 50, (100 + 75 * step, 40 + 25 * step), 0));
        write("proc/7/task/7/stat", stat(7, 50, (60, 20), 0));
        write("proc/7/task/8/stat", stat(8, 60, (40 + 75 * step, 20 + 25 * step), 30 * step));
        write("proc/7/task/7/schedstat", "800000000 5 9\n".to_owned());
        let run = (600_000_000 + 1_000_000_000 * step, 500_000_000 * step);
        write("proc/7/task/8/schedstat", format!("{} {} {}\n", run.0, run.1, 10 + step));
        for tid in [7, 8] {
            let switches =
                format!("voluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{step}\n", 5 * step);
            write(&format!("proc/7/task/{tid}/status"), switches);
        }
        write(
            "sys/fs/cgroup/shop/cpu.stat",
            format!(
                "usage_usec {}\nnr_throttled {step}\nthrottled_usec {}\n",
                2_000_000 + 1_200_000 * step,
                7 * step
            ),
        );
        write(
            "proc/stat",
            format!("cpu  {} 0 50 900 0 0 1 {step} 0 0\ncpu0 1 0 5 90 0 0 1 0 0 0\n", 100 + 110 * step),
        );
    }

    pub fn roots(&self) -> (ProcRoot, SysRoot) {
        let path = self.tree.path();
        (ProcRoot::at(path.join("proc")), SysRoot::at(path.join("sys")))
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        self.tree.write(path, text.as_bytes());
    }

    /// Removes a file or folder; one that is not there is none.
    pub fn remove(&self, path: &str) {
        let path = self.tree.path().join(path);
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
}

/// The account of one step by every rung, of a kernel that was changed before it.
pub fn account(change: impl Fn(&mut FakeKernel)) -> TimeReport {
    let mut kernel = FakeKernel::whole();
    change(&mut kernel);
    let (proc, sys) = kernel.roots();
    let mut gauge = TimeGauge::at(proc.clone(), &sys, 7).expect("a process");
    gauge.without_exit_records(&ExitListener::denial(&kernel.exits.into()));
    gauge.start_tracing_with(&kernel.programs, &sys).expect("readable");
    gauge.start_sampling_with(&kernel.clock).expect("readable");
    let mut sides = SideGauges::start_with(&kernel.units, Box::new(kernel.counters), proc, 7, kernel.asked);
    kernel.advance(1);
    change(&mut kernel);
    assert!(gauge.read().expect("readable"));
    sides.read();
    let mut report = gauge.report(None);
    sides.add_to(&mut report);
    report
}
