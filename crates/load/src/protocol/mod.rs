//! The seam between the generator and what is spoken on a connection. Above it, arrivals, schedule, sessions, recorder and
//! windows know requests and their answers; below it, an [`Exchange`] makes bytes of requests, and answers of bytes, without sockets.
//!
//! A connection has one or more streams, each of which carries one request at a time.

pub(crate) mod chat;
mod events;
pub(crate) mod http1;
pub(crate) mod http2;
pub(crate) mod websocket;

use crate::grpc::GrpcStatus;
use crate::request::Request;
use events::EventCounter;
use std::borrow::Cow;
use std::io;

/// Longest part of a body that is kept for checks, bytes.
pub(crate) const BODY_KEPT_BYTES_MAX: usize = 1 << 20;
/// Longest part of a body that is kept otherwise, to show it when its status is wrong, bytes.
const BODY_SHOWN_BYTES_MAX: usize = 4096;

/// Longest head that is kept, bytes.
const HEAD_KEPT_BYTES_MAX: usize = 64 << 10;

/// One connection's side of a protocol.
pub(crate) trait Exchange: Send {
    /// A connection was opened, the so many-th of its number: forgets the last one. What the client says first goes to `out`.
    fn begin(&mut self, generation: u32, out: &mut Vec<u8>);

    /// Whether requests can be sent by now; until then, what comes is fed.
    fn is_ready(&self) -> bool {
        true
    }

    /// Appends a request to `out`; the stream carries none.
    fn send(&mut self, stream: usize, request: &Request, out: &mut Vec<u8>);

    /// Whether a free stream may get a request. One that may not is tried again when the connection is opened anew, and after
    /// [`Event::Room`].
    fn takes(&self, _stream: usize) -> bool {
        true
    }

    /// Requests that the server allows at once.
    fn streams_allowed(&self) -> usize {
        usize::MAX
    }

    /// Whether a request can be sent now: the server allows one more at once.
    fn has_room(&self) -> bool {
        true
    }

    /// Both directions are in frames: an answer that comes before its request is written whole leaves the connection as
    /// it should be.
    fn is_framed(&self) -> bool {
        false
    }

    /// Takes the next bytes of the connection, which are not empty: up to what completes something, or all. Says how many it took. What is
    /// to be said to that goes to `out`.
    ///
    /// # Errors
    /// The peer broke the protocol; no request of the connection can be answered any more.
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(usize, Option<Event>), Failure>;

    /// The server closed the connection.
    ///
    /// # Errors
    /// Something was still to come.
    fn close(&mut self) -> Result<Option<Event>, Failure>;

    /// The same where the end was not said, as TLS does: whoever is on the way may have cut it off.
    ///
    /// # Errors
    /// Something was still to come, as far as can be told.
    fn cut(&mut self) -> Result<Option<Event>, Failure> {
        self.close()
    }

    /// The message is not the answer to the request of a stream: the next one may be. Where servers send unasked.
    fn await_next(&mut self, _stream: usize) {}

    /// The code with which the server said that it ends the connection, once.
    fn take_goodbye(&mut self) -> Option<u32> {
        None
    }

    /// What came last on a stream.
    fn answer(&self, stream: usize) -> &Answer;

    /// Whether any byte came in answer to the request of a stream.
    fn has_begun(&self, stream: usize) -> bool;

    /// Whether the connection is to be kept: requests can be sent on it, or answers are still to come.
    fn goes_on(&self) -> bool {
        true
    }

    /// After [`Event::Leaving`]: the server did nothing with the request of a stream, and will not.
    fn is_undone(&self, _stream: usize) -> bool {
        false
    }

    /// The request of a stream is given up; says whether the connection can go on without its answer.
    fn abandon(&mut self, _stream: usize, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Messages that were said on the connection, where they are delivered on others.
    fn sent(&self) -> u64 {
        0
    }
}

/// What bytes completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The answer of a stream is whole.
    Answered {
        stream: usize,
        /// The connection can carry another request.
        keep_alive: bool,
    },
    /// Server-sent events of the answer of a stream came, and it awaits more.
    Streamed { stream: usize },
    /// The request of a stream failed, and no other with it.
    Failed {
        stream: usize,
        /// The server did nothing with it, so that it may be sent again.
        is_undone: bool,
        why: &'static str,
    },
    /// The server takes no more requests on this connection; it answers those that it took.
    Leaving,
    /// The server allows another number of requests at once.
    Room,
    /// A message came that no request waits for.
    Pushed,
    /// A message came that was sent on another connection.
    Delivered {
        /// Number of that connection.
        sender: usize,
        generation: u32,
        /// Of its messages, from 1.
        number: u64,
    },
}

/// What came in answer to a request.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub status: u16,
    /// The kept part of the body.
    pub body: Vec<u8>,
    body_kept_bytes_max: usize,
    /// Bytes of the body as they came, whether or not they are kept.
    pub body_bytes: u64,
    /// Values of the `Set-Cookie` headers, each ended by a line feed, which they cannot hold.
    set_cookies: Vec<u8>,
    /// Header lines, each ended by a line feed; none where they are not wanted.
    pub head: Vec<u8>,
    keeps_head: bool,
    /// Where it leads; empty where it says nothing of it.
    pub location: Vec<u8>,
    /// Codings of the body, in the order in which they were applied; empty where there are none.
    pub coding: Vec<u8>,
    /// The body goes on behind what is kept of it.
    pub is_cut: bool,
    /// Of a body that is a stream of events.
    pub events: EventCounter,
    /// Of gRPC, as far as the answer says it.
    pub grpc: GrpcStatus,
}

impl Answer {
    /// Makes room for another one. Its buffers stay, so that a plain answer allocates nothing.
    pub fn begin(&mut self, keeps_body: bool) {
        self.status = 0;
        self.body.clear();
        self.body_bytes = 0;
        self.body_kept_bytes_max = if keeps_body { BODY_KEPT_BYTES_MAX } else { BODY_SHOWN_BYTES_MAX };
        self.set_cookies.clear();
        self.location.clear();
        self.coding.clear();
        self.is_cut = false;
        self.head.clear();
        self.keeps_head = false;
        self.events.begin(0);
        self.grpc.clear();
    }

    /// Its header lines are wanted.
    pub fn keep_head(&mut self) {
        self.keeps_head = true;
    }

    /// A header came, of any name.
    pub fn header(&mut self, name: &[u8], value: &[u8]) {
        let length = name.len() + value.len() + 2;
        if self.keeps_head && self.head.len() + length <= HEAD_KEPT_BYTES_MAX {
            let line = name.iter().chain(b":").chain(value);
            self.head.extend(line.map(|byte| if *byte < b' ' { b' ' } else { *byte }));
            self.head.push(b'\n');
        }
    }

    /// Keeps what is wanted of a part of the body.
    pub fn keep(&mut self, bytes: &[u8]) {
        self.body_bytes += bytes.len() as u64;
        // Not those of a page that says what is wrong.
        if self.status / 100 == 2 {
            self.events.feed(bytes);
        }
        let room = self.body_kept_bytes_max.saturating_sub(self.body.len());
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.is_cut |= room < bytes.len();
    }

    /// Forgets the body: another one comes.
    pub fn empty_body(&mut self) {
        self.body.clear();
    }

    /// A `Set-Cookie` header came.
    pub fn set_cookie(&mut self, value: &[u8]) {
        // A folded value holds line ends, which end a cookie here.
        self.set_cookies.extend(value.iter().map(|byte| if *byte < b' ' { b' ' } else { *byte }));
        self.set_cookies.push(b'\n');
    }

    /// Forgets the headers of an interim answer.
    pub fn clear_headers(&mut self) {
        self.set_cookies.clear();
        self.location.clear();
        self.head.clear();
    }

    /// Values of the `Set-Cookie` headers.
    pub fn set_cookies(&self) -> impl Iterator<Item = &[u8]> {
        self.set_cookies.split(|byte| *byte == b'\n').filter(|value| !value.is_empty())
    }

    /// A `Content-Encoding` header came.
    pub fn set_coding(&mut self, value: &[u8]) {
        if !self.coding.is_empty() {
            self.coding.push(b',');
        }
        self.coding.extend_from_slice(value.trim_ascii());
    }

    /// A `Location` header came.
    pub fn set_location(&mut self, value: &[u8]) {
        self.location.clear();
        self.location.extend_from_slice(value.trim_ascii());
    }
}

/// Why an exchange broke off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Protocol(Cow<'static, str>),
    /// In good order, without any byte of an answer.
    #[error("connection closed before the answer")]
    ClosedBefore,
    #[error("{0}")]
    System(#[from] io::Error),
}

impl Failure {
    /// The server had closed the connection in good order. Linux distinguishes that from a reset also where the request came behind it:
    /// EPIPE says that the server's end was known before the reset.
    pub fn is_orderly(&self) -> bool {
        match self {
            Failure::Protocol(_) => false,
            Failure::ClosedBefore => true,
            Failure::System(error) => error.kind() == io::ErrorKind::BrokenPipe,
        }
    }
}
