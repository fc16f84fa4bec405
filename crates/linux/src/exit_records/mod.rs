//! What threads had used when they ended, from the kernel (taskstats, over generic netlink).
//!
//! Folklore: the kernel sends one record for each thread of the machine that ends, from `do_exit`, to whoever registered for the processor
//! on which it ends. To register takes `CAP_NET_ADMIN`, the machine's first PID and user namespaces; records are sent in the first network
//! namespace alone, and elsewhere nothing says that none will come. So a thread of Assay's own ends first, and its record must arrive.
//! Held by: `a_thread_that_ends_leaves_a_record` and `without_the_right_the_refusal_says_what_would_enable_it`.

mod netlink;
mod record;

pub use record::ExitRecord;

use crate::{Denial, SysRoot};
use netlink::{Message, attribute, messages, request, short};
use record::records;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size_force, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, sendto, socket_with,
};
use std::io;
use std::time::{Duration, Instant};

/// The family that knows the others, its request for one by name, and the attributes of request and answer.
const CONTROL: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// `TASKSTATS_CMD_GET` and `TASKSTATS_CMD_ATTR_REGISTER_CPUMASK`.
const GET: u8 = 1;
const REGISTER_CPUS: u16 = 3;
/// Processors that there may ever be: the list that the kernel takes.
const CPUS: &str = "devices/system/cpu/possible";
/// A message has some 600 bytes, twice as many for the last thread of a process.
const MESSAGE_BYTES_MAX: usize = 16 << 10;
/// Capacity for records between two reads: some 16,000 threads. The kernel takes the memory only as it is needed.
const WAITING_BYTES_MAX: usize = 16 << 20;
/// How long the kernel may take to answer, and to send the first record.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Messages that are read in one go: nobody can keep a reader busy by ending threads.
const MESSAGES_MAX: usize = 200_000;

/// Listens to the records of all threads of the machine that end.
#[derive(Debug)]
pub struct ExitListener {
    socket: OwnedFd,
    family: u16,
}

/// Records that had arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExitRecords {
    /// In the order of arrival.
    pub records: Vec<ExitRecord>,
    /// Whether so many threads ended at once that the kernel dropped records.
    pub has_lost: bool,
}

impl ExitListener {
    /// Registers, and waits for the record of a thread that it starts and ends.
    ///
    /// # Errors
    /// Why there will be no records, and what would enable them.
    pub fn start(sys: &SysRoot) -> Result<ExitListener, Denial> {
        let mut listener = ExitListener::register(sys).map_err(|error| ExitListener::denial(&error))?;
        let tid = std::thread::spawn(rustix::thread::gettid).join().map_err(|_| no_record())?;
        let tid = tid.as_raw_nonzero().get().cast_unsigned();
        let until = Instant::now() + ANSWER_MAX;
        while Instant::now() < until {
            let heard = listener.receive(RecvFlags::empty()).map_err(|error| ExitListener::denial(&error))?;
            if heard.iter().any(|record| record.tid == tid) {
                return Ok(listener);
            }
        }
        Err(no_record())
    }

    fn register(sys: &SysRoot) -> io::Result<ExitListener> {
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(GENERIC))?;
        bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_MAX))?;
        let mut listener = ExitListener { socket, family: CONTROL };
        let family = listener.ask((GET_FAMILY, FAMILY_NAME, b"TASKSTATS\0"))?;
        listener.family = family.ok_or(Errno::NOENT)?;
        set_socket_recv_buffer_size_force(&listener.socket, WAITING_BYTES_MAX)?;
        let cpus = sys.read_optional(CPUS).map_err(io::Error::other)?;
        let cpus = cpus.ok_or_else(|| io::Error::other(format!("/sys/{CPUS} is missing")))?;
        listener.ask((GET, REGISTER_CPUS, format!("{}\0", cpus.trim()).as_bytes()))?;
        Ok(listener)
    }

    /// Sends a request and waits for its end; gives the number of a family if the answer has one.
    fn ask(&mut self, (command, kind, data): (u8, u16, &[u8])) -> io::Result<Option<u16>> {
        let request = request(self.family, command, (kind, data));
        sendto(&self.socket, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let mut buffer = [0; MESSAGE_BYTES_MAX];
        let mut family = None;
        // Records of threads may come before the answer.
        for _ in 0..MESSAGES_MAX {
            let (_, length) = recv(&self.socket, &mut buffer, RecvFlags::empty())?;
            for message in messages(buffer.get(..length).unwrap_or_default()) {
                match message {
                    Message::Ended(ended) => return ended.map(|()| family).map_err(io::Error::from),
                    Message::OfFamily { attributes, .. } => {
                        family = family.or(attribute(attributes, FAMILY_ID).and_then(|id| short(id, 0)));
                    }
                }
            }
        }
        Err(Errno::TIMEDOUT.into())
    }

    /// Takes what has arrived, without waiting.
    ///
    /// # Errors
    /// When the socket fails, or a record is not laid out as the first was.
    pub fn take(&mut self) -> io::Result<ExitRecords> {
        let mut heard = ExitRecords::default();
        for _ in 0..MESSAGES_MAX {
            match self.receive(RecvFlags::DONTWAIT) {
                Ok(records) => heard.records.extend(records),
                Err(error) if error.raw_os_error() == Some(Errno::NOBUFS.raw_os_error()) => {
                    heard.has_lost = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(heard)
    }

    /// What an answer of the kernel to a listener means.
    pub fn denial(error: &io::Error) -> Denial {
        let errno = error.raw_os_error().map(Errno::from_raw_os_error);
        let (cause, fix) = match errno {
            Some(Errno::PERM) => (
                "only who has CAP_NET_ADMIN may listen to the records of ending threads (taskstats)",
                "run assay as root",
            ),
            Some(Errno::NOENT) => {
                ("this kernel sends no records of ending threads", "a kernel with CONFIG_TASKSTATS=y")
            }
            // The kernel says no more than that the request is not valid there.
            Some(Errno::INVAL) => (
                "records of ending threads (taskstats) are sent in the machine's own PID and user namespaces alone",
                "run assay on the host, or in a container that shares its PID namespace",
            ),
            Some(Errno::AGAIN) => return no_record(),
            _ if error.kind() == io::ErrorKind::InvalidData => (
                "this kernel lays the records of ending threads out differently, as Linux 6.14 does",
                "a kernel whose struct taskstats has version 14 or less, or 16",
            ),
            _ => {
                return Denial {
                    cause: format!("taskstats: {error}"),
                    fix: "run assay as root, on the host".to_owned(),
                };
            }
        };
        Denial { cause: cause.to_owned(), fix: fix.to_owned() }
    }

    fn receive(&mut self, flags: RecvFlags) -> io::Result<Vec<ExitRecord>> {
        let mut buffer = [0; MESSAGE_BYTES_MAX];
        let (_, length) = recv(&self.socket, &mut buffer, flags)?;
        records(buffer.get(..length).unwrap_or_default(), self.family)
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
    }
}

fn no_record() -> Denial {
    Denial {
        cause: "no record of an ended thread (taskstats) arrived".to_owned(),
        fix: "run assay in the machine's own network namespace: the kernel sends records in no other"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_testkit::skip;
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

    #[test]
    fn a_thread_that_ends_leaves_a_record() {
        let mut listener = match ExitListener::start(&SysRoot::default()) {
            Ok(listener) => listener,
            Err(denial) => skip!("{denial}"),
        };
        let threads = (0..50).map(|number| {
            let named = std::thread::Builder::new().name(format!("ends-{number}"));
            let ending =
                named.spawn(|| (rustix::thread::gettid(), crate::thread_cpu_ns())).expect("a thread");
            ending.join().expect("no panic")
        });
        let ended: Vec<_> = threads.collect();
        let heard = listener.take().expect("a socket");
        assert!(!heard.has_lost);
        for (number, (tid, used_ns)) in ended.into_iter().enumerate() {
            let tid = tid.as_raw_nonzero().get().cast_unsigned();
            let record = heard.records.iter().find(|record| record.tid == tid).expect("each has one");
            assert_eq!((&*record.name, record.tgid), (&*format!("ends-{number}"), Some(std::process::id())));
            let run_ns = *record.run_ns(4_000_000).expect("this kernel counts it").end();
            assert!(used_ns <= run_ns && run_ns <= record.elapsed_ns + 1000, "{used_ns} {record:?}");
        }
    }

    #[test]
    fn more_threads_than_there_is_room_for_are_reported_as_lost() {
        let mut listener = match ExitListener::start(&SysRoot::default()) {
            Ok(listener) => listener,
            Err(denial) => skip!("{denial}"),
        };
        set_socket_recv_buffer_size_force(&listener.socket, 4096).expect("allowed before");
        for _ in 0..50 {
            std::thread::spawn(|| {}).join().expect("no panic");
        }
        assert!(listener.take().expect("a socket").has_lost);
        std::thread::spawn(|| {}).join().expect("no panic");
        let heard = listener.take().expect("a socket");
        assert!(!heard.has_lost && !heard.records.is_empty(), "it goes on: {heard:?}");
    }

    #[test]
    fn without_the_right_the_refusal_says_what_would_enable_it() {
        // Capabilities are a thread's own.
        let refused = std::thread::spawn(|| {
            let mut sets = capabilities(None).expect("our own");
            sets.effective.remove(CapabilitySet::NET_ADMIN);
            set_capabilities(None, sets).expect("less is always allowed");
            ExitListener::start(&SysRoot::default())
        });
        let denial = refused.join().expect("no panic").expect_err("no right");
        assert!(denial.cause.contains("CAP_NET_ADMIN") && denial.fix == "run assay as root", "{denial}");
    }
}
