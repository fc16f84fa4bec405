//! One stretch of load as it happens: hands requests to the streams of connections, takes answers, checks and records them.
//!
//! Why not a library's client: of hyper 1.12 (HTTP/1 connections on tokio's current-thread runtime) and this one, in
//! turn against `examples/trivial_server` on 50 connections (`benches/peers`, median of 7 rounds, two shared
//! cores), hyper sent 131,668 requests per CPU second (125,136 to 144,904), this one 256,378 (232,490 to 307,609),
//! wrk 4.1 199,194 (156,329 to 229,510). hyper also allocates for each request, and tokio's timers count
//! milliseconds. On a small machine each CPU second of the generator is taken from the server.

mod delivery;
mod doze;
mod ending;
mod sleep;
mod sockets;
mod streams;
mod withheld;

use crate::connection::{Buffer, State};
use crate::free::Free;
use crate::generator::Generator;
use crate::idle::Idle;
use crate::interval_log::IntervalLogs;
use crate::law::{Load, Progress, Span};
use crate::ledger::Ledger;
use crate::measured::Measured;
use crate::recorder::Recorder;
use crate::request::Request;
use crate::schedule::{Schedule, Waiting};
use crate::tally::Tally;
use crate::tls::Handshakes;
use crate::window::WindowRecorder;
use crate::{LoadError, clock, priority};
use assay_model::Problem;
use assay_scenario::Drawn;
use doze::Doze;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use withheld::Withheld;

const MS: u64 = 1_000_000;
/// How often progress is told and the stop flag looked at.
const PROGRESS_NS: u64 = 250 * MS;
/// How long a connection that was refused rests, so that a dead server does not make a storm of attempts.
const REST_NS: u64 = 100 * MS;
/// How long a stretch that was stopped is drained.
const STOPPED_DRAIN_NS: u64 = 1_000 * MS;
const NEVER_NS: u64 = u64::MAX;

/// A stream of a connection. Its number is that of the connection times the streams of each, and that of the stream.
#[derive(Default)]
struct Slot {
    /// Lives on between requests, for its buffers.
    request: Request,
    active: Option<Active>,
}

/// A request that is under way.
struct Active {
    waiting: Waiting,
    session: usize,
    operation: usize,
    sendable_ns: u64,
    sent_ns: Option<u64>,
    /// It was put on the connection that is open now.
    is_put: bool,
    /// The server did not allow it on its connection yet.
    is_held: bool,
    deadline_ns: u64,
    sent_again: bool,
    /// How often the server said that it did nothing with it.
    taken_back: u8,
    redirects: u8,
    /// Of a message that is delivered on other connections: its number, and the deliveries that are still due.
    number: u64,
    due: u32,
}

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
    /// Streams of each connection.
    streams: usize,
    slots: Vec<Slot>,
    free: Free,
    withheld: Withheld,
    /// Of messages that are delivered on other connections.
    ledger: Option<Ledger>,
    /// Of an open loop.
    idle: Idle,
    /// What all users think after each answer, where the load says that.
    think_ns: Option<u64>,
    /// Slots of connections that were refused, with the end of their rest.
    resting: VecDeque<(u64, usize)>,
    /// No request's time limit ends before this.
    deadline_floor_ns: u64,
    next_progress_ns: u64,
    drawn: Drawn,
    doze: Doze,
    /// When the last answer was read of those after which nothing was sent yet.
    answered_ns: Option<u64>,
    buffer: Buffer,
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
        let streams = generator.endpoint.streams();
        let follows = scenario.operations.iter().any(|operation| operation.follow_redirects);
        let is_open = matches!(tally.measured().load, Load::Open { .. });
        let doze = Doze::new(is_open && !follows && generator.endpoint.is_only_answered());
        let ledger = generator.endpoint.room_users().map(|users| {
            let mut ledger = Ledger::new(connections, users);
            for (at, connection) in generator.connections[..connections].iter().enumerate() {
                if connection.state() == State::Open {
                    ledger.join(at, connection.generation, connection.sent());
                }
            }
            ledger
        });
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
            streams,
            withheld: Withheld::default(),
            free: Free::new(connections, streams, ledger.is_some(), begun_ns),
            ledger,
            slots: (0..generator.connections.len() * streams).map(|_| Slot::default()).collect(),
            idle,
            think_ns: think.map(|time| time.as_nanos() as u64),
            resting: VecDeque::new(),
            deadline_floor_ns: NEVER_NS,
            next_progress_ns: begun_ns + PROGRESS_NS,
            drawn: Drawn::default(),
            doze,
            answered_ns: None,
            buffer: Buffer::new(),
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
            let is_settled = || self.ledger.as_ref().is_none_or(Ledger::is_settled);
            let is_done = now_ns >= self.end_ns && self.schedule.is_done() && is_settled();
            if is_done || now_ns >= self.drain_end_ns {
                break;
            }
            let until_ns = self.wake_ns(now_ns);
            let dozes = self.may_doze(now_ns, until_ns);
            let waited = self.generator.poll.wait(now_ns, if dozes { now_ns } else { until_ns }, &mut ready);
            waited.map_err(unexpected)?;
            for event in &ready {
                self.on_socket(*event);
            }
            if dozes {
                self.doze().map_err(unexpected)?;
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
            deliveries: self.ledger.map(|ledger| ledger.counts),
            handshakes: std::mem::replace(&mut self.generator.handshakes, Handshakes::none()),
            spoken: std::mem::replace(&mut self.generator.spoken, self.generator.endpoint.nothing_spoken()),
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
                response_ns: self.recorder.response_so_far_ns(),
            });
        }
        if !self.stopped && stop.load(Ordering::Relaxed) && now_ns < self.drain_end_ns {
            self.stopped = now_ns < self.end_ns;
            self.end_ns = self.end_ns.min(now_ns);
            self.drain_end_ns = self.drain_end_ns.min(now_ns + STOPPED_DRAIN_NS);
            self.schedule.end_at(self.end_ns);
            self.tally.end_at(self.end_ns);
        }
        while let Some((until_ns, slot)) = self.resting.front().copied()
            && until_ns <= now_ns
        {
            self.resting.pop_front();
            self.free.put(slot, now_ns);
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
            self.idle.next_ns().filter(|_| 0 < self.schedule.waiting()),
        ]
        .into_iter()
        .flatten()
        .fold(end_ns.min(self.deadline_floor_ns).min(self.next_progress_ns), u64::min)
    }

    /// Lets in what is due and sends what finds a connection and a session.
    fn send_due(&mut self, now_ns: u64) {
        self.schedule.admit(now_ns);
        self.offer_withheld(now_ns);
        while !self.free.is_empty() {
            let Some(waiting) = self.schedule.take() else { break };
            let session = match waiting.user {
                Some(user) => Some((user as usize, 0)),
                None => self.idle.take(self.generator, now_ns),
            };
            let Some((session, session_free_ns)) = session else {
                self.schedule.put_back(waiting);
                break;
            };
            let Some((slot, free_ns)) = self.take_free(session) else {
                self.schedule.put_back(waiting);
                break;
            };
            let sendable_ns = waiting.sendable_ns(session_free_ns.max(free_ns));
            self.start(slot, waiting, session, sendable_ns, now_ns);
        }
        self.write_put();
    }

    fn start(&mut self, slot: usize, waiting: Waiting, session: usize, sendable_ns: u64, now_ns: u64) {
        let Generator { config, endpoint, sessions, decks, .. } = &mut *self.generator;
        let user = &mut sessions[session];
        let (drawn, number) = user.next_operation(&config.scenario, &mut decks[user.kind]);
        let operation = &config.scenario.operations[number];
        let request = &mut self.slots[slot].request;
        user.write_request(&config.scenario, operation, &endpoint.base.prefix, &mut self.drawn, request);
        if let Some(feed) = self.drawn.used_up() {
            return self.out_of_rows(feed, (slot, session), &waiting, now_ns);
        }
        let deadline_ns = now_ns.saturating_add(operation.timeout_ns);
        self.deadline_floor_ns = self.deadline_floor_ns.min(deadline_ns);
        if self.start_ns <= waiting.intended_ns {
            self.window.sent(&waiting);
            self.tally.drew(drawn);
        }
        self.slots[slot].active = Some(Active {
            waiting,
            session,
            operation: number,
            sendable_ns,
            sent_ns: None,
            is_put: false,
            is_held: false,
            deadline_ns,
            sent_again: false,
            taken_back: 0,
            redirects: 0,
            number: 0,
            due: 0,
        });
        self.send_with_others(slot / self.streams);
    }
}

fn unexpected(cause: io::Error) -> LoadError {
    LoadError::System { what: "wait for sockets", cause, fix: "this is unexpected; check the kernel's log" }
}
