//! The other side of WebSocket: tungstenite, behind a handshake.

use base64::Engine;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use tungstenite::WebSocket;
use tungstenite::protocol::Role;

const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Does the handshake of a server; absent where the client's is not one, or of another path.
pub fn accept<S: Read + Write>(mut stream: S, path: &str) -> Option<WebSocket<S>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    if !head.starts_with(&format!("GET {path} HTTP/1.1\r\n")) {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nno such");
        return None;
    }
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "))?;
    let sum =
        ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes());
    let accept = base64::engine::general_purpose::STANDARD.encode(sum);
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(answer.as_bytes()).ok()?;
    stream.flush().ok()?;
    Some(WebSocket::from_raw_socket(stream, Role::Server, None))
}

/// Serves each connection, with its number, in a thread, until the test's process ends. Returns host and port.
pub fn serve(connection: impl Fn(TcpStream, u64) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let connection = Arc::new(connection);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (Ok(stream), connection) = (stream, Arc::clone(&connection)) else { return };
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || connection(stream, number as u64));
        }
    });
    address
}
