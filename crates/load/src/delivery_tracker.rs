//! Which messages are due to which users, and which arrived: none may be lost or duplicated, and those of one sender must arrive in order.
//!
//! A message is due to every other user who is in the room when it is sent. When the connection of its sender or its receiver ends, its
//! delivery is unknown and counted separately.

use crate::recorder::{counts, empty_histogram, sum, summary_ms};
use assay_model::DeliverySummary;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// Deliveries of one load run, with the settling before it and the drain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deliveries {
    /// From the intended start of a message to each of its deliveries, nanoseconds; of messages that were to start in the run.
    #[serde(with = "counts")]
    pub times: Histogram<u64>,
    /// Messages that were sent.
    pub sent: u64,
    /// Deliveries that they must have.
    pub due: u64,
    /// Of these, those that came.
    pub delivered: u64,
    /// Of those that came, how many did so within the run.
    pub within: u64,
    /// Deliveries that came again.
    pub duplicated: u64,
    /// Deliveries that came after a later message of their sender.
    pub out_of_order: u64,
    /// Due deliveries that had not come when the connection of their sender or receiver ended.
    pub cut_off: u64,
}

impl Deliveries {
    fn none() -> Deliveries {
        let times = empty_histogram();
        Deliveries {
            times,
            sent: 0,
            due: 0,
            delivered: 0,
            within: 0,
            duplicated: 0,
            out_of_order: 0,
            cut_off: 0,
        }
    }

    /// Due deliveries that never came, although both connections stood.
    pub fn lost(&self) -> u64 {
        self.due.saturating_sub(self.delivered).saturating_sub(self.cut_off)
    }

    /// Those of another generator, too.
    pub fn add_all(&mut self, others: &Deliveries) {
        // Named one by one, so that what is added to it later cannot be forgotten here.
        let Deliveries { times, sent, due, delivered, within, duplicated, out_of_order, cut_off } = others;
        sum(&mut self.times, times);
        for (sum, count) in [
            (&mut self.sent, sent),
            (&mut self.due, due),
            (&mut self.delivered, delivered),
            (&mut self.within, within),
            (&mut self.duplicated, duplicated),
            (&mut self.out_of_order, out_of_order),
            (&mut self.cut_off, cut_off),
        ] {
            *sum = sum.saturating_add(*count);
        }
    }

    /// The audit's complaint; absent where every delivery is right.
    pub fn wrong(&self) -> Option<String> {
        let (lost, twice, order) = (self.lost(), self.duplicated, self.out_of_order);
        (0 < lost + twice + order).then(|| {
            format!(
                "of {} due deliveries {lost} were lost, {twice} came twice, {order} were out of order",
                self.due
            )
        })
    }

    /// The stored form, of a run of `seconds`.
    pub(crate) fn summary(&self, seconds: f64) -> DeliverySummary {
        DeliverySummary {
            sent: self.sent,
            due: self.due,
            delivered: self.delivered,
            lost: self.lost(),
            duplicated: self.duplicated,
            out_of_order: self.out_of_order,
            cut_off: self.cut_off,
            rate_per_s: (0.0 < seconds).then(|| self.within as f64 / seconds),
            ms: summary_ms(&self.times),
        }
    }
}

/// How a delivery is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeliveryState {
    Due,
    /// Sent before its receiver joined or its sender reconnected: counted elsewhere.
    NotDue,
    Again,
    /// No user sent it.
    Invented,
}

/// One user.
#[derive(Debug, Clone, Default)]
struct Member {
    is_in: bool,
    generation: u32,
    said: u64,
    /// By the place of each other user in the room: the highest number that came from it, and the highest that is not due.
    came: Vec<(u64, u64)>,
}

pub(crate) struct DeliveryTracker {
    /// Users of a room.
    users: usize,
    members: Vec<Member>,
    /// By receiver and sender: numbers that were overtaken.
    overtaken: HashMap<(usize, usize), BTreeSet<u64>>,
    pub counts: Deliveries,
}

impl DeliveryTracker {
    /// For users none of whom has joined a room yet.
    pub fn new(members: usize, users: usize) -> DeliveryTracker {
        let member = Member { came: vec![(0, 0); users], ..Member::default() };
        DeliveryTracker {
            users,
            members: vec![member; members],
            overtaken: HashMap::new(),
            counts: Deliveries::none(),
        }
    }

    /// Nothing is awaited any more.
    pub fn is_settled(&self) -> bool {
        self.counts.lost() == 0
    }

    /// The users of a user's room.
    pub fn room_of(&self, at: usize) -> std::ops::Range<usize> {
        let first = at / self.users * self.users;
        first..(first + self.users).min(self.members.len())
    }

    /// The other users of a user's room who have joined it.
    fn others(&self, at: usize) -> impl Iterator<Item = usize> + use<'_> {
        self.room_of(at).filter(move |other| *other != at && self.members[*other].is_in)
    }

    /// A user is in its room; so many messages were said on its connection before.
    pub fn join(&mut self, at: usize, generation: u32, said: u64) {
        let member = &mut self.members[at];
        (member.is_in, member.generation, member.said) = (true, generation, said);
        let place = at % self.users;
        for other in self.room_of(at) {
            let said_by_other = self.members[other].said;
            self.members[at].came[other % self.users] = (said_by_other, said_by_other);
            self.members[other].came[place] = (said, said);
        }
    }

    /// Whether a delivery may still come.
    pub fn is_awaited(&self, receiver: usize, sender: usize, number: u64) -> bool {
        self.members[receiver].is_in
            && (self.members[receiver].came[sender % self.users].0 < number
                || self.overtaken.get(&(receiver, sender)).is_some_and(|numbers| numbers.contains(&number)))
    }

    /// The connection of a user ended.
    pub fn leave(&mut self, at: usize) {
        // A connection of an earlier run with more users belongs to no member.
        if !self.members.get(at).is_some_and(|member| member.is_in) {
            return;
        }
        for other in self.others(at).collect::<Vec<_>>() {
            self.cut_off(at, other);
            self.cut_off(other, at);
        }
        self.members[at].is_in = false;
    }

    fn cut_off(&mut self, receiver: usize, sender: usize) {
        let said = self.members[sender].said;
        let came = &mut self.members[receiver].came[sender % self.users];
        let overtaken = self.overtaken.remove(&(receiver, sender)).map_or(0, |numbers| numbers.len() as u64);
        self.counts.cut_off += said - came.0 + overtaken;
        *came = (said, said);
    }

    /// A user says something; its number, and to how many it is due.
    pub fn say(&mut self, at: usize) -> (u64, u32) {
        let due = self.others(at).count();
        self.counts.sent += 1;
        self.counts.due += due as u64;
        self.members[at].said += 1;
        (self.members[at].said, due as u32)
    }

    /// Something came.
    pub fn deliver(&mut self, receiver: usize, sender: usize, generation: u32, number: u64) -> DeliveryState {
        if !self.room_of(receiver).contains(&sender) || sender == receiver {
            return DeliveryState::Invented;
        }
        let Member { is_in, generation: now, said, .. } = self.members[sender];
        if !is_in || generation != now {
            return DeliveryState::NotDue;
        }
        if said < number {
            return DeliveryState::Invented;
        }
        let (came, not_due) = &mut self.members[receiver].came[sender % self.users];
        if number <= *not_due {
            return DeliveryState::NotDue;
        }
        if *came < number {
            if *came + 1 < number {
                self.overtaken.entry((receiver, sender)).or_default().extend(*came + 1..number);
            }
            *came = number;
        } else if self.overtaken.get_mut(&(receiver, sender)).is_some_and(|numbers| numbers.remove(&number)) {
            self.counts.out_of_order += 1;
        } else {
            self.counts.duplicated += 1;
            return DeliveryState::Again;
        }
        self.counts.delivered += 1;
        DeliveryState::Due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A room of three who are in.
    fn room() -> DeliveryTracker {
        let mut tracker = DeliveryTracker::new(6, 3);
        (3..6).for_each(|at| tracker.join(at, 1, 0));
        tracker
    }

    /// The first user says so much.
    fn say(tracker: &mut DeliveryTracker, messages: usize) {
        for _ in 0..messages {
            tracker.say(3);
        }
    }

    fn counted(tracker: &DeliveryTracker) -> [u64; 6] {
        let Deliveries { due, delivered, duplicated, out_of_order, cut_off, .. } = tracker.counts;
        [due, delivered, tracker.counts.lost(), duplicated, out_of_order, cut_off]
    }

    #[test]
    fn what_comes_once_and_in_order_is_right() {
        let mut tracker = room();
        assert_eq!([tracker.say(3), tracker.say(3), tracker.say(4)], [(1, 2), (2, 2), (1, 2)]);
        for (receiver, sender, number) in [(4, 3, 1), (5, 4, 1), (5, 3, 1), (4, 3, 2), (3, 4, 1), (5, 3, 2)] {
            assert!(tracker.is_awaited(receiver, sender, number));
            assert_eq!(tracker.deliver(receiver, sender, 1, number), DeliveryState::Due);
            assert!(!tracker.is_awaited(receiver, sender, number));
        }
        assert_eq!((counted(&tracker), tracker.counts.wrong()), ([6, 6, 0, 0, 0, 0], None));
    }

    #[test]
    fn loss_duplication_and_reordering_are_told_apart() {
        let mut tracker = room();
        say(&mut tracker, 4);
        let verdicts = [1, 1, 3, 2, 2].map(|number| tracker.deliver(4, 3, 1, number));
        use DeliveryState::{Again, Due};
        assert_eq!(verdicts, [Due, Again, Due, Due, Again]);
        assert!((1..=3).all(|number| tracker.deliver(5, 3, 1, number) == Due));
        assert_eq!(counted(&tracker), [8, 6, 2, 2, 1, 0]);
        let wrong = "of 8 due deliveries 2 were lost, 2 came twice, 1 were out of order";
        assert_eq!(tracker.counts.wrong().as_deref(), Some(wrong));
    }

    #[test]
    fn what_an_ended_connection_leaves_open_is_not_lost() {
        let mut tracker = room();
        say(&mut tracker, 3);
        let _ = tracker.say(4);
        assert_eq!(tracker.deliver(4, 3, 1, 2), DeliveryState::Due);
        // Due to it: 1 and 3 of the first. Due from it: one to each other.
        tracker.leave(4);
        assert_eq!(counted(&tracker), [8, 1, 3, 0, 0, 4]);
        assert_eq!(tracker.deliver(5, 4, 1, 1), DeliveryState::NotDue);
        assert_eq!(tracker.say(3), (4, 1));
        // It comes back: what was said before is not due to it, and its own numbers begin anew.
        tracker.join(4, 2, 0);
        assert_eq!([tracker.deliver(4, 3, 1, 4), tracker.deliver(5, 4, 1, 1)], [DeliveryState::NotDue; 2]);
        assert_eq!([tracker.say(3), tracker.say(4)], [(5, 2), (1, 2)]);
        assert_eq!([tracker.deliver(4, 3, 1, 5), tracker.deliver(5, 4, 2, 1)], [DeliveryState::Due; 2]);
        tracker.leave(99);
    }

    #[test]
    fn what_nobody_said_is_invented() {
        let mut tracker = room();
        say(&mut tracker, 1);
        for (receiver, sender, number) in [(4, 3, 2), (3, 3, 1), (4, 1, 1), (4, 99, 1)] {
            assert_eq!(
                tracker.deliver(receiver, sender, 1, number),
                DeliveryState::Invented,
                "{sender} {number}"
            );
        }
    }
}
