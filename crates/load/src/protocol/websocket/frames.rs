//! Messages in frames (RFC 6455 section 5), whose heads `tungstenite` reads and writes. Its connections copy what comes, and want to read
//! it themselves.

use super::close;
use crate::protocol::{Event, Failure};
use std::io::Cursor;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

/// Longest head of a frame, bytes.
const HEAD_BYTES_MAX: usize = 14;
/// Longest payload of a ping, pong or close, bytes.
const CONTROL_BYTES_MAX: u64 = 125;
/// Pongs that may wait for a server that does not read.
const PONGS_MAX: u32 = 10_000;
/// A buffer that grew beyond this is given back.
const BYTES_KEPT: usize = 4096;

/// One connection's frames.
pub(crate) struct Frames {
    /// The start of a frame that is not whole yet.
    held: Vec<u8>,
    /// Those of a message whose last one did not come yet.
    fragments: Option<(Data, Vec<u8>)>,
    message_bytes_max: usize,
    random: u64,
    pongs: u32,
    /// The server ended the connection: with which code, until that is taken, and why.
    goodbye: Option<u32>,
    closed: Option<String>,
}

impl Frames {
    /// Of a connection whose messages are at most so long; `seed` makes its masks differ from those of other connections.
    pub fn new(message_bytes_max: usize, seed: u64) -> Frames {
        Frames {
            held: Vec::new(),
            fragments: None,
            message_bytes_max,
            random: seed,
            pongs: 0,
            goodbye: None,
            closed: None,
        }
    }

    /// Eight bytes that the next ones do not repeat (SplitMix64). Masks keep caches on the way from being poisoned; that needs no secret
    /// where whoever chooses the text chooses the server too.
    pub fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Appends a text message.
    pub fn put_text(&mut self, write: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
        let start = out.len();
        write(out);
        self.frame(OpCode::Data(Data::Text), start, out);
    }

    /// Puts a masked head before what stands in `out` from `start` on, and masks that.
    fn frame(&mut self, opcode: OpCode, start: usize, out: &mut Vec<u8>) {
        let [a, b, c, d, ..] = self.draw().to_le_bytes();
        let mask = [a, b, c, d];
        for (byte, key) in out[start..].iter_mut().zip(mask.iter().cycle()) {
            *byte ^= key;
        }
        let mut head = [0; HEAD_BYTES_MAX];
        let mut room = head.as_mut_slice();
        let length = (out.len() - start) as u64;
        let frame = FrameHeader { is_final: true, opcode, mask: Some(mask), ..FrameHeader::default() };
        // It has room for the longest.
        let _ = frame.format(length, &mut room);
        let left = room.len();
        out.splice(start..start, head[..HEAD_BYTES_MAX - left].iter().copied());
    }

    /// Takes bytes up to the message that `message` makes something of, or all. Pings are answered.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        mut message: impl FnMut(&[u8]) -> Result<Option<Event>, Failure>,
    ) -> Result<(usize, Option<Event>), Failure> {
        if out.is_empty() {
            self.pongs = 0;
        }
        let mut taken = 0;
        while taken < bytes.len() {
            let rest = &bytes[taken..];
            let event = if self.held.is_empty()
                && let Some((head, payload)) = self.whole(rest)?
            {
                taken += payload.end;
                self.take(&head, &rest[payload], out, &mut message)?
            } else {
                let wanted = self.wanted()?;
                let more = rest.len().min(wanted - self.held.len());
                self.held.extend_from_slice(&rest[..more]);
                taken += more;
                let mut held = std::mem::take(&mut self.held);
                let Some((head, payload)) = self.whole(&held)? else {
                    self.held = held;
                    continue;
                };
                let event = self.take(&head, &held[payload], out, &mut message);
                held.clear();
                held.shrink_to(BYTES_KEPT);
                self.held = held;
                event?
            };
            if event.is_some() {
                return Ok((taken, event));
            }
        }
        Ok((taken, None))
    }

    /// The frame at the start of bytes, if they hold all of it: its head, and where its payload is.
    fn whole(&self, bytes: &[u8]) -> Result<Option<(FrameHeader, std::ops::Range<usize>)>, Failure> {
        let Some((head, start, length)) = self.head(bytes)? else { return Ok(None) };
        let range = start..start + length;
        Ok(bytes.get(range.clone()).map(|_| (head, range)))
    }

    /// How many bytes of the frame that is held are wanted, as far as is known: its head first.
    fn wanted(&self) -> Result<usize, Failure> {
        Ok(match self.head(&self.held)? {
            Some((_, start, length)) => start + length,
            None => self.held.len() + 1,
        })
    }

    /// A frame's head, where its payload starts, and how long that is.
    fn head(&self, bytes: &[u8]) -> Result<Option<(FrameHeader, usize, usize)>, Failure> {
        let wrong = |what: &'static str| Err(Failure::Protocol(what.into()));
        let mut cursor = Cursor::new(bytes);
        let Ok(parsed) = FrameHeader::parse(&mut cursor) else { return wrong("a frame of an unknown kind") };
        let Some((head, length)) = parsed else { return Ok(None) };
        if head.rsv1 || head.rsv2 || head.rsv3 {
            return wrong("a frame of an extension that was not negotiated");
        }
        if head.mask.is_some() {
            return wrong("a masked frame of a server");
        }
        let so_far = self.fragments.as_ref().map_or(0, |(_, bytes)| bytes.len()) as u64;
        match head.opcode {
            OpCode::Control(_) if !head.is_final || length > CONTROL_BYTES_MAX => {
                wrong("a ping, pong or close that is fragmented or longer than 125 bytes")
            }
            OpCode::Data(_) if self.message_bytes_max as u64 <= so_far.saturating_add(length) => {
                let most = self.message_bytes_max;
                Err(Failure::Protocol(format!("a message is longer than {most} bytes").into()))
            }
            _ => Ok(Some((head, cursor.position() as usize, length as usize))),
        }
    }

    fn take(
        &mut self,
        head: &FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
        message: &mut impl FnMut(&[u8]) -> Result<Option<Event>, Failure>,
    ) -> Result<Option<Event>, Failure> {
        let wrong = |what: &'static str| Err(Failure::Protocol(what.into()));
        let mut whole = |kind, bytes: &[u8]| match kind {
            Data::Text if std::str::from_utf8(bytes).is_err() => wrong("a text message that is not UTF-8"),
            _ => message(bytes),
        };
        match (head.opcode, &mut self.fragments) {
            (OpCode::Control(Control::Ping), _) => {
                self.pongs += 1;
                if PONGS_MAX < self.pongs {
                    return wrong("too many pings, whose pongs it does not read");
                }
                let start = out.len();
                out.extend_from_slice(payload);
                self.frame(OpCode::Control(Control::Pong), start, out);
                Ok(None)
            }
            (OpCode::Control(Control::Close), _) => {
                let start = out.len();
                out.extend_from_slice(&payload[..payload.len().min(2)]);
                self.frame(OpCode::Control(Control::Close), start, out);
                let code =
                    payload.first_chunk().map_or(close::NO_CODE, |code| u16::from_be_bytes(*code).into());
                self.goodbye = Some(code);
                self.closed = Some(close::said(code, payload.get(2..).unwrap_or_default()));
                Ok(Some(Event::Leaving))
            }
            (OpCode::Control(_), _) => Ok(None),
            (OpCode::Data(Data::Continue), None) => wrong("a fragment of no message"),
            (OpCode::Data(Data::Continue), Some((kind, bytes))) => {
                bytes.extend_from_slice(payload);
                if !head.is_final {
                    return Ok(None);
                }
                let event = whole(*kind, bytes);
                self.fragments = None;
                event
            }
            (OpCode::Data(_), Some(_)) => wrong("a message within another"),
            (OpCode::Data(kind), None) if head.is_final => whole(kind, payload),
            (OpCode::Data(kind), fragments @ None) => {
                *fragments = Some((kind, payload.to_vec()));
                Ok(None)
            }
        }
    }

    /// The code with which the server ended the connection, once.
    pub fn take_goodbye(&mut self) -> Option<u32> {
        self.goodbye.take()
    }

    /// Why the server ended the connection, if it said so.
    pub fn closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }
}
