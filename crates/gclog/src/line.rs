//! A line's decorators, in whatever order and choice the user asked for.
//!
//! HotSpot writes them as `[...]` in a fixed order: time, utctime, uptime, timemillis, uptimemillis,
//! timenanos, uptimenanos, hostname, pid, tid, level, tags. They carry no names, so their form has to tell
//! them apart.

use crate::scan::Scan;

/// Readings of one kind (`ns` or `ms`) in a line: there are two where both clock and uptime were asked for.
type Pair = [Option<u64>; 2];

/// A line, taken apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Seconds, from `uptime`.
    uptime_s: Option<f64>,
    nanos: Pair,
    millis: Pair,
    /// Tags, for example `gc,heap,coops`; empty without that decorator. (A host's name may look like tags,
    /// but tags come last.)
    pub tags: &'a str,
    /// `GC(n)`.
    pub gc_id: Option<u64>,
    /// What the line says, without decorators, number of the collection and blanks around.
    pub text: &'a str,
}

/// When a line was written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Stamp {
    pub monotonic_ns: Option<u64>,
    pub uptime_s: Option<f64>,
}

impl<'a> Line<'a> {
    pub fn parse(raw: &'a str) -> Line<'a> {
        let mut line =
            Line { uptime_s: None, nanos: [None; 2], millis: [None; 2], tags: "", gc_id: None, text: raw };
        while let Some((inside, rest)) = line.text.strip_prefix('[').and_then(|t| t.split_once(']')) {
            if !line.take_decorator(inside.trim()) {
                break;
            }
            // A blank parts the message from the decorators, so a bracket of the message is not taken for
            // one.
            line.text = rest;
        }
        line.text = line.text.trim();
        let mut scan = Scan(line.text);
        if let Some(id) = scan.literal("GC(").and_then(|()| scan.number())
            && scan.literal(")").is_some()
        {
            line.gc_id = Some(id);
            line.text = scan.0.trim_start();
        }
        line
    }

    /// Whether this was a decorator.
    fn take_decorator(&mut self, inside: &'a str) -> bool {
        fn push(pair: &mut Pair, value: u64) {
            if let Some(free) = pair.iter_mut().find(|v| v.is_none()) {
                *free = Some(value);
            }
        }
        if let Some(nanos) = inside.strip_suffix("ns").and_then(|n| n.parse().ok()) {
            push(&mut self.nanos, nanos);
        } else if let Some(millis) = inside.strip_suffix("ms").and_then(|n| n.parse().ok()) {
            push(&mut self.millis, millis);
        } else if let Some(seconds) = inside.strip_suffix('s').and_then(parse_seconds) {
            self.uptime_s = Some(seconds);
        } else if is_tags(inside) {
            self.tags = inside;
        } else {
            return is_unneeded_decorator(inside);
        }
        true
    }

    /// When the line was written. `lone_nanos_are_uptime` says what a single `[..ns]` means in a log that has
    /// no other time to compare it with.
    pub fn stamp(&self, lone_nanos_are_uptime: bool) -> Stamp {
        let uptime_s = self.uptime_s.or(self.uptime_from_millis());
        match self.nanos {
            [Some(clock), Some(uptime)] => {
                Stamp { monotonic_ns: Some(clock), uptime_s: uptime_s.or(Some(uptime as f64 / 1e9)) }
            }
            [Some(lone), _] => {
                let is_uptime = match uptime_s {
                    // `uptime` is cut to milliseconds and read a moment before.
                    Some(seconds) => (lone as f64 / 1e9 - seconds).abs() < 0.01,
                    None => lone_nanos_are_uptime,
                };
                if is_uptime {
                    Stamp { monotonic_ns: None, uptime_s: uptime_s.or(Some(lone as f64 / 1e9)) }
                } else {
                    Stamp { monotonic_ns: Some(lone), uptime_s }
                }
            }
            [None, _] => Stamp { monotonic_ns: None, uptime_s },
        }
    }

    /// A `[..ns]` without any other time beside it.
    pub fn lone_nanos(&self) -> Option<u64> {
        match (self.uptime_s.or(self.uptime_from_millis()), self.nanos) {
            (None, [Some(lone), None]) => Some(lone),
            _ => None,
        }
    }

    fn uptime_from_millis(&self) -> Option<f64> {
        /// A year. Calendar time in milliseconds has been more since 1971.
        const UPTIME_MILLIS_MAX: u64 = 365 * 86_400_000;
        let uptime = match self.millis {
            [Some(_), Some(uptime)] => Some(uptime),
            [Some(lone), None] if lone < UPTIME_MILLIS_MAX => Some(lone),
            _ => None,
        };
        uptime.map(|ms| ms as f64 / 1e3)
    }
}

/// Digits and one point: `str::parse` alone would take `inf` and `1e9` too.
fn parse_seconds(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|_| plain && !text.is_empty())
}

fn is_level(text: &str) -> bool {
    matches!(text, "error" | "warning" | "info" | "debug" | "trace")
}

/// Lower-case words with commas between; a level alone is no tag.
fn is_tags(text: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    !is_level(text) && text.split(',').all(is_word)
}

/// Level, pid and tid, calendar time, host name.
fn is_unneeded_decorator(text: &str) -> bool {
    is_level(text)
        || (!text.is_empty()
            && text.len() <= 64
            && !text.starts_with("0x")
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+.:,".contains(&b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, monotonic_ns: Option<u64>, uptime_s: Option<f64>, text: &str) {
        let line = Line::parse(raw);
        assert_eq!(line.stamp(false), Stamp { monotonic_ns, uptime_s }, "{raw}");
        assert_eq!(line.text, text, "{raw}");
    }

    #[test]
    fn decorators_are_told_apart_by_their_form() {
        check("[0.012s][info][gc] x", None, Some(0.012), "x");
        check("[12ms][info ][gc   ] x", None, Some(0.012), "x");
        check("[0.189s][2644773793094ns][debug][gc,heap  ] x", Some(2_644_773_793_094), Some(0.189), "x");
        check("[2644773793094ns][189000000ns] x", Some(2_644_773_793_094), Some(0.189), "x");
        check("[0.189s][189000123ns] x", None, Some(0.189), "x");
        check("[2026-11-21T10:15:30.123+0000][0.017s][info][gc] x", None, Some(0.017), "x");
        check("[1795256130123ms][17ms][4711][4712][gc] x", None, Some(0.017), "x");
        check("[1795256130123ms] x", None, None, "x");
        check("[build-7.example][4711][info][gc] x", None, None, "x");
        check("x", None, None, "x");
    }

    #[test]
    fn a_bracket_of_the_message_is_no_decorator() {
        check("[0.012s][info][gc] [0x00ff, 0x00ff) used", None, Some(0.012), "[0x00ff, 0x00ff) used");
        check("[0x00ff] x", None, None, "[0x00ff] x");
        check("[0.01", None, None, "[0.01");
        check("[nans] x", None, None, "x");
        check("[infs] x", None, None, "x");
    }

    #[test]
    fn the_number_of_the_collection_is_taken_off() {
        let line = Line::parse("[0.012s][info][gc,start    ] GC(17)   Pause");
        assert_eq!((line.gc_id, line.text, line.tags), (Some(17), "Pause", "gc,start"));
        assert_eq!(Line::parse("GC(99999999999999999999) x").gc_id, None);
    }

    #[test]
    fn nanoseconds_alone_need_to_be_told_what_they_count() {
        let line = Line::parse("[60000000000ns] x");
        assert_eq!(line.lone_nanos(), Some(60_000_000_000));
        assert_eq!(line.stamp(true), Stamp { monotonic_ns: None, uptime_s: Some(60.0) });
        assert_eq!(line.stamp(false), Stamp { monotonic_ns: Some(60_000_000_000), uptime_s: None });
    }
}
