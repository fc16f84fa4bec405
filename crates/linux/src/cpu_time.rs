//! The CPU time of a whole process, to the nanosecond.
//!
//! Folklore: `/proc/PID/schedstat` is the group leader's alone, and summing `/proc/PID/task/*/schedstat` loses every
//! thread that has ended (a JVM's compiler threads come and go). `utime + stime` of `/proc/PID/stat` has all threads
//! but only in ticks of 10 ms. The process's CPU clock has both: the kernel adds what the scheduler accounted for live
//! threads, including the slice that is running, to what it kept of the ended ones (`thread_group_cputime` in
//! `kernel/sched/cputime.c`). Held by: `threads_that_have_ended_still_count` and
//! `a_child_s_clock_agrees_with_what_wait4_says`.

use crate::{LinuxError, ProcRoot};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// CPU time that a process has used since its start, all threads, live and ended; children not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessCpu {
    /// User and system time together, nanoseconds, by the scheduler's accounting.
    pub total_ns: u64,
    /// User time in ticks of [`ticks_per_s`]. The split between user and system is sampled at the kernel's timer
    /// interrupts and scaled to the total: good over seconds, not over milliseconds.
    pub user_ticks: u64,
    /// System time in ticks.
    pub system_ticks: u64,
}

/// Reads the CPU time of a process on this machine; one that has ended can be read until it is waited for. Cost: two
/// system calls and one small file, about 5 µs of CPU time, linear in the number of its threads.
///
/// A number may have been given to another process meanwhile: see [`crate::ProcessIdentity`].
///
/// # Errors
/// [`LinuxError::Read`] when the process is gone ([`LinuxError::is_absent`] is true then).
pub fn process_cpu(pid: u32) -> Result<ProcessCpu, LinuxError> {
    let total_ns = process_cpu_ns(pid)?;
    let stat = ProcRoot::default().read_process_stat(pid)?;
    Ok(ProcessCpu { total_ns, user_ticks: stat.user_ticks, system_ticks: stat.system_ticks })
}

/// As [`process_cpu`], the total alone: two system calls.
///
/// # Errors
/// As of [`process_cpu`].
pub fn process_cpu_ns(pid: u32) -> Result<u64, LinuxError> {
    process_clock_ns(pid).map_err(|e| LinuxError::read(Path::new("clock_getcpuclockid"), e))
}

/// The machine's `CLOCK_MONOTONIC`, nanoseconds: the clock that joins everything that Assay records.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// The wall clock (nanoseconds since 1970) less `CLOCK_MONOTONIC`. Taken between two readings of the monotonic clock, so that being put
/// off the processor in between does not look like a step; `None` where that took long.
pub fn wall_offset_ns() -> Option<i128> {
    let before_ns = monotonic_ns();
    let wall_ns = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let after_ns = monotonic_ns();
    let is_close = after_ns.saturating_sub(before_ns) < 1_000_000;
    is_close.then(|| i128::try_from(wall_ns).ok()).flatten().map(|wall| wall - i128::from(before_ns))
}

/// CPU time of the calling thread, nanoseconds. Finer than `/proc`, which counts in ticks of 10 ms.
pub fn thread_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Ticks per second in which `/proc` counts CPU time (`USER_HZ`): 100 on every common architecture, whatever the
/// kernel's own timer frequency is.
pub fn ticks_per_s() -> u64 {
    rustix::param::clock_ticks_per_second()
}

/// Timer interrupts per second at which the kernel samples whether a thread is in user or kernel mode (`CONFIG_HZ`): the
/// resolution of its coarse clock.
pub fn timer_interrupts_per_s() -> u64 {
    let tick = rustix::time::clock_getres(ClockId::MonotonicCoarse);
    let ns =
        u64::try_from(tick.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(tick.tv_nsec).unwrap_or(0);
    1_000_000_000u64.checked_div(ns).unwrap_or_else(ticks_per_s).max(1)
}

/// rustix wraps clocks of open files only, not those of processes, hence libc.
fn process_clock_ns(pid: u32) -> io::Result<u64> {
    // Pid 0 would mean this process.
    let pid = libc::pid_t::try_from(pid).ok().filter(|p| *p != 0).ok_or(io::ErrorKind::InvalidInput)?;
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    #[expect(unsafe_code, reason = "no safe wrapper among the libraries")]
    // SAFETY: both calls write to the variable that is passed and to nothing else.
    let error = unsafe {
        match libc::clock_getcpuclockid(pid, &raw mut clock) {
            0 if libc::clock_gettime(clock, &raw mut time) == 0 => return nanoseconds(&time),
            // The process ended in between, or glibc's emulation has no clock for it: the call says EINVAL.
            0 => libc::ESRCH,
            error => error,
        }
    };
    Err(io::Error::from_raw_os_error(error))
}

fn nanoseconds(time: &libc::timespec) -> io::Result<u64> {
    let part = |value: i64| u64::try_from(value).map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
    Ok(part(time.tv_sec)?.saturating_mul(1_000_000_000).saturating_add(part(time.tv_nsec)?))
}
