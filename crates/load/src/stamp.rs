//! When bytes reached this host: the kernel's stamp of what is received (`SO_TIMESTAMPNS`, `socket(7)`), however late it is read.
//!
//! The stamp is of `CLOCK_REALTIME`, which differs from the monotonic clock by a constant until somebody sets it.

use crate::clock;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// How often the clocks are compared; the closest of these counts, since a thread may be stopped between two readings.
const COMPARISONS: usize = 5;

/// A socket that may have stamps.
pub(crate) struct Stamped<'a> {
    pub socket: &'a TcpStream,
    /// Stamps are asked for.
    pub is_on: bool,
    /// That of what was read last, on `CLOCK_REALTIME`; absent where the kernel gave none.
    pub came_real_ns: &'a mut Option<u64>,
}

impl Read for Stamped<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.is_on {
            return self.socket.read(into);
        }
        let (count, came_real_ns) = receive(self.socket, into)?;
        *self.came_real_ns = came_real_ns;
        Ok(count)
    }
}

impl Write for Stamped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Has the kernel stamp what comes on a socket, or not. Its first stamps may come milliseconds later: it patches its code for them.
#[expect(unsafe_code, reason = "rustix does not wrap it")]
pub(crate) fn ask_for(socket: &TcpStream, is_on: bool) -> io::Result<()> {
    let value = libc::c_int::from(is_on);
    // SAFETY: the value outlives the call, and its size is given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Room for what comes beside the bytes, which is aligned as its header must be.
#[repr(C, align(8))]
struct Beside([u8; 128]);

/// Reads once; with the stamp of the last bytes, on `CLOCK_REALTIME`.
#[expect(unsafe_code, reason = "rustix does not know this kind of message")]
fn receive(socket: &TcpStream, into: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut beside = Beside([0; 128]);
    let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: all of its fields may be 0.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = beside.0.as_mut_ptr().cast();
    message.msg_controllen = beside.0.len() as _;
    // SAFETY: the buffers that the message names outlive the call, and their sizes are given.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    if count < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel filled the message; the macros keep within the room that it says it used.
    let stamp = unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        loop {
            match header.as_ref() {
                None => break None,
                Some(of)
                    if (of.cmsg_level, of.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS)
                        && of.cmsg_len >= libc::CMSG_LEN(size_of::<libc::timespec>() as _) as _ =>
                {
                    break Some(libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned());
                }
                Some(_) => header = libc::CMSG_NXTHDR(&raw const message, header),
            }
        }
    };
    Ok((count as usize, stamp.map(|at| at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)))
}

/// What `CLOCK_REALTIME` is ahead of the monotonic clock.
pub(crate) struct RealTime {
    ahead_ns: i64,
}

impl RealTime {
    /// As of now.
    pub fn compared() -> RealTime {
        let compared = || {
            let before_ns = clock::monotonic_ns();
            let real_ns = clock::real_ns();
            let after_ns = clock::monotonic_ns();
            let middle_ns = before_ns + (after_ns - before_ns) / 2;
            (after_ns - before_ns, real_ns as i64 - middle_ns as i64)
        };
        let closest = (0..COMPARISONS).map(|_| compared()).min();
        RealTime { ahead_ns: closest.map_or(0, |(_, ahead_ns)| ahead_ns) }
    }

    /// A stamp on the monotonic clock, if it lies between these two, as it must. If it does not, somebody set the clock.
    pub fn monotonic_ns(&mut self, stamp_ns: u64, earliest_ns: u64, latest_ns: u64) -> Option<u64> {
        let within = |real: &RealTime| {
            let ns = stamp_ns as i64 - real.ahead_ns;
            u64::try_from(ns).ok().filter(|ns| (earliest_ns..=latest_ns).contains(ns))
        };
        within(self).or_else(|| {
            *self = RealTime::compared();
            within(self)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::time::Duration;

    #[test]
    fn a_stamp_is_of_when_bytes_came_and_not_of_when_they_were_read() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut peer = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (socket, _) = listener.accept().expect("it connected");
        ask_for(&socket, true).expect("Linux has stamps");
        let mut came_real_ns = None;
        let mut into = [0; 16];
        // The kernel patches its code for the first stamps.
        for _ in 0..10_000 {
            let before_ns = clock::monotonic_ns();
            peer.write_all(b"hello").expect("open");
            let after_ns = clock::monotonic_ns();
            std::thread::sleep(Duration::from_millis(2));
            let mut stamped = Stamped { socket: &socket, is_on: true, came_real_ns: &mut came_real_ns };
            assert_eq!(stamped.read(&mut into).expect("open"), 5);
            if let Some(stamp_ns) = came_real_ns {
                let mut real = RealTime::compared();
                // The clocks are compared at another moment, as precisely as the machine's neighbours allow.
                let came_ns = real.monotonic_ns(stamp_ns, before_ns - 100_000, after_ns + 100_000);
                assert!(came_ns.is_some(), "{stamp_ns} is not between {before_ns} and {after_ns}");
                return;
            }
        }
        panic!("no stamp");
    }

    #[test]
    fn a_clock_that_was_set_is_compared_again_and_an_impossible_stamp_is_none() {
        let now_ns = clock::monotonic_ns();
        let stamp_ns = clock::real_ns();
        let mut real = RealTime { ahead_ns: 5 };
        let came_ns = real.monotonic_ns(stamp_ns, now_ns, now_ns + 3_600_000_000_000);
        assert!(came_ns.is_some_and(|ns| now_ns <= ns));
        assert_eq!(real.monotonic_ns(5, now_ns, now_ns + 1_000), None);
    }
}
