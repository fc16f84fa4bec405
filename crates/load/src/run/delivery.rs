//! Messages that are delivered on other connections: a message is answered when all who should have it do.

use super::Run;
use crate::clock;
use crate::ledger::Verdict;
use crate::protocol::Failure;

impl Run<'_> {
    /// A message came.
    pub(super) fn delivered(&mut self, at: usize, sender: usize, generation: u32, number: u64) {
        let Some(ledger) = &mut self.ledger else { return };
        match ledger.deliver(at, sender, generation, number) {
            Verdict::Due => (),
            Verdict::NotDue | Verdict::Again => return,
            Verdict::Invented => {
                let what = format!("a delivery of message {number} of user {sender}, who did not say it");
                return self.broken(at, &Failure::Protocol(what.into()));
            }
        }
        let now_ns = clock::monotonic_ns();
        if (self.start_ns..self.end_ns).contains(&now_ns) {
            ledger.counts.within += 1;
        }
        let Some(slot) = self.slot_of(sender, number) else { return };
        if let Some(active) = &self.slots[slot].active
            && self.start_ns <= active.waiting.intended_ns
        {
            let ns = now_ns.saturating_sub(active.waiting.intended_ns);
            self.ledger.iter_mut().for_each(|ledger| ledger.counts.times.saturating_record(ns));
        }
        self.one_less(slot, now_ns);
    }

    /// The slot whose message has this number.
    fn slot_of(&self, sender: usize, number: u64) -> Option<usize> {
        let is_it = |slot: &usize| {
            self.slots[*slot].active.as_ref().is_some_and(|active| active.is_put && active.number == number)
        };
        self.slots_of(sender).find(is_it)
    }

    /// One delivery less is due.
    fn one_less(&mut self, slot: usize, now_ns: u64) {
        let Some(active) = &mut self.slots[slot].active else { return };
        active.due = active.due.saturating_sub(1);
        if active.due == 0 {
            self.answered(slot, true, now_ns);
        }
    }

    /// Closes a connection. What others said is no longer due to its user.
    pub(super) fn close(&mut self, at: usize) {
        self.generator.connections[at].close();
        self.withheld.changed = true;
        let Some(ledger) = &mut self.ledger else { return };
        let others = ledger.room_of(at).filter(|other| *other != at);
        let slots = others.flat_map(|other| other * self.streams..(other + 1) * self.streams);
        let is_due = |slot: &usize| {
            let active = self.slots[*slot].active.as_ref().filter(|active| active.is_put);
            active.is_some_and(|active| ledger.is_awaited(at, slot / self.streams, active.number))
        };
        let freed: Vec<usize> = slots.filter(is_due).collect();
        ledger.leave(at);
        let now_ns = clock::monotonic_ns();
        freed.into_iter().for_each(|slot| self.one_less(slot, now_ns));
    }
}
