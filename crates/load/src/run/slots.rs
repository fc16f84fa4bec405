//! The streams of all connections, and the request that each carries.

use super::streamed::Streamed;
use crate::request::Request;
use crate::schedule::Waiting;
use std::ops::Range;

const NEVER_NS: u64 = u64::MAX;

/// A stream of a connection. Its number is that of the connection times the streams of each, plus that of the stream.
#[derive(Default)]
pub(super) struct Slot {
    /// Lives on between requests, for its buffers.
    pub request: Request,
    pub active: Option<Active>,
}

/// A request that is under way.
pub(super) struct Active {
    pub waiting: Waiting,
    pub session: usize,
    pub operation: usize,
    /// It belongs to the start of its session, outside of the figures.
    pub is_of_start: bool,
    pub sendable_ns: u64,
    pub sent_ns: Option<u64>,
    /// It was put on the connection that is open now.
    pub is_put: bool,
    /// The server did not allow it on its connection yet.
    pub is_held: bool,
    pub deadline_ns: u64,
    pub sent_again: bool,
    /// How often the server refused it without processing it.
    pub taken_back: u8,
    pub redirects: u8,
    /// Messages that came instead of its answer.
    pub pushed: u32,
    /// Server-sent events of its answer so far.
    pub streamed: Streamed,
    /// Of a message that is delivered on other connections: its number, and the deliveries that are still due.
    pub number: u64,
    pub due: u32,
}

impl Active {
    /// A request of a session that was not put on a connection yet.
    pub fn new(
        waiting: Waiting,
        (session, operation): (usize, usize),
        sendable_ns: u64,
        deadline_ns: u64,
    ) -> Active {
        Active {
            waiting,
            session,
            operation,
            is_of_start: false,
            sendable_ns,
            sent_ns: None,
            is_put: false,
            is_held: false,
            deadline_ns,
            sent_again: false,
            taken_back: 0,
            redirects: 0,
            pushed: 0,
            streamed: Streamed::default(),
            number: 0,
            due: 0,
        }
    }
}

/// The slots of all connections.
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// Streams of each connection.
    streams: usize,
    /// No request's time limit ends before this.
    deadline_floor_ns: u64,
}

impl Slots {
    pub fn new(connections: usize, streams: usize) -> Slots {
        let slots = (0..connections * streams).map(|_| Slot::default()).collect();
        Slots { slots, streams, deadline_floor_ns: NEVER_NS }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether a connection carries several requests at once.
    pub fn are_shared(&self) -> bool {
        1 < self.streams
    }

    /// The slots of a connection.
    pub fn of(&self, connection: usize) -> Range<usize> {
        connection * self.streams..(connection + 1) * self.streams
    }

    /// The slot of a stream.
    pub fn at(&self, connection: usize, stream: usize) -> usize {
        connection * self.streams + stream
    }

    /// The connection of a slot, and its stream there.
    pub fn address(&self, slot: usize) -> (usize, usize) {
        (slot / self.streams, slot % self.streams)
    }

    /// The connection of a slot.
    pub fn connection(&self, slot: usize) -> usize {
        slot / self.streams
    }

    /// The slots of a connection, in the order of its streams.
    pub fn of_mut(&mut self, connection: usize) -> &mut [Slot] {
        let slots = self.of(connection);
        &mut self.slots[slots]
    }

    pub fn request_mut(&mut self, slot: usize) -> &mut Request {
        &mut self.slots[slot].request
    }

    pub fn request(&self, slot: usize) -> &Request {
        &self.slots[slot].request
    }

    pub fn active(&self, slot: usize) -> Option<&Active> {
        self.slots[slot].active.as_ref()
    }

    pub fn active_mut(&mut self, slot: usize) -> Option<&mut Active> {
        self.slots[slot].active.as_mut()
    }

    /// The request of a slot that was put on its connection.
    pub fn put_on(&self, slot: usize) -> Option<&Active> {
        self.active(slot).filter(|active| active.is_put)
    }

    /// The request of a slot that is still to be put on its connection.
    pub fn unput(&self, slot: usize) -> Option<&Active> {
        self.active(slot).filter(|active| !active.is_put)
    }

    /// Gives a slot a request.
    pub fn fill(&mut self, slot: usize, active: Active) {
        self.deadline_floor_ns = self.deadline_floor_ns.min(active.deadline_ns);
        self.slots[slot].active = Some(active);
    }

    /// Takes the request of a slot.
    pub fn take(&mut self, slot: usize) -> Option<Active> {
        self.slots[slot].active.take()
    }

    pub fn swap(&mut self, one: usize, other: usize) {
        self.slots.swap(one, other);
    }

    /// A time before which no request's time limit ends.
    pub fn deadline_floor_ns(&self) -> u64 {
        self.deadline_floor_ns
    }

    /// The first slot from this one on with a request whose time limit has passed, and its operation.
    pub fn overdue(&self, from: usize, now_ns: u64) -> Option<(usize, usize)> {
        (from..self.slots.len()).find_map(|slot| {
            let active = self.active(slot).filter(|active| active.deadline_ns <= now_ns)?;
            Some((slot, active.operation))
        })
    }

    /// Looks up anew when the first time limit ends.
    pub fn renew_deadline_floor(&mut self) {
        let deadlines = self.slots.iter().flat_map(|slot| &slot.active).map(|active| active.deadline_ns);
        self.deadline_floor_ns = deadlines.min().unwrap_or(NEVER_NS);
    }
}
