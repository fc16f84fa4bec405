//! An HTTP server that answers every request, and knows how many there were: the truth that counts of load are held against.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A server on threads of the test's process; it lives as long as that.
pub struct CountingServer {
    /// Where it can be reached from this host.
    pub url: String,
    /// Its port, on every address that it listens on.
    pub port: u16,
    count: Arc<AtomicU64>,
}

impl CountingServer {
    /// On loopback.
    pub fn start() -> CountingServer {
        CountingServer::start_on("127.0.0.1")
    }

    /// On a free port of this address.
    ///
    /// # Panics
    /// When the address cannot be listened on.
    pub fn start_on(address: &str) -> CountingServer {
        let listener = TcpListener::bind((address, 0)).expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || answer_all(stream, &counted));
            }
        });
        CountingServer { url: format!("http://127.0.0.1:{port}"), port, count }
    }

    /// Requests that were answered.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }
}

/// Requests come one at a time on a connection, each in one piece with its body.
fn answer_all(mut stream: TcpStream, count: &AtomicU64) {
    let _ = stream.set_nodelay(true);
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        assert!(buffer[..read].windows(4).any(|end| end == b"\r\n\r\n"), "a whole head");
        count.fetch_add(1, Ordering::SeqCst);
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}
