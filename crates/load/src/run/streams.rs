//! Answers that are streams of server-sent events: when each event came.

use super::LoadRun;
use super::slots::Active;
use crate::breakdown::EventsCame;
use crate::protocol::Answer;

impl LoadRun<'_> {
    /// Events of the answer of a slot came at this time, and it awaits more.
    pub(super) fn streamed(&mut self, slot: usize, came_ns: u64) {
        let (at, stream) = self.slots.address(slot);
        let LoadRun { generator, slots, results, .. } = self;
        if let Some(active) = slots.active_mut(slot) {
            let operation = active.operation;
            let came = events_of(active, generator.connections[at].answer(stream), came_ns);
            let intended_ns = active.waiting.intended_ns;
            came.into_iter().for_each(|came| results.tally.streamed(operation, intended_ns, came));
        }
    }
}

/// Events of the answer to a request that came now.
pub(super) fn events_of(active: &mut Active, answer: &Answer, came_ns: u64) -> Option<EventsCame> {
    let (_, count) = answer.events.counts()?;
    let came = active.streamed.reached(count, active.waiting.intended_ns, came_ns);
    came.filter(|_| !active.is_of_start)
}
