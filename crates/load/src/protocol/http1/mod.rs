//! HTTP/1.1: one request at a time on a connection, which is kept alive.

mod response;

use super::{Answer, Event, Exchange, Failure};
use crate::request::{Request, RequestPart};
use assay_scenario::OwnHeaders;
use response::{Broken, Progress, ResponseReader};
use std::sync::Arc;

/// The only stream.
const STREAM: usize = 0;

pub(crate) struct Http1 {
    fixed: Arc<Fixed>,
    reader: ResponseReader,
    /// The request said that no other follows it.
    closes: bool,
}

/// What follows the target in every request to one server.
pub(crate) struct Fixed {
    version: &'static str,
    /// `Host`, `User-Agent` and `Accept`.
    lines: [Box<str>; 3],
    /// All of it.
    whole: Box<str>,
}

impl Fixed {
    /// Of a server.
    pub fn new(authority: &str) -> Arc<Fixed> {
        let version = " HTTP/1.1\r\n";
        let lines =
            [format!("Host: {authority}\r\n"), "User-Agent: assay\r\n".into(), "Accept: */*\r\n".into()];
        let whole = format!("{version}{}", lines.concat()).into();
        Arc::new(Fixed { version, lines: lines.map(Into::into), whole })
    }

    /// Appends it, without the headers that the request has itself.
    fn write(&self, sets: OwnHeaders, out: &mut Vec<u8>) {
        let OwnHeaders { host, user_agent, accept, closes: _ } = sets;
        if !(host || user_agent || accept) {
            return out.extend_from_slice(self.whole.as_bytes());
        }
        out.extend_from_slice(self.version.as_bytes());
        for (line, _) in self.lines.iter().zip([host, user_agent, accept]).filter(|(_, is_set)| !is_set) {
            out.extend_from_slice(line.as_bytes());
        }
    }
}

impl Http1 {
    pub fn new(fixed: Arc<Fixed>) -> Http1 {
        Http1 { fixed, reader: ResponseReader::new(), closes: false }
    }

    /// A client that said `Connection: close` sends no other request: RFC 9112 section 9.6.
    fn event(&self, progress: Progress) -> Option<Event> {
        match progress {
            Progress::More => None,
            Progress::Done { keep_alive } => {
                Some(Event::Answered { stream: STREAM, keep_alive: keep_alive && !self.closes })
            }
        }
    }
}

impl Exchange for Http1 {
    fn begin(&mut self, _generation: u32, _out: &mut Vec<u8>) {
        self.reader.reset();
    }

    fn send(&mut self, _stream: usize, request: &Request, out: &mut Vec<u8>) {
        let [method, target] = [RequestPart::Method, RequestPart::Target].map(|part| request.part(part));
        self.reader.begin(method != b"HEAD", request.keeps_body);
        self.reader.await_events(request.events);
        if request.keeps_head {
            self.reader.keep_head();
        }
        let own = request.parts(RequestPart::Headers, RequestPart::Cookie);
        self.closes = request.sets.closes;
        for part in [method, b" ", target] {
            out.extend_from_slice(part);
        }
        self.fixed.write(request.sets, out);
        out.extend_from_slice(own);
        if request.has_body {
            let body = request.part(RequestPart::Body);
            // Writing to a Vec cannot fail.
            let _ = std::io::Write::write_fmt(out, format_args!("Content-Length: {}\r\n\r\n", body.len()));
            out.extend_from_slice(body);
        } else {
            out.extend_from_slice(b"\r\n");
        }
    }

    fn feed(&mut self, bytes: &[u8], _out: &mut Vec<u8>) -> Result<(usize, Option<Event>), Failure> {
        let before = self.reader.answer().events;
        let progress = self.reader.feed(bytes)?;
        let streamed =
            || self.reader.answer().events.goes_on_from(before).then_some(Event::Streamed { stream: STREAM });
        Ok((bytes.len(), self.event(progress).or_else(streamed)))
    }

    fn close(&mut self) -> Result<Option<Event>, Failure> {
        let progress = self.reader.close()?;
        Ok(self.event(progress))
    }

    fn cut(&mut self) -> Result<Option<Event>, Failure> {
        let progress = self.reader.cut()?;
        Ok(self.event(progress))
    }

    fn answer(&self, _stream: usize) -> &Answer {
        self.reader.answer()
    }

    fn has_begun(&self, _stream: usize) -> bool {
        self.reader.has_begun()
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Failure {
        match broken {
            Broken::ClosedBefore => Failure::ClosedBefore,
            other => Failure::Protocol(other.to_string().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(request: &Request) -> String {
        let mut out = Vec::new();
        Http1::new(Fixed::new("h:1")).send(STREAM, request, &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_request_is_its_line_its_headers_its_cookies_and_its_body() {
        let mut request = Request::default();
        for (part, text) in [
            (RequestPart::Method, "POST"),
            (RequestPart::Target, "/a?b=c"),
            (RequestPart::Headers, "X: 1\r\n"),
            (RequestPart::Cookie, "Cookie: id=2\r\n"),
            (RequestPart::Body, "hi"),
        ] {
            request.write(part, |out| out.extend_from_slice(text.as_bytes()));
        }
        request.has_body = true;
        const HEAD: &str = "POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nUser-Agent: assay\r\nAccept: */*\r\nX: 1\r\nCookie: id=2\r\n";
        assert_eq!(sent(&request), format!("{HEAD}Content-Length: 2\r\n\r\nhi"));
        request.has_body = false;
        assert_eq!(sent(&request), format!("{HEAD}\r\n"));
    }

    #[test]
    fn a_header_that_the_request_sets_is_there_once() {
        let mut request = Request::default();
        for (part, text) in [
            (RequestPart::Method, "GET"),
            (RequestPart::Target, "/"),
            (RequestPart::Headers, "accept: text/html\r\nHost: shop\r\n"),
        ] {
            request.write(part, |out| out.extend_from_slice(text.as_bytes()));
        }
        request.sets = OwnHeaders { host: true, accept: true, ..OwnHeaders::default() };
        let want = "GET / HTTP/1.1\r\nUser-Agent: assay\r\naccept: text/html\r\nHost: shop\r\n\r\n";
        assert_eq!(sent(&request), want);
        request.sets = OwnHeaders { user_agent: true, ..OwnHeaders::default() };
        assert!(sent(&request).starts_with("GET / HTTP/1.1\r\nHost: h:1\r\nAccept: */*\r\naccept"));
    }

    #[test]
    fn after_connection_close_no_other_request_is_sent_on_the_connection() {
        for closes in [false, true] {
            let mut request = Request::default();
            request.sets = OwnHeaders { closes, ..OwnHeaders::default() };
            let mut http1 = Http1::new(Fixed::new("h:1"));
            http1.send(STREAM, &request, &mut Vec::new());
            let fed = http1.feed(b"HTTP/1.1 204 No Content\r\n\r\n", &mut Vec::new()).expect("good");
            assert_eq!(fed.1, Some(Event::Answered { stream: STREAM, keep_alive: !closes }));
        }
    }
}
