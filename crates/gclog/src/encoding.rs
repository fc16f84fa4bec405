//! How the bytes of a log are to be read: PowerShell redirects standard output to UTF-16, everything else is UTF-8.

use std::borrow::Cow;

/// The encoding of a source, and what of it is not decided or decoded yet.
#[derive(Debug)]
pub(crate) enum Encoding {
    /// Fewer than two bytes were read.
    Unknown(Option<u8>),
    Utf8,
    Utf16 {
        is_big_endian: bool,
        half: Option<u8>,
    },
}

impl Default for Encoding {
    fn default() -> Self {
        Encoding::Unknown(None)
    }
}

impl Encoding {
    /// The next bytes as UTF-8.
    pub fn decoded<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match self {
            Encoding::Utf8 => Cow::Borrowed(bytes),
            Encoding::Utf16 { is_big_endian, half } => Cow::Owned(of_utf16(bytes, *is_big_endian, half)),
            Encoding::Unknown(first) => {
                let head: Vec<u8> = first.iter().copied().chain(bytes.iter().copied().take(2)).collect();
                let (is_first_kept, is_big_endian) = (first.is_some(), head.first() == Some(&0xfe));
                *self = match head.as_slice() {
                    [] | [_] => {
                        *first = head.first().copied();
                        return Cow::Borrowed(&[]);
                    }
                    [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Encoding::Utf16 { is_big_endian, half: None },
                    _ => Encoding::Utf8,
                };
                match self {
                    Encoding::Utf16 { .. } => self.decoded(&bytes[2 - usize::from(is_first_kept)..]),
                    _ if is_first_kept => Cow::Owned([&head[..1], bytes].concat()),
                    _ => Cow::Borrowed(bytes),
                }
            }
        }
    }

    /// What is left at the end of a source of a single byte.
    pub fn rest(&mut self) -> Option<u8> {
        if let Encoding::Unknown(first) = std::mem::take(self) { first } else { None }
    }
}

fn of_utf16(bytes: &[u8], is_big_endian: bool, half: &mut Option<u8>) -> Vec<u8> {
    let mut text = String::with_capacity(bytes.len() / 2 + 1);
    for byte in bytes {
        let Some(first) = half.take() else {
            *half = Some(*byte);
            continue;
        };
        let unit = if is_big_endian { [first, *byte] } else { [*byte, first] };
        let unit = u32::from(u16::from_be_bytes(unit));
        // Logs have no characters that need two units but in names of threads.
        text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    text.into_bytes()
}
