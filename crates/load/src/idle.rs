//! The users of an open loop without a request under way: which of them an arrival belongs to.

use crate::generator::Generator;
use crate::schedule::{Schedule, Waiting};
use assay_scenario::Deck;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Stream of the run's seed that draws kinds of users; 0 draws the arrivals, the lowest ones are those of users.
const STREAM: u64 = u64::MAX - 1;

/// The users of a kind.
#[derive(Default)]
struct OfKind {
    /// Users with the time since when they are idle.
    idle: VecDeque<(usize, u64)>,
    /// Arrivals that found none.
    waiting: VecDeque<Waiting>,
    /// Added users whose sessions begin.
    starting: u32,
}

/// An arrival, its user, and since when it could have been sent.
pub(crate) type Taken = (Waiting, usize, u64);

/// Users without a request under way. An arrival is one of a kind by its share, of the user of that kind who has been idle
/// longest. A thinking user is not idle. Where all of a kind think, or have a request under way, another user is added, unless their number
/// is fixed: then the arrival waits, and those of other kinds do not wait behind it.
pub(crate) struct Idle {
    /// Of kinds, by their shares.
    kinds: Deck,
    by_kind: Vec<OfKind>,
    /// When each thinking user is ready, the earliest on top.
    thinking: BinaryHeap<Reverse<(u64, usize)>>,
    /// How many more may have a request under way.
    room: u32,
    /// Since when there is that room.
    room_since_ns: u64,
    /// Arrivals that found no user.
    waiting: usize,
    /// No users are added.
    is_fixed: bool,
}

impl Idle {
    /// The users of the generator, or as many of them as the load has. Each may have one request under way, or as many as its own connection has streams.
    pub fn new(generator: &Generator, seed: u64, now_ns: u64) -> Idle {
        let users = generator.config.users.map_or(generator.sessions.len(), |users| users as usize);
        let kinds = &generator.config.scenario.users;
        let mut by_kind: Vec<OfKind> = kinds.iter().map(|_| OfKind::default()).collect();
        let kinds = Deck::new(kinds.iter().map(|kind| kind.share), seed, STREAM);
        let is_own = generator.endpoint.room_users().is_some();
        let each = if is_own { generator.endpoint.streams() } else { 1 };
        for _ in 0..each {
            let ready = generator.sessions.iter().enumerate().take(users);
            let ready = ready.filter(|(_, user)| !user.is_to_start(&generator.config.scenario));
            ready.for_each(|(at, user)| by_kind[user.kind].idle.push_back((at, now_ns)));
        }
        let room = generator.config.sessions_bound().saturating_mul(each as u32);
        let is_fixed = is_own || generator.config.users.is_some();
        Idle {
            kinds,
            by_kind,
            thinking: BinaryHeap::new(),
            room,
            room_since_ns: now_ns,
            waiting: 0,
            is_fixed,
        }
    }

    /// The next arrival that has a user; none while too many have a request under way.
    pub fn take(&mut self, generator: &mut Generator, schedule: &mut Schedule, now_ns: u64) -> Option<Taken> {
        let room = self.room.checked_sub(1)?;
        while let Some(Reverse((since_ns, at))) =
            self.thinking.peek().copied().filter(|next| next.0.0 <= now_ns)
        {
            self.thinking.pop();
            self.by_kind[generator.sessions[at].kind].idle.push_back((at, since_ns));
        }
        let (waiting, (at, since_ns)) = match self.take_waiting() {
            Some(taken) => taken,
            None => loop {
                let waiting = schedule.take()?;
                let kind = self.kinds.draw();
                let of_kind = &mut self.by_kind[kind];
                match of_kind.idle.pop_front() {
                    Some(idle) => break (waiting, idle),
                    None if !self.is_fixed && !generator.config.scenario.users[kind].has_start() => {
                        break (waiting, (generator.add_user(kind), 0));
                    }
                    None => {
                        of_kind.waiting.push_back(waiting);
                        self.waiting += 1;
                    }
                }
            },
        };
        self.room = room;
        Some((waiting, at, since_ns.max(self.room_since_ns)))
    }

    /// Of the arrivals that found no user, the first that has one now.
    fn take_waiting(&mut self) -> Option<(Waiting, (usize, u64))> {
        if self.waiting == 0 {
            return None;
        }
        let has_both = self.by_kind.iter_mut().filter(|kind| !kind.idle.is_empty());
        let first = has_both.filter_map(|kind| Some((kind.waiting.front()?.intended_ns, kind)));
        let (_, kind) = first.min_by_key(|(intended_ns, _)| *intended_ns)?;
        let taken = kind.waiting.pop_front().zip(kind.idle.pop_front())?;
        self.waiting -= 1;
        Some(taken)
    }

    /// Users that are to be added, by kind: arrivals wait for them, whose sessions begin first.
    pub fn wanted(&mut self) -> Option<usize> {
        if self.waiting == 0 || self.is_fixed {
            return None;
        }
        let starting: u32 = self.by_kind.iter().map(|kind| kind.starting).sum();
        if self.room <= starting {
            return None;
        }
        let is_short = |kind: &OfKind| (kind.starting as usize) < kind.waiting.len();
        let kind = self.by_kind.iter().position(is_short)?;
        self.by_kind[kind].starting += 1;
        Some(kind)
    }

    /// The next request need not wait for the end of another.
    pub fn has_room(&self) -> bool {
        0 < self.room && self.waiting == 0
    }

    /// An arrival that found no user, which is given up.
    pub fn give_up(&mut self) -> Option<Waiting> {
        let waiting = self.by_kind.iter_mut().find_map(|kind| kind.waiting.pop_front())?;
        self.waiting -= 1;
        Some(waiting)
    }

    /// When the next thinking user is ready for whom a request may wait.
    pub fn next_ns(&self) -> Option<u64> {
        self.thinking.peek().filter(|_| 0 < self.waiting).map(|Reverse((ready_ns, _))| *ready_ns)
    }

    /// The request of a user is finished; after it, it thinks.
    pub fn put(&mut self, user: usize, kind: usize, (now_ns, ready_ns): (u64, u64)) {
        self.free_room(now_ns);
        if ready_ns <= now_ns {
            self.by_kind[kind].idle.push_back((user, now_ns));
        } else {
            self.thinking.push(Reverse((ready_ns, user)));
        }
    }

    /// A request was not sent after all: its user is idle as before, and the arrival the first of those that wait.
    pub fn put_back(&mut self, (waiting, user, since_ns): Taken, kind: usize) {
        self.room += 1;
        self.by_kind[kind].idle.push_front((user, since_ns));
        self.by_kind[kind].waiting.push_front(waiting);
        self.waiting += 1;
    }

    /// The request of a user is finished, whose session is to begin again before another.
    pub fn leave(&mut self, kind: usize, now_ns: u64) {
        self.free_room(now_ns);
        self.by_kind[kind].starting += 1;
    }

    /// The session of a user has begun.
    pub fn join(&mut self, user: usize, kind: usize, now_ns: u64) {
        let of_kind = &mut self.by_kind[kind];
        of_kind.starting = of_kind.starting.saturating_sub(1);
        of_kind.idle.push_back((user, now_ns));
    }

    fn free_room(&mut self, now_ns: u64) {
        if self.room == 0 {
            self.room_since_ns = now_ns;
        }
        self.room += 1;
    }
}
