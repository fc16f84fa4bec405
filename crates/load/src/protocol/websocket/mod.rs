//! WebSocket (RFC 6455): a connection begins as a request of HTTP/1.1, and then carries messages.
//!
//! [`Socket`] is a connection's framing, for whatever is said in messages; [`WebSocket`] says one message after the other. The next one that
//! comes is its answer, unless whoever checks it says that it is not ([`Exchange::await_next`]).

pub(crate) mod close;
mod frames;

use super::{Answer, BODY_KEPT_BYTES_MAX, Event, Exchange, Failure};
use crate::request::{Request, RequestPart};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frames::Frames;
use std::sync::Arc;

/// Longest head of the answer that opens it, bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 128;
/// Of a refusal, bytes that are shown.
const SAID_BYTES_MAX: usize = 160;
/// Section 1.3: what only a server that knows WebSocket adds to the key.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The only stream.
const STREAM: usize = 0;

/// Where all connections to a server are opened.
#[derive(Debug)]
pub(crate) struct WebSocketTarget {
    pub authority: Arc<str>,
    /// Path with query.
    pub target: String,
}

/// One connection's side: its opening, and then its frames.
pub(crate) struct Socket {
    place: Arc<WebSocketTarget>,
    key: String,
    /// The answer's head as far as it came; absent once it is open.
    head: Option<Vec<u8>>,
    frames: Frames,
    message_bytes_max: usize,
}

impl Socket {
    /// A closed one; its messages are at most so long.
    pub fn new(place: Arc<WebSocketTarget>, message_bytes_max: usize) -> Socket {
        let frames = Frames::new(message_bytes_max, 0);
        Socket { place, key: String::new(), head: Some(Vec::new()), frames, message_bytes_max }
    }

    /// Asks to open it; `seed` makes its key differ from others.
    pub fn begin(&mut self, seed: u64, out: &mut Vec<u8>) {
        self.frames = Frames::new(self.message_bytes_max, seed);
        let key = [self.frames.draw().to_le_bytes(), self.frames.draw().to_le_bytes()].concat();
        self.key = BASE64.encode(key);
        self.head = Some(Vec::new());
        let WebSocketTarget { authority, target } = &*self.place;
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: assay\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n\r\n",
            self.key
        );
        out.extend_from_slice(request.as_bytes());
    }

    pub fn is_open(&self) -> bool {
        self.head.is_none()
    }

    /// The server said that it ends it.
    pub fn is_closed(&self) -> bool {
        self.frames.closed().is_some()
    }

    /// The code with which the server ended it, once.
    pub fn take_goodbye(&mut self) -> Option<u32> {
        self.frames.take_goodbye()
    }

    /// Appends a text message.
    pub fn put_text(&mut self, write: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
        self.frames.put_text(write, out);
    }

    /// Takes bytes: those that open it, or up to the message that `message` makes something of.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        message: impl FnMut(&[u8]) -> Result<Option<Event>, Failure>,
    ) -> Result<(usize, Option<Event>), Failure> {
        let Some(head) = &mut self.head else { return self.frames.feed(bytes, out, message) };
        let before = head.len();
        head.extend_from_slice(bytes);
        let Some(end) = memchr::memmem::find(head, b"\r\n\r\n").map(|at| at + 4) else {
            if HEAD_BYTES_MAX < head.len() {
                return Err(Failure::Protocol("head longer than 64 KiB".into()));
            }
            return Ok((bytes.len(), None));
        };
        opened(&head[..end], head.get(end..).unwrap_or_default(), &self.key)?;
        self.head = None;
        Ok((end - before, None))
    }

    /// What a closed connection breaks off with.
    pub fn end(&self) -> Failure {
        match (self.frames.closed(), &self.head) {
            (Some(why), _) => Failure::Protocol(why.to_owned().into()),
            (None, Some(_)) => Failure::Protocol("connection closed instead of opening a WebSocket".into()),
            (None, None) => Failure::ClosedBefore,
        }
    }
}

/// Whether the answer with this head opens it: section 4.1.
fn opened(head: &[u8], rest: &[u8], key: &str) -> Result<(), Failure> {
    let wrong = |what: String| Err(Failure::Protocol(what.into()));
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(httparse::Status::Complete(_)) => (),
        Err(httparse::Error::TooManyHeaders) => {
            return wrong(format!("head of more than {HEADERS_MAX} header lines"));
        }
        Ok(httparse::Status::Partial) | Err(_) => return wrong("head is not HTTP/1.1".to_owned()),
    }
    let status = response.code.unwrap_or(0);
    if status != 101 {
        let said = String::from_utf8_lossy(&rest[..rest.len().min(SAID_BYTES_MAX)]);
        let said: String = said.chars().filter(|c| !c.is_control()).collect();
        return wrong(format!("the server does not open a WebSocket: it answers {status} {said}"));
    }
    let has = |name: &str, wanted: &str| {
        response.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).any(|header| {
            let mut words = header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
            words.any(|word| word.eq_ignore_ascii_case(wanted.as_bytes()))
        })
    };
    let sum =
        ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes());
    let accept = BASE64.encode(sum);
    let is_accepted = response.headers.iter().any(|header| {
        header.name.eq_ignore_ascii_case("sec-websocket-accept")
            && header.value.trim_ascii() == accept.as_bytes()
    });
    match (has("upgrade", "websocket") && has("connection", "upgrade"), is_accepted) {
        (false, _) => wrong("the server answers 101 without upgrading to WebSocket".to_owned()),
        (_, false) => wrong("the server answers 101 without the key's Sec-WebSocket-Accept".to_owned()),
        (true, true) => Ok(()),
    }
}

/// One message at a time, and the next that comes may be its answer.
pub(crate) struct WebSocket {
    socket: Socket,
    /// Number of the connection.
    number: usize,
    answer: Answer,
    is_asked: bool,
}

impl WebSocket {
    pub fn new(place: Arc<WebSocketTarget>, number: usize) -> WebSocket {
        let socket = Socket::new(place, BODY_KEPT_BYTES_MAX);
        WebSocket { socket, number, answer: Answer::default(), is_asked: false }
    }
}

/// Tells connections apart, and those that a slot held one after the other.
pub(crate) fn seed(number: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | number as u64
}

impl Exchange for WebSocket {
    fn begin(&mut self, generation: u32, out: &mut Vec<u8>) {
        self.is_asked = false;
        self.socket.begin(seed(self.number, generation), out);
    }

    fn is_ready(&self) -> bool {
        self.socket.is_open()
    }

    fn is_framed(&self) -> bool {
        true
    }

    fn goes_on(&self) -> bool {
        !self.socket.is_closed()
    }

    fn send(&mut self, _stream: usize, request: &Request, out: &mut Vec<u8>) {
        self.answer.begin(request.keeps_body);
        self.is_asked = true;
        self.socket.put_text(|out| out.extend_from_slice(request.part(RequestPart::Body)), out);
    }

    fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(usize, Option<Event>), Failure> {
        let WebSocket { socket, answer, is_asked, .. } = self;
        let fed = socket.feed(bytes, out, |message| {
            let was_asked = std::mem::take(is_asked);
            if !was_asked {
                return Ok(Some(Event::Pushed));
            }
            answer.status = 200;
            answer.empty_body();
            answer.keep(message);
            Ok(Some(Event::Answered { stream: STREAM, keep_alive: true }))
        })?;
        match fed {
            (_, Some(Event::Leaving)) if *is_asked => Err(socket.end()),
            fed => Ok(fed),
        }
    }

    fn close(&mut self) -> Result<Option<Event>, Failure> {
        if self.is_asked || !self.socket.is_open() { Err(self.socket.end()) } else { Ok(None) }
    }

    fn await_next(&mut self, _stream: usize) {
        self.is_asked = true;
    }

    fn take_goodbye(&mut self) -> Option<u32> {
        self.socket.take_goodbye()
    }

    fn answer(&self, _stream: usize) -> &Answer {
        &self.answer
    }

    fn has_begun(&self, _stream: usize) -> bool {
        // The server may have done what it was asked to: nothing is said again.
        true
    }
}

#[cfg(test)]
mod tests;
