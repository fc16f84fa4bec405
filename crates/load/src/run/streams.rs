//! Connections with several streams: how many of them the server allows, and what it takes back of what was sent.

use super::Run;
use crate::clock;
use crate::measured::ErrorKind;
use std::mem::take;

/// How often a request is sent again with which the server says that it did nothing. However often would be safe (RFC 9113 section 8.7),
/// but a server that refuses everything would be asked without end.
const TAKEN_BACK_MAX: u8 = 10;

impl Run<'_> {
    /// The slot that a user's request gets, with the time since when it is free.
    pub(super) fn take_free(&mut self, session: usize) -> Option<(usize, u64)> {
        loop {
            let (slot, free_ns) = self.free.take(session)?;
            if self.streams == 1 || self.generator.connections[slot / self.streams].takes(slot % self.streams)
            {
                return Some((slot, free_ns));
            }
            self.withheld.slots.push(slot);
        }
    }

    /// Streams may be allowed by now that were not.
    pub(super) fn offer_withheld(&mut self, now_ns: u64) {
        if take(&mut self.withheld.changed) {
            for slot in take(&mut self.withheld.slots) {
                self.free.put(slot, now_ns);
            }
        }
    }

    /// Sends the request that was given to a connection: at once, or with the others that are due now, where it carries several.
    pub(super) fn send_with_others(&mut self, at: usize) {
        if self.streams == 1 {
            self.send(at);
        } else if self.put(at) && self.withheld.put.last() != Some(&at) {
            self.withheld.put.push(at);
        }
    }

    /// Writes what was put.
    pub(super) fn write_put(&mut self) {
        let mut put = take(&mut self.withheld.put);
        for at in put.drain(..) {
            let connection = &mut self.generator.connections[at];
            if connection.stream().is_some()
                && !connection.is_written()
                && let Err(error) = connection.write()
            {
                self.broken(at, &error.into());
            }
        }
        self.withheld.put = put;
    }

    /// A stream is free, or the connection is to be opened anew: what was held back is sent.
    pub(super) fn send_held(&mut self, at: usize) {
        if !self.withheld.holding.is_empty()
            && let Some(place) = self.withheld.holding.iter().position(|held| *held == at)
        {
            self.withheld.holding.swap_remove(place);
            self.send_waiting(at);
        }
    }

    /// Sends the requests of a connection that were not put on it, if there are any.
    fn send_waiting(&mut self, at: usize) {
        let waits = |slot: usize| self.slots[slot].active.as_ref().is_some_and(|active| !active.is_put);
        if self.slots_of(at).any(waits) {
            self.send(at);
        }
    }

    /// The request of a slot failed alone.
    pub(super) fn failed(&mut self, slot: usize, is_undone: bool, why: &str) {
        let (now_ns, at) = (clock::monotonic_ns(), slot / self.streams);
        self.generator.spoken.reset += 1;
        if is_undone && self.takes_back(slot) {
            return self.send(at);
        }
        if self.fail(slot, ErrorKind::Broken, now_ns, || format!("the server reset the stream: {why}")) {
            self.free.put(slot, now_ns);
        }
        self.answered_ns = Some(now_ns);
        if !self.generator.connections[at].goes_on() {
            self.close(at);
        }
        self.send_held(at);
    }

    /// A request with which the server did nothing is to be sent again, unless that was done often.
    fn takes_back(&mut self, slot: usize) -> bool {
        let Some(active) =
            self.slots[slot].active.as_mut().filter(|active| active.taken_back < TAKEN_BACK_MAX)
        else {
            return false;
        };
        active.taken_back += 1;
        active.is_put = false;
        self.tally.sent_again(active.waiting.intended_ns);
        true
    }

    /// The server takes no more requests on a connection. Those that it did not take are sent again: on other connections, or, where all
    /// streams of these are in use, on a new one as soon as those that it took are answered.
    pub(super) fn leaving(&mut self, at: usize) {
        self.generator.spoken.left += 1;
        let now_ns = clock::monotonic_ns();
        for slot in self.slots_of(at) {
            let stream = slot % self.streams;
            let is_put = self.slots[slot].active.as_ref().is_some_and(|active| active.is_put);
            if !is_put || !self.generator.connections[at].is_undone(stream) {
                continue;
            }
            self.generator.connections[at].abandon(stream);
            if !self.takes_back(slot) {
                let why = || "the server left ten times without taking it".to_owned();
                self.fail(slot, ErrorKind::Broken, now_ns, why);
                self.free.put(slot, now_ns);
            }
        }
        if !self.generator.connections[at].goes_on() {
            self.close(at);
        }
        for slot in self.slots_of(at) {
            self.move_on(slot, now_ns);
        }
        self.send_waiting(at);
    }

    /// Gives a request that is to be sent again a stream of another connection, if one is free.
    fn move_on(&mut self, slot: usize, now_ns: u64) {
        let Some(active) = self.slots[slot].active.as_ref().filter(|active| !active.is_put) else { return };
        let Some((other, _)) = self.take_free(active.session) else { return };
        self.slots.swap(slot, other);
        self.free.put(slot, now_ns);
        self.send(other / self.streams);
    }
}
