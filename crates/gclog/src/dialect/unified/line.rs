//! A line's decorators, in whatever order and choice the user asked for.
//!
//! HotSpot writes them as `[...]` in a fixed order: time, utctime, uptime, timemillis, uptimemillis, timenanos, uptimenanos,
//! hostname, pid, tid, level, tags. They carry no names, so that they are distinguished by their form. Times are only found here;
//! they are worth reading for lines that say something ([`super::clock`]).

use crate::scan::Scan;

/// Up to two texts of one form in a line: both clock and uptime may be asked for.
pub(super) type Pair<'a> = [Option<&'a str>; 2];

/// The level of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// No level decorator.
    #[default]
    Unknown,
    Error,
    Warning,
    Info,
    Debug,
    Trace,
}

/// A line, taken apart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line<'a> {
    /// Seconds with a point, from `uptime`, without the unit.
    pub uptime: Option<&'a str>,
    /// Digits of `..ns`.
    pub nanos: Pair<'a>,
    /// Digits of `..ms`.
    pub millis: Pair<'a>,
    /// `2026-11-22T00:28:37.265+0000`.
    pub time: Option<&'a str>,
    pub level: Level,
    /// Tags, for example `gc,heap,coops`; empty without that decorator. A host's name may look like tags, but tags come last.
    pub tags: &'a str,
    /// Whether there is any decorator.
    pub is_decorated: bool,
    /// The second line of a message: since JDK 21 blanks stand where the decorators were.
    pub is_continuation: bool,
    /// `GC(n)`.
    pub gc_id: Option<u64>,
    /// What the line says, without decorators, number of the collection and blanks around.
    pub text: &'a str,
}

impl<'a> Line<'a> {
    pub fn parse(raw: &'a str) -> Line<'a> {
        let mut line = Line { is_continuation: raw.starts_with("[  "), text: raw, ..Line::default() };
        // A blank parts the message from the decorators, so that a bracket of the message is not taken for one.
        while line.text.as_bytes().first() == Some(&b'[')
            && let Some(end) = memchr::memchr(b']', line.text.as_bytes())
        {
            if !line.take_decorator(line.text[1..end].trim_ascii()) {
                break;
            }
            line.is_decorated = true;
            line.text = &line.text[end + 1..];
        }
        line.text = line.text.trim_ascii();
        if let Some(rest) = line.text.strip_prefix("GC(") {
            let mut scan = Scan(rest);
            if let Some(id) = scan.number()
                && scan.literal(")").is_some()
            {
                line.gc_id = Some(id);
                line.text = scan.0.trim_ascii_start();
            }
        }
        line
    }

    /// Whether this was a decorator.
    fn take_decorator(&mut self, inside: &'a str) -> bool {
        let bytes = inside.as_bytes();
        let Some(first) = bytes.first() else {
            return true; // no tags: the line about dropped messages
        };
        if first.is_ascii_lowercase() {
            if let Some(level) = level(inside) {
                self.level = level;
                return true;
            }
            if is_tags(bytes) {
                self.tags = inside;
                return true;
            }
        } else if first.is_ascii_digit() && self.take_time(inside) {
            return true;
        }
        is_other_decorator(bytes)
    }

    fn take_time(&mut self, inside: &'a str) -> bool {
        fn push<'a>(pair: &mut Pair<'a>, digits: &'a str) {
            if let Some(free) = pair.iter_mut().find(|slot| slot.is_none()) {
                *free = Some(digits);
            }
        }
        if let Some(digits) = inside.strip_suffix("ns").filter(|text| is_digits(text)) {
            push(&mut self.nanos, digits);
        } else if let Some(digits) = inside.strip_suffix("ms").filter(|text| is_digits(text)) {
            push(&mut self.millis, digits);
        } else if let Some(seconds) = inside.strip_suffix('s').filter(|text| is_seconds(text)) {
            self.uptime = Some(seconds);
        } else if inside.len() > 20 && inside.as_bytes()[10] == b'T' {
            self.time = Some(inside);
        } else {
            return false;
        }
        true
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Digits and a point, or a comma in some languages.
fn is_seconds(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',')
}

fn level(text: &str) -> Option<Level> {
    Some(match text {
        "info" => Level::Info,
        "debug" => Level::Debug,
        "trace" => Level::Trace,
        "warning" => Level::Warning,
        "error" => Level::Error,
        _ => return None,
    })
}

/// Lower-case words with commas between.
fn is_tags(text: &[u8]) -> bool {
    let mut is_start = true;
    for byte in text {
        let is_good = match byte {
            b'a'..=b'z' => true,
            b'0'..=b'9' | b'_' | b',' => !is_start,
            _ => false,
        };
        if !is_good {
            return false;
        }
        is_start = *byte == b',';
    }
    !is_start
}

/// Pid and tid, host name, calendar time of another form.
fn is_other_decorator(text: &[u8]) -> bool {
    text.len() <= 64
        && !text.starts_with(b"0x")
        && text.iter().all(|b| b.is_ascii_alphanumeric() || b"-+.:,_".contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decorators_are_told_apart_by_their_form() {
        let line = Line::parse(
            "[2026-11-22T00:28:37.265+0000][2026-11-22T00:28:37.265+0000][0.756s][1795256130123ms][17ms][2644773793094ns][189000000ns][build-7.example][4711][4712][info ][gc,start   ] GC(17)   Pause",
        );
        assert_eq!(line.time, Some("2026-11-22T00:28:37.265+0000"));
        assert_eq!(line.uptime, Some("0.756"));
        assert_eq!(line.millis, [Some("1795256130123"), Some("17")]);
        assert_eq!(line.nanos, [Some("2644773793094"), Some("189000000")]);
        assert_eq!((line.level, line.tags), (Level::Info, "gc,start"));
        assert_eq!((line.gc_id, line.text), (Some(17), "Pause"));
    }

    #[test]
    fn a_bracket_of_the_message_is_no_decorator() {
        for (raw, text) in [
            ("[0.012s][info][gc] [0x00ff, 0x00ff) used", "[0x00ff, 0x00ff) used"),
            ("[0x00ff] x", "[0x00ff] x"),
            ("[0.01", "[0.01"),
            ("[infs]", ""),
            ("x", "x"),
        ] {
            assert_eq!(Line::parse(raw).text, text, "{raw}");
        }
        assert_eq!(Line::parse("GC(99999999999999999999) x").gc_id, None);
    }
}
