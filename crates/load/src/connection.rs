//! One connection to the server: a non-blocking socket, what is still to be written, and the protocol that is spoken on it.

use crate::clock;
use crate::protocol::{Answer, Event, Exchange, Failure};
use crate::request::Request;
use crate::stamp::{self, Stamped};
use crate::tls::{Client, Decrypted, Handshake, Secure};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

/// A buffer that grew beyond this by one large request is given back.
const OUT_BYTES_KEPT: usize = 64 << 10;
/// What is read from a TLS socket at once.
const RAW_BYTES: usize = 64 << 10;
/// What is read from another one at once; of TLS, that and two records of before.
const READ_BUFFER_BYTES: usize = RAW_BYTES + (36 << 10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Closed,
    /// Being opened: no request can be sent yet.
    Opening,
    Open,
}

/// Where connections read into; one for all of them.
///
/// The default has no room: it stands in for one that is being used.
#[derive(Default)]
pub(crate) struct Buffer {
    plain: Box<[u8]>,
    raw: Box<[u8]>,
}

impl Buffer {
    pub fn new() -> Buffer {
        Buffer { plain: vec![0; READ_BUFFER_BYTES].into(), raw: vec![0; RAW_BYTES].into() }
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
    /// TLS is spoken.
    tls: Option<Arc<Client>>,
    /// The socket is connected.
    is_connected: bool,
    /// Since the socket is connected, where TLS is spoken.
    secure: Option<Box<Secure>>,
    /// One that was not taken yet.
    handshake: Option<Handshake>,
    greeting: Greeting,
    /// The code with which the server said that it ends this socket.
    goodbye: Option<u32>,
    /// The kernel is asked to stamp what comes, on this socket and on those after it.
    has_stamps: bool,
    came_real_ns: Option<u64>,
}

/// What both sides say before all requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Greeting {
    None,
    /// Since when.
    Begun(u64),
    /// How long it took.
    Done(u64),
}

impl Connection {
    pub fn new(exchange: Box<dyn Exchange>, tls: Option<Arc<Client>>) -> Self {
        Connection {
            stream: None,
            state: State::Closed,
            generation: 0,
            answered: 0,
            out: Vec::new(),
            written: 0,
            exchange,
            tls,
            is_connected: false,
            secure: None,
            handshake: None,
            greeting: Greeting::None,
            goodbye: None,
            has_stamps: false,
            came_real_ns: None,
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
        if self.has_stamps {
            self.has_stamps = stamp::ask_for(&stream, true).is_ok();
        }
        self.came_real_ns = None;
        self.stream = Some(stream);
        self.generation = self.generation.wrapping_add(1);
        self.answered = 0;
        self.out.clear();
        self.written = 0;
        self.is_connected = false;
        self.secure = None;
        self.greeting = Greeting::None;
        self.goodbye = None;
        self.exchange.begin(self.generation, &mut self.out);
        let is_ready = self.tls.is_none() && self.exchange.is_ready();
        self.state = if is_ready { state } else { State::Opening };
        Ok(())
    }

    /// Has the kernel stamp what comes from now on, as far as it can, or no longer.
    pub fn stamp(&mut self, is_on: bool) {
        if self.has_stamps != is_on {
            let asked = self.stream.as_ref().map_or(Ok(()), |stream| stamp::ask_for(stream, is_on));
            self.has_stamps = is_on && asked.is_ok();
            self.came_real_ns = None;
        }
    }

    /// When what was read last came, on `CLOCK_REALTIME`, by the kernel's stamp.
    pub fn came_real_ns(&self) -> Option<u64> {
        self.came_real_ns
    }

    pub fn close(&mut self) {
        self.stream = None;
        self.state = State::Closed;
    }

    /// Whether an idle connection can still carry a request: the server neither closed it nor sent anything that it should not.
    pub fn is_alive(&mut self, buffer: &mut Buffer) -> bool {
        self.state != State::Closed
            && loop {
                match self.read(buffer) {
                    Ok(Input::Nothing) => break self.state != State::Open || self.write().is_ok(),
                    Ok(Input::Bytes { bytes, .. }) if matches!(self.take_in(bytes), Ok(true)) => (),
                    Ok(Input::Bytes { .. } | Input::End) | Err(_) => break false,
                }
            }
    }

    /// Goes on with opening; says whether requests can be sent by now.
    pub fn advance(&mut self, buffer: &mut Buffer) -> io::Result<bool> {
        let Some(stream) = &mut self.stream else { return Ok(false) };
        if !self.is_connected {
            if let Some(error) = stream.take_error()? {
                return Err(error);
            }
            match stream.peer_addr() {
                Ok(_) => self.is_connected = true,
                Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        if let Some(client) = &self.tls {
            let secure = match &mut self.secure {
                Some(secure) => secure,
                none => none.insert(Box::new(Secure::begin(client)?)),
            };
            if secure.is_handshaking() {
                self.handshake = secure.handshake(stream, &mut buffer.raw)?;
                if self.handshake.is_none() {
                    return Ok(false);
                }
            }
        }
        if !self.exchange.is_ready() && !self.greet(buffer)? {
            return Ok(false);
        }
        self.state = State::Open;
        Ok(true)
    }

    /// Says what comes before all requests, and takes the answer; says whether that is done.
    fn greet(&mut self, buffer: &mut Buffer) -> io::Result<bool> {
        let begun_ns = match self.greeting {
            Greeting::Begun(begun_ns) => begun_ns,
            Greeting::None | Greeting::Done(_) => clock::monotonic_ns(),
        };
        self.greeting = Greeting::Begun(begun_ns);
        self.write()?;
        while !self.exchange.is_ready() {
            let input = self.read(buffer)?;
            match input {
                Input::Nothing => return Ok(false),
                Input::Bytes { bytes, .. } => self.take_in(bytes).map(drop),
                Input::End => self.end().map(drop),
            }
            .map_err(|failure| io::Error::other(failure.to_string()))?;
        }
        self.write()?;
        self.greeting = Greeting::Done(clock::monotonic_ns().saturating_sub(begun_ns));
        Ok(true)
    }

    /// How long what is said before all requests took, once.
    pub fn take_greeting_ns(&mut self) -> Option<u64> {
        let Greeting::Done(ns) = self.greeting else { return None };
        self.greeting = Greeting::None;
        Some(ns)
    }

    /// See [`Exchange::streams_allowed`].
    pub fn streams_allowed(&self) -> usize {
        self.exchange.streams_allowed()
    }

    /// Has the protocol take all of these bytes; says whether they completed nothing.
    fn take_in(&mut self, mut bytes: &[u8]) -> Result<bool, Failure> {
        let mut is_quiet = true;
        while !bytes.is_empty() {
            let (taken, event) = self.feed(bytes)?;
            bytes = &bytes[taken..];
            is_quiet &= matches!(event, None | Some(Event::Delivered { .. } | Event::Room | Event::Pushed));
        }
        Ok(is_quiet)
    }

    /// The TLS handshake that made it secure, once.
    pub fn take_handshake(&mut self) -> Option<Handshake> {
        self.handshake.take()
    }

    /// Puts a request behind what is still to be written.
    pub fn send(&mut self, stream: usize, request: &Request) {
        self.forget_written();
        self.exchange.send(stream, request, &mut self.out);
    }

    fn forget_written(&mut self) {
        if self.is_written() {
            self.out.clear();
            self.out.shrink_to(OUT_BYTES_KEPT);
            self.written = 0;
        }
    }

    /// Writes what the socket takes.
    pub fn write(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Err(ErrorKind::NotConnected.into()) };
        if let Some(secure) = &mut self.secure {
            secure.put(&self.out[self.written..])?;
            self.written = self.out.len();
            return secure.flush(stream);
        }
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
        self.written == self.out.len() && self.secure.as_ref().is_none_or(|secure| secure.is_flushed())
    }

    /// Whether it waits until something can be written, and not only until something comes.
    pub fn wants_write(&self) -> bool {
        match (&self.secure, self.state) {
            (None, State::Opening) if !self.is_connected => true,
            (Some(secure), State::Opening) => !secure.is_flushed(),
            _ => !self.is_written(),
        }
    }

    /// Reads once.
    pub fn read<'b>(&mut self, buffer: &'b mut Buffer) -> io::Result<Input<'b>> {
        let Some(socket) = &self.stream else { return Ok(Input::Nothing) };
        let mut socket = Stamped { socket, is_on: self.has_stamps, came_real_ns: &mut self.came_real_ns };
        let Buffer { plain, raw } = buffer;
        if let Some(secure) = &mut self.secure {
            return Ok(match secure.read(&mut socket, raw, plain)? {
                Decrypted::Nothing => Input::Nothing,
                Decrypted::Bytes { count, may_hold_more } => {
                    Input::Bytes { bytes: &plain[..count], may_hold_more }
                }
                Decrypted::End => Input::End,
            });
        }
        loop {
            return match socket.read(plain) {
                Ok(0) => Ok(Input::End),
                Ok(count) => {
                    let may_hold_more = count == plain.len();
                    Ok(Input::Bytes { bytes: &plain[..count], may_hold_more })
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Input::Nothing),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
        }
    }

    /// Has the protocol take bytes that came: see [`Exchange::feed`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(usize, Option<Event>), Failure> {
        self.forget_written();
        self.exchange.feed(bytes, &mut self.out)
    }

    /// The server closed its side.
    pub fn end(&mut self) -> Result<Option<Event>, Failure> {
        match &self.secure {
            Some(secure) if secure.is_cut() => self.exchange.cut(),
            _ => self.exchange.close(),
        }
    }

    /// See [`Exchange::await_next`].
    pub fn await_next(&mut self, stream: usize) {
        self.exchange.await_next(stream);
    }

    /// The code with which the server said that it ends the connection, once, and the one that it said before on the same socket.
    pub fn take_goodbye(&mut self) -> Option<(u32, Option<u32>)> {
        let code = self.exchange.take_goodbye()?;
        Some((code, self.goodbye.replace(code)))
    }

    pub fn answer(&self, stream: usize) -> &Answer {
        self.exchange.answer(stream)
    }

    pub fn has_begun(&self, stream: usize) -> bool {
        self.exchange.has_begun(stream)
    }

    /// Gives up the request of a stream; says whether the connection can go on.
    pub fn abandon(&mut self, stream: usize) -> bool {
        self.forget_written();
        self.exchange.abandon(stream, &mut self.out)
    }

    /// See [`Exchange::takes`].
    pub fn takes(&self, stream: usize) -> bool {
        self.state == State::Closed || self.exchange.takes(stream)
    }

    /// See [`Exchange::has_room`].
    pub fn has_room(&self) -> bool {
        self.exchange.has_room()
    }

    /// See [`Exchange::goes_on`].
    pub fn goes_on(&self) -> bool {
        self.exchange.goes_on()
    }

    /// See [`Exchange::is_undone`].
    pub fn is_undone(&self, stream: usize) -> bool {
        self.exchange.is_undone(stream)
    }

    /// An answer that is whole leaves the connection as it should be: nothing of its request is still to be written.
    pub fn is_in_step(&self) -> bool {
        self.exchange.is_framed() || self.is_written()
    }

    /// See [`Exchange::is_framed`].
    pub fn is_framed(&self) -> bool {
        self.exchange.is_framed()
    }

    /// Messages that were said on it.
    pub fn sent(&self) -> u64 {
        self.exchange.sent()
    }
}
