//! What happens on sockets: connections that open, requests that go out, answers that come, and connections that break.

use super::{MS, NEVER_NS, REST_NS, Run, Slot};
use crate::checked::checked;
use crate::clock;
use crate::connection::{Buffer, Input, State};
use crate::generator::{Generator, token};
use crate::measured::ErrorKind;
use crate::poll::Ready;
use crate::protocol::{Event, Failure};
use crate::redirect::{REDIRECTS_MAX, follow};
use std::ops::Range;

/// An answer of more than this may be longer than the kernel holds for one that is read late, which is 64 KiB at first.
const LARGE_BYTES: usize = 16 << 10;

impl Run<'_> {
    /// The slots of a connection.
    pub(super) fn slots_of(&self, at: usize) -> Range<usize> {
        at * self.streams..(at + 1) * self.streams
    }

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

    /// Puts the requests of a connection where they are written from; says whether it is open.
    pub(super) fn put(&mut self, at: usize) -> bool {
        let connection = &mut self.generator.connections[at];
        if connection.state() == State::Closed {
            self.doze.stay_awake(clock::monotonic_ns());
            let opened = connection.open(&self.generator.address).and_then(|()| self.generator.watch(at));
            if let Err(error) = opened {
                self.not_connected(at, &error);
                return false;
            }
        }
        let slots = self.slots_of(at);
        let connection = &mut self.generator.connections[at];
        if connection.state() != State::Open {
            return false;
        }
        for (stream, Slot { request, active }) in self.slots[slots].iter_mut().enumerate() {
            if let Some(active) = active.as_mut().filter(|active| !active.is_put) {
                if !connection.has_room() {
                    active.is_held = true;
                    self.withheld.hold(at);
                    continue;
                }
                active.is_put = true;
                if std::mem::take(&mut active.is_held) {
                    active.sendable_ns = active.waiting.sendable_ns(clock::monotonic_ns());
                }
                active.sent_ns.get_or_insert_with(clock::monotonic_ns);
                connection.send(stream, request);
                if let Some(ledger) = &mut self.ledger {
                    (active.number, active.due) = ledger.say(at);
                }
            }
        }
        true
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
                Ok(true) => {
                    let now_ns = clock::monotonic_ns();
                    let handshake = connection.take_handshake();
                    if let Some(ledger) = &mut self.ledger {
                        ledger.join(at, connection.generation, connection.sent());
                    }
                    let slots = self.slots_of(at);
                    for active in self.slots[slots].iter_mut().flat_map(|slot| &mut slot.active) {
                        active.sendable_ns = active.waiting.sendable_ns(now_ns);
                    }
                    self.send(at);
                    handshake.into_iter().for_each(|one| self.generator.handshakes.add(one));
                    let greeted = self.generator.greeted(at);
                    if handshake.is_some() || greeted {
                        // What came behind the opening is not told again.
                        self.exchange(at, event);
                    }
                }
                Ok(false) => (),
                Err(error) => self.not_connected(at, &error),
            },
            State::Open => self.exchange(at, event),
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
        let connection = &mut self.generator.connections[at];
        if connection.state() == State::Open
            && !connection.is_written()
            && let Err(error) = connection.write()
        {
            self.broken(at, &error.into());
        }
    }

    /// Reads once; says whether there may be more on the same socket.
    fn read(&mut self, at: usize, event: Ready, buffer: &mut Buffer) -> bool {
        match self.generator.connections[at].read(buffer) {
            Ok(Input::Nothing) => false,
            Ok(Input::Bytes { bytes, may_hold_more }) => {
                let count = bytes.len();
                // After a hang-up, which is not told twice, the socket is read to its end.
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

    /// Takes in bytes of a connection; says whether it is still the same socket.
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
            // A hang-up that came with the answer is not told again, so it must be heeded now.
            Event::Answered { stream, keep_alive } => {
                // A request that is not whole when its answer is would be mistaken for the start of the next one.
                let connection = &self.generator.connections[at];
                // After a hang-up what is framed is read to its end.
                let keep_alive =
                    keep_alive && connection.is_in_step() && (!hung_up || connection.is_framed());
                let slot = at * self.streams + stream;
                let now_ns = clock::monotonic_ns();
                let sent_ns = self.slots[slot].active.as_ref().and_then(|active| active.sent_ns);
                let done_ns = self.doze.came_ns(connection.came_real_ns(), sent_ns, now_ns);
                self.answered(slot, keep_alive, done_ns);
                self.answered_ns = Some(now_ns);
            }
            Event::Failed { stream, is_undone, why } => {
                self.failed(at * self.streams + stream, is_undone, why);
            }
            Event::Leaving => self.leaving(at),
            Event::Room => {
                self.withheld.changed = true;
                self.generator.note_allowed(at);
                self.send_held(at);
            }
            Event::Delivered { sender, generation, number } => self.delivered(at, sender, generation, number),
        }
    }

    /// The answer of a slot was whole at this time.
    pub(super) fn answered(&mut self, slot: usize, keep_alive: bool, done_ns: u64) {
        self.answered_ns = Some(done_ns);
        let (at, stream) = (slot / self.streams, slot % self.streams);
        let Generator { config, endpoint, connections, sessions, .. } = &mut *self.generator;
        let (scenario, connection) = (&config.scenario, &mut connections[at]);
        let Some(mut active) = self.slots[slot].active.take() else { return self.close(at) };
        let operation = &scenario.operations[active.operation];
        let session = &mut sessions[active.session];
        let answer = connection.answer(stream);
        answer.set_cookies().for_each(|cookie| session.set_cookie(cookie));
        let follows = operation.follow_redirects
            && active.redirects < REDIRECTS_MAX
            && follow(&mut self.slots[slot].request, answer, &endpoint.base, session.cookies());
        connection.answered += 1;
        if follows {
            if !keep_alive {
                self.close(at);
            }
            active.redirects += 1;
            self.tally.redirected(active.operation, active.waiting.intended_ns);
            active.is_put = false;
            self.slots[slot].active = Some(active);
            return self.send(at);
        }
        let answer = connection.answer(stream);
        let intended_ns = active.waiting.intended_ns;
        let is_right = match checked(operation, answer, scenario.secrets()) {
            Ok(()) => {
                session.extract(scenario, operation, answer);
                self.tally.answered(active.operation, intended_ns, done_ns);
                true
            }
            Err((kind, detail)) => {
                self.tally.failed(Some(active.operation), intended_ns, kind, detail);
                false
            }
        };
        if operation.restarts_session {
            session.restart();
        }
        if !keep_alive {
            self.close(at);
        }
        self.free.put(slot, done_ns);
        self.finish(&active, (done_ns, 0), is_right);
        self.send_held(at);
    }

    fn not_connected(&mut self, at: usize, error: &std::io::Error) {
        let now_ns = clock::monotonic_ns();
        self.close(at);
        for slot in self.slots_of(at) {
            if !self.fail(slot, ErrorKind::Connect, now_ns, || error.to_string()) {
                continue;
            }
            match self.ledger {
                None => self.resting.push_back((now_ns + REST_NS, slot)),
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
        self.close(at);
        let now_ns = clock::monotonic_ns();
        let mut sends_again = false;
        for slot in self.slots_of(at) {
            let has_begun = self.generator.connections[at].has_begun(slot % self.streams);
            let Some(active) = &mut self.slots[slot].active else { continue };
            if active.is_held {
                sends_again = true;
                continue;
            }
            let operation = &self.generator.config.scenario.operations[active.operation];
            if was_idle && !has_begun && operation.is_idempotent() && !active.sent_again {
                active.sent_again = true;
                active.is_put = false;
                self.tally.sent_again(active.waiting.intended_ns);
                sends_again = true;
            } else if self.fail(slot, ErrorKind::Broken, now_ns, || failure.to_string()) {
                self.free.put(slot, now_ns);
            }
        }
        if sends_again {
            self.send(at);
        }
    }

    /// Fails requests whose time limit has passed.
    pub(super) fn time_out(&mut self, now_ns: u64) {
        let mut floor_ns = NEVER_NS;
        for slot in 0..self.slots.len() {
            let Some(active) = &self.slots[slot].active else { continue };
            if active.deadline_ns > now_ns {
                floor_ns = floor_ns.min(active.deadline_ns);
                continue;
            }
            let limit_ms = self.generator.config.scenario.operations[active.operation].timeout_ns / MS;
            self.abandon(slot);
            self.fail(slot, ErrorKind::Timeout, now_ns, || format!("no whole answer within {limit_ms} ms"));
            self.free.put(slot, now_ns);
            self.send_held(slot / self.streams);
        }
        self.deadline_floor_ns = floor_ns;
    }

    /// Gives up what a slot waits for.
    pub(super) fn abandon(&mut self, slot: usize) {
        let (at, stream) = (slot / self.streams, slot % self.streams);
        let connection = &mut self.generator.connections[at];
        if !connection.abandon(stream) {
            self.close(at);
            if 1 < self.streams {
                self.withheld.hold(at);
            }
        } else if !connection.is_written() {
            // Where it cannot be written the socket says so.
            let _ = connection.write();
        }
    }

    /// Fails the request of a slot; says whether there was one.
    pub(super) fn fail(
        &mut self,
        slot: usize,
        kind: ErrorKind,
        now_ns: u64,
        detail: impl FnOnce() -> String,
    ) -> bool {
        let Some(active) = self.slots[slot].active.take() else { return false };
        self.tally.failed(Some(active.operation), active.waiting.intended_ns, kind, detail);
        if self.generator.config.scenario.operations[active.operation].restarts_session {
            self.generator.sessions[active.session].restart();
        }
        let rest_ns = if self.ledger.is_some() && kind != ErrorKind::Timeout { REST_NS } else { 0 };
        self.finish(&active, (now_ns, rest_ns), false);
        true
    }
}
