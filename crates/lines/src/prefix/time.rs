//! The time that a line begins with, in the forms of collectors.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Takes a time and the blank behind it off a text: the time, nanoseconds since 1970, where it has a date, and what follows.
///
/// `2025-09-16T08:17:32.137Z`, also with a blank, a comma, a zone or none, within brackets; `Tue 2025-09-16 08:17:32 UTC`;
/// `Sep 16 08:17:32`, which has no year; `08:17:32.137`; `1758010652.137000`; `[ 1234.567890]` since the machine's start.
pub fn take_time(text: &str) -> Option<(Option<i64>, &str)> {
    let (unix_ns, rest) = match text.as_bytes().first()? {
        b'[' => bracketed(&text[1..])?,
        b'0'..=b'9' => {
            iso(text).or_else(|| clock(text).map(|rest| (None, rest))).or_else(|| seconds(text))?
        }
        b'A'..=b'Z' => with_words(text)?,
        _ => return None,
    };
    let rest = match rest.as_bytes().first() {
        None => rest,
        Some(b' ' | b'\t') => &rest[1..],
        Some(_) => return None,
    };
    Some((unix_ns, rest))
}

fn bracketed(text: &str) -> Option<(Option<i64>, &str)> {
    let (inside, rest) = text.split_once(']')?;
    let blank = inside.trim_start_matches(' ');
    // The kernel's time has blanks before it or no unit; the JVM's uptime has a unit.
    if let Some((whole, parts)) = blank.split_once('.')
        && parts.len() == 6
        && [whole, parts].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()))
    {
        return Some((None, rest));
    }
    match iso(inside)? {
        (unix_ns, "") => Some((unix_ns, rest)),
        _ => None,
    }
}

/// `2025-09-16T08:17:32.137+02:00` and its kin.
fn iso(text: &str) -> Option<(Option<i64>, &str)> {
    let bytes = text.as_bytes();
    let is_date = bytes.len() >= 19
        && [4, 7].iter().all(|at| matches!(bytes[*at], b'-' | b'/'))
        && matches!(bytes[10], b'T' | b' ' | b'_');
    if !is_date {
        return None;
    }
    let year = digits(bytes.get(..4)?)?;
    let [month, day] = [5, 8].map(|at| bytes.get(at..at + 2).and_then(digits));
    let (hour, minute, second, ns, rest) = time_of_day(&text[11..])?;
    let date = DateTime::new(
        i16::try_from(year).ok()?,
        i8::try_from(month?).ok()?,
        i8::try_from(day?).ok()?,
        hour,
        minute,
        second,
        ns,
    );
    let (ahead_s, rest) = zone(rest);
    let timestamp = Offset::from_seconds(ahead_s).ok()?.to_timestamp(date.ok()?).ok()?;
    Some((nanoseconds(timestamp), rest))
}

fn nanoseconds(timestamp: Timestamp) -> Option<i64> {
    i64::try_from(timestamp.as_nanosecond()).ok()
}

/// Hour, minute, second, nanoseconds and what follows.
fn time_of_day(text: &str) -> Option<(i8, i8, i8, i32, &str)> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || bytes[2] != b':' || bytes[5] != b':' {
        return None;
    }
    let part = |at: usize| bytes.get(at..at + 2).and_then(digits).and_then(|n| i8::try_from(n).ok());
    let (mut ns, mut end) = (0, 8);
    if matches!(bytes.get(8), Some(b'.' | b',')) {
        let length = bytes[9..].iter().take_while(|b| b.is_ascii_digit()).count();
        if (1..=9).contains(&length) {
            let value = digits(&bytes[9..9 + length])?;
            ns = i32::try_from(value.checked_mul(10_i64.pow(9 - u32::try_from(length).ok()?))?).ok()?;
            end = 9 + length;
        }
    }
    let second = part(6)?;
    // A leap second is the last one that jiff has.
    Some((part(0)?, part(3)?, second.min(59), ns, text.get(end..)?))
}

/// Seconds ahead of UTC, and what follows; without a zone, none.
fn zone(text: &str) -> (i32, &str) {
    if let Some(rest) = text.strip_prefix('Z') {
        return (0, rest);
    }
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return (0, text),
    };
    let two =
        |at: usize| text.as_bytes().get(at..at + 2).and_then(digits).and_then(|n| i32::try_from(n).ok());
    let Some(hours) = two(1) else { return (0, text) };
    let minutes_at = if text.as_bytes().get(3) == Some(&b':') { 4 } else { 3 };
    let (minutes, end) = two(minutes_at).map_or((0, 3), |minutes| (minutes, minutes_at + 2));
    (sign * (hours * 60 + minutes) * 60, &text[end..])
}

/// `08:17:32.137`
fn clock(text: &str) -> Option<&str> {
    time_of_day(text).map(|(.., rest)| rest)
}

/// `1758010652.137000`: seconds since 1970, of journald.
fn seconds(text: &str) -> Option<(Option<i64>, &str)> {
    let end = text.find(' ').unwrap_or(text.len());
    let (whole, parts) = text[..end].split_once('.')?;
    if whole.len() != 10 || parts.len() != 6 {
        return None;
    }
    let (s, us) = (digits(whole.as_bytes())?, digits(parts.as_bytes())?);
    Some((s.checked_mul(1_000_000_000)?.checked_add(us * 1_000), &text[end..]))
}

/// `Sep 16 08:17:32`, `Tue 2025-09-16 08:17:32 UTC`, `Tue Sep 16 08:17:32 2025`.
fn with_words(text: &str) -> Option<(Option<i64>, &str)> {
    let (word, rest) = text.split_once(' ')?;
    if WEEKDAYS.contains(&word) {
        let Some((unix_ns, behind)) = iso(rest) else { return with_words(rest) };
        // A zone by its name, of which only one is known.
        let (zone, behind) =
            behind.strip_prefix(' ')?.split_at(behind[1..].find(' ').unwrap_or(behind.len() - 1));
        return Some((unix_ns.filter(|_| matches!(zone, "UTC" | "GMT")), behind));
    }
    if !MONTHS.contains(&word) {
        return None;
    }
    let rest = rest.trim_start_matches(' ');
    let (day, rest) = rest.split_once(' ')?;
    if day.len() > 2 || digits(day.as_bytes()).is_none() {
        return None;
    }
    Some((None, clock(rest)?))
}

/// A number; absent where a byte is no digit, or none is there.
fn digits(bytes: &[u8]) -> Option<i64> {
    let add = |sum: Option<i64>, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        sum?.checked_mul(10)?.checked_add(digit)
    };
    if bytes.is_empty() { None } else { bytes.iter().fold(Some(0), add) }
}

/// A time alone, as JSON has it.
pub(super) fn whole_time(text: &str) -> Option<i64> {
    match take_time(text)? {
        (unix_ns, "") => unix_ns,
        _ => None,
    }
}

/// A time as a number: seconds since 1970, or parts of them, by how many there are.
pub(super) fn time_of_number(number: f64) -> Option<i64> {
    let ns = match number {
        1e8..1e11 => number * 1e9,
        1e11..1e14 => number * 1e6,
        1e14..1e17 => number * 1e3,
        1e17..9e18 => number,
        _ => return None,
    };
    Some(ns as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2025-09-16T08:17:32Z
    const AT_NS: i64 = 1_758_010_652_000_000_000;

    #[test]
    fn the_forms_of_collectors_say_the_same() {
        for text in [
            "2025-09-16T08:17:32.137Z x",
            "2025-09-16T08:17:32.137000000Z x",
            "2025-09-16T10:17:32.137+02:00 x",
            "2025-09-16T10:17:32.137+0200 x",
            "2025-09-16T10:17:32.137+02 x",
            "2025-09-16 08:17:32,137 x",
            "2025/09/16 08:17:32.137 x",
            "[2025-09-16T08:17:32,137] x",
            "1758010652.137000 x",
            "Tue 2025-09-16 08:17:32.137 UTC x",
        ] {
            assert_eq!(take_time(text), Some((Some(AT_NS + 137_000_000), "x")), "{text}");
        }
    }

    #[test]
    fn a_time_without_a_date_is_taken_off_and_absent() {
        for text in [
            "Sep 16 08:17:32  x",
            "Sep  6 08:17:32.137000  x",
            "08:17:32.137  x",
            "[ 1234.567890]  x",
            "[123456.567890]  x",
            "Tue 2025-09-16 08:17:32 CEST  x",
            "Tue Sep 16 08:17:32  x",
        ] {
            assert_eq!(take_time(text), Some((None, " x")), "{text}");
        }
        assert_eq!(take_time("Sep 16 08:17:32"), Some((None, "")));
    }

    #[test]
    fn what_the_jvm_writes_is_no_prefix() {
        for text in [
            "",
            "2018-11-29T23:12:09.854+0000: 27.894: [GC",
            "27.894: [GC",
            "[0.012s][info][gc] Using G1",
            "[2018-11-29T23:12:09.854+0000][0.012s] x",
            "2025-13-16T08:17:32Z x",
            "2025-09-16T08:17:32.Zx",
            "Sept 16 08:17:32 x",
            "é",
            "2025-09-1é08:17:32 xxxxx",
            "Tue é",
        ] {
            assert_eq!(take_time(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_times_by_how_large_they_are() {
        for number in [1_758_010_652.0, 1_758_010_652e3, 1_758_010_652e6, 1_758_010_652e9] {
            assert_eq!(time_of_number(number), Some(AT_NS));
        }
        assert_eq!([0.0, -1.0, 12.0, f64::NAN, 1e300].map(time_of_number), [None; 5]);
    }
}
