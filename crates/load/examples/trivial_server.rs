//! The smallest HTTP server, for measuring generators: one thread, keep-alive, the same answer to every request
//! head. Prints its address; `trivial_server [PORT]`.

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use std::collections::HashMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
const LISTENER: u64 = 0;

fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("http://{}", listener.local_addr()?);
    let poll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&poll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    let mut connections: HashMap<u64, TcpStream> = HashMap::new();
    let mut next = LISTENER;
    let mut events: Vec<Event> = Vec::with_capacity(256);
    loop {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            match event.data.u64() {
                LISTENER => {
                    let (stream, _) = listener.accept()?;
                    stream.set_nodelay(true)?;
                    next += 1;
                    epoll::add(&poll, &stream, EventData::new_u64(next), EventFlags::IN)?;
                    connections.insert(next, stream);
                }
                id => {
                    if let Some(stream) = connections.get_mut(&id)
                        && !answer(stream)
                    {
                        connections.remove(&id);
                    }
                }
            }
        }
    }
}

/// Answers what one read brings; false when the connection ended.
fn answer(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 4096];
    match stream.read(&mut buffer) {
        Ok(count @ 1..) => {
            let heads = buffer[..count].windows(4).filter(|end| end == b"\r\n\r\n").count();
            (0..heads).all(|_| stream.write_all(ANSWER).is_ok())
        }
        _ => false,
    }
}
