//! HTTP/2 (RFC 9113): as many requests at a time on a connection as it has streams, within what the server allows.
//!
//! The state machine is our own and the decoder of headers is nghttp2's ([`inflate`]). Why not the crate `h2`: it wants an
//! asynchronous runtime's traits, allocates the headers of each request and answer, and locks a mutex for each frame; the figures stand in
//! `benches/peers`.

mod fault;
mod frame;
mod head;
mod inflate;
mod stream;

use super::{Answer, Event, Exchange, Failure};
use crate::request::{Part, Request};
use fault::{CANCEL, Fault, PROTOCOL_ERROR, REFUSED_STREAM};
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
/// A window that is narrower than this is opened anew.
const WINDOW_BYTES_LOW: i64 = 1 << 29;
/// What may be sent before the server says something else: section 6.9.2.
const WINDOW_BYTES_USUAL: i64 = 65_535;
const WINDOW_BYTES_MAX: i64 = (1 << 31) - 1;
const STREAM_MAX: u32 = (1 << 31) - 1;
/// Acknowledgments that may wait for a server that does not read.
const ACKNOWLEDGMENTS_MAX: u32 = 10_000;
/// A buffer that grew beyond this is given back.
const BYTES_KEPT: usize = 4096;

/// What all connections to a server have in common.
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

    /// A whole frame.
    fn frame(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        if self.block.is_some() && head.kind != frame::CONTINUATION {
            return Err(Fault::Interrupted.into());
        }
        if !self.is_ready && (head.kind != frame::SETTINGS || head.has(frame::ACK)) {
            return Err(Fault::Preface.into());
        }
        if matches!(head.kind, frame::DATA | frame::HEADERS | frame::RST_STREAM)
            && (head.stream.is_multiple_of(2) || self.next_id <= head.stream)
        {
            return Err(Fault::Stream.into());
        }
        match head.kind {
            frame::DATA => self.data(head, payload, out),
            frame::HEADERS => self.headers(head, frame::content(head, payload)?, out),
            frame::CONTINUATION => self.continuation(head, payload, out),
            frame::RST_STREAM => self.reset(head, payload),
            frame::SETTINGS => self.settings(head, payload, out),
            frame::PUSH_PROMISE => Err(Fault::Push.into()),
            frame::PING if payload.len() != 8 => Err(Fault::FrameLength.into()),
            frame::PING if head.has(frame::ACK) => Ok(None),
            frame::PING => {
                self.acknowledge()?;
                frame::put(out, frame::PING, frame::ACK, 0, payload);
                Ok(None)
            }
            frame::GOAWAY => self.go_away(payload),
            frame::WINDOW_UPDATE => self.window_update(head, payload, out),
            // PRIORITY, and what later standards add: section 5.5.
            _ => Ok(None),
        }
    }

    fn data(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        let body = frame::content(head, payload)?;
        // Padding counts too, and so does what comes on a stream that was given up: sections 6.1 and 5.4.2.
        self.room -= head.length as i64;
        if self.room < 0 {
            return Err(Fault::Window.into());
        }
        if self.room < WINDOW_BYTES_LOW {
            let more = i64::from(WINDOW_BYTES) - self.room;
            self.room += more;
            frame::put_number(out, frame::WINDOW_UPDATE, 0, more as u32);
        }
        let Some(at) = self.stream_of(head.stream) else { return Ok(None) };
        let stream = &mut self.streams[at];
        stream.room -= head.length as i64;
        if stream.room < 0 {
            return Err(Fault::Window.into());
        }
        if let Err(why) = stream.data(body) {
            return Ok(Some(self.fail(at, why, out)));
        }
        if head.has(frame::END_STREAM) {
            return Ok(Some(self.ended(at, out)));
        }
        if stream.room < WINDOW_BYTES_LOW {
            let more = i64::from(WINDOW_BYTES) - stream.room;
            stream.room += more;
            frame::put_number(out, frame::WINDOW_UPDATE, head.stream, more as u32);
        }
        Ok(None)
    }

    fn headers(&mut self, head: Head, block: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        if head.has(frame::END_HEADERS) {
            return self.whole_block(head, block, out);
        }
        self.block = Some((head, block.to_vec()));
        Ok(None)
    }

    fn continuation(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Failure> {
        let Some((first, block)) = self.block.as_mut().filter(|(first, _)| first.stream == head.stream)
        else {
            return Err(Fault::Interrupted.into());
        };
        block.extend_from_slice(payload);
        // Empty frames without end would bring no length, but work.
        if BLOCK_BYTES_MAX < block.len() || (payload.is_empty() && !head.has(frame::END_HEADERS)) {
            return Err(Fault::HeadTooLong.into());
        }
        if !head.has(frame::END_HEADERS) {
            return Ok(None);
        }
        let (first, block) = (*first, std::mem::take(block));
        self.block = None;
        self.whole_block(first, &block, out)
    }

    /// Every block is decoded, since it changes the table, also where nobody waits for it any more.
    fn whole_block(&mut self, head: Head, block: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        let at = self.stream_of(head.stream);
        let inflater = self.inflater.as_mut().ok_or(Fault::Memory)?;
        let Some(at) = at else {
            inflater.block(block, |_, _| ())?;
            return Ok(None);
        };
        let stream = &mut self.streams[at];
        stream.begin_block();
        inflater.block(block, |name, value| stream.header(name, value))?;
        let is_last = head.has(frame::END_STREAM);
        if let Err(why) = stream.end_block(is_last) {
            return Ok(Some(self.fail(at, why, out)));
        }
        Ok(is_last.then(|| self.ended(at, out)))
    }

    fn reset(&mut self, head: Head, payload: &[u8]) -> Result<Option<Event>, Failure> {
        let code = frame::number(payload)?;
        let Some(at) = self.stream_of(head.stream) else { return Ok(None) };
        self.free(at);
        let why = fault::name(code);
        Ok(Some(Event::Failed { stream: at, is_undone: code == REFUSED_STREAM, why }))
    }

    fn settings(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        if head.has(frame::ACK) {
            return Ok(None);
        }
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() || head.stream != 0 {
            return Err(Fault::FrameLength.into());
        }
        let (was_ready, allowed_before) = (self.is_ready, self.streams_max);
        for [a, b, value @ ..] in settings {
            let value = u32::from_be_bytes(*value);
            match u16::from_be_bytes([*a, *b]) {
                1 => self.deflater.table(value),
                3 => self.streams_max = value as usize,
                4 => self.set_stream_window(i64::from(value))?,
                5 if !(16_384..=16_777_215).contains(&value) => return Err(Fault::Setting.into()),
                // As large as what is copied at once.
                5 => self.frame_bytes_max = (value as usize).min(64 << 10),
                _ => (),
            }
        }
        self.acknowledge()?;
        frame::put(out, frame::SETTINGS, frame::ACK, 0, &[]);
        self.is_ready = true;
        self.send_bodies(out);
        Ok((was_ready && self.streams_max != allowed_before).then_some(Event::Room))
    }

    fn set_stream_window(&mut self, bytes: i64) -> Result<(), Fault> {
        if WINDOW_BYTES_MAX < bytes {
            return Err(Fault::Setting);
        }
        // It may become less than nothing: section 6.9.2.
        let more = bytes - self.stream_window;
        self.stream_window = bytes;
        for stream in self.streams.iter_mut().filter(|stream| stream.id != 0) {
            stream.window += more;
            if WINDOW_BYTES_MAX < stream.window {
                return Err(Fault::WindowUpdate);
            }
        }
        Ok(())
    }

    fn send_bodies(&mut self, out: &mut Vec<u8>) {
        for at in 0..self.streams.len() {
            if self.streams[at].id != 0 && !self.streams[at].is_whole() {
                self.send_body(at, out);
            }
        }
    }

    fn window_update(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Failure> {
        let more = i64::from(frame::number(payload)? & 0x7fff_ffff);
        if head.stream == 0 {
            self.window += more;
            if more == 0 || WINDOW_BYTES_MAX < self.window {
                return Err(Fault::WindowUpdate.into());
            }
            self.send_bodies(out);
        } else if let Some(at) = self.stream_of(head.stream) {
            self.streams[at].window += more;
            if more == 0 || WINDOW_BYTES_MAX < self.streams[at].window {
                return Ok(Some(self.fail(at, "a window beyond 2 GiB, or widened by nothing", out)));
            }
            self.send_body(at, out);
        }
        Ok(None)
    }

    /// Section 6.8. A server that leaves for an error answers nothing any more.
    fn go_away(&mut self, payload: &[u8]) -> Result<Option<Event>, Failure> {
        let last = frame::number(payload)? & 0x7fff_ffff;
        let code = frame::number(payload.get(4..).unwrap_or_default())?;
        if code != 0 {
            let text = String::from_utf8_lossy(&payload[8..payload.len().min(200)]).into_owned();
            let text: String = text.chars().filter(|c| !c.is_control()).collect();
            let name = fault::name(code);
            let said = if text.is_empty() { String::new() } else { format!(", and says {text:?}") };
            return Err(Failure::Protocol(
                format!("the server ends the connection with {name}{said}").into(),
            ));
        }
        self.last_answered = Some(self.last_answered.map_or(last, |before| before.min(last)));
        Ok(Some(Event::Leaving))
    }

    fn acknowledge(&mut self) -> Result<(), Fault> {
        self.acknowledgments += 1;
        if ACKNOWLEDGMENTS_MAX < self.acknowledgments { Err(Fault::Flood) } else { Ok(()) }
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
        let body = if request.has_body { request.part(Part::Body) } else { &[] };
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
        let expects_body = request.part(Part::Method) != b"HEAD";
        self.streams[at].begin(self.next_id, expects_body, request.keeps_body, windows);
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
