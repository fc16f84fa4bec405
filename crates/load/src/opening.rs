//! Opens many connections before a load run begins.
//!
//! A server accepts connections from a queue of the kernel (the backlog: 50 in Java by default). Where the queue is full,
//! Linux drops the SYN, and the client tries again a second later (RFC 6298, section 2.1). Connections opened one after the other as
//! fast as that goes overtake the server's accepting thread: of four thousand to a Jetty on two cores 38 were dropped, and each
//! held all others up for a second. So they are begun at a pace that a server can follow, and waited for together.

use crate::connection::{Buffer, Connection, State};
use assay_model::Problem;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Begun at once.
const BATCH: usize = 16;
/// Between two batches: 16,000 connections in a second.
const PAUSE: Duration = Duration::from_millis(1);
/// How long opening connections may take before a run begins: a SYN that was dropped is sent again after one second and after
/// three.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same once a server has not accepted all in that time. If it has room by now it accepts them within a round trip; if it has
/// none, each further run would begin as late as the first, and a search for a capacity has dozens.
const PATIENCE_AFTER_LATE: Duration = Duration::from_millis(250);
/// While waiting for connections.
const STOP_LOOKED_AT_EVERY: Duration = Duration::from_millis(50);

/// How long connections are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// The server is not known to take too few.
    Full,
    /// Before the last run, it did not accept all in time.
    AfterLate,
}

impl Patience {
    fn time(self) -> Duration {
        match self {
            Patience::Full => PATIENCE,
            Patience::AfterLate => PATIENCE_AFTER_LATE,
        }
    }
}

/// Connections that did not open, by what kept them from it.
#[derive(Debug)]
pub(crate) struct Unopened {
    /// Not accepted in time. None is where opening was stopped: what would have become of them is not known.
    late: usize,
    /// How long they were waited for.
    patience: Patience,
    /// Refused, or without a socket.
    failed: usize,
    /// The first reason of those that failed.
    why: Option<io::Error>,
}

impl Unopened {
    fn fail(&mut self, count: usize, why: io::Error) {
        self.failed += count;
        self.why.get_or_insert(why);
    }

    /// How long to wait before the next run.
    pub fn patience(&self) -> Patience {
        if 0 < self.late { Patience::AfterLate } else { Patience::Full }
    }

    /// Why a single connection did not open.
    pub fn into_error(self) -> Option<io::Error> {
        let late = || io::Error::new(io::ErrorKind::TimedOut, "connection timed out");
        self.why.or_else(|| (0 < self.late).then(late))
    }

    /// The problems to report for a run that wants so many connections.
    pub fn problems(&self, url: &str, wanted: usize) -> Vec<Problem> {
        let late = (0 < self.late).then(|| {
            let (still, seconds) = match self.patience {
                Patience::Full => ("", PATIENCE.as_secs_f64()),
                Patience::AfterLate => ("still ", PATIENCE_AFTER_LATE.as_secs_f64()),
            };
            format!(
                "{} of {wanted} connections were {still}not accepted within {seconds} s: the server takes no \
                    more, or not as fast; give fewer with --connections",
                self.late
            )
        });
        let failed = self.why.as_ref().map(|why| {
            let is_out_of_files = matches!(Errno::from_io_error(why), Some(Errno::MFILE | Errno::NFILE));
            let fix = if is_out_of_files {
                "raise the limit of open files (ulimit -n), or give fewer with --connections"
            } else {
                "give fewer with --connections"
            };
            format!("{} of {wanted} connections could not be opened: {why}; {fix}", self.failed)
        });
        late.into_iter().chain(failed).map(|what| Problem::new(url, what)).collect()
    }
}

/// Opens the connections of these slots, and calls `begun` with each slot whose socket is there. Slots that the server did not
/// accept in time stay closed; after a socket that cannot be made, no other is tried. `stop` ends it early.
pub(crate) fn open_all(
    connections: &mut [Connection],
    slots: &[usize],
    address: &SocketAddr,
    (patience, stop): (Patience, &AtomicBool),
    mut begun: impl FnMut(&Connection, usize) -> io::Result<()>,
) -> Unopened {
    let mut buffer = Buffer::new();
    let mut unopened = Unopened { late: 0, patience, failed: 0, why: None };
    let mut opening = Vec::with_capacity(slots.len());
    'slots: for (number, batch) in slots.chunks(BATCH).enumerate() {
        if 0 < number {
            std::thread::sleep(PAUSE);
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        for at in batch {
            let connection = &mut connections[*at];
            if let Err(why) = connection.open(address).and_then(|()| begun(connection, *at)) {
                connection.close();
                unopened.fail(slots.len() - opening.len(), why);
                break 'slots;
            }
            opening.push(*at);
        }
    }
    let until = Instant::now() + patience.time();
    loop {
        opening.retain(|at| is_opening(&mut connections[*at], &mut buffer, &mut unopened));
        let left = until.saturating_duration_since(Instant::now());
        if opening.is_empty() || stop.load(Ordering::Relaxed) {
            break;
        }
        if left.is_zero() {
            unopened.late = opening.len();
            break;
        }
        if let Err(why) = wait(connections, &opening, left.min(STOP_LOOKED_AT_EVERY)) {
            unopened.fail(opening.len(), why);
            break;
        }
    }
    opening.iter().for_each(|at| connections[*at].close());
    unopened
}

/// Whether it is still unknown if the server accepts the connection; one that it refused is closed.
fn is_opening(connection: &mut Connection, buffer: &mut Buffer, unopened: &mut Unopened) -> bool {
    if connection.state() != State::Opening {
        return false;
    }
    match connection.advance(buffer) {
        Ok(is_open) => !is_open,
        Err(why) => {
            connection.close();
            unopened.fail(1, why);
            false
        }
    }
}

/// Until one of them is open or refused, or the time is over.
fn wait(connections: &[Connection], opening: &[usize], left: Duration) -> io::Result<()> {
    let socket = |at: &usize| {
        let connection = &connections[*at];
        let flags = if connection.wants_write() { PollFlags::OUT } else { PollFlags::IN };
        connection.stream().map(|stream| PollFd::new(stream, flags))
    };
    let mut sockets: Vec<PollFd<'_>> = opening.iter().filter_map(socket).collect();
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    match poll(&mut sockets, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http1::{Fixed, Http1};
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
    use std::net::{Ipv4Addr, TcpListener};

    fn slots(count: usize) -> (Vec<Connection>, Vec<usize>) {
        let exchange = || Box::new(Http1::new(Fixed::new("")));
        ((0..count).map(|_| Connection::new(exchange(), None)).collect(), (0..count).collect())
    }

    fn open(connections: &[Connection]) -> usize {
        connections.iter().filter(|connection| connection.state() == State::Open).count()
    }

    /// A queue of eight; Linux has room for one more.
    fn queue() -> (TcpListener, SocketAddr) {
        let listener = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bind(&listener, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port");
        listen(&listener, 8).expect("a queue");
        let listener = TcpListener::from(listener);
        listener.set_nonblocking(true).expect("a listener can be polled");
        let address = listener.local_addr().expect("its address");
        (listener, address)
    }

    fn nobody() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        listener.local_addr().expect("its address")
    }

    fn open_those(connections: &mut [Connection], slots: &[usize], address: &SocketAddr) -> Unopened {
        open_all(connections, slots, address, (Patience::AfterLate, &AtomicBool::new(false)), |_, _| Ok(()))
    }

    fn told(unopened: &Unopened, wanted: usize) -> Vec<String> {
        unopened.problems("http://h", wanted).into_iter().map(|problem| problem.text).collect()
    }

    /// A queue of few, which nobody takes from until more have come than it holds.
    #[test]
    fn connections_that_found_the_queue_full_are_open_in_the_end() {
        let (listener, address) = queue();
        let (mut connections, slots) = slots(64);
        let mut begun = 0;
        let (is_full, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let unopened = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut accepted = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    if is_full.load(Ordering::Relaxed) {
                        accepted.extend(listener.accept());
                    }
                    std::thread::sleep(Duration::from_micros(50));
                }
            });
            let how = (Patience::Full, &AtomicBool::new(false));
            let unopened = open_all(&mut connections, &slots, &address, how, |_, _| {
                begun += 1;
                is_full.store(32 < begun, Ordering::Relaxed);
                Ok(())
            });
            is_over.store(true, Ordering::Relaxed);
            unopened
        });
        assert_eq!((begun, open(&connections)), (64, 64));
        assert_eq!(told(&unopened, 64), Vec::<String>::new());
    }

    #[test]
    fn connections_that_are_not_accepted_in_time_stay_closed_and_are_told() {
        let (_listener, address) = queue();
        let (mut connections, slots) = slots(20);
        let unopened = open_those(&mut connections, &slots, &address);
        assert_eq!((open(&connections), unopened.late), (9, 11));
        assert!(connections.iter().all(|connection| connection.state() != State::Opening));
        assert_eq!(unopened.patience(), Patience::AfterLate);
        assert_eq!(
            told(&unopened, 1_000),
            [
                "11 of 1000 connections were still not accepted within 0.25 s: the server takes no more, or not as fast; \
              give fewer with --connections"
            ]
        );
    }

    #[test]
    fn connections_that_were_late_are_open_as_soon_as_the_server_has_room() {
        let (listener, address) = queue();
        let (mut connections, slots) = slots(12);
        assert_eq!(open_those(&mut connections, &slots, &address).late, 3);
        let _accepted: Vec<_> = listener.incoming().map_while(Result::ok).collect();
        let unopened = open_those(&mut connections, &slots[9..], &address);
        assert_eq!((open(&connections), unopened.late), (12, 0));
        assert_eq!(unopened.patience(), Patience::Full);
    }

    /// Only a wait that was not stopped reports late connections.
    #[test]
    fn a_stop_ends_the_waiting_and_nothing_is_told() {
        let (_listener, address) = queue();
        let (mut connections, slots) = slots(20);
        let stop = AtomicBool::new(false);
        let unopened = open_all(&mut connections, &slots, &address, (Patience::AfterLate, &stop), |_, at| {
            stop.store(at == 19, Ordering::Relaxed);
            Ok(())
        });
        assert_eq!(told(&unopened, 20), Vec::<String>::new());
        assert!(connections.iter().all(|connection| connection.state() != State::Opening));
    }

    #[test]
    fn after_a_stop_no_further_connection_is_begun() {
        let (_listener, address) = queue();
        let (mut connections, slots) = slots(1_000);
        let (stop, mut begun) = (AtomicBool::new(false), 0);
        let unopened = open_all(&mut connections, &slots, &address, (Patience::AfterLate, &stop), |_, at| {
            begun += 1;
            stop.store(20 <= at, Ordering::Relaxed);
            Ok(())
        });
        assert_eq!(begun, 2 * BATCH);
        assert_eq!(told(&unopened, 1_000), Vec::<String>::new());
    }

    #[test]
    fn refused_connections_stay_closed_and_are_told() {
        let (mut connections, slots) = slots(20);
        let unopened = open_those(&mut connections, &slots, &nobody());
        assert!(connections.iter().all(|connection| connection.state() == State::Closed));
        let told = told(&unopened, 30);
        assert!(
            told.len() == 1
                && told[0].starts_with("20 of 30 connections could not be opened: Connection refused")
        );
        assert!(told[0].ends_with("; give fewer with --connections"), "{told:?}");
    }

    #[test]
    fn after_a_socket_that_cannot_be_made_no_other_is_tried() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("its address");
        let (mut connections, slots) = slots(20);
        let no_room = |at: usize| if at == 3 { Err(Errno::MFILE.into()) } else { Ok(()) };
        let stop = AtomicBool::new(false);
        let unopened =
            open_all(&mut connections, &slots, &address, (Patience::AfterLate, &stop), |_, at| no_room(at));
        assert_eq!(open(&connections), 3);
        let told = told(&unopened, 20);
        assert!(
            told.len() == 1 && told[0].starts_with("17 of 20 connections could not be opened: "),
            "{told:?}"
        );
        assert!(told[0].contains("ulimit -n"), "{told:?}");
    }
}
