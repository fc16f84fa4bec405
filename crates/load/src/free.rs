//! Slots without a request: which of them the next one gets.

use std::collections::VecDeque;

/// A slot, and since when it is free.
type Slot = (usize, u64);

/// Free slots: of all users alike, or of each user's own connection.
pub(crate) enum Free {
    Any(VecDeque<Slot>),
    /// By connection, with the streams of each.
    Own {
        slots: Vec<VecDeque<Slot>>,
        streams: usize,
    },
}

impl Free {
    /// All slots of so many connections.
    pub fn new(connections: usize, streams: usize, is_own: bool, now_ns: u64) -> Free {
        if is_own {
            let of = |at: usize| (at * streams..(at + 1) * streams).map(|slot| (slot, now_ns)).collect();
            return Free::Own { slots: (0..connections).map(of).collect(), streams };
        }
        // Over all connections first.
        let slots = (0..streams).flat_map(|stream| (0..connections).map(move |at| at * streams + stream));
        Free::Any(slots.map(|slot| (slot, now_ns)).collect())
    }

    /// Nobody can send.
    pub fn is_empty(&self) -> bool {
        match self {
            Free::Any(slots) => slots.is_empty(),
            // Who is handed out has one.
            Free::Own { .. } => false,
        }
    }

    /// The slot that a user's request gets.
    pub fn take(&mut self, user: usize) -> Option<Slot> {
        match self {
            Free::Any(slots) => slots.pop_front(),
            Free::Own { slots, .. } => slots.get_mut(user)?.pop_front(),
        }
    }

    pub fn put(&mut self, slot: usize, now_ns: u64) {
        match self {
            Free::Any(slots) => slots.push_back((slot, now_ns)),
            Free::Own { slots, streams } => {
                if let Some(slots) = slots.get_mut(slot / *streams) {
                    slots.push_back((slot, now_ns));
                }
            }
        }
    }
}
