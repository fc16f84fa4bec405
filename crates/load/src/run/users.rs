//! Which user the next request is of, what it does, and when it is free again.

use super::slots::Active;
use crate::generator::Generator;
use crate::idle::Idle;
use crate::request::Request;
use crate::schedule::Waiting;
use assay_scenario::Drawn;

/// The users of a load.
pub(super) struct Users {
    /// Of an open loop.
    idle: Idle,
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
    pub fn new(idle: Idle, think_ns: Option<u64>) -> Users {
        Users { idle, think_ns, drawn: Drawn::default() }
    }

    /// The session of a request, and since when it is free; absent while too many users have a request under way.
    pub fn session_for(
        &mut self,
        waiting: &Waiting,
        generator: &mut Generator,
        now_ns: u64,
    ) -> Option<(usize, u64)> {
        match waiting.user {
            Some(user) => Some((user as usize, 0)),
            None => self.idle.take(generator, now_ns),
        }
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

    /// The request of a user is finished; returns when the user is ready for the next one, after thinking and at least `rest_ns`.
    pub fn finished(
        &mut self,
        active: &Active,
        generator: &mut Generator,
        (done_ns, rest_ns): (u64, u64),
    ) -> u64 {
        let Generator { config, sessions, .. } = generator;
        let user = &mut sessions[active.session];
        let operation = &config.scenario.operations[active.operation];
        let think_ns = self.think_ns.unwrap_or_else(|| user.think_ns(operation));
        let ready_ns = done_ns.saturating_add(think_ns.max(rest_ns));
        if active.waiting.user.is_none() {
            self.idle.put(active.session, user.kind, (done_ns, ready_ns));
        }
        ready_ns
    }

    /// A request of a session was not sent.
    pub fn give_back(&mut self, waiting: &Waiting, session: usize, generator: &Generator, now_ns: u64) {
        if waiting.user.is_none() {
            self.idle.put(session, generator.sessions[session].kind, (now_ns, now_ns));
        }
    }

    /// The next request need not wait for the end of another.
    pub fn have_room(&self) -> bool {
        self.idle.has_room()
    }

    /// When a user has thought for whom a request may wait.
    pub fn next_ready_ns(&self) -> Option<u64> {
        self.idle.next_ns()
    }
}
