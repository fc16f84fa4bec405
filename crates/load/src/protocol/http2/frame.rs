//! Frames (RFC 9113 sections 4 and 6): their heads, and what stands in them.

use super::fault::Fault;

pub(super) const HEAD_BYTES: usize = 9;
/// Longest payload that a peer takes without having said more, bytes; we say nothing else.
pub(super) const PAYLOAD_BYTES_MAX: usize = 16_384;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 1;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const PRIORITY: u8 = 0x20;

/// A frame's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Head {
    pub fn read(bytes: &[u8; HEAD_BYTES]) -> Head {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Head {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & 0x7fff_ffff,
        }
    }

    pub fn bytes(self) -> [u8; HEAD_BYTES] {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, d, e, f, g]
    }

    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends a frame.
pub(super) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&Head { length: payload.len(), kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

/// Appends a frame that holds one number.
pub(super) fn put_number(out: &mut Vec<u8>, kind: u8, stream: u32, number: u32) {
    put(out, kind, 0, stream, &number.to_be_bytes());
}

/// The payload of DATA or HEADERS without its padding and, of HEADERS, its priority.
pub(super) fn content(head: Head, mut payload: &[u8]) -> Result<&[u8], Fault> {
    let mut padding = 0;
    if head.has(PADDED) {
        let (first, rest) = payload.split_first().ok_or(Fault::FrameLength)?;
        (padding, payload) = (usize::from(*first), rest);
    }
    if head.kind == HEADERS && head.has(PRIORITY) {
        payload = payload.get(5..).ok_or(Fault::FrameLength)?;
    }
    let end = payload.len().checked_sub(padding).ok_or(Fault::Padding)?;
    Ok(&payload[..end])
}

/// The first number of a payload.
pub(super) fn number(payload: &[u8]) -> Result<u32, Fault> {
    payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)).ok_or(Fault::FrameLength)
}
