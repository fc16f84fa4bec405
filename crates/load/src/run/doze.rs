//! Sleeping from arrival to arrival of an open loop, without being woken by the answers in between.
//!
//! To fall asleep and be woken costs a thread far more CPU time than its system calls: 12 to 16 µs a time and 0.1 µs a call, in a virtual
//! machine on Linux 6.18. So where the next arrival is near, answers wait for it in their sockets; the kernel stamps when they came, and
//! that is when they are done. Only what nothing waits for is left there: see `may_doze`. In turn with a generator that is woken by
//! each answer, on two busy cores and against a server that ran in real time as well, this took CPU time per request, µs:
//! 34 and 37 instead of 55 and 51 at 10,000 requests a second, 21 and 23 instead of 30 and 31 at 30,000; at 80,000 it used 77 and 87 % of
//! its core, and kept pace, where the other did not. Why not io_uring: it saves calls, and not sleeps.

use crate::stamp::RealTime;

/// Longest time for which answers are left in their sockets.
const DOZE_NS_MAX: u64 = 200_000;
/// No sleep is shorter, since it would cost more than it leaves to others: what is due meanwhile is sent at its end, together.
pub(super) const DOZE_NS_MIN: u64 = 20_000;
/// An event due this soon is awaited without sleeping.
pub(super) const AT_ONCE_NS: u64 = 5_000;
/// For how long each socket is heeded at once after something that cannot wait: an answer in pieces, which may be longer than the
/// kernel holds, a connection that is opened or ends, a request that the socket did not take whole.
const AWAKE_NS: u64 = 1_000_000_000;

/// Whether a load run may sleep through answers.
pub(super) struct Doze {
    /// It is an open loop, nothing is sent because an answer came, and a socket holds one answer at most, which is that of the last stamp.
    is_possible: bool,
    /// The last answer had a stamp.
    has_stamps: bool,
    awake_until_ns: u64,
    real: RealTime,
}

impl Doze {
    pub fn new(is_possible: bool) -> Doze {
        Doze { is_possible, has_stamps: false, awake_until_ns: 0, real: RealTime::compared() }
    }

    /// Stays awake for a while after an event that cannot wait.
    pub fn stay_awake(&mut self, now_ns: u64) {
        self.awake_until_ns = now_ns + AWAKE_NS;
    }

    /// When an answer came that was read now; no earlier than its request was sent. Without a stamp, now.
    pub fn came_ns(&mut self, stamp_ns: Option<u64>, sent_ns: Option<u64>, now_ns: u64) -> u64 {
        let came_ns = stamp_ns
            .zip(sent_ns)
            .and_then(|(stamp_ns, sent_ns)| self.real.monotonic_ns(stamp_ns, sent_ns, now_ns));
        self.has_stamps = came_ns.is_some();
        came_ns.unwrap_or(now_ns)
    }

    /// Whether answers may stay in their sockets until then, as far as is known here.
    pub fn allows(&self, now_ns: u64, until_ns: u64) -> bool {
        let Doze { is_possible, has_stamps, awake_until_ns, .. } = *self;
        is_possible && has_stamps && awake_until_ns <= now_ns && until_ns < now_ns + DOZE_NS_MAX
    }
}
