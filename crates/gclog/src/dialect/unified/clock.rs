//! When a line was written, on the clocks that its decorators show.

use super::line::Line;
use crate::contract::GcSink;
use crate::decimal::{Decimal, unix_ns};
use assay_model::GcInstant;

/// A year. Calendar time in milliseconds has been more since 1971.
const UPTIME_MS_MAX: u64 = 365 * 86_400_000;
/// A JVM writes its first line sooner after its start; the clock of a machine has usually counted for longer.
const FIRST_LINE_UPTIME_NS_MAX: u64 = 60_000_000_000;
/// `uptime` is cut to milliseconds and read a moment before.
const UPTIME_OFF_NS_MAX: u64 = 10_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// Reads the times of a JVM's lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    /// What `[..ns]` means in a log that has no other time to compare it with; known from its first line.
    lone_nanos_are_uptime: Option<bool>,
}

impl Clock {
    /// When the line was written.
    pub fn read(&mut self, line: &Line<'_>) -> GcInstant {
        let mut instant = GcInstant::default();
        let mut step_ns = u64::MAX;
        let mut step = |ns: u64| step_ns = step_ns.min(ns);
        if let Some((ns, resolution_ns)) = line.uptime.and_then(|text| Decimal::parse(text)?.scaled(9)) {
            instant.uptime_ns = Some(ns);
            step(resolution_ns);
        }
        for ms in line.millis.iter().flatten().filter_map(|digits| digits.parse::<u64>().ok()) {
            step(NS_PER_MS);
            match ms.checked_mul(NS_PER_MS) {
                Some(ns) if ms < UPTIME_MS_MAX => instant.uptime_ns = Some(ns),
                Some(ns) => instant.unix_ns = i64::try_from(ns).ok(),
                None => {}
            }
        }
        if let Some(unix_ns) = line.time.and_then(unix_ns) {
            step(NS_PER_MS);
            instant.unix_ns = Some(unix_ns);
        }
        if line.nanos[0].is_some() {
            step(1);
            self.take_nanos(line, &mut instant);
        }
        instant.resolution_ns = (step_ns != u64::MAX).then_some(step_ns);
        instant
    }

    fn take_nanos(&mut self, line: &Line<'_>, instant: &mut GcInstant) {
        let [first, second] = line.nanos.map(|digits| digits.and_then(|digits| digits.parse::<u64>().ok()));
        match (first, second) {
            (Some(clock), Some(uptime)) => {
                instant.monotonic_ns = Some(clock);
                instant.uptime_ns = Some(uptime);
            }
            (Some(lone), None) => {
                let is_uptime = match instant.uptime_ns {
                    Some(uptime_ns) => lone.abs_diff(uptime_ns) < UPTIME_OFF_NS_MAX,
                    None => *self.lone_nanos_are_uptime.get_or_insert(lone < FIRST_LINE_UPTIME_NS_MAX),
                };
                if is_uptime {
                    instant.uptime_ns = Some(lone);
                } else {
                    instant.monotonic_ns = Some(lone);
                }
            }
            _ => {}
        }
    }

    /// Reads the first lines, which show what a lone `[..ns]` counts.
    pub fn look(&mut self, line: &Line<'_>) {
        if self.lone_nanos_are_uptime.is_none() && line.nanos[0].is_some() {
            self.read(line);
        }
    }
}

/// The decorators of the line that a JVM wrote last. They are kept as they are and read when they are asked for, since each line has some.
#[derive(Debug, Default)]
pub(super) struct LastDated {
    decorators: String,
    is_first_kept: bool,
}

impl LastDated {
    /// Keeps the decorators of a line, which stand before what it says; whether it is the first of its JVM.
    pub fn keep(&mut self, line: &str, text: &str) -> bool {
        self.decorators.clear();
        self.decorators.push_str(line.get(..line.len().saturating_sub(text.len())).unwrap_or_default());
        !std::mem::replace(&mut self.is_first_kept, true)
    }

    /// Tells when that line was written, by a clock that has read the lines before.
    pub fn tell(&self, clock: &Clock, sink: &mut dyn GcSink) {
        if self.is_first_kept {
            sink.dated(&clock.clone().read(&Line::parse(&self.decorators)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(raw: &str) -> GcInstant {
        Clock::default().read(&Line::parse(raw))
    }

    #[test]
    fn every_clock_is_read_with_the_step_of_the_finest() {
        let all = at(
            "[2026-11-22T00:28:37.265+0000][0.756s][1795307317265ms][756ms][2644773793094ns][756000123ns][info][gc] x",
        );
        assert_eq!(all.unix_ns, Some(1_795_307_317_265_000_000));
        assert_eq!(all.uptime_ns, Some(756_000_123));
        assert_eq!((all.monotonic_ns, all.resolution_ns), (Some(2_644_773_793_094), Some(1)));
        assert_eq!(at("[0.0123s] x").resolution_ns, Some(100_000));
        assert_eq!(at("x"), GcInstant::default());
    }

    #[test]
    fn nanoseconds_alone_are_told_by_the_first_line() {
        let mut clock = Clock::default();
        clock.look(&Line::parse("[4000000ns] x"));
        assert_eq!(clock.read(&Line::parse("[90000000000ns] x")).uptime_ns, Some(90_000_000_000));
        let mut clock = Clock::default();
        clock.look(&Line::parse("[2642099533245ns] x"));
        assert_eq!(clock.read(&Line::parse("[2642225000002ns] x")).monotonic_ns, Some(2_642_225_000_002));
        assert_eq!(at("[0.189s][189000123ns] x").uptime_ns, Some(189_000_123));
    }
}
