//! The instant that a line begins with, in any dialect.

use crate::decimal::{Decimal, civil_ns, old_civil_ns, unix_ns};

/// Digits of a Unix time in milliseconds, today and for the next 200 years; an uptime of as many is one of 30 years.
const UNIX_MS_MIN: u64 = 1_000_000_000_000;

/// The first instant of a log, on each clock that its first line with a time has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct First {
    /// Since 1970; without a zone in the log, as if it were UTC.
    pub unix_ns: Option<i64>,
    /// On a clock of the JVM or the machine, nanoseconds: begins anew with the JVM or the machine.
    pub clock_ns: Option<u64>,
}

/// The instant that a line begins with.
pub(crate) fn of_line(line: &str) -> First {
    let line = line.trim_start_matches(['\u{feff}', ' ']);
    if line.starts_with('[') {
        return of_decorators(line);
    }
    if let Some((_, rest)) = line.split_once("timestamp=\"") {
        let text = rest.split('"').next().unwrap_or_default();
        return First { unix_ns: calendar(text), clock_ns: None };
    }
    // `2016-10-09T01:00:57.051+0800: 50.628: [GC`, either part of it.
    let mut first = First::default();
    for part in line.splitn(3, ": ").take(2) {
        match (calendar(part), seconds(part)) {
            (Some(unix_ns), _) => first.unix_ns = Some(unix_ns),
            (None, Some(clock_ns)) if part.contains(['.', ',']) => first.clock_ns = Some(clock_ns),
            _ => break,
        }
    }
    first
}

/// Decorators of unified logging that are times, in any order and number.
fn of_decorators(line: &str) -> First {
    let mut first = First::default();
    let mut rest = line;
    while let Some((inside, behind)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        let inside = inside.trim();
        if let Some(unix_ns) = calendar(inside) {
            first.unix_ns = Some(unix_ns);
        } else if let Some(ms) = inside.strip_suffix("ms").and_then(|t| t.parse::<u64>().ok()) {
            let ns = ms.checked_mul(1_000_000);
            if ms < UNIX_MS_MIN {
                first.clock_ns = first.clock_ns.or(ns);
            } else {
                first.unix_ns = first.unix_ns.or(ns.and_then(|ns| i64::try_from(ns).ok()));
            }
        } else if let Some(ns) = inside.strip_suffix("ns").and_then(|t| t.parse::<u64>().ok()) {
            first.clock_ns = first.clock_ns.or(Some(ns));
        } else if let Some(ns) = inside.strip_suffix('s').and_then(seconds) {
            first.clock_ns = Some(ns);
        }
        rest = behind;
    }
    first
}

/// `12.345`, nanoseconds.
fn seconds(text: &str) -> Option<u64> {
    Some(Decimal::parse(text)?.scaled(9)?.0)
}

/// A date of any dialect, with a zone or without.
fn calendar(text: &str) -> Option<i64> {
    unix_ns(text).or_else(|| civil_ns(text)).or_else(|| old_civil_ns(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(line: &str) -> Option<i64> {
        of_line(line).unix_ns
    }

    fn clock(line: &str) -> Option<u64> {
        of_line(line).clock_ns
    }

    #[test]
    fn decorators_give_the_instant_in_any_order() {
        assert_eq!(clock("[0.017s][info][gc] Using G1"), Some(17_000_000));
        assert_eq!(clock("[0,017s][info][gc] Using G1"), Some(17_000_000));
        assert_eq!(clock("[info][17ms][gc] Using G1"), Some(17_000_000));
        assert_eq!(clock("[123456789ns][gc ] Using G1"), Some(123_456_789));
        assert_eq!(unix("[1700000000000ms] Using G1"), Some(1_700_000_000_000_000_000));
        let both = of_line("[2022-11-10T03:37:29.443-0800][0.017s][info][gc,heap] Heap region size: 2M");
        assert_eq!((both.unix_ns, both.clock_ns), (Some(1_668_080_249_443_000_000), Some(17_000_000)));
    }

    #[test]
    fn stamps_of_jdk_8_and_j9_are_read() {
        let both = of_line("2016-10-09T01:00:57.051+0800: 50.628: [GC TLAB: gc thread");
        assert_eq!((both.unix_ns, both.clock_ns), (Some(1_475_946_057_051_000_000), Some(50_628_000_000)));
        assert_eq!(clock("12.221: [GC (GCLocker Initiated GC)12.221: [ParNew"), Some(12_221_000_000));
        let line = "<cycle-start id=\"4\" timestamp=\"2010-11-26T10:28:52.113\" intervalms=\"1.5\" />";
        assert_eq!(unix(line), Some(1_290_767_332_113_000_000));
        assert_eq!(unix("<gc timestamp=\"Nov 26 10:28:52 2010\">"), Some(1_290_767_332_000_000_000));
    }

    #[test]
    fn other_text_gives_none() {
        for line in [
            "",
            "[",
            "[gc",
            "Desired survivor size 557056 bytes",
            "7: [GC",
            "[info] x",
            "é: 1.2",
            "[ns][ms][s]",
        ] {
            assert_eq!(of_line(line), First::default(), "{line}");
        }
    }
}
