//! A cursor over a line of text: each step takes something off the front or says that it is not there.

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
        self.digits()?.parse().ok()
    }

    fn digits(&mut self) -> Option<&'a str> {
        let end = self.0.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        (!digits.is_empty()).then_some(digits)
    }

    /// Takes a size with its unit, such as `17472K`, in bytes.
    pub fn size(&mut self) -> Option<u64> {
        let number = self.number()?;
        let unit = self.0.bytes().next()?;
        let shift = match unit {
            b'B' => 0,
            b'K' => 10,
            b'M' => 20,
            b'G' => 30,
            b'T' => 40,
            _ => return None,
        };
        self.0 = &self.0[1..];
        number.checked_mul(1 << shift)
    }

    /// Takes an address, and says of how many hexadecimal digits it is.
    pub fn address(&mut self) -> Option<(u64, usize)> {
        self.literal("0x")?;
        let end = self.0.bytes().position(|b| !b.is_ascii_hexdigit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        Some((u64::from_str_radix(digits, 16).ok()?, digits.len()))
    }

    /// Takes milliseconds with decimals and the unit, such as `3.456ms`, in whole nanoseconds.
    pub fn milliseconds_as_ns(&mut self) -> Option<u64> {
        let whole_ms = self.number()?;
        let mut fraction_ns = 0;
        if self.literal(".").is_some() {
            let decimals = self.digits()?;
            let kept = &decimals[..decimals.len().min(6)];
            fraction_ns = kept.parse::<u64>().ok()? * 10_u64.pow(6 - kept.len() as u32);
        }
        self.literal("ms")?;
        whole_ms.checked_mul(1_000_000)?.checked_add(fraction_ns)
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
    fn milliseconds_are_taken_without_going_through_floating_point() {
        assert_eq!(Scan("3.456ms").milliseconds_as_ns(), Some(3_456_000));
        assert_eq!(Scan("0.1ms").milliseconds_as_ns(), Some(100_000));
        assert_eq!(Scan("12ms").milliseconds_as_ns(), Some(12_000_000));
        assert_eq!(Scan("0.1234567ms").milliseconds_as_ns(), Some(123_456));
        assert_eq!(Scan("3.456").milliseconds_as_ns(), None);
        assert_eq!(Scan("18446744073709551615.5ms").milliseconds_as_ns(), None);
    }

    #[test]
    fn groups_may_hold_groups() {
        let mut scan = Scan("(System.gc()) 4M");
        assert_eq!(scan.group(), Some("System.gc()"));
        assert_eq!(scan.0, " 4M");
        assert_eq!(Scan("(System.gc()").group(), None);
    }
}
