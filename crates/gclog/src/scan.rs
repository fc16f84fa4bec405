//! A cursor over a line of text: each step takes something off the front or says that it is not there.

use crate::decimal::Decimal;

/// The rest of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan<'a>(pub &'a str);

impl<'a> Scan<'a> {
    /// Takes exactly this text.
    pub fn literal(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// Takes any number of blanks.
    pub fn blanks(&mut self) {
        self.0 = self.0.trim_start_matches(' ');
    }

    /// Takes what stands before this text, and the text.
    pub fn until(&mut self, text: &str) -> Option<&'a str> {
        let (before, after) = self.0.split_once(text)?;
        self.0 = after;
        Some(before)
    }

    /// Takes a decimal number.
    pub fn number(&mut self) -> Option<u64> {
        let end = self.0.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits.parse().ok()
    }

    /// Takes a size with its unit, such as `17472K`, in bytes.
    pub fn size(&mut self) -> Option<u64> {
        self.size_with_step().map(|(bytes, _)| bytes)
    }

    /// As [`Self::size`], and what its unit is worth.
    pub fn size_with_step(&mut self) -> Option<(u64, u64)> {
        let number = self.number()?;
        let unit = self.0.bytes().next()?;
        let shift = shift_of_unit(unit)?;
        self.0 = &self.0[1..];
        Some((number.checked_mul(1 << shift)?, 1 << shift))
    }

    /// Takes a size of parts of a unit, such as `5.25M`, in bytes, and its smallest step.
    pub fn decimal_size(&mut self) -> Option<(u64, u64)> {
        let number = Decimal::take(&mut self.0)?;
        let shift = shift_of_unit(self.0.bytes().next()?)?;
        self.0 = &self.0[1..];
        number.shifted(shift)
    }

    /// Takes an address, and says of how many hexadecimal digits it is.
    pub fn address(&mut self) -> Option<(u64, usize)> {
        self.literal("0x")?;
        let end = self.0.bytes().position(|b| !b.is_ascii_hexdigit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        Some((u64::from_str_radix(digits, 16).ok()?, digits.len()))
    }

    /// Takes a length with its unit, such as `3.456ms` or `0.099s`, in nanoseconds, and the step of its last digit. In locales such as
    /// de_DE every JVM writes a decimal comma.
    pub fn duration(&mut self) -> Option<(u64, u64)> {
        let number = Decimal::take(&mut self.0)?;
        let units = [("ms", 6), ("us", 3), ("ns", 0), ("s", 9)];
        let (_, zeros) = units.into_iter().find(|(unit, _)| self.literal(unit).is_some())?;
        number.scaled(zeros)
    }

    /// Takes a group in parentheses, which may hold others, as in `(System.gc())`; returns what is inside.
    pub fn group(&mut self) -> Option<&'a str> {
        let inside = self.0.strip_prefix('(')?;
        let mut depth = 1_usize;
        for (at, byte) in inside.bytes().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.0 = &inside[at + 1..];
                return Some(&inside[..at]);
            }
        }
        None
    }

    /// Nothing is left.
    pub fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// The value of a unit of sizes: 2 to this power, bytes.
pub(crate) fn shift_of_unit(unit: u8) -> Option<u32> {
    Some(match unit {
        b'B' => 0,
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        _ => return None,
    })
}

/// The beginning of a text of a log, for a report: without control characters, of this many characters at most.
pub fn shortened(text: &str, chars_max: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_carry_their_unit_and_huge_ones_are_refused() {
        assert_eq!(Scan("17472K").size(), Some(17472 * 1024));
        assert_eq!(Scan("131073B ").size(), Some(131_073));
        assert_eq!(Scan("99999999999999999999K").size(), None);
        assert_eq!(Scan("18446744073709551615T").size(), None);
        assert_eq!(Scan("12").size(), None);
    }

    #[test]
    fn lengths_are_taken_without_going_through_floating_point() {
        assert_eq!(Scan("3.456ms").duration(), Some((3_456_000, 1_000)));
        assert_eq!(Scan("0.1ms").duration(), Some((100_000, 100_000)));
        assert_eq!(Scan("12ms").duration(), Some((12_000_000, 1_000_000)));
        assert_eq!(Scan("0.1234567ms").duration(), Some((123_456, 1)));
        assert_eq!(Scan("0.099s").duration(), Some((99_000_000, 1_000_000)));
        assert_eq!(Scan("3.456").duration(), None);
        assert_eq!(Scan("18446744073709551615.5ms").duration(), None);
    }

    #[test]
    fn groups_may_hold_groups() {
        let mut scan = Scan("(System.gc()) 4M");
        assert_eq!(scan.group(), Some("System.gc()"));
        assert_eq!(scan.0, " 4M");
        assert_eq!(Scan("(System.gc()").group(), None);
    }
}
