//! One GET of a loopback URL, for ready, audit and statistics. The load has its own client.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Bytes of an answer that are read; an audit's list of faults may be long.
const ANSWER_BYTES_MAX: u64 = 1 << 20;
const HEADERS_MAX: usize = 100;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    /// 2xx; a redirect says that something else is asked for.
    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Gets a URL of the form `http://HOST:PORT/PATH`.
pub(crate) fn get(url: &str, timeout: Duration) -> io::Result<Answer> {
    let wrong = || io::Error::other(format!("{url} is not of the form http://127.0.0.1:PORT/PATH"));
    let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    let address = authority.to_socket_addrs()?.find(std::net::SocketAddr::is_ipv4).ok_or_else(wrong)?;
    let deadline = Instant::now() + timeout;
    let left = || {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::Error::from(io::ErrorKind::TimedOut)) } else { Ok(left) }
    };
    let mut stream = TcpStream::connect_timeout(&address, left()?)?;
    stream.set_write_timeout(Some(left()?))?;
    // Version 1.0: the answer ends with the connection and comes in one piece.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {authority}\r\nAccept: */*\r\nConnection: close\r\n\r\n")?;
    let (mut answer, mut buffer) = (Vec::new(), [0; 8192]);
    while (answer.len() as u64) < ANSWER_BYTES_MAX && !is_whole(&answer) {
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(&mut buffer)? {
            0 => break,
            count => answer.extend_from_slice(&buffer[..count]),
        }
    }
    parse(&answer).ok_or_else(|| io::Error::other(format!("{url} gave no HTTP answer")))
}

/// Whether a length is told and reached: some servers keep the connection open all the same.
fn is_whole(answer: &[u8]) -> bool {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let Ok(httparse::Status::Complete(head)) = response.parse(answer) else { return false };
    let length = response.headers.iter().find(|h| h.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|h| std::str::from_utf8(h.value).ok()?.trim().parse::<usize>().ok());
    length.is_some_and(|length| head.saturating_add(length) <= answer.len())
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(answer).ok()? else { return None };
    let body = String::from_utf8_lossy(&answer[head..]).into_owned();
    Some(Answer { status: response.code?, body })
}
