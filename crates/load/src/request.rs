//! What a request holds, whatever the protocol writes of it.

use crate::cookies::{CookieJar, Destination};
use crate::url::BaseUrl;
use assay_scenario::OwnHeaders;

/// A buffer that grew beyond this by one large request is given back.
const BYTES_KEPT: usize = 64 << 10;

/// A part of a request; they are written in this order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RequestPart {
    Method,
    /// Path with query.
    Target,
    /// Whole header lines of the scenario, each with its line end.
    Headers,
    /// The whole `Cookie` line; empty where there are none.
    Cookie,
    /// Empty also where there is none.
    Body,
    /// Not sent: what the answer must hold, where that depends on the request's values.
    Expected,
}

/// One request. Its parts lie one behind the other in one buffer, which lives on, so that making the next one allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    ends: [usize; 6],
    /// Where the line of cookies is made: it depends on the target, which lies in `bytes`.
    cookie_line: Vec<u8>,
    /// Headers of its own in the place of those that the generator writes otherwise.
    pub sets: OwnHeaders,
    /// Whether there is a body, which may be empty.
    pub has_body: bool,
    /// The body of the answer is needed, not only its length.
    pub keeps_body: bool,
    /// The header lines of the answer are needed.
    pub keeps_head: bool,
    /// The answer is a stream of events, and whole with so many; 0: it is none.
    pub events: u32,
    /// Why it cannot be sent: the values in its message do not fit the schema.
    pub unfit: Option<String>,
}

impl Request {
    /// Empties it.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BYTES_KEPT);
        self.ends = [0; 6];
        self.sets = OwnHeaders::default();
        self.has_body = false;
        self.keeps_body = false;
        self.keeps_head = false;
        self.events = 0;
        self.unfit = None;
    }

    /// Writes the next part.
    pub fn write<R>(&mut self, part: RequestPart, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let written = write(&mut self.bytes);
        self.ends[part as usize..].fill(self.bytes.len());
        written
    }

    /// Writes the cookies that belong to its target.
    pub fn write_cookies(&mut self, base: &BaseUrl, cookies: &CookieJar) {
        // Most loads have none.
        if cookies.is_empty() {
            return self.write(RequestPart::Cookie, |_| ());
        }
        let mut line = std::mem::take(&mut self.cookie_line);
        line.clear();
        cookies.write_header(self.destination(base), &mut line);
        self.write(RequestPart::Cookie, |out| out.extend_from_slice(&line));
        self.cookie_line = line;
    }

    /// The value of one of its own headers.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.part(RequestPart::Headers).split(|byte| *byte == b'\n');
        let value = lines.filter_map(|line| {
            let colon = memchr::memchr(b':', line)?;
            line[..colon].eq_ignore_ascii_case(name.as_bytes()).then(|| line[colon + 1..].trim_ascii())
        });
        value.filter_map(|value| std::str::from_utf8(value).ok()).next()
    }

    /// The server as it is named in the request: its own `Host`, or that of the URL under load.
    pub fn authority<'a>(&'a self, base: &'a BaseUrl) -> &'a str {
        let own = if self.sets.host { self.header("host") } else { None };
        own.unwrap_or(&base.authority)
    }

    /// Where it goes, for cookies; it is written up to its headers.
    pub fn destination<'a>(&'a self, base: &'a BaseUrl) -> Destination<'a> {
        let to = Destination::new(base, self.part(RequestPart::Target));
        if self.sets.host { to.named(self.authority(base)) } else { to }
    }

    /// A part.
    pub fn part(&self, part: RequestPart) -> &[u8] {
        self.parts(part, part)
    }

    /// The parts from one to another.
    pub fn parts(&self, first: RequestPart, last: RequestPart) -> &[u8] {
        let start = (first as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[last as usize]]
    }

    /// Makes another request of it, which has these parts, the cookies of a session by now, and the rest as it is.
    pub fn change(
        &mut self,
        (method, target, headers): (&[u8], &[u8], &[u8]),
        base: &BaseUrl,
        cookies: &CookieJar,
    ) {
        let [body, expected] =
            [RequestPart::Body, RequestPart::Expected].map(|part| self.part(part).to_vec());
        let (sets, events) = (self.sets, self.events);
        let (has_body, keeps_body, keeps_head) = (self.has_body, self.keeps_body, self.keeps_head);
        self.clear();
        (self.sets, self.events) = (sets, events);
        self.write(RequestPart::Method, |out| out.extend_from_slice(method));
        self.write(RequestPart::Target, |out| out.extend_from_slice(target));
        self.write(RequestPart::Headers, |out| out.extend_from_slice(headers));
        self.write_cookies(base, cookies);
        self.write(RequestPart::Body, |out| out.extend_from_slice(&body));
        self.write(RequestPart::Expected, |out| out.extend_from_slice(&expected));
        (self.has_body, self.keeps_body, self.keeps_head) = (has_body, keeps_body, keeps_head);
    }
}
