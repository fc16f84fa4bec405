//! HTTP/1.1: one request at a time on a connection, which is kept alive.

mod response;

use super::{Answer, Event, Exchange, Failure};
use crate::request::{Request, RequestPart};
use response::{Broken, Progress, ResponseReader};
use std::sync::Arc;

/// The only stream.
const STREAM: usize = 0;

pub(crate) struct Http1 {
    /// What follows the target in every request.
    fixed: Arc<str>,
    reader: ResponseReader,
}

impl Http1 {
    /// Requests to one server begin with the same.
    pub fn fixed(authority: &str) -> Arc<str> {
        format!(" HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: assay\r\nAccept: */*\r\n").into()
    }

    pub fn new(fixed: Arc<str>) -> Http1 {
        Http1 { fixed, reader: ResponseReader::new() }
    }
}

impl Exchange for Http1 {
    fn begin(&mut self, _generation: u32, _out: &mut Vec<u8>) {
        self.reader.reset();
    }

    fn send(&mut self, _stream: usize, request: &Request, out: &mut Vec<u8>) {
        let [method, target] = [RequestPart::Method, RequestPart::Target].map(|part| request.part(part));
        self.reader.begin(method != b"HEAD", request.keeps_body);
        if request.keeps_head {
            self.reader.keep_head();
        }
        let own = request.parts(RequestPart::Headers, RequestPart::Cookie);
        for part in [method, b" ", target, self.fixed.as_bytes(), own] {
            out.extend_from_slice(part);
        }
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
        Ok((bytes.len(), event(self.reader.feed(bytes)?)))
    }

    fn close(&mut self) -> Result<Option<Event>, Failure> {
        Ok(event(self.reader.close()?))
    }

    fn answer(&self, _stream: usize) -> &Answer {
        self.reader.answer()
    }

    fn has_begun(&self, _stream: usize) -> bool {
        self.reader.has_begun()
    }
}

fn event(progress: Progress) -> Option<Event> {
    match progress {
        Progress::More => None,
        Progress::Done { keep_alive } => Some(Event::Answered { stream: STREAM, keep_alive }),
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
        Http1::new(Http1::fixed("h:1")).send(STREAM, request, &mut out);
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
}
