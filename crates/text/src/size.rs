//! Sizes as JVM options spell them (`30g`), and as sentences do (`30 GiB`); 1024-based.

use crate::near::number_and_unit;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Parses a size as a JVM does: decimal or hexadecimal digits, with `k`, `m`, `g`, `t` or bytes.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn parse(text: &str) -> Result<u64, String> {
    bytes(text).ok_or_else(|| wrong(text))
}

/// What is wrong with a size, and the size that may be meant.
fn wrong(text: &str) -> String {
    let meant = meant(text).filter(|meant| bytes(meant).is_some());
    let like = meant.as_deref().unwrap_or("512m");
    format!("`{text}` is not a size: write a whole number and k, m, g or t, like \"{like}\"")
}

/// `40gb` and `40 GiB` as `40g`, `1.5g` and `1,5g` as `1536m`.
fn meant(text: &str) -> Option<String> {
    let (number, unit) = number_and_unit(text)?;
    let unit = unit.chars().next()?;
    let smaller = match unit {
        'k' => "",
        'm' => "k",
        'g' => "m",
        't' => "g",
        _ => return None,
    };
    if !number.contains('.') {
        return Some(format!("{number}{unit}"));
    }
    let smaller_units = number.parse::<f64>().ok()? * 1024.0;
    (smaller_units.fract() == 0.0 && smaller_units < 1e12).then(|| format!("{smaller_units:.0}{smaller}"))
}

fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&text[..text.len() - 1], 10),
        b'm' => (&text[..text.len() - 1], 20),
        b'g' => (&text[..text.len() - 1], 30),
        b't' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    // The library takes a leading `+`.
    let number =
        digits.as_bytes().first()?.is_ascii_hexdigit().then(|| u64::from_str_radix(digits, radix))?;
    number.ok()?.checked_mul(1 << shift)
}

/// Parses a size that has a unit, is decimal, and is more than nothing.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn parse_with_unit(text: &str) -> Result<u64, String> {
    let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic()) && !text.starts_with("0x");
    match bytes(text) {
        Some(bytes) if has_unit && bytes > 0 => Ok(bytes),
        _ => Err(wrong(text)),
    }
}

/// As a JVM option takes it, exact, in the largest unit that holds it: `30g`, `30721m`, `100k`, `1000`.
pub fn option(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        b if b.is_multiple_of(GIB) => format!("{}g", b / GIB),
        b if b.is_multiple_of(MIB) => format!("{}m", b / MIB),
        b if b.is_multiple_of(KIB) => format!("{}k", b / KIB),
        b => b.to_string(),
    }
}

/// The same in a sentence, exact: `30 GiB`.
pub fn exact(bytes: u64) -> String {
    match bytes {
        0 => "0 bytes".to_owned(),
        b if b.is_multiple_of(GIB) => format!("{} GiB", b / GIB),
        b if b.is_multiple_of(MIB) => format!("{} MiB", b / MIB),
        b if b.is_multiple_of(KIB) => format!("{} KiB", b / KIB),
        b => format!("{b} bytes"),
    }
}

/// In a sentence with one decimal, KiB to TiB: `1.5 GiB`.
pub fn rounded(bytes: u64) -> String {
    rounded_signed(bytes as f64)
}

/// The same for estimates and differences, which may be negative or a fraction.
pub fn rounded_signed(bytes: f64) -> String {
    if bytes.abs() < 1024.0 {
        return format!("{bytes:.0} bytes");
    }
    let (mut value, mut unit) = (bytes / 1024.0, "KiB");
    for next in ["MiB", "GiB", "TiB"] {
        // Where rounding to a decimal would give 1024.0 of the unit.
        if value.abs() < 1023.95 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    format!("{value:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_jvm_reads_them_and_written_exactly() {
        let cases =
            [("30g", 30 * GIB), ("30721M", 30721 * MIB), ("0x80000000", 2 * GIB), ("1t", 1 << 40), ("7", 7)];
        for (text, bytes) in cases {
            assert_eq!(parse(text), Ok(bytes), "{text}");
            assert_eq!(parse(&option(bytes)), Ok(bytes), "{text}");
        }
        for text in ["", "g", "-1", "+1", "1.5g", "99999999999t", "4 g", "é", "0x", "0x+1"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!((option(31 * GIB), exact(100 * KIB)), ("31g".to_owned(), "100 KiB".to_owned()));
        assert_eq!(exact(2047 * MIB + 1), "2146435073 bytes");
        for text in ["1g", "2200m", "96m", "1k"] {
            assert_eq!(option(parse(text).expect(text)), text);
        }
    }

    #[test]
    fn a_size_that_is_nearly_right_is_put_right() {
        for (text, right) in [
            ("40gb", "\"40g\""),
            ("40 GiB", "\"40g\""),
            ("1.5g", "\"1536m\""),
            ("31.5G", "\"32256m\""),
            ("x", "\"512m\""),
        ] {
            assert!(parse(text).is_err_and(|said| said.ends_with(right)), "{text}");
        }
    }

    #[test]
    fn a_study_s_sizes_have_a_unit() {
        assert_eq!(parse_with_unit("2200m"), Ok(2200 << 20));
        for bad in ["", "12", "g", "-1g", "1.5g", "0m", "99999999999t", "1 g", "0x1g"] {
            assert!(parse_with_unit(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn figures_have_the_unit_that_people_use() {
        let figures = [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1_048_575, "1.0 MiB")];
        for (value, text) in figures {
            assert_eq!(rounded(value), text);
        }
        assert_eq!((rounded(3 << 29), rounded(5 << 40)), ("1.5 GiB".to_owned(), "5.0 TiB".to_owned()));
        assert_eq!(
            (rounded_signed(-1536.0), rounded_signed(0.4)),
            ("-1.5 KiB".to_owned(), "0 bytes".to_owned())
        );
    }
}
