//! Sizes as JVM options spell them, and as sentences do.

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A size as an option: `30g`, `30721m`, `100k`, `1000`; the largest unit that is exact.
pub fn option_size(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        b if b % GIB == 0 => format!("{}g", b / GIB),
        b if b % MIB == 0 => format!("{}m", b / MIB),
        b if b % KIB == 0 => format!("{}k", b / KIB),
        b => b.to_string(),
    }
}

/// The same in a sentence: `30 GiB`.
pub fn size_words(bytes: u64) -> String {
    match bytes {
        0 => "0 bytes".to_owned(),
        b if b % GIB == 0 => format!("{} GiB", b / GIB),
        b if b % MIB == 0 => format!("{} MiB", b / MIB),
        b if b % KIB == 0 => format!("{} KiB", b / KIB),
        b => format!("{b} bytes"),
    }
}

/// A size as the JVM reads it from an option: decimal or hexadecimal, with `k`, `m`, `g` or `t`.
pub(super) fn parse_option_size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&text[..text.len() - 1], 10),
        b'm' => (&text[..text.len() - 1], 20),
        b'g' => (&text[..text.len() - 1], 30),
        b't' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_jvm_reads_them_and_written_exactly() {
        let cases =
            [("30g", 30 * GIB), ("30721M", 30721 * MIB), ("0x80000000", 2 * GIB), ("1t", 1 << 40), ("7", 7)];
        for (text, bytes) in cases {
            assert_eq!(parse_option_size(text), Some(bytes), "{text}");
            assert_eq!(parse_option_size(&option_size(bytes)), Some(bytes), "{text}");
        }
        for text in ["", "g", "-1", "1.5g", "99999999999t", "4 g", "é"] {
            assert_eq!(parse_option_size(text), None, "{text}");
        }
        assert_eq!((option_size(31 * GIB), size_words(100 * KIB)), ("31g".to_owned(), "100 KiB".to_owned()));
        assert_eq!(size_words(2047 * MIB + 1), "2146435073 bytes");
    }
}
