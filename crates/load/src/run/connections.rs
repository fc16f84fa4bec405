//! What happens on sockets: connections that open, requests that go out, bytes that come, streams that a server allows or resets,
//! connections that break.

use super::LoadRun;
use super::slots::Slot;
use crate::clock;
use crate::connection::{Buffer, Input, State};
use crate::error_kind::ErrorKind;
use crate::generator::token;
use crate::poll::Ready;
use crate::protocol::{Event, Failure};

/// An answer of more than this may be longer than the kernel holds for one that is read late, which is 64 KiB at first.
const LARGE_BYTES: usize = 16 << 10;

impl LoadRun<'_> {
    /// Sends the requests of a connection, which is opened first if it is not.
    pub(super) fn send(&mut self, at: usize) {
        if !self.put(at) {
            return;
        }
        let connection = &mut self.generator.connections[at];
        if let Err(error) = connection.write() {
            self.broken(at, &error.into());
        } else if !connection.is_written() {
            self.doze.stay_awake(clock::monotonic_ns());
        }
    }

    /// Sends the request that was given to a connection: at once, or with the others that are due now, where it carries several.
    pub(super) fn send_with_others(&mut self, at: usize) {
        if !self.slots.are_shared() {
            self.send(at);
        } else if self.put(at) {
            self.unsent.is_to_write(at);
        }
    }

    /// Puts the requests of a connection where they are written from; returns whether it is open.
    fn put(&mut self, at: usize) -> bool {
        let connection = &mut self.generator.connections[at];
        if connection.state() == State::Closed {
            self.doze.stay_awake(clock::monotonic_ns());
            let opened = connection.open(&self.generator.address).and_then(|()| self.generator.watch(at));
            if let Err(error) = opened {
                self.not_connected(at, &error);
                return false;
            }
        }
        let connection = &mut self.generator.connections[at];
        if connection.state() != State::Open {
            return false;
        }
        for (stream, Slot { request, active }) in self.slots.of_mut(at).iter_mut().enumerate() {
            if let Some(active) = active.as_mut().filter(|active| !active.is_put) {
                if !connection.has_room() {
                    active.is_held = true;
                    self.unsent.hold(at);
                    continue;
                }
                active.is_put = true;
                if std::mem::take(&mut active.is_held) {
                    active.sendable_ns = active.waiting.sendable_ns(clock::monotonic_ns());
                }
                active.sent_ns.get_or_insert_with(clock::monotonic_ns);
                connection.send(stream, request);
                if let Some(tracker) = &mut self.deliveries {
                    (active.number, active.due) = tracker.say(at);
                }
            }
        }
        true
    }

    /// Writes what was put.
    pub(super) fn write_put(&mut self) {
        while let Some(at) = self.unsent.next_unwritten() {
            if self.generator.connections[at].stream().is_some() {
                self.write_the_rest(at);
            }
        }
    }

    /// Writes what is put on a connection and not written yet.
    fn write_the_rest(&mut self, at: usize) {
        let connection = &mut self.generator.connections[at];
        if !connection.is_written()
            && let Err(error) = connection.write()
        {
            self.broken(at, &error.into());
        }
    }

    /// A stream is free, or the connection is to be opened anew: what was held back is sent.
    pub(super) fn send_held(&mut self, at: usize) {
        if self.unsent.release(at) {
            self.send_waiting(at);
        }
    }

    /// Sends the requests of a connection that were not put on it, if there are any.
    fn send_waiting(&mut self, at: usize) {
        if self.slots.of(at).any(|slot| self.slots.unput(slot).is_some()) {
            self.send(at);
        }
    }

    pub(super) fn on_socket(&mut self, event: Ready) {
        let at = (event.token & u64::from(u32::MAX)) as usize;
        let Some(connection) = self.generator.connections.get_mut(at) else { return };
        if token(at, connection.generation) != event.token {
            return;
        }
        match connection.state() {
            State::Closed => (),
            State::Opening => match connection.advance(&mut self.buffer) {
                Ok(true) => self.opened(at, event),
                Ok(false) => (),
                Err(error) => self.not_connected(at, &error),
            },
            State::Open => self.exchange(at, event),
        }
    }

    fn opened(&mut self, at: usize, event: Ready) {
        let now_ns = clock::monotonic_ns();
        let connection = &mut self.generator.connections[at];
        let handshake = connection.take_handshake();
        if let Some(tracker) = &mut self.deliveries {
            tracker.join(at, connection.generation, connection.sent());
        }
        for active in self.slots.of_mut(at).iter_mut().flat_map(|slot| &mut slot.active) {
            active.sendable_ns = active.waiting.sendable_ns(now_ns);
        }
        self.send(at);
        handshake.into_iter().for_each(|one| self.generator.handshakes.add(one));
        let greeted = self.generator.greeted(at);
        if handshake.is_some() || greeted {
            // The poll does not report again what arrived right behind the opening.
            self.exchange(at, event);
        }
    }

    /// Goes on with writing requests and reading answers, and sends what can be sent after these.
    fn exchange(&mut self, at: usize, event: Ready) {
        let connection = &mut self.generator.connections[at];
        if !connection.is_written()
            && let Err(error) = connection.write()
        {
            return self.broken(at, &error.into());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        while self.read(at, event, &mut buffer) {}
        self.buffer = buffer;
        if let Some(now_ns) = self.answered_ns.take() {
            self.send_due(now_ns);
        }
        // What the protocol says to what came.
        if self.generator.connections[at].state() == State::Open {
            self.write_the_rest(at);
        }
    }

    /// Reads once; returns whether there may be more on the same socket.
    fn read(&mut self, at: usize, event: Ready, buffer: &mut Buffer) -> bool {
        match self.generator.connections[at].read(buffer) {
            Ok(Input::Nothing) => false,
            Ok(Input::Bytes { bytes, may_hold_more }) => {
                let count = bytes.len();
                // After a hang-up, which is reported once only, the socket is read to its end.
                let goes_on = self.feed(at, event, bytes) && (event.hung_up || may_hold_more);
                let is_piece = self.answered_ns.is_none();
                if event.hung_up || is_piece || LARGE_BYTES < count {
                    self.doze.stay_awake(clock::monotonic_ns());
                }
                goes_on
            }
            Ok(Input::End) => {
                self.doze.stay_awake(clock::monotonic_ns());
                match self.generator.connections[at].end() {
                    Ok(Some(last)) => self.happened(at, last, true),
                    Ok(None) => {
                        self.close(at);
                        self.send_held(at);
                    }
                    Err(failure) => self.broken(at, &failure),
                }
                false
            }
            Err(error) => {
                self.broken(at, &error.into());
                false
            }
        }
    }

    /// Takes in bytes of a connection; returns whether it is still the same socket.
    fn feed(&mut self, at: usize, event: Ready, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let connection = &mut self.generator.connections[at];
            if connection.state() == State::Closed || token(at, connection.generation) != event.token {
                return false;
            }
            match connection.feed(bytes) {
                Ok((taken, happened)) => {
                    bytes = &bytes[taken..];
                    if let Some(happened) = happened {
                        self.happened(at, happened, event.hung_up);
                    }
                }
                Err(failure) => {
                    self.broken(at, &failure);
                    return false;
                }
            }
        }
        let connection = &self.generator.connections[at];
        connection.state() == State::Open && token(at, connection.generation) == event.token
    }

    fn happened(&mut self, at: usize, event: Event, hung_up: bool) {
        match event {
            Event::Answered { stream, .. } if self.is_pushed(self.slots.at(at, stream)) => (),
            // A hang-up that came with the answer is not reported again, so it must be heeded now.
            Event::Answered { stream, keep_alive } => {
                // A request that is not whole when its answer is would be mistaken for the start of the next one.
                let connection = &self.generator.connections[at];
                // After a hang-up what is framed is read to its end.
                let keep_alive =
                    keep_alive && connection.is_in_step() && (!hung_up || connection.is_framed());
                let slot = self.slots.at(at, stream);
                let now_ns = clock::monotonic_ns();
                let done_ns = self.came_ns(slot, now_ns);
                self.answered(slot, keep_alive, done_ns);
                self.answered_ns = Some(now_ns);
            }
            Event::Failed { stream, is_undone, why } => {
                self.failed(self.slots.at(at, stream), is_undone, why);
            }
            Event::Streamed { stream } => {
                let slot = self.slots.at(at, stream);
                let came_ns = self.came_ns(slot, clock::monotonic_ns());
                self.streamed(slot, came_ns);
            }
            Event::Leaving => self.leaving(at),
            Event::Room => {
                self.free.allowance_changed();
                self.generator.note_allowed(at);
                self.send_held(at);
            }
            Event::Pushed => self.generator.spoken.pushed += 1,
            Event::Delivered { sender, generation, number } => self.delivered(at, sender, generation, number),
        }
    }

    /// When what was read now for a slot came.
    fn came_ns(&mut self, slot: usize, now_ns: u64) -> u64 {
        let sent_ns = self.slots.active(slot).and_then(|active| active.sent_ns);
        let connection = &self.generator.connections[self.slots.connection(slot)];
        self.doze.came_ns(connection.came_real_ns(), sent_ns, now_ns)
    }

    fn not_connected(&mut self, at: usize, error: &std::io::Error) {
        let now_ns = clock::monotonic_ns();
        self.close(at);
        for slot in self.slots.of(at) {
            if !self.fail(slot, ErrorKind::Connect, now_ns, || error.to_string()) {
                continue;
            }
            match self.deliveries {
                None => self.free.rest(slot, now_ns),
                // The user rests.
                Some(_) => self.free.put(slot, now_ns),
            }
        }
    }

    /// The connection broke. A server may have closed one that was kept alive just when the request was sent; RFC 9110 section 9.2.2
    /// allows to send an idempotent request again then, once. One that is reset was not just idle for too long.
    pub(super) fn broken(&mut self, at: usize, failure: &Failure) {
        let connection = &mut self.generator.connections[at];
        let was_idle = connection.answered > 0 && failure.is_orderly();
        self.generator.note_goodbye(at);
        self.close(at);
        let now_ns = clock::monotonic_ns();
        let mut sends_again = false;
        for slot in self.slots.of(at) {
            let (_, stream) = self.slots.address(slot);
            let has_begun = self.generator.connections[at].has_begun(stream);
            let Some(active) = self.slots.active_mut(slot) else { continue };
            if active.is_held {
                sends_again = true;
                continue;
            }
            let operation = &self.generator.config.scenario.operations[active.operation];
            if was_idle && !has_begun && operation.is_idempotent() && !active.sent_again {
                active.sent_again = true;
                active.is_put = false;
                self.results.tally.sent_again(active.waiting.intended_ns);
                sends_again = true;
            } else if self.fail(slot, ErrorKind::Broken, now_ns, || failure.to_string()) {
                self.free.put(slot, now_ns);
            }
        }
        if sends_again {
            self.send(at);
        }
    }

    /// The request of a slot failed alone.
    fn failed(&mut self, slot: usize, is_undone: bool, why: &str) {
        let (now_ns, at) = (clock::monotonic_ns(), self.slots.connection(slot));
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

    /// The server takes no more requests on a connection. Those that it did not take are sent again: on other connections, or, where all
    /// streams of these are in use, on a new one as soon as those that it took are answered.
    fn leaving(&mut self, at: usize) {
        self.generator.note_goodbye(at);
        let now_ns = clock::monotonic_ns();
        for slot in self.slots.of(at) {
            let (_, stream) = self.slots.address(slot);
            if self.slots.put_on(slot).is_none() || !self.generator.connections[at].is_undone(stream) {
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
        for slot in self.slots.of(at) {
            self.move_on(slot, now_ns);
        }
        self.send_waiting(at);
    }

    /// Gives a request that is to be sent again a stream of another connection, if one is free.
    fn move_on(&mut self, slot: usize, now_ns: u64) {
        let Some(active) = self.slots.unput(slot) else { return };
        let Some((other, _)) = self.take_free(active.session) else { return };
        self.slots.swap(slot, other);
        self.free.put(slot, now_ns);
        self.send(self.slots.connection(other));
    }

    /// Gives up what a slot waits for.
    pub(super) fn abandon(&mut self, slot: usize) {
        let (at, stream) = self.slots.address(slot);
        let connection = &mut self.generator.connections[at];
        if !connection.abandon(stream) {
            self.close(at);
            if self.slots.are_shared() {
                self.unsent.hold(at);
            }
        } else if !connection.is_written() {
            // Where it cannot be written the socket says so.
            let _ = connection.write();
        }
    }

    /// Closes a connection. Messages of other users are no longer due to its user.
    pub(super) fn close(&mut self, at: usize) {
        self.generator.connections[at].close();
        self.free.allowance_changed();
        let LoadRun { deliveries, slots, .. } = self;
        let Some(tracker) = deliveries else { return };
        let others = tracker.room_of(at).filter(|other| *other != at);
        let is_due = |slot: &usize| {
            slots
                .put_on(*slot)
                .is_some_and(|active| tracker.is_awaited(at, slots.connection(*slot), active.number))
        };
        let freed: Vec<usize> = others.flat_map(|other| slots.of(other)).filter(is_due).collect();
        tracker.leave(at);
        let now_ns = clock::monotonic_ns();
        freed.into_iter().for_each(|slot| self.one_delivery_less(slot, now_ns));
    }
}
