//! In which system calls carriers of virtual threads wait.
//!
//! A virtual thread that waits leaves its carrier, and a carrier without work waits for some in `futex`. In any other call a native method
//! holds it: other virtual threads cannot use it until the call returns. A carrier that a `synchronized` block holds (before JDK 24) waits
//! in `futex` as well and cannot be distinguished from one without work.

use assay_linux::ProcRoot;
use assay_model::{CarrierCall, CarrierWaits};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Carriers that are looked at.
const CARRIERS_MAX: usize = 512;
/// Calls that are listed.
const CALLS_MAX: usize = 10;

/// Observations of carriers.
#[derive(Debug, Default)]
pub(crate) struct CarrierGauge {
    seen: BTreeSet<u32>,
    samples: u64,
    calls: BTreeMap<i64, u64>,
}

impl CarrierGauge {
    /// Looks once at each of these carriers.
    pub(crate) fn read(&mut self, proc: &ProcRoot, pid: u32, carriers: &[u32]) {
        for tid in carriers.iter().take(CARRIERS_MAX) {
            let Some(call) = proc.read_thread_call(pid, *tid) else { continue };
            self.seen.insert(*tid);
            self.samples += 1;
            // One that runs, or that the kernel interrupted, waits in none.
            if let Some(number) = call
                && number != libc::SYS_futex
            {
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
            carriers: self.seen.len() as u64,
            samples: self.samples,
            blocked: self.calls.values().sum(),
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
        gauge.read(&proc, 7, &[8, 9, 10, 11, 12]);
        gauge.read(&proc, 7, &[9]);
        let waits = gauge.waits().expect("seen");
        assert_eq!((waits.carriers, waits.samples, waits.blocked), (4, 5, 2));
        assert_eq!(waits.calls, [CarrierCall { call: "read".to_owned(), samples: 2 }]);
    }

    #[test]
    fn without_the_right_to_see_their_calls_nothing_is_said_of_carriers() {
        let tree = FakeTree::with(&[("proc/7/task/8/comm", "x\n")]);
        let mut gauge = CarrierGauge::default();
        gauge.read(&ProcRoot::at(tree.path().join("proc")), 7, &[8]);
        assert_eq!(gauge.waits(), None);
    }
}
