//! A server that accepts nothing.

use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// How many connections its queue takes: Linux has room for one more than is asked for.
pub const OPEN_MAX: usize = 5;

/// A listener with its URL. Its connections are open for clients until the queue is full.
pub fn deaf_server() -> (TcpListener, String) {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&listener, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port");
    listen(&listener, OPEN_MAX as i32 - 1).expect("a queue");
    let listener = TcpListener::from(listener);
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    (listener, url)
}
