//! Slots without a request: which of them the next one gets.

use std::collections::VecDeque;

/// How long a slot of a connection that was refused is not used, so that a dead server does not make a storm of attempts.
pub(super) const REST_NS: u64 = 100_000_000;

/// A slot, and since when it is free.
type FreeSlot = (usize, u64);

/// Slots without a request: those that the next request may get, and those that no request may get now.
pub(super) struct FreeSlots {
    usable: Usable,
    /// Slots of connections that were refused, with the end of their rest.
    resting: VecDeque<(u64, usize)>,
    /// Slots whose streams the server does not allow.
    disallowed: Vec<usize>,
    /// A connection was closed, or the server allows another number of streams.
    is_allowance_changed: bool,
}

impl FreeSlots {
    /// All slots of these connections, used in this order. `is_own`: each user has a connection of its own.
    pub fn new(connections: &[usize], streams: usize, is_own: bool, now_ns: u64) -> FreeSlots {
        FreeSlots {
            usable: Usable::new(connections, streams, is_own, now_ns),
            resting: VecDeque::new(),
            disallowed: Vec::new(),
            is_allowance_changed: false,
        }
    }

    /// Nobody can send.
    pub fn is_empty(&self) -> bool {
        self.usable.is_empty()
    }

    /// The slot that a user's request gets, and since when it is free. Those whose streams the server does not allow are put aside.
    pub fn take(&mut self, user: usize, is_allowed: impl Fn(usize) -> bool) -> Option<FreeSlot> {
        loop {
            let (slot, free_ns) = self.usable.take(user)?;
            if is_allowed(slot) {
                return Some((slot, free_ns));
            }
            self.disallowed.push(slot);
        }
    }

    pub fn put(&mut self, slot: usize, now_ns: u64) {
        self.usable.put(slot, now_ns);
    }

    /// A slot rests after its connection was refused.
    pub fn rest(&mut self, slot: usize, now_ns: u64) {
        self.resting.push_back((now_ns + REST_NS, slot));
    }

    /// Frees the slots that have rested.
    pub fn wake(&mut self, now_ns: u64) {
        while let Some((until_ns, slot)) = self.resting.front().copied()
            && until_ns <= now_ns
        {
            self.resting.pop_front();
            self.usable.put(slot, now_ns);
        }
    }

    /// When the next slot has rested.
    pub fn next_wake_ns(&self) -> Option<u64> {
        self.resting.front().map(|(until_ns, _)| *until_ns)
    }

    /// Streams that the server did not allow may be allowed from now on.
    pub fn allowance_changed(&mut self) {
        self.is_allowance_changed = true;
    }

    /// Frees slots whose streams may be allowed by now.
    pub fn offer_disallowed(&mut self, now_ns: u64) {
        if std::mem::take(&mut self.is_allowance_changed) {
            for slot in self.disallowed.drain(..) {
                self.usable.put(slot, now_ns);
            }
        }
    }
}

/// Free slots: of all users alike, or of each user's own connection.
enum Usable {
    Any(VecDeque<FreeSlot>),
    /// By connection, with the streams of each.
    Own {
        slots: Vec<VecDeque<FreeSlot>>,
        streams: usize,
    },
}

impl Usable {
    fn new(connections: &[usize], streams: usize, is_own: bool, now_ns: u64) -> Usable {
        if is_own {
            let of = |at: usize| (at * streams..(at + 1) * streams).map(|slot| (slot, now_ns)).collect();
            return Usable::Own { slots: (0..connections.len()).map(of).collect(), streams };
        }
        // Over all connections first.
        let slots = (0..streams).flat_map(|stream| connections.iter().map(move |at| at * streams + stream));
        Usable::Any(slots.map(|slot| (slot, now_ns)).collect())
    }

    fn is_empty(&self) -> bool {
        match self {
            Usable::Any(slots) => slots.is_empty(),
            // A user without a free slot is not handed out.
            Usable::Own { .. } => false,
        }
    }

    fn take(&mut self, user: usize) -> Option<FreeSlot> {
        match self {
            Usable::Any(slots) => slots.pop_front(),
            Usable::Own { slots, .. } => slots.get_mut(user)?.pop_front(),
        }
    }

    fn put(&mut self, slot: usize, now_ns: u64) {
        match self {
            Usable::Any(slots) => slots.push_back((slot, now_ns)),
            Usable::Own { slots, streams } => {
                if let Some(slots) = slots.get_mut(slot / *streams) {
                    slots.push_back((slot, now_ns));
                }
            }
        }
    }
}
