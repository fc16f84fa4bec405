//! Opens many connections before a stretch of load begins.
//!
//! A server accepts what waits in a queue of the kernel (the backlog: 50 in Java unless told otherwise). Where the queue is full,
//! Linux drops the SYN, and the client tries again a second later (RFC 6298, section 2.1). Connections opened one after the other as
//! fast as that goes overtake the server's accepting thread: of four thousand to a Jetty on two cores 38 were dropped, and each
//! held all others up for a second. So they are begun at a pace that a server can follow, and waited for together.

use crate::connection::{Connection, State};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Begun at once.
const BATCH: usize = 16;
/// Between two batches: 16,000 connections in a second.
const PAUSE: Duration = Duration::from_millis(1);
/// How long opening a connection may take before a stretch begins.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Opens the connections of these slots, and calls `begun` with each slot whose socket is there. Slots that the server did not
/// accept in time stay closed; after a socket that cannot be made, no other is tried.
pub(crate) fn open_all(
    connections: &mut [Connection],
    slots: &[usize],
    address: &SocketAddr,
    mut begun: impl FnMut(&Connection, usize) -> io::Result<()>,
) {
    let mut opening = Vec::with_capacity(slots.len());
    'slots: for (number, batch) in slots.chunks(BATCH).enumerate() {
        if 0 < number {
            std::thread::sleep(PAUSE);
        }
        for at in batch {
            let connection = &mut connections[*at];
            if connection.open(address).and_then(|()| begun(connection, *at)).is_err() {
                connection.close();
                break 'slots;
            }
            opening.push(*at);
        }
    }
    let until = Instant::now() + TIMEOUT;
    loop {
        opening.retain(|at| is_opening(&mut connections[*at]));
        let left = until.saturating_duration_since(Instant::now());
        if opening.is_empty() || left.is_zero() || wait(connections, &opening, left).is_err() {
            break;
        }
    }
    opening.iter().for_each(|at| connections[*at].close());
}

/// Whether it is still unknown if the server accepts the connection; one that it refused is closed.
fn is_opening(connection: &mut Connection) -> bool {
    if connection.state() != State::Connecting {
        return false;
    }
    match connection.connected() {
        Ok(is_open) => !is_open,
        Err(_) => {
            connection.close();
            false
        }
    }
}

/// Until one of them is open or refused, or the time is over.
fn wait(connections: &[Connection], opening: &[usize], left: Duration) -> io::Result<()> {
    let streams = opening.iter().filter_map(|at| connections[*at].stream());
    let mut sockets: Vec<PollFd<'_>> = streams.map(|stream| PollFd::new(stream, PollFlags::OUT)).collect();
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    match poll(&mut sockets, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
