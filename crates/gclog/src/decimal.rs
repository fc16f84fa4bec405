//! Decimal numbers and dates as logs write them, without going through floating point: each keeps its smallest step.

use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Digits that are kept; a JVM writes at most 9 behind the point.
const DIGITS_MAX: usize = 18;

/// A decimal number: `units` / 10^`places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub units: u64,
    pub places: u32,
}

/// Powers of ten that 64 bits hold.
const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

fn power_of_ten(exponent: u32) -> Option<u64> {
    POWERS.get(exponent as usize).copied()
}

/// Appends the digits that bytes begin with to a number, and counts them. One that overflows has too many.
#[inline]
fn digits(bytes: &[u8], mut units: u64) -> (u64, usize) {
    for (count, byte) in bytes.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if 10 <= digit {
            return (units, count);
        }
        units = units.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    (units, bytes.len())
}

impl Decimal {
    /// Takes a number such as `0.0157380` off the front. The JVM of some locales writes a comma (JDK 7 on Windows), which is
    /// followed by a digit at once, never by a blank. Held by `commas_of_some_locales_are_decimal_points`.
    #[inline]
    pub fn take(text: &mut &str) -> Option<Decimal> {
        let bytes = text.as_bytes();
        let (whole, before) = digits(bytes, 0);
        let fraction = match bytes.get(before) {
            Some(b'.' | b',') if 0 < before => digits(&bytes[before + 1..], whole),
            _ => (whole, 0),
        };
        let (units, places, end) = match fraction {
            (_, 0) => (whole, 0, before),
            (units, places) => (units, places, before + 1 + places),
        };
        if !(1..=DIGITS_MAX).contains(&(before + places)) {
            return None;
        }
        *text = &text[end..];
        Some(Decimal { units, places: places as u32 })
    }

    /// The whole text as a number.
    pub fn parse(mut text: &str) -> Option<Decimal> {
        let decimal = Decimal::take(&mut text)?;
        text.is_empty().then_some(decimal)
    }

    /// Times 10^`zeros`, what lies behind the point cut off; and the smallest step of it, at least 1.
    #[inline]
    pub fn scaled(self, zeros: u32) -> Option<(u64, u64)> {
        match zeros.checked_sub(self.places) {
            Some(up) => {
                let step = power_of_ten(up)?;
                Some((self.units.checked_mul(step)?, step))
            }
            None => Some((self.units / power_of_ten(self.places - zeros)?, 1)),
        }
    }

    /// Times 2^`shift`, what lies behind the point cut off; and the smallest step of it, at least 1.
    pub fn shifted(self, shift: u32) -> Option<(u64, u64)> {
        if self.places == 0 {
            let unit = 1_u64.checked_shl(shift)?;
            return Some((self.units.checked_mul(unit)?, unit));
        }
        let parts = u128::from(power_of_ten(self.places)?);
        let unit = 1_u128.checked_shl(shift)?;
        let value = u128::from(self.units).checked_mul(unit)? / parts;
        let step = unit.div_ceil(parts).max(1);
        Some((u64::try_from(value).ok()?, u64::try_from(step).ok()?))
    }
}

/// Characters of `2016-10-09T01:00:57.051`.
const CIVIL_CHARS: usize = 23;

/// Nanoseconds since 1970 of `2016-10-09T01:00:57.051`, read as if it were UTC. Takes exactly this form; a comma is a point.
pub(crate) fn civil_ns(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != CIVIL_CHARS
        || [4, 7, 10, 13, 16].map(|at| bytes[at]) != *b"--T::"
        || !matches!(bytes[19], b'.' | b',')
    {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i16> {
        let digits = &bytes[from..to];
        let value = |sum: Option<i16>, byte: &u8| {
            Some(sum? * 10 + i16::from(byte.is_ascii_digit().then(|| byte - b'0')?))
        };
        digits.iter().fold(Some(0), value)
    };
    let small = |from: usize| i8::try_from(number(from, from + 2)?).ok();
    let millis = i32::from(number(20, 23)?);
    civil(number(0, 4)?, [small(5)?, small(8)?, small(11)?, small(14)?, small(17)?], millis)
}

/// The same from its parts: year; month, day, hour, minute, second; milliseconds.
fn civil(year: i16, [month, day, hour, minute, second]: [i8; 5], millis: i32) -> Option<i64> {
    let civil = DateTime::new(year, month, day, hour, minute, second, millis.checked_mul(1_000_000)?).ok()?;
    i64::try_from(Offset::UTC.to_timestamp(civil).ok()?.as_nanosecond()).ok()
}

/// The same of `Mar 25 22:40:24 2010`, which J9 wrote before R26.
pub(crate) fn old_civil_ns(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_ascii_whitespace();
    let (month, day, time, year) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let month = i8::try_from(MONTHS.iter().position(|name| *name == month)?).ok()? + 1;
    let mut parts = time.split(':').map(|part| part.parse::<i8>().ok());
    let mut part = || parts.next().flatten();
    civil(year.parse().ok()?, [month, day.parse().ok()?, part()?, part()?, part()?], 0)
}

/// Nanoseconds since 1970 of `2016-10-09T01:00:57.051+0800`.
pub(crate) fn unix_ns(text: &str) -> Option<i64> {
    let (civil, zone) = text.split_at_checked(CIVIL_CHARS)?;
    civil_ns(civil)?.checked_sub(ahead_ns(zone)?)
}

/// Nanoseconds that `+0800` is ahead of UTC, which is `Z` too.
fn ahead_ns(zone: &str) -> Option<i64> {
    let (sign, digits) = zone.split_at_checked(1)?;
    if zone == "Z" {
        return Some(0);
    }
    if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    let ahead_ns = ((number / 100) * 60 + number % 100) * 60_000_000_000;
    match sign {
        "+" => Some(ahead_ns),
        "-" => Some(-ahead_ns),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_of_some_locales_are_decimal_points() {
        assert_eq!(Decimal::parse("0,0157380"), Some(Decimal { units: 157_380, places: 7 }));
        let mut text = "12, 3";
        assert_eq!(Decimal::take(&mut text), Some(Decimal { units: 12, places: 0 }));
        assert_eq!(text, ", 3");
        assert_eq!(Decimal::parse("1.2.3"), None);
        assert_eq!(Decimal::parse("12345678901234567890"), None);
        assert_eq!(Decimal::parse(""), None);
    }

    #[test]
    fn numbers_keep_their_smallest_step() {
        let secs = Decimal::parse("0.0157380").expect("a number");
        assert_eq!(secs.scaled(9), Some((15_738_000, 100)));
        assert_eq!(secs.scaled(3), Some((15, 1)));
        assert_eq!(Decimal::parse("3758").and_then(|d| d.shifted(10)), Some((3758 << 10, 1024)));
        assert_eq!(Decimal::parse("1.5").and_then(|d| d.shifted(20)), Some((1_572_864, 104_858)));
        assert_eq!(Decimal::parse("0.0").and_then(|d| d.shifted(0)), Some((0, 1)));
        assert_eq!(Decimal::parse("999999999999999999").and_then(|d| d.shifted(40)), None);
    }

    #[test]
    fn dates_are_taken_in_their_one_form() {
        assert_eq!(civil_ns("1970-01-02T00:00:00.001"), Some(86_400_001_000_000));
        assert_eq!(civil_ns("1970-01-02 00:00:00.001"), None);
        assert_eq!(civil_ns("1970-13-02T00:00:00.001"), None);
        assert_eq!(civil_ns("1970-01-02T00:00:00.0x1"), None);
        assert_eq!(civil_ns("1970-01-02T00:00:00,001"), Some(86_400_001_000_000));
        assert_eq!(old_civil_ns("Jan 2 00:00:01 1970"), Some(86_401_000_000_000));
        assert_eq!(old_civil_ns("Jan 2 00:00 1970"), None);
    }

    #[test]
    fn a_zone_is_taken_off() {
        let unix_s = |text: &str| unix_ns(text).map(|ns| ns / 1_000_000_000);
        assert_eq!(unix_s("1970-01-01T00:00:00.000+0000"), Some(0));
        assert_eq!(unix_s("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(unix_s("2022-11-10T03:37:29.443-0800"), Some(1_668_080_249));
        assert_eq!(unix_s("2024-02-29T23:59:59.000+0530"), Some(1_709_231_399));
        for text in
            ["", "2024-02-29T23:59:59.0000530", "2023-02-29T23:59:59.000Z", "2024-02-28T23:59:59.000Zone"]
        {
            assert_eq!(unix_ns(text), None, "{text}");
        }
    }
}
