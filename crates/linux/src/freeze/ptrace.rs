//! The four calls of `ptrace(2)` and `waitid(2)` that a freeze needs. They act for the calling thread: a tracer is a
//! thread, not a process.
#![expect(unsafe_code, reason = "no library in use wraps ptrace")]

use std::io;

/// The high byte of a stop's status when `PTRACE_INTERRUPT` or a stop signal caused it.
pub(super) const EVENT_STOP: i32 = 128;

/// State of a tracee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TraceeState {
    /// Not stopped yet.
    Running,
    /// Stopped; it gets this signal when it is let go (0: none).
    Stopped { signal: i32 },
    /// Ended, and not yet forgotten.
    Ended,
    /// No such tracee.
    Gone,
}

pub(super) fn seize(tid: u32) -> io::Result<()> {
    // SAFETY: this request takes no address; options 0 as data.
    check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, tid, 0usize, 0usize) })
}

pub(super) fn interrupt(tid: u32) -> io::Result<()> {
    // SAFETY: this request takes neither address nor data.
    check(unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, tid, 0usize, 0usize) })
}

/// Lets a stopped thread go on, with the signal that it was about to get.
pub(super) fn detach(tid: u32, signal: i32) -> io::Result<()> {
    // SAFETY: this request takes a signal as data, and no address.
    check(unsafe { libc::ptrace(libc::PTRACE_DETACH, tid, 0usize, signal as usize) })
}

fn check(answer: libc::c_long) -> io::Result<()> {
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Looks at a tracee without taking anything from anybody who waits for it.
pub(super) fn look(tid: u32) -> TraceeState {
    let flags = libc::WSTOPPED | libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: writes to `info` only, and any bytes are a valid `siginfo_t`.
    let (answer, info) = unsafe {
        let answer = libc::waitid(libc::P_PID, tid, info.as_mut_ptr(), flags);
        (answer, info.assume_init())
    };
    // SAFETY: after `waitid`, the fields of a child's end are the ones that are set; before, they are zero.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    match info.si_code {
        _ if answer == -1 => TraceeState::Gone,
        _ if pid == 0 => TraceeState::Running,
        libc::CLD_TRAPPED | libc::CLD_STOPPED => {
            // Stopped by the interruption or by a stop signal, or about to get a signal.
            let is_event = status >> 8 == EVENT_STOP;
            TraceeState::Stopped { signal: if is_event { 0 } else { status & 0x7f } }
        }
        _ => TraceeState::Ended,
    }
}
