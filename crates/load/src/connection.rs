//! One connection to the server: a non-blocking socket, what is still to be written, and the protocol that is spoken on it.

use crate::protocol::{Answer, Event, Exchange, Failure};
use crate::request::Request;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A buffer that grew beyond this by one large request is given back.
const OUT_BYTES_KEPT: usize = 64 << 10;
const READ_BUFFER_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Closed,
    /// Being opened: no request can be sent yet.
    Opening,
    Open,
}

/// Where connections read into; one for all of them.
pub(crate) struct Buffer(Box<[u8]>);

impl Buffer {
    pub fn new() -> Buffer {
        Buffer(vec![0; READ_BUFFER_BYTES].into())
    }
}

/// Without room: what stands in for one that is being used.
impl Default for Buffer {
    fn default() -> Buffer {
        Buffer(Box::default())
    }
}

/// What a socket held.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input<'a> {
    /// Nothing by now.
    Nothing,
    Bytes {
        bytes: &'a [u8],
        /// The buffer was filled, so there may be more. A read that does not fill it has emptied the socket (epoll(7)), so the
        /// usual answer costs one system call.
        may_hold_more: bool,
    },
    /// The server closed its side.
    End,
}

pub(crate) struct Connection {
    stream: Option<TcpStream>,
    state: State,
    /// Distinguishes this socket from those that the slot held before.
    pub generation: u32,
    /// Requests answered on this socket.
    pub answered: u64,
    out: Vec<u8>,
    written: usize,
    exchange: Box<dyn Exchange>,
}

impl Connection {
    pub fn new(exchange: Box<dyn Exchange>) -> Self {
        Connection {
            stream: None,
            state: State::Closed,
            generation: 0,
            answered: 0,
            out: Vec::new(),
            written: 0,
            exchange,
        }
    }

    pub fn state(&self) -> State {
        self.state
    }

    pub fn stream(&self) -> Option<&TcpStream> {
        self.stream.as_ref()
    }

    /// Begins to open the connection.
    pub fn open(&mut self, address: &SocketAddr) -> io::Result<()> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        let state = match rustix::net::connect(&socket, address) {
            Ok(()) => State::Open,
            Err(rustix::io::Errno::INPROGRESS) => State::Opening,
            Err(error) => return Err(error.into()),
        };
        self.adopt(TcpStream::from(socket), state)
    }

    fn adopt(&mut self, stream: TcpStream, state: State) -> io::Result<()> {
        stream.set_nodelay(true)?;
        self.stream = Some(stream);
        self.state = state;
        self.generation = self.generation.wrapping_add(1);
        self.answered = 0;
        self.out.clear();
        self.written = 0;
        self.exchange.begin(&mut self.out);
        Ok(())
    }

    pub fn close(&mut self) {
        self.stream = None;
        self.state = State::Closed;
    }

    /// Whether an idle connection can still carry a request: the server neither closed it nor sent anything.
    pub fn is_alive(&self) -> bool {
        let Some(stream) = &self.stream else { return false };
        matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Goes on with opening; says whether requests can be sent by now.
    pub fn advance(&mut self) -> io::Result<bool> {
        let Some(stream) = &self.stream else { return Ok(false) };
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        match stream.peer_addr() {
            Ok(_) => {
                self.state = State::Open;
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Puts a request behind what is still to be written.
    pub fn send(&mut self, stream: usize, request: &Request) {
        if self.is_written() {
            self.out.clear();
            self.out.shrink_to(OUT_BYTES_KEPT);
            self.written = 0;
        }
        self.exchange.send(stream, request, &mut self.out);
    }

    /// Writes what the socket takes.
    pub fn write(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Err(ErrorKind::NotConnected.into()) };
        while self.written < self.out.len() {
            match stream.write(&self.out[self.written..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => self.written += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub fn is_written(&self) -> bool {
        self.written == self.out.len()
    }

    /// Reads once.
    pub fn read<'b>(&mut self, buffer: &'b mut Buffer) -> io::Result<Input<'b>> {
        let Some(stream) = &mut self.stream else { return Ok(Input::Nothing) };
        let Buffer(buffer) = buffer;
        loop {
            return match stream.read(buffer) {
                Ok(0) => Ok(Input::End),
                Ok(count) => {
                    let may_hold_more = count == buffer.len();
                    Ok(Input::Bytes { bytes: &buffer[..count], may_hold_more })
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Input::Nothing),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
        }
    }

    /// Has the protocol take bytes that came: see [`Exchange::feed`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(usize, Option<Event>), Failure> {
        self.exchange.feed(bytes)
    }

    /// The server closed its side.
    pub fn end(&mut self) -> Result<Option<Event>, Failure> {
        self.exchange.close()
    }

    pub fn answer(&self, stream: usize) -> &Answer {
        self.exchange.answer(stream)
    }

    pub fn has_begun(&self, stream: usize) -> bool {
        self.exchange.has_begun(stream)
    }
}
