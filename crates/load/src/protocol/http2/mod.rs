//! HTTP/2 (RFC 9113): as many requests at a time on a connection as it has streams, within what the server allows.
//!
//! The state machine is our own and the decoder of headers is nghttp2's ([`inflate`]). Why not the crate `h2` 0.4: it reads and writes
//! itself, through the traits of tokio; it makes a map of the headers of each request and answer, and locks a mutex for each frame. Why
//! not all of nghttp2: its callbacks would be as long as this, and unsafe.

pub(crate) mod fault;
mod frame;
mod head;
mod incoming;
mod inflate;
mod stream;

use super::{Answer, Event, Exchange, Failure};
use crate::request::{Request, RequestPart};
use fault::{CANCEL, Fault, PROTOCOL_ERROR};
use frame::{HEAD_BYTES, Head, PAYLOAD_BYTES_MAX};
use head::Deflater;
use inflate::Inflater;
use std::sync::Arc;
use stream::Stream;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Longest header block, bytes: as long as a head of HTTP/1.1.
const BLOCK_BYTES_MAX: usize = 64 << 10;
/// What the server may send of a body, or of all bodies, before more is allowed. Nothing waits here, so it is as wide as `h2load`
/// opens it.
const WINDOW_BYTES: u32 = (1 << 30) - 1;
/// What may be sent before the server says something else: section 6.9.2.
const WINDOW_BYTES_USUAL: i64 = 65_535;
const STREAM_MAX: u32 = (1 << 31) - 1;
/// A buffer that grew beyond this is given back.
const BYTES_KEPT: usize = 4096;

/// State shared by all connections to a server.
#[derive(Debug)]
pub(crate) struct Server {
    pub is_secure: bool,
    pub authority: Arc<str>,
    /// Streams that each connection should have.
    pub streams: usize,
}

pub(crate) struct Http2 {
    server: Arc<Server>,
    streams: Vec<Stream>,
    /// Streams that carry a request.
    open: usize,
    next_id: u32,
    deflater: Deflater,
    /// Absent without memory.
    inflater: Option<Inflater>,
    /// The start of a frame that is not whole yet.
    held: Vec<u8>,
    /// A header block that goes on, with its first frame's head.
    block: Option<(Head, Vec<u8>)>,
    /// The server's SETTINGS came.
    is_ready: bool,
    /// As the server allows.
    streams_max: usize,
    frame_bytes_max: usize,
    stream_window: i64,
    /// Of all bodies together: what may be sent, and what may come.
    window: i64,
    room: i64,
    /// The code with which the server says that it leaves, until it is taken.
    goodbye: Option<u32>,
    /// The last stream that a leaving server answers.
    last_answered: Option<u32>,
    acknowledgments: u32,
}

impl Http2 {
    pub fn new(server: Arc<Server>) -> Http2 {
        Http2 {
            streams: (0..server.streams).map(|_| Stream::new()).collect(),
            server,
            open: 0,
            next_id: 1,
            deflater: Deflater::new(),
            inflater: None,
            held: Vec::new(),
            block: None,
            is_ready: false,
            streams_max: usize::MAX,
            frame_bytes_max: PAYLOAD_BYTES_MAX,
            stream_window: WINDOW_BYTES_USUAL,
            window: WINDOW_BYTES_USUAL,
            room: i64::from(WINDOW_BYTES),
            goodbye: None,
            last_answered: None,
            acknowledgments: 0,
        }
    }

    fn stream_of(&self, id: u32) -> Option<usize> {
        self.streams.iter().position(|stream| stream.id == id)
    }

    /// Nothing more is sent on this connection.
    fn is_leaving(&self) -> bool {
        self.last_answered.is_some() || STREAM_MAX < self.next_id
    }

    /// A stream carries no request any more.
    fn free(&mut self, at: usize) {
        self.streams[at].free();
        self.open -= 1;
    }

    /// Sends what the windows let through of a body that waits.
    fn send_body(&mut self, at: usize, out: &mut Vec<u8>) {
        let (body, sent) = std::mem::take(&mut self.streams[at].unsent);
        let sent = sent + self.put_body(at, &body[sent..], out);
        self.streams[at].unsent = (body, sent);
    }

    /// Appends what the windows let through of a body, and says how much that is.
    fn put_body(&mut self, at: usize, body: &[u8], out: &mut Vec<u8>) -> usize {
        let stream = &mut self.streams[at];
        let mut sent = 0;
        while sent < body.len() {
            let window = usize::try_from(self.window.min(stream.window)).unwrap_or(0);
            let count = (body.len() - sent).min(window).min(self.frame_bytes_max);
            if count == 0 {
                break;
            }
            let part = &body[sent..sent + count];
            sent += count;
            self.window -= count as i64;
            stream.window -= count as i64;
            let flags = if sent == body.len() { frame::END_STREAM } else { 0 };
            frame::put(out, frame::DATA, flags, stream.id, part);
        }
        sent
    }

    /// A stream fails alone.
    fn fail(&mut self, at: usize, why: &'static str, out: &mut Vec<u8>) -> Event {
        frame::put_number(out, frame::RST_STREAM, self.streams[at].id, PROTOCOL_ERROR);
        self.free(at);
        Event::Failed { stream: at, is_undone: false, why }
    }

    /// A stream's answer is over.
    fn ended(&mut self, at: usize, out: &mut Vec<u8>) -> Event {
        if let Err(why) = self.streams[at].end() {
            return self.fail(at, why, out);
        }
        if !self.streams[at].is_whole() {
            // Answered before the request was whole: section 8.1.
            frame::put_number(out, frame::RST_STREAM, self.streams[at].id, CANCEL);
        }
        self.free(at);
        Event::Answered { stream: at, keep_alive: self.goes_on() }
    }
}

impl Exchange for Http2 {
    fn begin(&mut self, _generation: u32, out: &mut Vec<u8>) {
        let mut streams = std::mem::take(&mut self.streams);
        streams.iter_mut().for_each(Stream::free);
        let inflater = Inflater::new();
        *self = Http2 { inflater, ..Http2::new(Arc::clone(&self.server)) };
        self.streams = streams;
        out.extend_from_slice(PREFACE);
        let mut settings = Vec::new();
        for (key, value) in [(2_u16, 0), (4, WINDOW_BYTES), (6, BLOCK_BYTES_MAX as u32)] {
            settings.extend(key.to_be_bytes());
            settings.extend(value.to_be_bytes());
        }
        frame::put(out, frame::SETTINGS, 0, 0, &settings);
        frame::put_number(out, frame::WINDOW_UPDATE, 0, WINDOW_BYTES - WINDOW_BYTES_USUAL as u32);
    }

    fn is_ready(&self) -> bool {
        self.is_ready
    }

    fn takes(&self, stream: usize) -> bool {
        stream < self.streams_max && !self.is_leaving()
    }

    fn streams_allowed(&self) -> usize {
        self.streams_max
    }

    fn has_room(&self) -> bool {
        self.open < self.streams_max && !self.is_leaving()
    }

    fn is_framed(&self) -> bool {
        true
    }

    fn send(&mut self, at: usize, request: &Request, out: &mut Vec<u8>) {
        let body = if request.has_body { request.part(RequestPart::Body) } else { &[] };
        let start = out.len();
        let mut head =
            Head { length: 0, kind: frame::HEADERS, flags: frame::END_HEADERS, stream: self.next_id };
        if body.is_empty() {
            head.flags |= frame::END_STREAM;
        }
        out.extend_from_slice(&[0; HEAD_BYTES]);
        self.deflater.write(request, self.server.is_secure, self.server.authority.as_bytes(), out);
        head.length = out.len() - start - HEAD_BYTES;
        if self.frame_bytes_max < head.length {
            let block = out.split_off(start + HEAD_BYTES);
            out.truncate(start);
            put_long(head, &block, self.frame_bytes_max, out);
        } else {
            out[start..start + HEAD_BYTES].copy_from_slice(&head.bytes());
        }
        let windows = (i64::from(WINDOW_BYTES), self.stream_window);
        let expects_body = request.part(RequestPart::Method) != b"HEAD";
        self.streams[at].begin(self.next_id, expects_body, request, windows);
        self.next_id += 2;
        self.open += 1;
        let sent = self.put_body(at, body, out);
        self.streams[at].unsent.0.extend_from_slice(&body[sent..]);
    }

    fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(usize, Option<Event>), Failure> {
        if out.is_empty() {
            self.acknowledgments = 0;
        }
        let mut taken = 0;
        while taken < bytes.len() {
            let rest = &bytes[taken..];
            // A frame that is whole is read where it is.
            if self.held.is_empty()
                && let Some(head) = rest.first_chunk().map(Head::read)
                && let Some(payload) = rest.get(HEAD_BYTES..HEAD_BYTES + self.allowed(head, rest)?)
            {
                taken += HEAD_BYTES + payload.len();
                if let Some(event) = self.frame(head, payload, out)? {
                    return Ok((taken, Some(event)));
                }
                continue;
            }
            let head = self.held.first_chunk().map(Head::read);
            let wanted = HEAD_BYTES + head.map_or(0, |head| head.length);
            let more = rest.len().min(wanted - self.held.len());
            self.held.extend_from_slice(&rest[..more]);
            taken += more;
            if self.held.len() < wanted {
                continue;
            }
            let Some(head) = self.held.first_chunk().map(Head::read) else { continue };
            if self.held.len() < HEAD_BYTES + self.allowed(head, &self.held)? {
                continue;
            }
            let mut held = std::mem::take(&mut self.held);
            let event = self.frame(head, &held[HEAD_BYTES..], out);
            held.clear();
            held.shrink_to(BYTES_KEPT);
            self.held = held;
            if let Some(event) = event? {
                return Ok((taken, Some(event)));
            }
        }
        Ok((taken, None))
    }

    fn close(&mut self) -> Result<Option<Event>, Failure> {
        if self.streams.iter().any(|stream| stream.id != 0 && stream.has_begun) {
            return Err(Failure::Protocol("connection closed within an answer".into()));
        }
        match self.open {
            0 if self.is_ready => Ok(None),
            0 => Err(Failure::Protocol("connection closed instead of the server's SETTINGS".into())),
            _ => Err(Failure::ClosedBefore),
        }
    }

    fn take_goodbye(&mut self) -> Option<u32> {
        self.goodbye.take()
    }

    fn answer(&self, stream: usize) -> &Answer {
        &self.streams[stream].answer
    }

    fn has_begun(&self, stream: usize) -> bool {
        self.streams[stream].has_begun
    }

    fn goes_on(&self) -> bool {
        0 < self.open || !self.is_leaving()
    }

    fn is_undone(&self, stream: usize) -> bool {
        self.last_answered.is_some_and(|last| last < self.streams[stream].id)
    }

    fn abandon(&mut self, at: usize, out: &mut Vec<u8>) -> bool {
        if self.streams[at].id != 0 {
            frame::put_number(out, frame::RST_STREAM, self.streams[at].id, CANCEL);
            self.free(at);
        }
        self.is_ready && self.goes_on()
    }
}

impl Http2 {
    /// The length of a frame, if it may have it.
    fn allowed(&self, head: Head, bytes: &[u8]) -> Result<usize, Fault> {
        if !self.is_ready && bytes.starts_with(b"HTTP/1") {
            return Err(Fault::Http1);
        }
        if PAYLOAD_BYTES_MAX < head.length { Err(Fault::FrameTooLong) } else { Ok(head.length) }
    }
}

/// Appends a header block that is longer than a frame may be.
fn put_long(head: Head, block: &[u8], frame_bytes_max: usize, out: &mut Vec<u8>) {
    let count = block.len().div_ceil(frame_bytes_max);
    for (at, part) in block.chunks(frame_bytes_max).enumerate() {
        let kind = if at == 0 { frame::HEADERS } else { frame::CONTINUATION };
        let is_last = at + 1 == count;
        let of_first = if at == 0 { head.flags & frame::END_STREAM } else { 0 };
        let flags = of_first | if is_last { frame::END_HEADERS } else { 0 };
        frame::put(out, kind, flags, head.stream, part);
    }
}

#[cfg(test)]
mod tests;
