//! The scheduling priority of the generator while it loads.
//!
//! On a machine of few processors server and generator share them, and a generator that waits for its turn sends late. A raised
//! nice value does not cure that: it brings a larger share of a processor, of which the generator needs a tenth, but not an earlier
//! turn. A thread that wakes up waits until the one that runs has used its slice, about 3 ms on recent kernels, whatever the two
//! weigh. So the generator's thread asks for the lowest real-time priority (`SCHED_FIFO` 1, `sched(7)`), which runs at once. Against
//! a server on both of two processors, at about half of its maximum (3,500 requests a second, five times 18 s each, in turn), the 99th
//! percentile of the lateness was 2.4 to 2.9 ms at nice -10 and 0.12 to 0.15 ms in real time.
//!
//! It is not free for the server: in the same runs, but for the first, a cold one, the 95th percentile of its response times was 3.5
//! to 4.3 ms in real time, 4.5 to 5.2 ms at nice -10, but the 99th, which collections make, 16 to 20 ms and 15 to 16 ms; beyond the
//! maximum it answered 0.3 to 0.9 % fewer requests (five pairs). Injectors on another machine take nothing from it. A generator that needs a whole core is reported by the check of its
//! use of it, and the kernel leaves the others a twentieth of each second (`sched_rt_runtime_us`).
//!
//! Where real time is not permitted, as in most containers, a nice value of -10 is tried, and else the priority stays. It is
//! raised for the time of the load alone, on the thread that loads, which starts nothing: both would be inherited by a server that
//! it starts (`a_child_that_is_started_meanwhile_has_the_usual_priority`).

use rustix::process::{getpriority_process, setpriority_process};
use std::fmt;
use std::io;
use std::marker::PhantomData;

/// The lowest real-time priority.
const REAL_TIME: i32 = 1;
/// The nice value that is asked for otherwise; one of the calling thread alone on Linux (`setpriority(2)`, under "C library/kernel
/// differences").
const NICE: i32 = -10;

/// The priority that a load run was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Priority {
    /// In real time: it ran as soon as it had something to do.
    RealTime,
    /// At this nice value, raised or there already, since real time was not permitted.
    Nice {
        /// The nice value.
        nice: i32,
        /// Why it did not run in real time.
        why: String,
    },
    /// Left as it was.
    Usual {
        /// The nice value; absent where it could not be read.
        nice: Option<i32>,
        /// Why it was not raised.
        why: String,
    },
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, why) = match self {
            Priority::RealTime => return write!(f, "the generator's thread ran in real time (SCHED_FIFO)"),
            Priority::Nice { nice, why } => (format!("nice {nice}"), why),
            Priority::Usual { nice: Some(nice), why } => (format!("nice {nice}"), why),
            Priority::Usual { nice: None, why } => ("an unknown nice value".to_owned(), why),
        };
        write!(
            f,
            "the generator's thread ran at {at}, not in real time: {why}; allow it with \
             `sudo prlimit --pid $$ --rtprio={REAL_TIME}` in the shell that starts it"
        )
    }
}

/// Lowers the priority again when dropped, which must be on the same thread.
#[derive(Debug)]
pub(crate) struct Raised {
    before: Before,
    of_thread: PhantomData<*const ()>,
}

#[derive(Debug, Clone, Copy)]
enum Before {
    Policy(i32),
    Nice(i32),
}

/// Raises the priority of the calling thread, as far as the kernel permits.
pub(crate) fn raise() -> (Priority, Option<Raised>) {
    let raised = |before| Some(Raised { before, of_thread: PhantomData });
    let policy = policy();
    if matches!(policy, libc::SCHED_FIFO | libc::SCHED_RR) {
        return (Priority::RealTime, None);
    }
    let why = match set_policy(libc::SCHED_FIFO, REAL_TIME) {
        Ok(()) => return (Priority::RealTime, raised(Before::Policy(policy))),
        Err(error) => error.to_string(),
    };
    let nice = getpriority_process(None).ok();
    match nice {
        Some(nice) if nice <= NICE => (Priority::Nice { nice, why }, None),
        Some(before) if setpriority_process(None, NICE).is_ok() => {
            (Priority::Nice { nice: NICE, why }, raised(Before::Nice(before)))
        }
        _ => (Priority::Usual { nice, why }, None),
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        // To lower it is always permitted.
        let _ = match self.before {
            Before::Policy(policy) => set_policy(policy, 0),
            Before::Nice(nice) => setpriority_process(None, nice).map_err(io::Error::from),
        };
    }
}

/// The calling thread's number to the system calls below.
const THIS_THREAD: libc::c_long = 0;

/// The scheduling policy of the calling thread; a negative number where it is not known. The kernel is asked, not the C library: musl's
/// functions of these names only say that they do nothing.
#[expect(unsafe_code, reason = "rustix does not wrap it")]
fn policy() -> i32 {
    // SAFETY: it takes no pointer.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, THIS_THREAD) };
    i32::try_from(policy).unwrap_or(-1)
}

/// Sets the policy of the calling thread and leaves its nice value as it is, which crates for it do not.
#[expect(unsafe_code, reason = "rustix does not wrap it")]
fn set_policy(policy: i32, sched_priority: i32) -> io::Result<()> {
    // SAFETY: of the parameters the kernel reads this number alone, and it outlives the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            THIS_THREAD,
            libc::c_long::from(policy),
            &raw const sched_priority,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forbids_it_is_said_with_the_command_that_allows_it() {
        let why = "Operation not permitted (os error 1)".to_owned();
        let usual = Priority::Usual { nice: Some(0), why: why.clone() }.to_string();
        assert!(usual.contains("nice 0, not in real time: Operation not") && usual.contains("--rtprio=1"));
        assert!(Priority::Nice { nice: -10, why }.to_string().contains("ran at nice -10, not in real time"));
        assert_eq!(Priority::RealTime.to_string(), "the generator's thread ran in real time (SCHED_FIFO)");
    }
}
