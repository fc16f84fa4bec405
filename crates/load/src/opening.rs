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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::atomic::{AtomicBool, Ordering};

    fn slots(count: usize) -> (Vec<Connection>, Vec<usize>) {
        ((0..count).map(|_| Connection::new()).collect(), (0..count).collect())
    }

    fn open(connections: &[Connection]) -> usize {
        connections.iter().filter(|connection| connection.state() == State::Open).count()
    }

    /// A queue of few, which nobody takes from until more have come than it holds.
    #[test]
    fn connections_that_found_the_queue_full_are_open_in_the_end() {
        let listener = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bind(&listener, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port");
        listen(&listener, 8).expect("a queue");
        let listener = TcpListener::from(listener);
        let address = listener.local_addr().expect("its address");
        let (mut connections, slots) = slots(64);
        let mut begun = 0;
        let (is_full, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        listener.set_nonblocking(true).expect("a listener can be polled");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut accepted = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    if is_full.load(Ordering::Relaxed) {
                        accepted.extend(listener.accept());
                    }
                    std::thread::sleep(Duration::from_micros(50));
                }
            });
            open_all(&mut connections, &slots, &address, |_, _| {
                begun += 1;
                is_full.store(32 < begun, Ordering::Relaxed);
                Ok(())
            });
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!((begun, open(&connections)), (64, 64));
    }

    #[test]
    fn refused_connections_stay_closed() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("its address");
        drop(listener);
        let (mut connections, slots) = slots(20);
        open_all(&mut connections, &slots, &address, |_, _| Ok(()));
        assert!(connections.iter().all(|connection| connection.state() == State::Closed));
    }

    #[test]
    fn after_a_socket_that_cannot_be_made_no_other_is_tried() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("its address");
        let (mut connections, slots) = slots(20);
        let no_room = |at: usize| if at == 3 { Err(io::ErrorKind::OutOfMemory.into()) } else { Ok(()) };
        open_all(&mut connections, &slots, &address, |_, at| no_room(at));
        assert_eq!(open(&connections), 3);
    }
}
