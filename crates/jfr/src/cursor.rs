//! Bytes as the format's numbers and texts.

use crate::Malformed;

/// Reads on from some bytes.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

/// A text, or where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Text {
    Null,
    Own(String),
    /// In the pool of strings.
    Constant(u64),
}

/// Longest text that is kept; of a longer one the rest is dropped.
const TEXT_CHARS_MAX: usize = 4096;

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: bytes }
    }

    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed::TooShort)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    /// An integer of any width, seven bits a byte, the lowest first; a ninth byte has eight.
    pub(crate) fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for index in 0..9 {
            let byte = u64::from(self.byte()?);
            if index == 8 {
                return Ok(number | byte << 56);
            }
            number |= (byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                break;
            }
        }
        Ok(number)
    }

    /// How many things follow, each of which takes a byte or more.
    pub(crate) fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.number()?).map_err(|_| Malformed::TooMany)?;
        if self.left() < count { Err(Malformed::TooMany) } else { Ok(count) }
    }

    pub(crate) fn text(&mut self) -> Result<Text, Malformed> {
        let own = |text: std::borrow::Cow<'_, str>| Text::Own(text.chars().take(TEXT_CHARS_MAX).collect());
        Ok(match self.byte()? {
            0 => Text::Null,
            1 => Text::Own(String::new()),
            2 => Text::Constant(self.number()?),
            3 => {
                let count = self.count()?;
                own(String::from_utf8_lossy(self.take(count)?))
            }
            4 => {
                let units = (0..self.count()?).map(|_| Ok(self.number()? as u16));
                own(String::from_utf16_lossy(&units.collect::<Result<Vec<_>, Malformed>>()?).into())
            }
            5 => {
                let count = self.count()?;
                own(self.take(count)?.iter().map(|byte| char::from(*byte)).collect::<String>().into())
            }
            _ => return Err(Malformed::Text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_bits_a_byte_and_a_ninth_byte_has_eight() {
        let number = |bytes: &[u8]| Cursor::new(bytes).number();
        assert_eq!(number(&[0x7f]), Ok(127));
        assert_eq!(number(&[0x85, 0xb0, 0x03]), Ok(55301));
        assert_eq!(number(&[0xff; 9]), Ok(u64::MAX));
        assert_eq!(number(&[0xff; 8]), Err(Malformed::TooShort));
        assert_eq!(number(&[]), Err(Malformed::TooShort));
    }

    #[test]
    fn texts_have_five_forms_and_no_other() {
        let text = |bytes: &[u8]| Cursor::new(bytes).text();
        let own = |text: &str| Ok(Text::Own(text.to_owned()));
        assert_eq!(text(&[0]), Ok(Text::Null));
        assert_eq!(text(&[1]), own(""));
        assert_eq!(text(&[2, 7]), Ok(Text::Constant(7)));
        assert_eq!(text(&[3, 2, 0xc3, 0xa9]), own("é"));
        assert_eq!(text(&[4, 1, 0xe9, 0x01]), own("é"));
        assert_eq!(text(&[5, 1, 0xe9]), own("é"));
        assert_eq!(text(&[6]), Err(Malformed::Text));
        assert_eq!(text(&[3, 0xff, 0xff, 0x7f, 1]), Err(Malformed::TooMany), "no size is believed");
    }
}
