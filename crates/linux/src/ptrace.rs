//! The calls of `ptrace(2)` and `waitid(2)` that a freeze and a call in a thread need. They act for the calling thread: a tracer is a
//! thread, not a process.
#![expect(unsafe_code, reason = "no library in use wraps ptrace")]

use std::io;

/// The high byte of a stop's status when `PTRACE_INTERRUPT` or a stop signal caused it.
pub(crate) const EVENT_STOP: i32 = 128;

/// State of a tracee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraceeState {
    /// Not stopped yet.
    Running,
    /// Stopped; it gets this signal when it is let go (0: none).
    Stopped { signal: i32 },
    /// Ended, and not yet forgotten.
    Ended,
    /// No such tracee.
    Gone,
}

pub(crate) fn seize(tid: u32) -> io::Result<()> {
    // SAFETY: this request takes no address; options 0 as data.
    check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, tid, 0usize, 0usize) })
}

pub(crate) fn interrupt(tid: u32) -> io::Result<()> {
    // SAFETY: this request takes neither address nor data.
    check(unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, tid, 0usize, 0usize) })
}

/// Lets a stopped thread go on, with the signal that it was about to get.
pub(crate) fn detach(tid: u32, signal: i32) -> io::Result<()> {
    // SAFETY: this request takes a signal as data, and no address.
    check(unsafe { libc::ptrace(libc::PTRACE_DETACH, tid, 0usize, signal as usize) })
}

fn check(answer: libc::c_long) -> io::Result<()> {
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Looks at a tracee without taking anything from anybody who waits for it.
pub(crate) fn look(tid: u32) -> TraceeState {
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

/// Registers of a stopped thread that are read and set as one (`NT_PRSTATUS`, `NT_X86_XSTATE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegisterSet {
    General = 1,
    Extended = 0x202,
}

/// The registers of a set, as the kernel stores them: at most so many bytes.
pub(crate) fn registers(tid: u32, set: RegisterSet, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; bytes_max];
    let mut list = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the kernel writes to `bytes`, up to their length, and the length that it wrote to `list`.
    let answer = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, tid, set as usize, &raw mut list) };
    check(answer)?;
    bytes.truncate(list.iov_len);
    Ok(bytes)
}

pub(crate) fn set_registers(tid: u32, set: RegisterSet, bytes: &[u8]) -> io::Result<()> {
    let list = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: the kernel reads `bytes`, as many as stated.
    check(unsafe { libc::ptrace(libc::PTRACE_SETREGSET, tid, set as usize, &raw const list) })
}

/// Signals that a stopped thread blocks, signal 1 in the lowest bit.
pub(crate) fn blocked_signals(tid: u32) -> io::Result<u64> {
    let mut signals = 0_u64;
    // SAFETY: the kernel writes the 8 bytes that are stated to be there. The cast is for musl, whose `ptrace` takes another type than `libc` gives
    // this request.
    check(unsafe { libc::ptrace(libc::PTRACE_GETSIGMASK as _, tid, 8_usize, &raw mut signals) })?;
    Ok(signals)
}

pub(crate) fn set_blocked_signals(tid: u32, signals: u64) -> io::Result<()> {
    // SAFETY: the kernel reads the 8 bytes that are stated to be there. The cast as above.
    check(unsafe { libc::ptrace(libc::PTRACE_SETSIGMASK as _, tid, 8_usize, &raw const signals) })
}
