//! In which system calls carriers of virtual threads wait.
//!
//! A virtual thread that waits leaves its carrier, and a carrier without work waits for some in `futex`. In any other call a native method
//! holds it: other virtual threads cannot use it until the call returns. A carrier that waits in `futex` as well, but has a virtual thread,
//! is held by a `synchronized` block (before JDK 24) or by native code further up: it is pinned.

use assay_linux::ProcRoot;
use assay_model::{CarrierCall, CarrierWaits};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Calls that are listed.
const CALLS_MAX: usize = 10;

/// A carrier at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CarrierLook {
    tid: u32,
    /// The system call in which it waits; one that runs, or that the kernel interrupted, waits in none.
    call: Option<i64>,
    /// Whether it waits in `futex` with a virtual thread.
    is_pinned: bool,
}

impl CarrierLook {
    /// Looks at a thread of a process. `is_taken`: whether it has a virtual thread at this moment, which it cannot have taken or left where
    /// it did not run before and after that. `None` where its call may not be read.
    pub(crate) fn at(
        (proc, pid, tid): (&ProcRoot, u32, u32),
        is_taken: impl Fn() -> bool,
    ) -> Option<CarrierLook> {
        let ran_ns = || proc.read_thread_schedstat(pid, tid).ok().flatten().map(|figures| figures.run_ns);
        let before_ns = ran_ns();
        let is_taken = is_taken();
        let call = proc.read_thread_call(pid, tid)?;
        let is_pinned =
            is_taken && call == Some(libc::SYS_futex) && before_ns.is_some() && before_ns == ran_ns();
        Some(CarrierLook { tid, call, is_pinned })
    }
}

/// Observations of carriers.
#[derive(Debug, Default)]
pub(crate) struct CarrierGauge {
    carriers: BTreeSet<u32>,
    samples: u64,
    pinned: u64,
    calls: BTreeMap<i64, u64>,
}

impl CarrierGauge {
    /// Adds looks.
    pub(crate) fn add(&mut self, looks: &[CarrierLook]) {
        for look in looks {
            self.carriers.insert(look.tid);
            self.samples += 1;
            self.pinned += u64::from(look.is_pinned);
            if let Some(number) = look.call.filter(|number| *number != libc::SYS_futex) {
                *self.calls.entry(number).or_default() += 1;
            }
        }
    }

    /// The observations; `None` where there are none.
    pub(crate) fn waits(&self) -> Option<CarrierWaits> {
        let mut calls: Vec<CarrierCall> = self
            .calls
            .iter()
            .map(|(number, samples)| CarrierCall { call: name_of(*number), samples: *samples })
            .collect();
        calls.sort_by(|a, b| Reverse(a.samples).cmp(&Reverse(b.samples)).then_with(|| a.call.cmp(&b.call)));
        calls.truncate(CALLS_MAX);
        (self.samples != 0).then(|| CarrierWaits {
            carriers: self.carriers.len() as u64,
            samples: self.samples,
            blocked: self.calls.values().sum(),
            pinned: self.pinned,
            calls,
        })
    }
}

/// Calls that native methods wait in.
fn name_of(number: i64) -> String {
    let name = match number {
        libc::SYS_read => "read",
        libc::SYS_write => "write",
        libc::SYS_pread64 => "pread64",
        libc::SYS_pwrite64 => "pwrite64",
        libc::SYS_readv => "readv",
        libc::SYS_writev => "writev",
        libc::SYS_recvfrom => "recvfrom",
        libc::SYS_sendto => "sendto",
        libc::SYS_recvmsg => "recvmsg",
        libc::SYS_sendmsg => "sendmsg",
        libc::SYS_connect => "connect",
        libc::SYS_accept => "accept",
        libc::SYS_accept4 => "accept4",
        libc::SYS_ppoll => "ppoll",
        libc::SYS_epoll_pwait => "epoll_pwait",
        libc::SYS_openat => "openat",
        libc::SYS_fsync => "fsync",
        libc::SYS_fdatasync => "fdatasync",
        libc::SYS_flock => "flock",
        libc::SYS_fcntl => "fcntl",
        libc::SYS_wait4 => "wait4",
        libc::SYS_nanosleep => "nanosleep",
        libc::SYS_clock_nanosleep => "clock_nanosleep",
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => "poll",
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait => "epoll_wait",
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => "open",
        number => return format!("system call {number}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_testkit::FakeTree;

    fn looks(proc: &ProcRoot, tids: &[u32]) -> Vec<CarrierLook> {
        tids.iter().filter_map(|tid| CarrierLook::at((proc, 7, *tid), || false)).collect()
    }

    #[test]
    fn a_carrier_in_a_call_of_a_native_method_is_blocked_and_one_in_futex_has_no_work() {
        let line = |number: i64| format!("{number} 0x5 0x7f00 0x2000 0x0 0x0 0x0 0x7ffd 0x7f01\n");
        let tree = FakeTree::with(&[
            ("proc/7/task/8/syscall", &line(libc::SYS_futex)),
            ("proc/7/task/9/syscall", &line(libc::SYS_read)),
            ("proc/7/task/10/syscall", "running\n"),
            ("proc/7/task/11/syscall", "-1 0x7ffd 0x7f01\n"),
        ]);
        let proc = ProcRoot::at(tree.path().join("proc"));
        let mut gauge = CarrierGauge::default();
        gauge.add(&looks(&proc, &[8, 9, 10, 11, 12]));
        gauge.add(&looks(&proc, &[9]));
        let waits = gauge.waits().expect("looks");
        assert_eq!((waits.carriers, waits.samples, waits.blocked, waits.pinned), (4, 5, 2, 0));
        assert_eq!(waits.calls, [CarrierCall { call: "read".to_owned(), samples: 2 }]);
    }

    /// One that has run meanwhile may have left the virtual thread that it had.
    #[test]
    fn a_carrier_that_waits_in_futex_with_a_virtual_thread_all_the_while_is_pinned() {
        let waits = format!("{} 0x5 0x7f00 0x2000 0x0 0x0 0x0 0x7ffd 0x7f01\n", libc::SYS_futex);
        let tree = FakeTree::with(&[
            ("proc/7/task/8/syscall", &waits),
            ("proc/7/task/8/schedstat", "1000 20 3\n"),
            ("proc/7/task/9/syscall", &waits),
            ("proc/7/task/10/syscall", "running\n"),
            ("proc/7/task/10/schedstat", "1000 20 3\n"),
        ]);
        let proc = ProcRoot::at(tree.path().join("proc"));
        let is_pinned = |tid, is_taken: &dyn Fn() -> bool| {
            CarrierLook::at((&proc, 7, tid), is_taken).expect("a call").is_pinned
        };
        assert!(is_pinned(8, &|| true));
        assert!(!is_pinned(8, &|| false), "it has no work");
        assert!(!is_pinned(9, &|| true), "whether it has run is not known");
        assert!(!is_pinned(10, &|| true), "it runs");
        let runs = || {
            tree.write("proc/7/task/8/schedstat", b"1001 20 4\n");
            true
        };
        assert!(!is_pinned(8, &runs), "it has run");
    }

    #[test]
    fn without_the_right_to_see_their_calls_nothing_is_said_of_carriers() {
        let tree = FakeTree::with(&[("proc/7/task/8/comm", "x\n")]);
        let proc = ProcRoot::at(tree.path().join("proc"));
        let mut gauge = CarrierGauge::default();
        gauge.add(&looks(&proc, &[8]));
        assert_eq!(gauge.waits(), None);
    }
}
