//! Files of arrival times: one in each line, in seconds from any origin, decimals allowed; what follows it after a comma or a space
//! is skipped, and so are empty lines and comments, which begin with `#`.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Most arrivals that are kept, 40 MB.
const ARRIVALS_MAX: usize = 5_000_000;
/// Longest from the first to the last, ns: a week.
const LENGTH_NS_MAX: u64 = 7 * 86_400 * 1_000_000_000;
/// Longest line, bytes.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// Whether offsets can be a trace.
pub(super) fn is_right(offsets: &[u64]) -> bool {
    offsets.len() <= ARRIVALS_MAX && offsets.last().is_none_or(|last| *last <= LENGTH_NS_MAX)
}

/// Offsets from the first arrival, in order; the lines may be in any.
pub(super) fn read(path: &Path) -> Result<Vec<u64>, String> {
    let named = path.display();
    let file = std::fs::File::open(path).map_err(|error| format!("cannot read trace {named}: {error}"))?;
    parse(BufReader::new(file)).map_err(|what| format!("trace {named}{what}"))
}

/// The same of what was opened; an error begins with the place.
fn parse(mut from: impl BufRead) -> Result<Vec<u64>, String> {
    let (mut times, mut line, mut number) = (Vec::new(), Vec::new(), 0_u64);
    loop {
        line.clear();
        number += 1;
        let length = from.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if length.map_err(|error| format!(": {error}"))? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let word = text.split([',', ' ', '\t', ';']).next().unwrap_or_default();
        match nanoseconds(word) {
            Some(ns) => times.push(ns),
            // A header.
            None if times.is_empty() && number == 1 => (),
            None => return Err(format!(":{number}: {word:?} is not a time in seconds")),
        }
        if times.len() > ARRIVALS_MAX {
            return Err(format!(": it has more than {ARRIVALS_MAX} arrivals; cut it"));
        }
    }
    times.sort_unstable();
    let first = times.first().copied().ok_or(": it holds no arrival")?;
    let offsets: Vec<u64> = times.into_iter().map(|ns| (ns - first) as u64).collect();
    if !is_right(&offsets) {
        return Err(": from its first to its last arrival it takes more than 7 days; cut it".to_owned());
    }
    Ok(offsets)
}

/// Of a decimal number of seconds, to the nanosecond: more than a float of this size resolves.
fn nanoseconds(word: &str) -> Option<i128> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 18 || !is_number(whole) || !is_number(part) {
        return None;
    }
    let part: String = part.chars().chain("000000000".chars()).take(9).collect();
    Some(sign * (whole.parse::<i128>().ok()? * 1_000_000_000 + part.parse::<i128>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_count_from_the_first_to_the_nanosecond_in_any_order() {
        let text =
            "time,path\n# recorded\n1700000000.5\n\n1700000000.000000001,/a\n1700000001 /b\n1700000000.5\n";
        let want = [0, 499_999_999, 499_999_999, 999_999_999];
        assert_eq!(parse(text.as_bytes()).expect("good lines"), want);
    }

    #[test]
    fn what_is_no_time_is_named_with_its_line() {
        let error = |text: &str| parse(text.as_bytes()).expect_err(text);
        assert_eq!(error("1\nx2\n"), ":2: \"x2\" is not a time in seconds");
        assert_eq!(error("# nothing\n"), ": it holds no arrival");
        assert!(error("0\n999999999\n").contains("more than 7 days"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_trace_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(bytes.as_slice());
        }
    }
}
