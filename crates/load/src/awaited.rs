//! One request at a time, which whoever sends it waits for: before the first load.

use crate::connection::{Buffer, Connection, Input, State};
use crate::protocol::{Answer, Event, Failure};
use crate::request::Request;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

/// The stream that carries it.
pub(crate) const STREAM: usize = 0;

/// Writes a request and reads until an answer is whole that was not pushed; says whether the connection can carry another request.
pub(crate) fn answer(
    connection: &mut Connection,
    addresses: &[SocketAddr],
    request: &Request,
    until: Instant,
    is_pushed: &dyn Fn(&Request, &Answer) -> bool,
) -> Result<bool, String> {
    let mut buffer = Buffer::new();
    if !connection.is_alive(&mut buffer) {
        connection.close();
        open(connection, addresses, until, &mut buffer)?;
    }
    connection.send(STREAM, request);
    loop {
        connection.write().map_err(|error| error.to_string())?;
        match answered(connection, &mut buffer, &|answer| is_pushed(request, answer)) {
            Ok(Some(keep_alive)) => return Ok(keep_alive && connection.is_in_step()),
            Ok(None) => wait(connection, until)?,
            Err(failure) => return Err(failure.to_string()),
        }
    }
}

/// Reads once; says, where the answer is whole, whether the connection can carry another request.
fn answered(
    connection: &mut Connection,
    buffer: &mut Buffer,
    is_pushed: &dyn Fn(&Answer) -> bool,
) -> Result<Option<bool>, Failure> {
    let event = match connection.read(buffer)? {
        Input::Nothing => None,
        Input::End => connection.end()?,
        Input::Bytes { mut bytes, .. } => loop {
            let (taken, mut event) = connection.feed(bytes)?;
            bytes = &bytes[taken..];
            if matches!(event, Some(Event::Answered { .. })) && is_pushed(connection.answer(STREAM)) {
                connection.await_next(STREAM);
                event = None;
            }
            // Behind an event that does not end the answer comes the rest of it.
            event = event.filter(|event| !matches!(event, Event::Streamed { .. } | Event::Room));
            if event.is_some() || bytes.is_empty() {
                break event;
            }
        },
    };
    Ok(match event {
        Some(Event::Answered { keep_alive, .. }) => Some(keep_alive),
        Some(Event::Failed { why, .. }) => {
            return Err(Failure::Protocol(format!("the server reset the stream: {why}").into()));
        }
        Some(Event::Leaving) if connection.is_undone(STREAM) => return Err(Failure::ClosedBefore),
        Some(
            Event::Streamed { .. } | Event::Leaving | Event::Room | Event::Pushed | Event::Delivered { .. },
        )
        | None => None,
    })
}

/// Opens the connection to the first address that accepts it.
fn open(
    connection: &mut Connection,
    addresses: &[SocketAddr],
    until: Instant,
    buffer: &mut Buffer,
) -> Result<(), String> {
    let mut why = "its host has no address".to_owned();
    for address in addresses {
        let opened = connection.open(address).and_then(|()| {
            while connection.state() == State::Opening && !connection.advance(buffer)? {
                wait(connection, until).map_err(io::Error::other)?;
            }
            Ok(())
        });
        match opened {
            Ok(()) => return Ok(()),
            Err(error) => why = error.to_string(),
        }
        connection.close();
    }
    Err(why)
}

/// Until something can be read, or written if something is still to be.
fn wait(connection: &Connection, until: Instant) -> Result<(), String> {
    let left = until.saturating_duration_since(Instant::now());
    let Some(stream) = connection.stream().filter(|_| !left.is_zero()) else {
        return Err("no whole answer in time".to_owned());
    };
    let flags = if connection.wants_write() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    match poll(&mut [PollFd::new(stream, flags)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
