//! Writes the header block of a request (HPACK, RFC 7541): what all requests to a server share stands in the table after the first
//! one, and costs a byte each from then on. Text is not Huffman-coded, which would take more time than it saves bytes.

use crate::request::{Request, RequestPart};
use assay_scenario::OwnHeaders;

/// What the table must hold: the three shared headers, with 32 bytes each (section 4.1).
const TABLE_BYTES_MIN: u32 = 1024;
/// What every table may hold before a peer says something else.
const TABLE_BYTES: u32 = 4096;
/// A longer authority is written each time.
const AUTHORITY_BYTES_MAX: usize = 512;
/// Places in the static table (appendix A).
const GET: u8 = 2;
const POST: u8 = 3;
const METHOD: u8 = 2;
const PATH: u8 = 4;
const SLASH: u8 = 4;
const HTTP: u8 = 6;
const HTTPS: u8 = 7;
const AUTHORITY: u8 = 1;
const ACCEPT: u8 = 19;
const CONTENT_LENGTH: u8 = 28;
const COOKIE: u8 = 32;
const USER_AGENT: u8 = 58;
/// The latest entry of the dynamic table.
const LATEST: u8 = 62;
const AGENT: &[u8] = b"assay";
const ANYTHING: &[u8] = b"*/*";

/// Kinds of literals (section 6.2): their first bits, and how many bits of the first byte are left for the name's place.
const KEPT: (u8, u32) = (0x40, 6);
const PLAIN: (u8, u32) = (0x00, 4);
/// Not to be kept by anybody on the way.
const NEVER_KEPT: (u8, u32) = (0x10, 4);

/// What stands in the server's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shared {
    NotYet,
    There,
    /// It may not hold them.
    Never,
}

pub(super) struct Deflater {
    shared: Shared,
    /// The size of the table is to be said first.
    resize: Option<u32>,
}

impl Deflater {
    pub fn new() -> Deflater {
        Deflater { shared: Shared::NotYet, resize: None }
    }

    /// The server's table may hold so many bytes.
    pub fn table(&mut self, bytes_max: u32) {
        if bytes_max < TABLE_BYTES_MIN {
            (self.shared, self.resize) = (Shared::Never, Some(0));
        } else if bytes_max < TABLE_BYTES {
            // What is there fits.
            self.resize = Some(bytes_max);
        }
    }

    /// Appends the block of a request.
    pub fn write(&mut self, request: &Request, is_secure: bool, authority: &[u8], out: &mut Vec<u8>) {
        if let Some(bytes) = self.resize.take() {
            integer(out, (0x20, 5), bytes as usize);
        }
        match request.part(RequestPart::Method) {
            b"GET" => out.push(0x80 | GET),
            b"POST" => out.push(0x80 | POST),
            other => literal(out, PLAIN, METHOD, other),
        }
        out.push(0x80 | if is_secure { HTTPS } else { HTTP });
        match request.part(RequestPart::Target) {
            b"/" => out.push(0x80 | SLASH),
            target => literal(out, PLAIN, PATH, target),
        }
        let headers = request.part(RequestPart::Headers);
        self.write_shared(request, authority, out);
        for (name, value) in lines(headers).filter(|(name, _)| !is_for_http1(name)) {
            integer(out, PLAIN, 0);
            integer(out, (0, 7), name.len());
            out.extend(name.iter().map(u8::to_ascii_lowercase));
            text(out, value);
        }
        for (_, value) in lines(request.part(RequestPart::Cookie)) {
            literal(out, NEVER_KEPT, COOKIE, value);
        }
        if request.has_body {
            let length = request.part(RequestPart::Body).len().to_string();
            literal(out, PLAIN, CONTENT_LENGTH, length.as_bytes());
        }
    }
}

impl Deflater {
    /// Appends authority, agent and what is accepted, as far as the request does not say them itself.
    fn write_shared(&mut self, request: &Request, authority: &[u8], out: &mut Vec<u8>) {
        let OwnHeaders { host, user_agent, accept, closes: _ } = request.sets;
        if host {
            literal(out, PLAIN, AUTHORITY, request.header("host").map_or(authority, str::as_bytes));
        }
        let kind = match self.shared {
            Shared::There => None,
            // All of them go into the table, or none.
            Shared::NotYet if authority.len() <= AUTHORITY_BYTES_MAX && !(host || user_agent || accept) => {
                self.shared = Shared::There;
                Some(KEPT)
            }
            Shared::NotYet | Shared::Never => Some(PLAIN),
        };
        for (is_set, place, (name, value)) in [
            (host, LATEST + 2, (AUTHORITY, authority)),
            (user_agent, LATEST + 1, (USER_AGENT, AGENT)),
            (accept, LATEST, (ACCEPT, ANYTHING)),
        ] {
            match kind {
                _ if is_set => (),
                Some(kind) => literal(out, kind, name, value),
                None => out.push(0x80 | place),
            }
        }
    }
}

/// Headers that HTTP/2 says in another way, or not at all: RFC 9113 sections 8.2.2 and 8.3.1.
fn is_for_http1(name: &[u8]) -> bool {
    [b"host".as_slice(), b"connection", b"keep-alive", b"proxy-connection"]
        .iter()
        .any(|one| one.eq_ignore_ascii_case(name))
}

/// Names and values of whole header lines.
fn lines(headers: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    headers.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// A header whose name stands in the static table.
fn literal(out: &mut Vec<u8>, kind: (u8, u32), name: u8, value: &[u8]) {
    integer(out, kind, usize::from(name));
    text(out, value);
}

fn text(out: &mut Vec<u8>, text: &[u8]) {
    integer(out, (0, 7), text.len());
    out.extend_from_slice(text);
}

/// A number behind the first bits of a byte: section 5.1.
fn integer(out: &mut Vec<u8>, (bits, left): (u8, u32), number: usize) {
    let most = (1 << left) - 1;
    if number < most {
        return out.push(bits | number as u8);
    }
    out.push(bits | most as u8);
    let mut rest = number - most;
    while 0x80 <= rest {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::super::inflate::Inflater;
    use super::*;

    fn request(parts: &[(RequestPart, &str)]) -> Request {
        let mut request = Request::default();
        for (part, text) in parts {
            request.write(*part, |out| out.extend_from_slice(text.as_bytes()));
        }
        request
    }

    /// As another library reads it.
    fn read(inflater: &mut Inflater, block: &[u8]) -> Vec<String> {
        let mut headers = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let read =
            inflater.block(block, |name, value| headers.push(format!("{}={}", text(name), text(value))));
        read.expect("a good block");
        headers
    }

    #[test]
    fn a_request_is_read_by_another_library_as_it_was_meant() {
        let (mut deflater, mut inflater) = (Deflater::new(), Inflater::new().expect("memory"));
        let long = "x".repeat(40_000);
        let post = [
            (RequestPart::Method, "POST"),
            (RequestPart::Target, "/a?b=c"),
            (RequestPart::Headers, "Content-Type: text/plain\r\nX-Empty: \r\n"),
            (RequestPart::Cookie, "Cookie: id=2; more=3\r\n"),
            (RequestPart::Body, &long),
        ];
        let shared = [":authority=h:1", "user-agent=assay", "accept=*/*"];
        for round in 0..3 {
            let mut out = Vec::new();
            deflater.write(
                &request(&[(RequestPart::Method, "GET"), (RequestPart::Target, "/")]),
                false,
                b"h:1",
                &mut out,
            );
            let get = [&[":method=GET", ":scheme=http", ":path=/"], &shared[..]].concat();
            assert_eq!(read(&mut inflater, &out), get);
            assert!(round == 0 || out.len() == 6, "what is shared is written once: {out:x?}");
            out.clear();
            let mut posted = request(&post);
            posted.has_body = true;
            deflater.write(&posted, true, b"h:1", &mut out);
            let want = [
                &[":method=POST", ":scheme=https", ":path=/a?b=c"],
                &shared[..],
                &["content-type=text/plain", "x-empty=", "cookie=id=2; more=3", "content-length=40000"],
            ];
            assert_eq!(read(&mut inflater, &out), want.concat());
        }
    }

    #[test]
    fn a_header_that_the_request_sets_is_there_once() {
        let (mut deflater, mut inflater) = (Deflater::new(), Inflater::new().expect("memory"));
        let parts = [
            (RequestPart::Method, "GET"),
            (RequestPart::Target, "/"),
            (RequestPart::Headers, "Host: shop\r\nConnection: close\r\nAccept: text/html\r\n"),
        ];
        let (plain, mut own) = (request(&parts[..2]), request(&parts));
        own.sets = OwnHeaders { host: true, accept: true, user_agent: false, closes: true };
        let of_own = [
            ":method=GET",
            ":scheme=http",
            ":path=/",
            ":authority=shop",
            "user-agent=assay",
            "accept=text/html",
        ];
        let of_plain =
            [":method=GET", ":scheme=http", ":path=/", ":authority=h:1", "user-agent=assay", "accept=*/*"];
        // Before and after what is shared stands in the table.
        for (request, want) in [(&own, of_own), (&plain, of_plain), (&own, of_own), (&plain, of_plain)] {
            let mut out = Vec::new();
            deflater.write(request, false, b"h:1", &mut out);
            assert_eq!(read(&mut inflater, &out), want);
        }
    }

    #[test]
    fn a_server_without_a_table_gets_all_each_time() {
        let (mut deflater, mut inflater) = (Deflater::new(), Inflater::new().expect("memory"));
        let get = request(&[(RequestPart::Method, "HEAD"), (RequestPart::Target, "/")]);
        let mut out = Vec::new();
        deflater.write(&get, false, b"h", &mut out);
        let first = read(&mut inflater, &out);
        deflater.table(0);
        for _ in 0..2 {
            out.clear();
            deflater.write(&get, false, b"h", &mut out);
            assert_eq!(read(&mut inflater, &out), first);
        }
        assert!(20 < out.len());
        // A smaller one that holds what is shared goes on holding it.
        let (mut deflater, mut inflater) = (Deflater::new(), Inflater::new().expect("memory"));
        for bytes in [4096, 1024, 8192] {
            deflater.table(bytes);
            out.clear();
            deflater.write(&get, false, b"h", &mut out);
            assert_eq!(read(&mut inflater, &out), first);
        }
    }
}
