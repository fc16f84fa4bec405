//! Generic netlink messages, as far as exit records need them.

use rustix::io::Errno;

const ALIGNMENT: usize = 4;
const HEADER_BYTES: usize = 16;
/// Command, version, and two bytes that are reserved.
const GENERIC_BYTES: usize = 4;
const ATTRIBUTE_BYTES: usize = 4;
/// `NLM_F_REQUEST | NLM_F_ACK`
const REQUEST_WITH_ANSWER: u16 = 1 | 4;
/// `NLMSG_ERROR`: how a request ended, 0 for success.
const ENDED: u16 = 2;
/// Of an attribute's type: whether it is nested, and its byte order.
const TYPE_MASK: u16 = 0x3fff;

/// A message from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message<'a> {
    /// How the last request ended.
    Ended(Result<(), Errno>),
    /// One of a family, with its attributes.
    OfFamily { family: u16, attributes: &'a [u8] },
}

/// A request to a family with one attribute.
pub(super) fn request(family: u16, command: u8, (kind, data): (u16, &[u8])) -> Vec<u8> {
    let attribute = ATTRIBUTE_BYTES + data.len();
    let length = HEADER_BYTES + GENERIC_BYTES + attribute.next_multiple_of(ALIGNMENT);
    let mut bytes = Vec::with_capacity(length);
    bytes.extend((length as u32).to_ne_bytes());
    bytes.extend(family.to_ne_bytes());
    bytes.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
    // Sequence number and sender: the kernel fills the latter in, and there is one request at a time.
    bytes.extend([0; 8]);
    bytes.extend([command, 1, 0, 0]);
    bytes.extend((attribute as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    bytes.resize(length, 0);
    bytes
}

/// The messages in what was received; what is cut short is left out.
pub(super) fn messages(received: &[u8]) -> impl Iterator<Item = Message<'_>> {
    pieces(received, |header| number(header, 0).map(|length| length as usize), HEADER_BYTES).filter_map(
        |message| {
            let (header, payload) = message.split_at_checked(HEADER_BYTES)?;
            let family = short(header, 4)?;
            if family == ENDED {
                let code = number(payload, 0)?.cast_signed();
                let ended =
                    if code == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(code.saturating_neg())) };
                return Some(Message::Ended(ended));
            }
            Some(Message::OfFamily { family, attributes: payload.get(GENERIC_BYTES..)? })
        },
    )
}

/// Types and contents of attributes in a row.
pub(super) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    pieces(bytes, |header| short(header, 0).map(usize::from), ATTRIBUTE_BYTES).filter_map(|attribute| {
        let (header, content) = attribute.split_at_checked(ATTRIBUTE_BYTES)?;
        Some((short(header, 2)? & TYPE_MASK, content))
    })
}

/// The first attribute of a type.
pub(super) fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, content)| content)
}

/// Pieces that begin with their length, each at a multiple of four bytes, up to the first whose length cannot be.
fn pieces(mut rest: &[u8], length: fn(&[u8]) -> Option<usize>, least: usize) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = length(rest).filter(|length| least <= *length)?;
        let piece = rest.get(..length)?;
        rest = rest.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        Some(piece)
    })
}

pub(super) fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

pub(super) fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}
