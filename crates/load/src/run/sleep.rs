//! When an open loop goes to sleep until something is due; why, says `doze`.

use super::Run;
use super::doze::{AT_ONCE_NS, DOZE_NS_MIN};
use crate::clock;
use std::io;

impl Run<'_> {
    /// Whether answers may wait in their sockets until then: nothing waits for what they free, and none is likely to be large.
    pub(super) fn may_doze(&self, now_ns: u64, until_ns: u64) -> bool {
        self.doze.allows(now_ns, until_ns)
            && self.schedule.waiting() == 0
            && self.schedule.next_due_ns().is_some()
            && !self.free.is_empty()
            && self.idle.has_room()
    }

    /// Sleeps until something is due, at least as long as a sleep is worth it.
    pub(super) fn doze(&mut self) -> io::Result<()> {
        let now_ns = clock::monotonic_ns();
        let until_ns = self.wake_ns(now_ns);
        if until_ns <= now_ns + AT_ONCE_NS || !self.may_doze(now_ns, until_ns) {
            return Ok(());
        }
        self.generator.poll.sleep(until_ns.max(now_ns + DOZE_NS_MIN))
    }
}
