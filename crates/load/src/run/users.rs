//! Which user the next request is of, what it does, and when it is free again.

use super::slots::Active;
use crate::generator::Generator;
use crate::idle::{Idle, Taken};
use crate::request::Request;
use crate::schedule::{Schedule, Waiting};
use assay_scenario::Drawn;

/// The users of a load.
pub(super) struct Users {
    /// Of an open loop.
    idle: Option<Idle>,
    /// What all users think after each answer, where the load sets it.
    think_ns: Option<u64>,
    /// Values of the request that is being made.
    drawn: Drawn,
}

/// The operation of a request.
pub(super) struct Chosen {
    /// The one that was drawn.
    pub drawn: usize,
    /// The one that runs: the drawn one, or one that it requires.
    pub operation: usize,
    /// A file of rows that were all used before this request: it cannot be sent.
    pub used_up: Option<usize>,
}

impl Users {
    /// `idle` are those of an open loop.
    pub fn new(idle: Option<Idle>, think_ns: Option<u64>) -> Users {
        Users { idle, think_ns, drawn: Drawn::default() }
    }

    /// The next request that has a user, and since when it could have been sent; absent while too many users have one under way.
    pub fn take(&mut self, generator: &mut Generator, schedule: &mut Schedule, now_ns: u64) -> Option<Taken> {
        match &mut self.idle {
            Some(idle) => idle.take(generator, schedule, now_ns),
            None => schedule.take().map(|waiting| (waiting, waiting.user.unwrap_or(0) as usize, 0)),
        }
    }

    /// A request that was taken found no connection after all.
    pub fn put_back(&mut self, taken: Taken, schedule: &mut Schedule, generator: &Generator) {
        match &mut self.idle {
            Some(idle) => idle.put_back(taken, generator.sessions[taken.1].kind),
            None => schedule.put_back(taken.0),
        }
    }

    /// The kind of a user who is to be added, since requests wait.
    pub fn wanted(&mut self) -> Option<usize> {
        self.idle.as_mut()?.wanted()
    }

    /// A request that found no user, which is given up.
    pub fn give_up(&mut self) -> Option<Waiting> {
        self.idle.as_mut()?.give_up()
    }

    /// Chooses what a session does next, and writes its request.
    pub fn write_request(
        &mut self,
        generator: &mut Generator,
        session: usize,
        request: &mut Request,
    ) -> Chosen {
        let Generator { config, endpoint, sessions, decks, .. } = generator;
        let user = &mut sessions[session];
        let (drawn, number) = user.next_operation(&config.scenario, &mut decks[user.kind]);
        let operation = &config.scenario.operations[number];
        user.write_request(&config.scenario, operation, &endpoint.base, &mut self.drawn, request);
        Chosen { drawn, operation: number, used_up: self.drawn.used_up() }
    }

    /// The request of a user is finished; returns when the user is ready for the next one, after thinking and at least `rest_ns`. Absent
    /// where its session is to begin again before that.
    pub fn finished(
        &mut self,
        active: &Active,
        generator: &mut Generator,
        (done_ns, rest_ns): (u64, u64),
    ) -> Option<u64> {
        let Generator { config, sessions, .. } = generator;
        let user = &mut sessions[active.session];
        if user.is_to_start(&config.scenario) {
            if let Some(idle) = &mut self.idle {
                idle.leave(user.kind, done_ns);
            }
            return None;
        }
        let operation = &config.scenario.operations[active.operation];
        let think_ns = self.think_ns.unwrap_or_else(|| user.think_ns(operation));
        let ready_ns = done_ns.saturating_add(think_ns.max(rest_ns));
        if let Some(idle) = &mut self.idle {
            idle.put(active.session, user.kind, (done_ns, ready_ns));
        }
        Some(ready_ns)
    }

    /// The session of a user has begun.
    pub fn join(&mut self, session: usize, schedule: &mut Schedule, generator: &Generator, now_ns: u64) {
        match &mut self.idle {
            Some(idle) => idle.join(session, generator.sessions[session].kind, now_ns),
            None => schedule.ready(session as u32, now_ns),
        }
    }

    /// A request of a session was not sent.
    pub fn give_back(&mut self, session: usize, generator: &Generator, now_ns: u64) {
        if let Some(idle) = &mut self.idle {
            idle.put(session, generator.sessions[session].kind, (now_ns, now_ns));
        }
    }

    /// The next request need not wait for the end of another.
    pub fn have_room(&self) -> bool {
        self.idle.as_ref().is_none_or(Idle::has_room)
    }

    /// When a user has thought for whom a request may wait.
    pub fn next_ready_ns(&self) -> Option<u64> {
        self.idle.as_ref()?.next_ns()
    }
}
