//! Pieces of text that a JVM before JDK 9 writes everywhere: stamps, sizes, durations.

use crate::contract::GcSink;
use crate::decimal::{Decimal, unix_ns};
use crate::scan::shift_of_unit;
use assay_model::{GcInstant, GcSizes};

/// Characters of `2016-10-09T01:00:57.051+0800`.
const DATE_CHARS: usize = 28;
const DATE_STEP_NS: u64 = 1_000_000;

/// Bytes in which the stamp of a line ends: a date, an uptime of decades, a number of the collection.
const STAMP_BYTES_MAX: usize = 64;

/// The beginning of the line with a stamp that was written last, read when it is asked for.
#[derive(Debug)]
pub(super) struct LastStamped {
    beginning: [u8; STAMP_BYTES_MAX],
    bytes: usize,
    is_first_told: bool,
}

impl Default for LastStamped {
    fn default() -> Self {
        LastStamped { beginning: [0; STAMP_BYTES_MAX], bytes: 0, is_first_told: false }
    }
}

impl LastStamped {
    /// Keeps the beginning of a line; tells when the first of a JVM was written. It is done for nearly every line.
    pub fn keep(&mut self, line: &str, sink: &mut dyn GcSink) {
        match line.as_bytes().first_chunk() {
            Some(beginning) => (self.beginning, self.bytes) = (*beginning, STAMP_BYTES_MAX),
            None => {
                self.bytes = line.len();
                self.beginning[..line.len()].copy_from_slice(line.as_bytes());
            }
        }
        if !std::mem::replace(&mut self.is_first_told, true) {
            self.tell(sink);
        }
    }

    /// Tells when that line was written.
    pub fn tell(&self, sink: &mut dyn GcSink) {
        // Its end may cut a character.
        let beginning = self.beginning[..self.bytes].utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let chars = beginning.len() - Stamp::skip(beginning).len();
        let (_, stamp) = Stamp::behind(beginning[..chars].trim_end_matches(' '));
        if stamp.is_there() {
            sink.dated(&stamp.after(0));
        }
    }
}

/// What stands before a message: date, uptime, number of the collection (`-XX:+PrintGCID`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    pub uptime_ns: Option<u64>,
    pub unix_ns: Option<i64>,
    pub gc_id: Option<u64>,
    step_ns: Option<u64>,
}

impl Stamp {
    pub fn is_there(&self) -> bool {
        self.uptime_ns.is_some() || self.unix_ns.is_some()
    }

    /// The instant so many nanoseconds later.
    pub fn after(&self, duration_ns: u64) -> GcInstant {
        GcInstant {
            monotonic_ns: None,
            uptime_ns: self.uptime_ns.and_then(|ns| ns.checked_add(duration_ns)),
            unix_ns: self.unix_ns.and_then(|ns| ns.checked_add_unsigned(duration_ns)),
            resolution_ns: self.step_ns,
        }
    }

    /// Takes the stamp that ends a text, as in `(349568K)26.684: `, and returns what stands before it.
    ///
    /// It is looked for from its end because of torn lines: a stamp may stand right behind a word (`[ParNew2016-..`).
    pub fn behind(text: &str) -> (&str, Stamp) {
        let mut stamp = Stamp::default();
        let mut rest = text;
        while let Some(before) = rest.strip_suffix(": ").or_else(|| rest.strip_suffix(':')) {
            let Some(start) = stamp.take_last(before) else { break };
            rest = &before[..start];
            if stamp.unix_ns.is_some() {
                break;
            }
        }
        (rest, stamp)
    }

    /// Takes stamps off the front that belong to nothing: two threads wrote at once, as in
    /// `2012-02-24T03:50:08.554-0800:  (initial-mark)` or `652.538: 652.538Total time ..`. Returns the rest.
    pub fn skip(text: &str) -> &str {
        let mut rest = text.trim_start_matches([' ', ':']);
        loop {
            let date = rest.split_at_checked(DATE_CHARS).filter(|(date, _)| unix_ns(date).is_some());
            let mut behind = date.map_or(rest, |(_, behind)| behind);
            if date.is_none() && Decimal::take(&mut behind).is_none_or(|d| d.places == 0) {
                return rest;
            }
            if !behind.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric() || b == b':') {
                return rest;
            }
            rest = behind.trim_start_matches([' ', ':']);
        }
    }

    /// Takes the part that ends this text, and says where it begins.
    fn take_last(&mut self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        let number_at = bytes
            .iter()
            .rposition(|b| !b.is_ascii_digit() && !matches!(b, b'.' | b','))
            .map_or(0, |at| at + 1);
        let number = &text[number_at..];
        let date = text.len().checked_sub(DATE_CHARS).and_then(|at| text.get(at..));
        if let Some(ns) = date.and_then(unix_ns) {
            self.unix_ns = Some(ns);
            self.step_ns = self.step_ns.or(Some(DATE_STEP_NS));
            return Some(text.len() - DATE_CHARS);
        }
        if number_at > 0 && bytes[number_at - 1] == b'#' && self.uptime_ns.is_none() {
            self.gc_id = Some(number.parse().ok()?);
            return Some(number_at - 1);
        }
        let seconds = Decimal::parse(number).filter(|d| d.places > 0 && self.uptime_ns.is_none())?;
        let (ns, step_ns) = seconds.scaled(9)?;
        self.uptime_ns = Some(ns);
        self.step_ns = Some(step_ns);
        Some(number_at)
    }
}

/// Takes a size such as `17472K` or `8192.0K`: bytes, and the smallest step of them.
fn size(text: &mut &str) -> Option<(u64, u64)> {
    let mut rest = *text;
    let number = Decimal::take(&mut rest)?;
    let shift = shift_of_unit(*rest.as_bytes().first()?)?;
    *text = &rest[1..];
    number.shifted(shift)
}

/// Takes a size in parentheses.
fn size_in_parentheses(text: &mut &str) -> Option<(u64, u64)> {
    let mut rest = text.strip_prefix('(')?;
    let found = size(&mut rest)?;
    *text = rest.strip_prefix(')')?;
    Some(found)
}

/// Takes `12K->3K(20K)`, `12.0M(20.0M)->3.0M(20.0M)`, or `12K(20K)`, which is in use before and after: the short stops of a
/// concurrent collector free nothing.
pub(super) fn sizes(text: &mut &str) -> Option<GcSizes> {
    let mut rest = *text;
    let before = size(&mut rest)?;
    let first_capacity = size_in_parentheses(&mut rest);
    let (after, capacity) = if let Some(behind) = rest.strip_prefix("->") {
        rest = behind;
        (size(&mut rest)?, size_in_parentheses(&mut rest))
    } else {
        (before, Some(first_capacity?))
    };
    *text = rest;
    let step = before.1.max(after.1).max(capacity.map_or(0, |(_, step)| step));
    Some(GcSizes {
        before_bytes: Some(before.0),
        after_bytes: Some(after.0),
        capacity_bytes: capacity.map(|(bytes, _)| bytes),
        resolution_bytes: Some(step),
    })
}

/// Takes seconds with or without their unit (`secs`, JDK 6 also `sec` or none): nanoseconds and the smallest step.
pub(super) fn seconds(text: &mut &str) -> Option<(u64, u64)> {
    let mut rest = *text;
    let number = Decimal::take(&mut rest).filter(|d| d.places > 0)?;
    for unit in [" seconds", " secs", " sec"] {
        if let Some(behind) = rest.strip_prefix(unit) {
            rest = behind;
            break;
        }
    }
    *text = rest;
    number.scaled(9)
}

/// Takes seconds with their unit. No date and no stamp is that, so that they need not be tried before.
pub(super) fn seconds_with_unit(text: &mut &str) -> Option<(u64, u64)> {
    let mut rest = *text;
    let number = Decimal::take(&mut rest).filter(|d| d.places > 0)?;
    rest = rest.strip_prefix(" secs")?;
    let found = number.scaled(9)?;
    *text = rest;
    Some(found)
}

/// Whether a byte stands between the words of a bracket.
pub(super) fn is_between_words(byte: u8) -> bool {
    matches!(byte, b' ' | b',' | b':' | b'\t')
}

/// The text without such bytes at its beginning, all of which are ASCII: as `trim_start_matches`, which decodes characters.
pub(super) fn without_first(text: &str, is_one: impl Fn(u8) -> bool) -> &str {
    let end = text.bytes().position(|b| !is_one(b)).unwrap_or(text.len());
    &text[end..]
}

/// The text without such bytes at its end, all of which are ASCII.
pub(super) fn without_last(text: &str, is_one: impl Fn(u8) -> bool) -> &str {
    let end = text.bytes().rposition(|b| !is_one(b)).map_or(0, |last| last + 1);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, rest: &str, uptime_ms: Option<u64>, unix_ms: Option<i64>, gc_id: Option<u64>) {
        let (before, stamp) = Stamp::behind(text);
        assert_eq!(before, rest);
        assert_eq!(stamp.uptime_ns, uptime_ms.map(|ms| ms * 1_000_000));
        assert_eq!(stamp.unix_ns, unix_ms.map(|ms| ms * 1_000_000));
        assert_eq!(stamp.gc_id, gc_id);
    }

    #[test]
    fn stamps_are_found_right_behind_any_text() {
        check("12.221: ", "", Some(12_221), None, None);
        check("12,221: ", "", Some(12_221), None, None);
        check("(349568K)26.684: ", "(349568K)", Some(26_684), None, None);
        check("1970-01-01T01:00:00.005+0100: 0.005: ", "", Some(5), Some(5), None);
        check("1970-01-01T01:00:00.005+0100: ", "", None, Some(5), None);
        check("1970-01-01T01:00:00.005+0100: 0.005: #12: ", "", Some(5), Some(5), Some(12));
        check("0.01 secs]1970-01-01T01:00:00.005+0100: 0.005: ", "0.01 secs]", Some(5), Some(5), None);
        check("1.000: 2.000: ", "1.000: ", Some(2_000), None, None);
        check(" (promotion failed): ", " (promotion failed): ", None, None, None);
        check("\u{1F600}: ", "\u{1F600}: ", None, None, None);
        check(
            "\u{1F600}aaaaaaaaaaaaaaaaaaaaaaaaaa: ",
            "\u{1F600}aaaaaaaaaaaaaaaaaaaaaaaaaa: ",
            None,
            None,
            None,
        );
        check("", "", None, None, None);
    }

    #[test]
    fn stamps_that_belong_to_nothing_are_skipped() {
        assert_eq!(
            Stamp::skip("2012-02-24T03:50:08.554-0800:  (initial-mark), 0.28 secs"),
            "(initial-mark), 0.28 secs"
        );
        assert_eq!(Stamp::skip("652.538: 652.538Total time"), "Total time");
        assert_eq!(Stamp::skip("0.0157380 secs"), "0.0157380 secs");
        assert_eq!(Stamp::skip("12K->1K(20K)"), "12K->1K(20K)");
        assert_eq!(Stamp::skip(""), "");
    }

    #[test]
    fn sizes_of_all_forms_keep_their_step() {
        let mut text = "174848K->25512K(349568K), 0.1";
        let found = sizes(&mut text).expect("sizes");
        assert_eq!((found.before_bytes, found.after_bytes), (Some(174_848 << 10), Some(25_512 << 10)));
        assert_eq!((found.capacity_bytes, found.resolution_bytes), (Some(349_568 << 10), Some(1024)));
        assert_eq!(text, ", 0.1");
        let found = sizes(&mut "0K(2960704K)").expect("sizes");
        assert_eq!((found.before_bytes, found.after_bytes), (Some(0), Some(0)));
        let found = sizes(&mut "18.0M(24.0M)->0.0B(5120.0K)").expect("sizes");
        assert_eq!((found.capacity_bytes, found.resolution_bytes), (Some(5 << 20), Some(104_858)));
        assert_eq!(sizes(&mut "12K"), None);
        assert_eq!(sizes(&mut "12"), None);
    }
}
