//! The clocks of the generator.

use rustix::time::{ClockId, clock_gettime};

fn read_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `CLOCK_MONOTONIC`, nanoseconds: the clock that the JVM's log decorator `timenanos` and the observers use too.
pub fn monotonic_ns() -> u64 {
    read_ns(ClockId::Monotonic)
}

/// `CLOCK_REALTIME`, nanoseconds: the clock of the kernel's stamps.
pub(crate) fn real_ns() -> u64 {
    read_ns(ClockId::Realtime)
}

/// A time of `CLOCK_MONOTONIC` that has passed as calendar time, RFC 3339; absent where the clock is beyond all calendars.
pub fn calendar_time(monotonic_ns: u64) -> Option<String> {
    let ago_ns = self::monotonic_ns().saturating_sub(monotonic_ns);
    let time = jiff::Timestamp::from_nanosecond(i128::from(real_ns().saturating_sub(ago_ns))).ok()?;
    Some(time.round(jiff::Unit::Millisecond).ok()?.to_string())
}

/// CPU time of the calling thread, nanoseconds. Finer than `/proc`, which counts in ticks of 10 ms.
pub fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::ThreadCPUTime)
}
