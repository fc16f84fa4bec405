//! How the bytes of a log are to be read: PowerShell redirects standard output to UTF-16, everything else is UTF-8.

use std::borrow::Cow;
use std::io::{self, Read};

/// So many bytes show the encoding where no byte order mark does: two characters of ASCII.
const SHOWN_BYTES: usize = 4;

/// The encoding of an input, and what of it is not decided or decoded yet.
#[derive(Debug)]
pub struct Encoding(State);

#[derive(Debug)]
enum State {
    /// These bytes do not show it yet.
    Unknown(Vec<u8>),
    Utf8,
    Utf16 {
        is_big_endian: bool,
        half: Option<u8>,
    },
}

impl Default for Encoding {
    fn default() -> Self {
        Encoding(State::Unknown(Vec::new()))
    }
}

impl Encoding {
    /// The next bytes as UTF-8.
    pub fn decoded<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &mut self.0 {
            State::Utf8 => Cow::Borrowed(bytes),
            State::Utf16 { is_big_endian, half } => Cow::Owned(of_utf16(bytes, *is_big_endian, half)),
            State::Unknown(head) => {
                let new = bytes.len().min(SHOWN_BYTES - head.len());
                head.extend_from_slice(&bytes[..new]);
                let Some((state, mark_bytes)) = shown_by(head) else { return Cow::Borrowed(&[]) };
                let head = std::mem::take(head);
                self.0 = state;
                match self.0 {
                    // Nearly always: all bytes came at once.
                    State::Utf8 if head.len() == new => Cow::Borrowed(bytes),
                    _ => {
                        let all = [&head[mark_bytes..], &bytes[new..]].concat();
                        Cow::Owned(self.decoded(&all).into_owned())
                    }
                }
            }
        }
    }

    /// The rest at the end of an input that is too short to show its encoding.
    pub fn rest(&mut self) -> Vec<u8> {
        match std::mem::take(self).0 {
            State::Unknown(head) => head,
            _ => Vec::new(),
        }
    }
}

/// An input as UTF-8.
#[derive(Debug)]
pub struct Decoded<R> {
    from: R,
    encoding: Encoding,
    ready: Vec<u8>,
    taken: usize,
}

impl<R: Read> Decoded<R> {
    /// Reads from `from`, whose first bytes show the encoding.
    pub fn new(from: R) -> Self {
        Decoded { from, encoding: Encoding::default(), ready: Vec::new(), taken: 0 }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.ready.len() {
            let mut bytes = [0; 8 << 10];
            let read = self.from.read(&mut bytes)?;
            self.ready = match read {
                0 => self.encoding.rest(),
                _ => self.encoding.decoded(&bytes[..read]).into_owned(),
            };
            self.taken = 0;
            if read == 0 && self.ready.is_empty() {
                return Ok(0);
            }
        }
        let read = (&self.ready[self.taken..]).read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

/// The encoding that the first bytes show, and how many of them are its mark.
fn shown_by(head: &[u8]) -> Option<(State, usize)> {
    let utf16 = |is_big_endian| State::Utf16 { is_big_endian, half: None };
    match head {
        [0xff, 0xfe, ..] => Some((utf16(false), 2)),
        [0xfe, 0xff, ..] => Some((utf16(true), 2)),
        [first, 0, second, 0] if *first != 0 && *second != 0 => Some((utf16(false), 0)),
        [0, first, 0, second] if *first != 0 && *second != 0 => Some((utf16(true), 0)),
        [_, _, _, _] => Some((State::Utf8, 0)),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], portion: usize) -> String {
        let mut encoding = Encoding::default();
        let mut text = Vec::new();
        bytes.chunks(portion).for_each(|chunk| text.extend_from_slice(&encoding.decoded(chunk)));
        text.extend(encoding.rest());
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn every_encoding_reads_the_same_however_it_is_cut() {
        let units: Vec<u16> = "[0.1s] é\n".encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let forms = [
            "[0.1s] é\n".as_bytes().to_vec(),
            [&[0xff, 0xfe], &little[..]].concat(),
            [&[0xfe, 0xff], &big[..]].concat(),
            little,
            big,
        ];
        for form in forms {
            for portion in 1..6 {
                assert_eq!(decoded(&form, portion), "[0.1s] é\n", "{form:?} by {portion}");
                let mut text = String::new();
                let reader =
                    form.chunks(portion).fold(Box::new(io::empty()) as Box<dyn Read>, |before, chunk| {
                        Box::new(before.chain(chunk))
                    });
                Decoded::new(reader).read_to_string(&mut text).expect("UTF-8");
                assert_eq!(text, "[0.1s] é\n", "{form:?} by {portion}, as a reader");
            }
        }
        // Emptied while it was written: the JVM goes on where it was.
        assert_eq!(decoded(b"\0\0\0\0[0.1s]", 3), "\0\0\0\0[0.1s]");
        assert_eq!(decoded(b"a\n", 1), "a\n");
    }
}
