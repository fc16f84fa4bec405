//! One stream: a request and its answer.

use crate::protocol::Answer;
use crate::request::Request;

/// Most interim answers (1xx) before the answer.
const INTERIM_MAX: u32 = 16;

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Head,
    Body,
    Trailers,
}

/// Lives on between requests, for its buffers.
#[derive(Debug)]
pub(super) struct Stream {
    /// 0 while it carries no request.
    pub id: u32,
    pub answer: Answer,
    pub stage: Stage,
    /// The server may send so many more bytes of its body.
    pub room: i64,
    /// So many bytes of the request's body may be sent.
    pub window: i64,
    /// What of it could not be sent at once, and how much of that was sent since.
    pub unsent: (Vec<u8>, usize),
    /// Any byte of an answer came.
    pub has_begun: bool,
    expects_body: bool,
    /// As the answer says.
    length: Option<u64>,
    received: u64,
    interim: u32,
    /// Within a block: a header that is not a pseudo-header came.
    is_past_pseudo: bool,
    wrong: Option<&'static str>,
}

impl Stream {
    pub fn new() -> Stream {
        Stream {
            id: 0,
            answer: Answer::default(),
            stage: Stage::Head,
            room: 0,
            window: 0,
            unsent: (Vec::new(), 0),
            has_begun: false,
            expects_body: true,
            length: None,
            received: 0,
            interim: 0,
            is_past_pseudo: false,
            wrong: None,
        }
    }

    /// A request begins.
    pub fn begin(&mut self, id: u32, expects_body: bool, request: &Request, (room, window): (i64, i64)) {
        self.answer.begin(request.keeps_body);
        self.answer.events.begin(request.events);
        if request.keeps_head {
            self.answer.keep_head();
        }
        let answer = std::mem::take(&mut self.answer);
        *self = Stream { id, answer, room, window, expects_body, ..Stream::new() };
    }

    /// Carries no request any more.
    pub fn free(&mut self) {
        self.id = 0;
        self.unsent = (Vec::new(), 0);
    }

    pub fn is_whole(&self) -> bool {
        self.unsent.0.len() == self.unsent.1
    }

    /// Before the headers of a block.
    pub fn begin_block(&mut self) {
        self.has_begun = true;
        self.is_past_pseudo = false;
        if self.stage == Stage::Body {
            self.stage = Stage::Trailers;
        }
    }

    /// A header of the block: RFC 9113 section 8.
    pub fn header(&mut self, name: &[u8], value: &[u8]) {
        self.answer.grpc.header(name, value);
        if self.stage == Stage::Trailers {
            return;
        }
        if let [b':', pseudo @ ..] = name {
            if pseudo != b"status" || self.is_past_pseudo || self.answer.status != 0 {
                self.wrong = Some("a pseudo-header that is not one :status before all headers");
            }
            let status = std::str::from_utf8(value).ok().filter(|text| text.len() == 3);
            self.answer.status = status.and_then(|text| text.parse().ok()).unwrap_or(0);
            return;
        }
        self.is_past_pseudo = true;
        match name {
            b"content-length" => match length(value) {
                Some(length) if self.length.is_none_or(|before| before == length) => {
                    self.length = Some(length);
                }
                _ => self.wrong = Some("content-length is not one number"),
            },
            b"set-cookie" => self.answer.set_cookie(value),
            b"location" => self.answer.set_location(value),
            b"content-encoding" => self.answer.set_coding(value),
            _ => (),
        }
        self.answer.header(name, value);
    }

    /// After the headers of a block.
    pub fn end_block(&mut self, is_last: bool) -> Result<(), &'static str> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        match (self.stage, self.answer.status) {
            (Stage::Trailers, _) if is_last => Ok(()),
            (Stage::Trailers, _) => Err("a header block within the body"),
            (_, 100..=199) if is_last => Err("an interim answer that is the last"),
            (_, 101) => Err("status 101, which HTTP/2 does not have"),
            (_, 100..=199) => {
                self.interim += 1;
                (self.answer.status, self.length) = (0, None);
                self.answer.clear_headers();
                if INTERIM_MAX < self.interim { Err("too many interim answers") } else { Ok(()) }
            }
            (_, 200..=999) => {
                self.stage = Stage::Body;
                Ok(())
            }
            _ => Err("an answer without a status of three digits"),
        }
    }

    /// A part of the body.
    pub fn data(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        self.has_begun = true;
        if self.stage != Stage::Body {
            return Err("a body without a head before it");
        }
        self.received += bytes.len() as u64;
        self.answer.keep(bytes);
        Ok(())
    }

    /// The answer is over.
    pub fn end(&self) -> Result<(), &'static str> {
        let has_body = self.expects_body && !matches!(self.answer.status, 204 | 304);
        match (self.stage, self.length) {
            (Stage::Head, _) => Err("an end without an answer"),
            (_, Some(length)) if has_body && length != self.received => {
                Err("a body of another length than content-length says")
            }
            (..) if !has_body && 0 < self.received => Err("a body where none may be"),
            _ => Ok(()),
        }
    }
}

fn length(value: &[u8]) -> Option<u64> {
    let text =
        std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    text.parse().ok()
}
