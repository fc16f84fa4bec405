//! Reads HTTP/1.1 answers from bytes as they come, without sockets: heads by `httparse`, bodies by length, in
//! chunks, or to the end of the connection. The buffers live on between answers, so a plain answer allocates nothing.
//!
//! Not supported: protocol upgrades. Content codings are taken off where an answer is checked (`coding`).

use crate::protocol::Answer;
use std::mem::MaybeUninit;

/// Longest head, and longest trailer section, bytes.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;
/// Most header lines.
const HEADERS_MAX: usize = 128;
/// Longest line with a chunk's size and extensions, bytes.
const CHUNK_LINE_BYTES_MAX: usize = 4096;
/// Most interim answers (1xx) before the answer.
const INTERIM_MAX: u32 = 16;

/// What the reader knows after some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The answer goes on.
    More,
    /// The answer is whole; whether the connection can carry another one.
    Done { keep_alive: bool },
}

/// Why bytes are no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("head longer than 64 KiB")]
    HeadTooLong,
    #[error("head of more than {HEADERS_MAX} header lines")]
    HeadersTooMany,
    #[error("head is not HTTP/1.1")]
    Head,
    #[error("the server switches to another protocol (101), which was not asked for")]
    Switch,
    #[error("content-length is not one number")]
    Length,
    #[error("transfer-encoding other than chunked")]
    Coding,
    #[error("chunk size is not a number")]
    Chunk,
    #[error("trailers longer than 64 KiB")]
    TrailersTooLong,
    #[error("too many interim answers")]
    Interim,
    #[error("bytes after the end of the answer")]
    Surplus,
    #[error("connection closed before the answer")]
    ClosedBefore,
    #[error("connection closed within the answer")]
    ClosedWithin,
    #[error(
        "connection closed without the close_notify of TLS, which alone ends this answer: it may be cut off"
    )]
    Cut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Length(u64),
    /// In the line with a chunk's size.
    ChunkSize {
        size: u64,
        digits: u32,
        line_bytes: usize,
        in_size: bool,
    },
    ChunkData(u64),
    /// The line end after a chunk's data.
    ChunkEnd,
    Trailers {
        bytes: usize,
        line_bytes: usize,
    },
    UntilClose,
    Done,
}

/// Reads one answer after another.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    state: State,
    /// Head bytes so far, when the head came in pieces.
    head: Vec<u8>,
    answer: Answer,
    keep_alive: bool,
    interim: u32,
    expects_body: bool,
    any_byte: bool,
}

impl ResponseReader {
    pub fn new() -> Self {
        ResponseReader {
            state: State::Done,
            head: Vec::new(),
            answer: Answer::default(),
            keep_alive: false,
            interim: 0,
            expects_body: true,
            any_byte: false,
        }
    }

    /// Makes ready for the next answer. Answers to HEAD have no body whatever their head says.
    pub fn begin(&mut self, expects_body: bool, keeps_body: bool) {
        self.state = State::Head;
        self.head.clear();
        self.interim = 0;
        self.expects_body = expects_body;
        self.answer.begin(keeps_body);
        self.any_byte = false;
    }

    /// On a new connection nothing is awaited.
    pub fn reset(&mut self) {
        self.state = State::Done;
    }

    /// The header lines of what comes are wanted.
    pub fn keep_head(&mut self) {
        self.answer.keep_head();
    }

    /// The answer is a stream of events, and whole with so many; 0: it is none.
    pub fn await_events(&mut self, events: u32) {
        self.answer.events.begin(events);
    }

    /// The answer as far as it was read.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Whether any byte of the answer came.
    pub fn has_begun(&self) -> bool {
        self.any_byte
    }

    /// Takes the next bytes of the connection.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Progress, Broken> {
        self.any_byte |= !bytes.is_empty();
        while !bytes.is_empty() {
            if self.state == State::Done {
                return Err(Broken::Surplus);
            }
            let taken = self.step(bytes)?;
            bytes = &bytes[taken..];
            if self.answer.events.is_done() {
                // Nothing waits for the work that goes on behind them.
                self.state = State::Done;
                return Ok(Progress::Done { keep_alive: false });
            }
        }
        Ok(match self.state {
            State::Done => Progress::Done { keep_alive: self.keep_alive },
            _ => Progress::More,
        })
    }

    /// The connection was closed by the server.
    pub fn close(&mut self) -> Result<Progress, Broken> {
        match self.state {
            State::UntilClose => {
                self.state = State::Done;
                Ok(Progress::Done { keep_alive: false })
            }
            State::Done => Ok(Progress::Done { keep_alive: false }),
            State::Head if !self.any_byte => Err(Broken::ClosedBefore),
            _ => Err(Broken::ClosedWithin),
        }
    }

    /// The connection ended, and nobody said so who could be believed: an answer that ends with it may be cut off.
    pub fn cut(&mut self) -> Result<Progress, Broken> {
        if self.state == State::UntilClose { Err(Broken::Cut) } else { self.close() }
    }

    /// Consumes at least one of `bytes`, which is not empty, and returns how many.
    fn step(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        match self.state {
            State::Head => self.head(bytes),
            State::Length(left) => {
                let taken = self.keep(bytes, left);
                self.state = match left - taken as u64 {
                    0 => State::Done,
                    left => State::Length(left),
                };
                Ok(taken)
            }
            State::UntilClose => Ok(self.keep(bytes, u64::MAX)),
            State::ChunkData(left) => {
                let taken = self.keep(bytes, left);
                self.state = match left - taken as u64 {
                    0 => State::ChunkEnd,
                    left => State::ChunkData(left),
                };
                Ok(taken)
            }
            State::ChunkSize { .. } | State::ChunkEnd | State::Trailers { .. } => {
                self.state = chunk_framing(self.state, bytes[0])?;
                Ok(1)
            }
            State::Done => Err(Broken::Surplus),
        }
    }

    /// Keeps what is wanted of up to `left` bytes of body; returns how many belong to it.
    fn keep(&mut self, bytes: &[u8], left: u64) -> usize {
        let taken = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.answer.keep(&bytes[..taken]);
        taken
    }

    fn head(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        let held = self.head.len();
        if held == 0
            && let Some(end) = head_end(bytes, 0)
        {
            self.parse(&bytes[..end])?;
            return Ok(end);
        }
        let room = HEAD_BYTES_MAX - held.min(HEAD_BYTES_MAX);
        if room == 0 {
            return Err(Broken::HeadTooLong);
        }
        let taken = bytes.len().min(room);
        self.head.extend_from_slice(&bytes[..taken]);
        // An end of head can begin up to three bytes before the new ones. Looking only from there keeps a head
        // that drips in byte by byte at linear cost.
        let Some(end) = head_end(&self.head, held.saturating_sub(3)) else { return Ok(taken) };
        let head = std::mem::take(&mut self.head);
        let parsed = self.parse(&head[..end]);
        self.head = head;
        self.head.clear();
        parsed.map(|()| end - held)
    }

    fn parse(&mut self, head: &[u8]) -> Result<(), Broken> {
        if head.len() > HEAD_BYTES_MAX {
            return Err(Broken::HeadTooLong);
        }
        // Not filled with empty ones first: that would take longer than the rest of most answers.
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        // What servers send against RFC 9112 section 5 and its clients read all the same.
        let mut tolerant = httparse::ParserConfig::default();
        tolerant
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true);
        match tolerant.parse_response_with_uninit_headers(&mut response, head, &mut headers) {
            Ok(httparse::Status::Complete(_)) => (),
            Err(httparse::Error::TooManyHeaders) => return Err(Broken::HeadersTooMany),
            Ok(httparse::Status::Partial) | Err(_) => return Err(Broken::Head),
        }
        self.answer.status = response.code.unwrap_or(0);
        self.keep_alive = response.version == Some(1);
        let (mut length, mut chunked) = (None, false);
        for header in response.headers.iter() {
            // By length first: almost every header is none of these.
            match header.name.len() {
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    length = Some(one_length(header.value, length)?);
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    if chunked || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                        return Err(Broken::Coding);
                    }
                    chunked = true;
                }
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    for token in header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                        if token.eq_ignore_ascii_case(b"close") {
                            self.keep_alive = false;
                        } else if token.eq_ignore_ascii_case(b"keep-alive") {
                            self.keep_alive = true;
                        }
                    }
                }
                10 if header.name.eq_ignore_ascii_case("set-cookie") => {
                    self.answer.set_cookie(header.value);
                }
                16 if header.name.eq_ignore_ascii_case("content-encoding") => {
                    self.answer.set_coding(header.value);
                }
                8 if header.name.eq_ignore_ascii_case("location") => {
                    self.answer.set_location(header.value);
                }
                _ => (),
            }
            self.answer.header(header.name.as_bytes(), header.value);
        }
        self.state = self.body_state(length, chunked)?;
        Ok(())
    }

    /// How long the body is: RFC 9112 section 6.3.
    fn body_state(&mut self, length: Option<u64>, chunked: bool) -> Result<State, Broken> {
        Ok(match (self.answer.status, chunked, length) {
            (101, ..) => return Err(Broken::Switch),
            (100..=199, ..) => {
                self.interim += 1;
                if self.interim > INTERIM_MAX {
                    return Err(Broken::Interim);
                }
                self.answer.clear_headers();
                State::Head
            }
            (204 | 304, ..) => State::Done,
            _ if !self.expects_body => State::Done,
            (_, true, _) => State::ChunkSize { size: 0, digits: 0, line_bytes: 0, in_size: true },
            (_, false, Some(0)) => State::Done,
            (_, false, Some(length)) => State::Length(length),
            (_, false, None) => {
                self.keep_alive = false;
                State::UntilClose
            }
        })
    }
}

/// Where a head ends that began at 0: after an empty line. Looks from `from` on.
fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = memchr::memchr(b'\n', &bytes[at..]) {
        let next = at + found + 1;
        match bytes.get(next..) {
            Some([b'\n', ..]) => return Some(next + 1),
            Some([b'\r', b'\n', ..]) => return Some(next + 2),
            _ => at = next,
        }
    }
    None
}

fn one_length(value: &[u8], before: Option<u64>) -> Result<u64, Broken> {
    let value = value.trim_ascii();
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Broken::Length);
    }
    let length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).ok_or(Broken::Length)?;
    match before {
        Some(before) if before != length => Err(Broken::Length),
        _ => Ok(length),
    }
}

/// One byte of what stands between chunks: RFC 9112 section 7.1.
fn chunk_framing(state: State, byte: u8) -> Result<State, Broken> {
    match state {
        State::ChunkSize { size, digits, line_bytes, in_size } => match byte {
            _ if line_bytes >= CHUNK_LINE_BYTES_MAX => Err(Broken::Chunk),
            b'\n' if digits == 0 => Err(Broken::Chunk),
            b'\n' if size == 0 => Ok(State::Trailers { bytes: 0, line_bytes: 0 }),
            b'\n' => Ok(State::ChunkData(size)),
            _ if in_size && byte.is_ascii_hexdigit() => {
                if digits >= 15 {
                    return Err(Broken::Chunk);
                }
                let digit = u64::from((byte as char).to_digit(16).unwrap_or(0));
                Ok(State::ChunkSize {
                    size: size << 4 | digit,
                    digits: digits + 1,
                    line_bytes: line_bytes + 1,
                    in_size: true,
                })
            }
            b';' | b' ' | b'\t' | b'\r' => {
                Ok(State::ChunkSize { size, digits, line_bytes: line_bytes + 1, in_size: false })
            }
            _ if in_size => Err(Broken::Chunk),
            _ => Ok(State::ChunkSize { size, digits, line_bytes: line_bytes + 1, in_size: false }),
        },
        State::ChunkEnd => match byte {
            b'\r' => Ok(State::ChunkEnd),
            b'\n' => Ok(State::ChunkSize { size: 0, digits: 0, line_bytes: 0, in_size: true }),
            _ => Err(Broken::Chunk),
        },
        State::Trailers { bytes, line_bytes } => match byte {
            b'\n' if line_bytes == 0 => Ok(State::Done),
            b'\n' => Ok(State::Trailers { bytes: bytes + 1, line_bytes: 0 }),
            b'\r' => Ok(State::Trailers { bytes: bytes + 1, line_bytes }),
            _ if bytes >= HEAD_BYTES_MAX => Err(Broken::TrailersTooLong),
            _ => Ok(State::Trailers { bytes: bytes + 1, line_bytes: line_bytes + 1 }),
        },
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests;
