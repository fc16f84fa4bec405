//! Offers a text over HTTP/1.1, to whoever scrapes it.
//!
//! One request at a time, each with a deadline: a scraper comes every few seconds. Heads are parsed by `httparse`.
//! Not by `tiny_http`: it bounds neither the head nor how long a request may take, and a thread waits for each connection.

use crate::failure::Failure;
use assay_report::gc::OPENMETRICS_CONTENT_TYPE;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A longer head is refused.
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;
/// A request that has not come by then is given up.
const REQUEST_MAX: Duration = Duration::from_secs(3);

/// A server that runs until the program ends.
pub struct MetricsServer {
    text: Arc<Mutex<String>>,
}

impl MetricsServer {
    /// Listens, and says where.
    pub fn start(address: SocketAddr) -> Result<MetricsServer, Failure> {
        let listener = TcpListener::bind(address).map_err(|e| {
            Failure::environment(format!("cannot listen on {address}: {e}; give another port"))
        })?;
        say!("metrics: http://{}/metrics", listener.local_addr().unwrap_or(address));
        let text = Arc::new(Mutex::new("# EOF\n".to_owned()));
        let offered = Arc::clone(&text);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A scraper that disconnects is not an error.
                let _ = answer(stream, &offered);
            }
        });
        Ok(MetricsServer { text })
    }

    /// What is answered from now on.
    pub fn offer(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

fn answer(mut stream: TcpStream, text: &Mutex<String>) -> io::Result<()> {
    stream.set_write_timeout(Some(REQUEST_MAX))?;
    let (status, kind, body) = match read_request(&mut stream)? {
        Ok(()) => {
            let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
            ("200 OK", OPENMETRICS_CONTENT_TYPE, text)
        }
        Err(status) => (status, "text/plain; charset=utf-8", format!("{status}: GET /metrics\n")),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// Whether the request is for the metrics, or the status that it gets.
fn read_request(stream: &mut TcpStream) -> io::Result<Result<(), &'static str>> {
    let deadline = Instant::now() + REQUEST_MAX;
    let (mut head, mut buffer) = (Vec::new(), [0; 1024]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => head.extend_from_slice(&buffer[..bytes]),
        }
        if let Some(decided) = decide(&head) {
            return Ok(decided);
        }
    }
}

/// What a head asks for; absent while it is not whole.
fn decide(head: &[u8]) -> Option<Result<(), &'static str>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Partial) if head.len() <= HEAD_BYTES_MAX => None,
        Ok(httparse::Status::Complete(_)) => Some(match (request.method, request.path) {
            (Some("GET"), Some(path)) if matches!(path.split('?').next(), Some("/metrics" | "/")) => Ok(()),
            (Some("GET"), _) => Err("404 Not Found"),
            _ => Err("405 Method Not Allowed"),
        }),
        _ => Some(Err("400 Bad Request")),
    }
}

#[cfg(test)]
mod tests {
    use super::decide;

    #[test]
    fn heads_are_decided_when_they_are_whole() {
        assert_eq!(decide(b"GET /metrics HTTP/1.1\r\nHost: x\r\n"), None);
        assert_eq!(decide(b"GET /metrics?a=b HTTP/1.1\r\nHost: x\r\n\r\n"), Some(Ok(())));
        assert_eq!(decide(b"GET /other HTTP/1.1\r\n\r\n"), Some(Err("404 Not Found")));
        assert_eq!(decide(b"POST /metrics HTTP/1.1\r\n\r\n"), Some(Err("405 Method Not Allowed")));
        assert_eq!(decide(b"\x16\x03\x01\x02\x00\x01"), Some(Err("400 Bad Request")));
        let long = [b"GET / HTTP/1.1\r\nA: ".to_vec(), vec![b'x'; 9_000]].concat();
        assert_eq!(decide(&long), Some(Err("400 Bad Request")));
    }
}
