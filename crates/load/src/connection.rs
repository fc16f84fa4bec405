//! One connection to the server: a non-blocking socket, what is still to be written, and the answer being read.

use crate::cookies::CookieJar;
use crate::redirect::{followed, is_redirect};
use crate::response::{Broken, Progress, ResponseReader};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A request buffer that grew beyond this by one large request is given back.
const REQUEST_BYTES_KEPT: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Closed,
    Connecting,
    Open,
}

/// Why an exchange broke off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Answer(#[from] Broken),
    #[error("{0}")]
    System(#[from] io::Error),
}

impl Failure {
    /// The server had closed the connection in good order. Linux tells that from a reset also where the request came behind it:
    /// EPIPE says that the server's end was known before the reset.
    pub fn is_orderly(&self) -> bool {
        match self {
            Failure::Answer(broken) => *broken == Broken::ClosedBefore,
            Failure::System(error) => error.kind() == ErrorKind::BrokenPipe,
        }
    }
}

pub(crate) struct Connection {
    stream: Option<TcpStream>,
    state: State,
    /// Distinguishes this socket from those that the slot held before.
    pub generation: u32,
    /// Requests answered on this socket.
    pub answered: u64,
    pub request: Vec<u8>,
    written: usize,
    pub reader: ResponseReader,
}

impl Connection {
    pub fn new() -> Self {
        Connection {
            stream: None,
            state: State::Closed,
            generation: 0,
            answered: 0,
            request: Vec::new(),
            written: 0,
            reader: ResponseReader::new(),
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
            Err(rustix::io::Errno::INPROGRESS) => State::Connecting,
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

    /// Takes note that the socket may be connected by now; says whether it is.
    pub fn connected(&mut self) -> io::Result<bool> {
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

    /// An empty buffer for the next request.
    pub fn begin_request(&mut self) -> &mut Vec<u8> {
        self.request.clear();
        self.request.shrink_to(REQUEST_BYTES_KEPT);
        self.written = 0;
        &mut self.request
    }

    /// Makes the request that follows a redirect ready, if the answer is one that leads somewhere.
    pub fn follow(&mut self, authority: &str, cookies: &CookieJar, keeps_body: bool) -> bool {
        let (status, location) = (self.reader.status(), self.reader.location());
        if !is_redirect(status) || location.is_empty() {
            return false;
        }
        let Some(next) = followed(&self.request, (status, location), authority, cookies) else {
            return false;
        };
        self.reader.begin(!next.starts_with(b"HEAD "), keeps_body);
        self.request = next;
        self.written = 0;
        true
    }

    /// Starts the request over, on another socket.
    pub fn rewind(&mut self) {
        self.written = 0;
    }

    /// Writes what the socket takes.
    pub fn write(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Err(ErrorKind::NotConnected.into()) };
        while self.written < self.request.len() {
            match stream.write(&self.request[self.written..]) {
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
        self.written == self.request.len()
    }

    /// Reads what is there. Once the answer is whole, says whether the connection can carry another request. A read
    /// that does not fill the buffer has emptied the socket (epoll(7)), so the usual answer costs one system call; only
    /// after a hang-up, which is not told twice, is the socket read to its end.
    pub fn read(&mut self, buffer: &mut [u8], hung_up: bool) -> Result<Option<bool>, Failure> {
        let Some(stream) = &mut self.stream else { return Ok(None) };
        loop {
            let progress = match stream.read(buffer) {
                Ok(0) => self.reader.close()?,
                Ok(count) => {
                    let progress = self.reader.feed(&buffer[..count])?;
                    if (hung_up || count == buffer.len()) && progress == Progress::More {
                        continue;
                    }
                    progress
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => Progress::More,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            return Ok(match progress {
                Progress::More => None,
                Progress::Done { keep_alive } => Some(keep_alive),
            });
        }
    }
}
