//! The users of an open loop without a request under way: which of them an arrival belongs to.

use crate::generator::Generator;
use assay_scenario::Deck;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Stream of the run's seed that draws kinds of users; 0 draws the arrivals, the lowest ones are those of users.
const STREAM: u64 = u64::MAX - 1;

/// Users without a request under way. An arrival is one of a kind by its share, of the user of that kind who has been idle
/// longest. A thinking user is not idle: where all of a kind think, or have a request under way, another user is added.
pub(crate) struct Idle {
    /// Of kinds, by their shares.
    kinds: Deck,
    /// By kind: users with the time since when they are idle.
    idle: Vec<VecDeque<(usize, u64)>>,
    /// When each thinking user is ready, the earliest on top.
    thinking: BinaryHeap<Reverse<(u64, usize)>>,
    /// How many more may have a request under way.
    room: u32,
    /// Since when there is that room.
    room_since_ns: u64,
    /// No users are added: each has a connection of its own.
    is_closed: bool,
}

impl Idle {
    /// Each user may have one request under way, or as many as its own connection has streams.
    pub fn new(generator: &Generator, seed: u64, now_ns: u64) -> Idle {
        let users = &generator.config.scenario.users;
        let kinds = Deck::new(users.iter().map(|kind| kind.share), seed, STREAM);
        let mut idle = vec![VecDeque::new(); users.len()];
        let is_closed = generator.endpoint.room_users().is_some();
        let each = if is_closed { generator.endpoint.streams() } else { 1 };
        for _ in 0..each {
            let users = generator.sessions.iter().enumerate();
            users.for_each(|(at, user)| idle[user.kind].push_back((at, now_ns)));
        }
        let room = generator.config.sessions_bound().saturating_mul(each as u32);
        Idle { kinds, idle, thinking: BinaryHeap::new(), room, room_since_ns: now_ns, is_closed }
    }

    /// The user of the next arrival, and since when it could have been sent; none while too many have a request under way.
    pub fn take(&mut self, generator: &mut Generator, now_ns: u64) -> Option<(usize, u64)> {
        let room = self.room.checked_sub(1)?;
        while let Some(Reverse((since_ns, at))) =
            self.thinking.peek().copied().filter(|next| next.0.0 <= now_ns)
        {
            self.thinking.pop();
            self.idle[generator.sessions[at].kind].push_back((at, since_ns));
        }
        let kind = self.kinds.draw();
        let (at, since_ns) = match self.idle[kind].pop_front() {
            Some(idle) => idle,
            None if self.is_closed => return None,
            None => (generator.add_user(kind), 0),
        };
        self.room = room;
        Some((at, since_ns.max(self.room_since_ns)))
    }

    /// The next request need not wait for the end of another.
    pub fn has_room(&self) -> bool {
        0 < self.room
    }

    /// When the next thinking user is ready for whom a request may wait.
    pub fn next_ns(&self) -> Option<u64> {
        self.thinking.peek().filter(|_| self.is_closed).map(|Reverse((ready_ns, _))| *ready_ns)
    }

    /// The request of a user is finished; after it, it thinks.
    pub fn put(&mut self, user: usize, kind: usize, (now_ns, ready_ns): (u64, u64)) {
        if self.room == 0 {
            self.room_since_ns = now_ns;
        }
        self.room += 1;
        if ready_ns <= now_ns {
            self.idle[kind].push_back((user, now_ns));
        } else {
            self.thinking.push(Reverse((ready_ns, user)));
        }
    }
}
