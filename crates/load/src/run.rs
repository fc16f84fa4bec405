//! One stretch of load as it happens: hands requests to connections, takes answers, checks and records them.
//!
//! Why not a library's client: of hyper 1.12 (HTTP/1 connections on tokio's current-thread runtime) and this one, in
//! turn against `examples/trivial_server` on 50 connections (`benches/peers`, median of 7 rounds, two shared
//! cores), hyper sent 131,668 requests per CPU second (125,136 to 144,904), this one 256,378 (232,490 to 307,609),
//! wrk 4.1 199,194 (156,329 to 229,510). hyper also allocates for each request, and tokio's timers count
//! milliseconds. On a small machine each CPU second of the generator is taken from the server.

use crate::checked::checked;
use crate::connection::{Failure, State};
use crate::generator::{Generator, token};
use crate::idle::Idle;
use crate::interval_log::IntervalLogs;
use crate::law::{Load, Progress, Span};
use crate::measured::{ErrorKind, Measured};
use crate::poll::Ready;
use crate::recorder::{Recorder, RequestTimes};
use crate::redirect::REDIRECTS_MAX;
use crate::schedule::{OverBound, Schedule, Waiting};
use crate::session::Drawn;
use crate::tally::Tally;
use crate::window::WindowRecorder;
use crate::{LoadError, clock, priority};
use assay_model::Problem;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MS: u64 = 1_000_000;
/// How often progress is told and the stop flag looked at.
const PROGRESS_NS: u64 = 250 * MS;
/// How long a connection that was refused rests, so that a dead server does not make a storm of attempts.
const REST_NS: u64 = 100 * MS;
/// How long a stretch that was stopped is drained.
const STOPPED_DRAIN_NS: u64 = 1_000 * MS;
const READ_BUFFER_BYTES: usize = 64 << 10;
const NEVER_NS: u64 = u64::MAX;

/// A request on a connection.
struct Active {
    waiting: Waiting,
    session: usize,
    operation: usize,
    sendable_ns: u64,
    sent_ns: Option<u64>,
    deadline_ns: u64,
    sent_again: bool,
    redirects: u8,
}

/// Something that is free, since when.
type Free = (usize, u64);

pub(crate) struct Run<'a> {
    generator: &'a mut Generator,
    schedule: Schedule,
    recorder: Recorder,
    tally: Tally,
    window: WindowRecorder,
    /// When the load begins.
    begun_ns: u64,
    /// When recording does.
    start_ns: u64,
    end_ns: u64,
    drain_end_ns: u64,
    stopped: bool,
    active: Vec<Option<Active>>,
    free_connections: VecDeque<Free>,
    /// Of an open loop.
    idle: Idle,
    /// What all users think after each answer, where the load says that.
    think_ns: Option<u64>,
    /// Connections that were refused, with the end of their rest.
    resting: VecDeque<(u64, usize)>,
    /// No request's time limit ends before this.
    deadline_floor_ns: u64,
    next_progress_ns: u64,
    drawn: Drawn,
    buffer: Box<[u8]>,
}

impl<'a> Run<'a> {
    pub fn new(
        generator: &'a mut Generator,
        schedule: Schedule,
        connections: usize,
        span: Span,
        logs: Option<IntervalLogs>,
        window: WindowRecorder,
        tally: Tally,
    ) -> Self {
        let scenario = &generator.config.scenario;
        let timeout_ns = scenario.operations.iter().map(|operation| operation.timeout_ns).max().unwrap_or(0);
        let Span { begun_ns, start_ns, end_ns } = span;
        let think = match tally.measured().load {
            Load::Closed { think, .. } => think,
            Load::Open { .. } => None,
        };
        let idle = Idle::new(generator, tally.measured().seed, begun_ns);
        Run {
            schedule,
            recorder: Recorder::new(start_ns, logs),
            tally,
            window,
            begun_ns,
            start_ns,
            end_ns,
            drain_end_ns: end_ns.saturating_add(timeout_ns),
            stopped: false,
            active: generator.connections.iter().map(|_| None).collect(),
            free_connections: (0..connections).map(|at| (at, begun_ns)).collect(),
            idle,
            think_ns: think.map(|time| time.as_nanos() as u64),
            resting: VecDeque::new(),
            deadline_floor_ns: NEVER_NS,
            next_progress_ns: begun_ns + PROGRESS_NS,
            drawn: Drawn::default(),
            buffer: vec![0; READ_BUFFER_BYTES].into(),
            generator,
        }
    }

    /// Runs stretch and drain.
    pub fn execute(
        mut self,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let (priority, _raised) = priority::raise();
        let cpu_start_ns = clock::thread_cpu_ns();
        let mut ready = Vec::new();
        loop {
            let now_ns = clock::monotonic_ns();
            self.tick(now_ns, stop, on_progress);
            self.send_due(now_ns);
            if now_ns >= self.drain_end_ns || (now_ns >= self.end_ns && self.schedule.is_done()) {
                break;
            }
            let until_ns = self.wake_ns(now_ns);
            let waited = self.generator.poll.wait(now_ns, until_ns, &mut ready);
            waited.map_err(|cause| LoadError::System {
                what: "wait for sockets",
                cause,
                fix: "this is unexpected; check the kernel's log",
            })?;
            for event in &ready {
                self.on_socket(*event);
            }
        }
        self.give_up_the_rest();
        let drained_ns = clock::monotonic_ns();
        let cpu_ns = clock::thread_cpu_ns().saturating_sub(cpu_start_ns);
        let recorded = self.recorder.finish(drained_ns);
        let mut measured = self.tally.into_measured();
        measured.problems.extend(recorded.log_error.map(|error| Problem::new("interval log", error)));
        Ok(Measured {
            response: recorded.response,
            service: recorded.service,
            send_lag: recorded.send_lag,
            generator_cpu_ns: cpu_ns + recorded.log_cpu_ns,
            generator_wall_ns: drained_ns.saturating_sub(self.begun_ns),
            priority: Some(priority),
            stopped: self.stopped,
            detail: self.window.into_detail(),
            ..measured
        })
    }

    /// What the clock brings: stop flag, progress, intervals, time limits, connections that have rested.
    fn tick(&mut self, now_ns: u64, stop: &AtomicBool, on_progress: &mut dyn FnMut(Progress)) {
        self.recorder.roll(now_ns);
        if now_ns >= self.next_progress_ns {
            self.next_progress_ns = now_ns + PROGRESS_NS;
            let so_far = self.tally.measured();
            on_progress(Progress {
                elapsed: Duration::from_nanos(now_ns - self.begun_ns),
                requests: so_far.requests,
                completed: so_far.completed,
                errors: so_far.errors(),
                in_flight: self.schedule.in_flight(),
            });
        }
        if !self.stopped && stop.load(Ordering::Relaxed) && now_ns < self.drain_end_ns {
            self.stopped = now_ns < self.end_ns;
            self.end_ns = self.end_ns.min(now_ns);
            self.drain_end_ns = self.drain_end_ns.min(now_ns + STOPPED_DRAIN_NS);
            self.schedule.end_at(self.end_ns);
            self.tally.end_at(self.end_ns);
        }
        while let Some((until_ns, at)) = self.resting.front().copied()
            && until_ns <= now_ns
        {
            self.resting.pop_front();
            self.free_connections.push_back((at, now_ns));
        }
        if self.deadline_floor_ns <= now_ns {
            self.time_out(now_ns);
        }
    }

    fn wake_ns(&self, now_ns: u64) -> u64 {
        let end_ns = if now_ns < self.end_ns { self.end_ns } else { self.drain_end_ns };
        [
            self.schedule.next_due_ns(),
            self.recorder.next_roll_ns(),
            self.resting.front().map(|(until_ns, _)| *until_ns),
        ]
        .into_iter()
        .flatten()
        .fold(end_ns.min(self.deadline_floor_ns).min(self.next_progress_ns), u64::min)
    }

    /// Lets in what is due and sends what finds a connection and a session.
    fn send_due(&mut self, now_ns: u64) {
        self.schedule.admit(now_ns);
        while !self.free_connections.is_empty() {
            let Some(waiting) = self.schedule.take() else { break };
            let session = match waiting.user {
                Some(user) => Some((user as usize, 0)),
                None => self.idle.take(self.generator, now_ns),
            };
            let Some((session, session_free_ns)) = session else {
                self.schedule.put_back(waiting);
                break;
            };
            let Some((at, free_ns)) = self.free_connections.pop_front() else { break };
            let sendable_ns = waiting.sendable_ns(session_free_ns.max(free_ns));
            self.start(at, waiting, session, sendable_ns, now_ns);
        }
    }

    fn start(&mut self, at: usize, waiting: Waiting, session: usize, sendable_ns: u64, now_ns: u64) {
        let Generator { config, base, connections, sessions, .. } = &mut *self.generator;
        let user = &mut sessions[session];
        let (drawn, number) = user.next_operation(&config.scenario);
        let operation = &config.scenario.operations[number];
        let connection = &mut connections[at];
        let place = (base.authority.as_str(), base.prefix.as_str());
        user.write_request(&config.scenario, operation, place, &mut self.drawn, connection.begin_request());
        connection.reader.begin(operation.method != "HEAD", operation.keeps_body());
        let deadline_ns = now_ns.saturating_add(operation.timeout_ns);
        self.deadline_floor_ns = self.deadline_floor_ns.min(deadline_ns);
        if self.start_ns <= waiting.intended_ns {
            self.window.sent(&waiting);
            self.tally.drew(drawn);
        }
        self.active[at] = Some(Active {
            waiting,
            session,
            operation: number,
            sendable_ns,
            sent_ns: None,
            deadline_ns,
            sent_again: false,
            redirects: 0,
        });
        self.send(at);
    }

    /// Sends the request of a connection, which is opened first if it is not.
    fn send(&mut self, at: usize) {
        let connection = &mut self.generator.connections[at];
        if connection.state() == State::Closed {
            let opened = connection.open(&self.generator.address).and_then(|()| self.generator.watch(at));
            if let Err(error) = opened {
                return self.not_connected(at, &error);
            }
        }
        let connection = &mut self.generator.connections[at];
        if connection.state() != State::Open {
            return;
        }
        if let Some(active) = &mut self.active[at] {
            active.sent_ns.get_or_insert_with(clock::monotonic_ns);
        }
        if let Err(error) = connection.write() {
            self.broken(at, &error.into());
        }
    }

    fn on_socket(&mut self, event: Ready) {
        let at = (event.token & u64::from(u32::MAX)) as usize;
        let Some(connection) = self.generator.connections.get_mut(at) else { return };
        if token(at, connection.generation) != event.token {
            return;
        }
        match (connection.state(), self.active[at].is_some()) {
            (State::Closed, _) => (),
            (State::Connecting, _) => match connection.connected() {
                Ok(true) => {
                    if let Some(active) = &mut self.active[at] {
                        active.sendable_ns = active.waiting.sendable_ns(clock::monotonic_ns());
                    }
                    self.send(at);
                }
                Ok(false) => (),
                Err(error) => self.not_connected(at, &error),
            },
            (State::Open, false) => {
                if !connection.is_alive() {
                    connection.close();
                }
            }
            (State::Open, true) => self.exchange(at, event.hung_up),
        }
    }

    /// Goes on with writing the request and reading the answer.
    fn exchange(&mut self, at: usize, hung_up: bool) {
        let connection = &mut self.generator.connections[at];
        if !connection.is_written()
            && let Err(error) = connection.write()
        {
            return self.broken(at, &error.into());
        }
        match connection.read(&mut self.buffer, hung_up) {
            Ok(None) => (),
            // A hang-up that came with the answer is not told again, so it must be heeded now.
            Ok(Some(keep_alive)) => self.answered(at, keep_alive && !hung_up),
            Err(failure) => self.broken(at, &failure),
        }
    }

    fn answered(&mut self, at: usize, keep_alive: bool) {
        let done_ns = clock::monotonic_ns();
        let Some(mut active) = self.active[at].take() else { return };
        let Generator { config, base, connections, sessions, .. } = &mut *self.generator;
        let (scenario, connection) = (&config.scenario, &mut connections[at]);
        let operation = &scenario.operations[active.operation];
        let session = &mut sessions[active.session];
        connection.reader.set_cookies().for_each(|cookie| session.set_cookie(cookie));
        connection.answered += 1;
        if operation.follow_redirects
            && active.redirects < REDIRECTS_MAX
            && connection.follow(&base.authority, session.cookies(), operation.keeps_body())
        {
            if !keep_alive {
                connection.close();
            }
            active.redirects += 1;
            self.active[at] = Some(active);
            return self.send(at);
        }
        let intended_ns = active.waiting.intended_ns;
        let is_right = match checked(operation, connection) {
            Ok(()) => {
                session.extract(scenario, operation, connection.reader.body());
                self.tally.answered(active.operation, intended_ns, done_ns);
                true
            }
            Err((kind, detail)) => {
                self.tally.failed(Some(active.operation), intended_ns, kind, detail);
                false
            }
        };
        if operation.restarts_session {
            session.restart();
        }
        // A request that is not whole when its answer is would be mistaken for the start of the next one.
        if !keep_alive || !connection.is_written() {
            connection.close();
        }
        self.free_connections.push_back((at, done_ns));
        self.finish(&active, done_ns, is_right);
        self.send_due(done_ns);
    }

    fn not_connected(&mut self, at: usize, error: &std::io::Error) {
        let now_ns = clock::monotonic_ns();
        self.fail(at, ErrorKind::Connect, now_ns, || error.to_string());
        self.resting.push_back((now_ns + REST_NS, at));
    }

    /// The connection broke. A server may have closed one that was kept alive just when the request was sent; RFC 9110 section 9.2.2
    /// allows to send an idempotent request again then, once. One that is reset was not just idle for too long.
    fn broken(&mut self, at: usize, failure: &Failure) {
        let connection = &mut self.generator.connections[at];
        let was_idle = connection.answered > 0 && !connection.reader.has_begun() && failure.is_orderly();
        if let Some(active) = &mut self.active[at] {
            let operation = &self.generator.config.scenario.operations[active.operation];
            if was_idle && operation.is_idempotent() && !active.sent_again {
                active.sent_again = true;
                self.tally.sent_again(active.waiting.intended_ns);
                connection.close();
                connection.rewind();
                return self.send(at);
            }
        }
        let now_ns = clock::monotonic_ns();
        self.fail(at, ErrorKind::Broken, now_ns, || failure.to_string());
        self.free_connections.push_back((at, now_ns));
    }

    /// Fails requests whose time limit has passed.
    fn time_out(&mut self, now_ns: u64) {
        let mut floor_ns = NEVER_NS;
        for at in 0..self.active.len() {
            let Some(active) = &self.active[at] else { continue };
            if active.deadline_ns > now_ns {
                floor_ns = floor_ns.min(active.deadline_ns);
                continue;
            }
            let limit_ms = self.generator.config.scenario.operations[active.operation].timeout_ns / MS;
            self.fail(at, ErrorKind::Timeout, now_ns, || format!("no whole answer within {limit_ms} ms"));
            self.free_connections.push_back((at, now_ns));
        }
        self.deadline_floor_ns = floor_ns;
    }

    /// Fails the request of a connection and closes it.
    fn fail(&mut self, at: usize, kind: ErrorKind, now_ns: u64, detail: impl FnOnce() -> String) {
        self.generator.connections[at].close();
        let Some(active) = self.active[at].take() else { return };
        self.tally.failed(Some(active.operation), active.waiting.intended_ns, kind, detail);
        if self.generator.config.scenario.operations[active.operation].restarts_session {
            self.generator.sessions[active.session].restart();
        }
        self.finish(&active, now_ns, false);
    }

    /// Records a finished request and frees its user.
    fn finish(&mut self, active: &Active, done_ns: u64, is_right: bool) {
        let times = RequestTimes {
            intended_ns: active.waiting.intended_ns,
            sendable_ns: active.sendable_ns,
            sent_ns: active.sent_ns,
            done_ns,
        };
        self.books().enter(Some(active.operation), &times, is_right);
        let Generator { config, sessions, .. } = &mut *self.generator;
        let user = &mut sessions[active.session];
        let operation = &config.scenario.operations[active.operation];
        let think_ns = self.think_ns.unwrap_or_else(|| user.think_ns(operation));
        let ready_ns = done_ns.saturating_add(think_ns);
        if active.waiting.user.is_none() {
            self.idle.put(active.session, user.kind, (done_ns, ready_ns));
        }
        self.leave(active.waiting.user, done_ns, ready_ns);
    }

    fn books(&mut self) -> Books<'_> {
        Books { recorder: &mut self.recorder, window: &mut self.window, start_ns: self.start_ns }
    }

    /// Takes a request out of those in flight, and records what the bound kept out until now.
    fn leave(&mut self, user: Option<u32>, done_ns: u64, ready_ns: u64) {
        let Run { schedule, recorder, window, tally, start_ns, .. } = self;
        let mut books = Books { recorder, window, start_ns: *start_ns };
        schedule.finish(done_ns, user, ready_ns, |OverBound { intended_ns, until_ns }| {
            let times = RequestTimes { intended_ns, sendable_ns: until_ns, sent_ns: None, done_ns: until_ns };
            books.enter(None, &times, false);
            tally.failed(None, intended_ns, ErrorKind::OverBound, || {
                "too many requests in flight already".to_owned()
            });
        });
    }

    /// Fails what draining could not wait for.
    fn give_up_the_rest(&mut self) {
        let now_ns = clock::monotonic_ns();
        let why = || "not answered by the end of draining".to_owned();
        for at in 0..self.active.len() {
            if self.active[at].is_some() {
                self.fail(at, ErrorKind::Timeout, now_ns, why);
            }
        }
        while let Some(Waiting { intended_ns, user, .. }) = self.schedule.take() {
            self.tally.failed(None, intended_ns, ErrorKind::Timeout, why);
            let times = RequestTimes { intended_ns, sendable_ns: now_ns, sent_ns: None, done_ns: now_ns };
            self.books().enter(None, &times, false);
            self.leave(user, now_ns, now_ns);
        }
    }
}

/// Where a finished request is entered, if it belongs to what is recorded.
struct Books<'a> {
    recorder: &'a mut Recorder,
    window: &'a mut WindowRecorder,
    start_ns: u64,
}

impl Books<'_> {
    fn enter(&mut self, operation: Option<usize>, times: &RequestTimes, is_right: bool) {
        if times.intended_ns < self.start_ns {
            return;
        }
        self.recorder.record(times);
        self.window.ended(operation, times, is_right);
    }
}
