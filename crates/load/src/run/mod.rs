//! One load as it happens: hands requests to the streams of connections, takes answers, checks and records them.
//!
//! Why not a library's client: of hyper 1.12 (HTTP/1 connections on tokio's current-thread runtime) and this one, in
//! turn against `examples/trivial_server` on 50 connections (`benches/peers`, median of 7 rounds, two shared
//! cores), hyper sent 131,668 requests per CPU second (125,136 to 144,904), this one 256,378 (232,490 to 307,609),
//! wrk 4.1 199,194 (156,329 to 229,510). hyper also allocates for each request, and tokio's timers count
//! milliseconds. On a small machine each CPU second of the generator is taken from the server.
//!
//! [`LoadRun`] is composed of parts that each own their state: when the load ends ([`timing`]), what is recorded ([`results`]), the
//! requests under way ([`slots`]), slots without one ([`free_slots`]), requests that are not written yet ([`unsent`]), whose request
//! comes next ([`users`]), users who begin their sessions outside of the figures ([`starts`]), and whether it ran all the time
//! ([`stood_still`]). Operations on several of them are here, in [`connections`] (sockets) and in [`requests`] (from the
//! answer to the record).

mod connections;
mod doze;
mod free_slots;
mod requests;
mod results;
mod slots;
mod starting;
mod starts;
mod stood_still;
mod streamed;
mod streams;
mod timing;
mod unsent;
mod users;

use crate::checked::Reused;
use crate::connection::{Buffer, State};
use crate::delivery_tracker::DeliveryTracker;
use crate::generator::{Generator, GeneratorConfig};
use crate::idle::{Idle, Taken};
use crate::interval_log::IntervalLogs;
use crate::law::{Load, Progress, Span};
use crate::measured::Measured;
use crate::poll::Events;
use crate::schedule::Schedule;
use crate::session_starts::SessionStarts;
use crate::tally::Tally;
use crate::tls::Handshakes;
use crate::window::WindowRecorder;
use crate::{LoadError, clock, priority};
use assay_model::Problem;
use doze::{AT_ONCE_NS, DOZE_NS_MIN, Doze};
use free_slots::FreeSlots;
use results::Results;
use slots::{Active, Slots};
use starts::Starts;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use stood_still::StoodStill;
use timing::Timing;
use unsent::Unsent;
use users::{Chosen, Users};

pub(crate) struct LoadRun<'a> {
    generator: &'a mut Generator,
    schedule: Schedule,
    timing: Timing,
    results: Results,
    reused: Reused,
    slots: Slots,
    free: FreeSlots,
    unsent: Unsent,
    users: Users,
    starts: Starts,
    /// Nothing else is sent than what begins sessions.
    is_of_starts: bool,
    /// Requests of the load that may still begin; absent: as many as its time allows.
    left: Option<u64>,
    /// Of messages that are delivered on other connections.
    deliveries: Option<DeliveryTracker>,
    doze: Doze,
    still: StoodStill,
    /// When the last answer was read of those after which nothing was sent yet.
    answered_ns: Option<u64>,
    buffer: Buffer,
}

impl<'a> LoadRun<'a> {
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
        let Span { begun_ns, start_ns, .. } = span;
        let (think, idle) = match tally.measured().load {
            Load::Closed { think, .. } => (think, None),
            Load::Open { .. } => (None, Some(Idle::new(generator, tally.measured().seed, begun_ns))),
        };
        let starts = Starts::new(generator.starts_per_s(), begun_ns);
        let streams = generator.endpoint.streams();
        let follows = scenario.operations.iter().any(|operation| operation.follow_redirects);
        let is_open = matches!(tally.measured().load, Load::Open { .. });
        let still = StoodStill::new(!is_open, begun_ns, (start_ns, span.end_ns));
        let doze = Doze::new(is_open && !follows && generator.endpoint.is_only_answered());
        let deliveries = generator.endpoint.room_users().map(|users| {
            let mut tracker = DeliveryTracker::new(connections, users);
            for (at, connection) in generator.connections[..connections].iter().enumerate() {
                if connection.state() == State::Open {
                    tracker.join(at, connection.generation, connection.sent());
                }
            }
            tracker
        });
        LoadRun {
            schedule,
            timing: Timing::new(span, timeout_ns),
            results: Results::new(start_ns, logs, window, tally),
            reused: Reused::default(),
            slots: Slots::new(generator.connections.len(), streams),
            free: FreeSlots::new(
                &generator.by_readiness(connections),
                streams,
                deliveries.is_some(),
                begun_ns,
            ),
            unsent: Unsent::default(),
            users: Users::new(idle, think.map(|time| time.as_nanos() as u64)),
            starts,
            is_of_starts: false,
            left: generator.requests_max,
            deliveries,
            doze,
            still,
            answered_ns: None,
            buffer: Buffer::new(),
            generator,
        }
    }

    /// Runs the load and its drain.
    pub fn execute(
        mut self,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let (priority, _raised) = priority::raise();
        let cpu_start_ns = clock::thread_cpu_ns();
        // A thread that got no processor until then has requests due already: one that is stopped before it began sends none.
        if stop.load(Ordering::Relaxed) {
            self.stop_at(self.timing.begun_ns());
        }
        self.go_until(LoadRun::is_done, stop, on_progress)?;
        self.give_up_the_rest();
        let drained_ns = clock::monotonic_ns();
        let cpu_ns = clock::thread_cpu_ns().saturating_sub(cpu_start_ns);
        self.generator.session_starts.add_all(self.starts.counts());
        let mut measured = self.results.finish(drained_ns);
        let GeneratorConfig { base_url, scenario, .. } = &self.generator.config;
        measured.problems.extend(self.reused.remarks.problems(base_url, scenario));
        let users = self.generator.sessions.len() as u64;
        measured.problems.extend(scenario.shared_rows(users).map(|(file, rows)| {
            let fix = "for a row each, give it more rows, or the load fewer users";
            Problem::new(
                format!("data {file}"),
                format!("its {rows} rows are shared by {users} users; {fix}"),
            )
        }));
        Ok(Measured {
            generator_cpu_ns: cpu_ns + measured.generator_cpu_ns,
            stood_still_ns: self.still.sum_ns(),
            generator_wall_ns: self.timing.elapsed(drained_ns).as_nanos() as u64,
            priority: Some(priority),
            deliveries: self.deliveries.map(|tracker| tracker.counts),
            handshakes: std::mem::replace(&mut self.generator.handshakes, Handshakes::none()),
            session_starts: std::mem::replace(&mut self.generator.session_starts, SessionStarts::none()),
            users: self.generator.users_of(&measured.load),
            spoken: std::mem::replace(&mut self.generator.spoken, self.generator.endpoint.nothing_spoken()),
            stopped: self.timing.is_stopped(),
            ..measured
        })
    }

    /// Begins the sessions of these users, and sends nothing else. Ends early where that is hopeless.
    pub fn begin_sessions(
        mut self,
        users: impl IntoIterator<Item = usize>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<(), LoadError> {
        self.is_of_starts = true;
        users.into_iter().for_each(|user| self.starts.add(user));
        let is_done = |run: &Self, now_ns: u64| {
            run.starts.are_done() || run.starts.are_hopeless() || run.timing.is_drained(now_ns)
        };
        self.go_until(is_done, stop, on_progress)?;
        // Those that are under way did not fail.
        let counts = self.starts.counts().clone();
        let (missing, is_stopped) = (self.starts.missing(), self.timing.is_stopped());
        self.give_up_the_rest();
        self.generator.session_starts.add_all(&counts);
        let Some(cause) = counts.failure.filter(|_| 0 < missing && !is_stopped) else { return Ok(()) };
        let scenario = &self.generator.config.scenario;
        let missed = self.reused.remarks.first_missed(scenario);
        let missed = missed.map(|(name, instead)| format!("; {name}: {instead}"));
        let missed = scenario.secrets().redacted(missed.as_deref().unwrap_or_default()).into_owned();
        Err(LoadError::SessionStart {
            begun: counts.times.len(),
            users: counts.times.len() + missing as u64,
            failed: counts.failed,
            cause: cause + &missed,
        })
    }

    /// Sends and reads until it is done.
    fn go_until(
        &mut self,
        is_done: impl Fn(&Self, u64) -> bool,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<(), LoadError> {
        let mut events = Events::new();
        loop {
            let now_ns = clock::monotonic_ns();
            self.still.round(now_ns);
            self.tick(now_ns, stop, on_progress);
            self.send_due(now_ns);
            if is_done(self, now_ns) {
                break;
            }
            let until_ns = self.still.until_ns(self.wake_ns(now_ns));
            let dozes = self.may_doze(now_ns, until_ns);
            let waited = self.generator.poll.wait(now_ns, if dozes { now_ns } else { until_ns }, &mut events);
            waited.map_err(unexpected)?;
            for event in &events.ready {
                self.on_socket(*event);
            }
            if dozes {
                self.doze().map_err(unexpected)?;
            }
        }
        Ok(())
    }

    fn is_done(&self, now_ns: u64) -> bool {
        let is_settled = || self.deliveries.as_ref().is_none_or(DeliveryTracker::is_settled);
        let is_answered = || self.schedule.is_done() && !self.starts.are_under_way() && is_settled();
        (self.timing.has_ended(now_ns) && is_answered()) || self.timing.is_drained(now_ns)
    }

    /// What depends on the clock: stop flag, progress, intervals, time limits, connections that have rested.
    fn tick(&mut self, now_ns: u64, stop: &AtomicBool, on_progress: &mut dyn FnMut(Progress)) {
        self.results.roll(now_ns);
        if self.timing.take_progress(now_ns) {
            let elapsed = self.timing.elapsed(now_ns);
            let starting = self.is_of_starts.then(|| self.starts.progress(elapsed));
            on_progress(Progress { starting, ..self.results.progress(elapsed, self.schedule.in_flight()) });
        }
        if stop.load(Ordering::Relaxed) {
            self.stop_at(now_ns);
        }
        self.free.wake(now_ns);
        if self.slots.deadline_floor_ns() <= now_ns {
            self.time_out(now_ns);
        }
    }

    fn stop_at(&mut self, now_ns: u64) {
        if let Some(end_ns) = self.timing.stop(now_ns) {
            self.end_at(end_ns);
        }
    }

    fn end_at(&mut self, end_ns: u64) {
        self.schedule.end_at(end_ns);
        self.results.tally.end_at(end_ns);
    }

    fn wake_ns(&self, now_ns: u64) -> u64 {
        [
            self.schedule.next_due_ns(),
            self.results.next_roll_ns(),
            self.free.next_wake_ns(),
            self.users.next_ready_ns(),
            self.starts.due_ns().filter(|_| !self.timing.has_ended(now_ns)),
        ]
        .into_iter()
        .flatten()
        .fold(self.timing.next_ns(now_ns).min(self.slots.deadline_floor_ns()), u64::min)
    }

    /// Whether answers may wait in their sockets until then: no request waits for what they free, and none is likely to be large.
    fn may_doze(&self, now_ns: u64, until_ns: u64) -> bool {
        self.doze.allows(now_ns, until_ns)
            && self.schedule.waiting() == 0
            && self.schedule.next_due_ns().is_some()
            && !self.free.is_empty()
            && self.users.have_room()
            && self.starts.are_done()
    }

    /// Sleeps until something is due, at least as long as a sleep is worth it.
    fn doze(&mut self) -> io::Result<()> {
        let now_ns = clock::monotonic_ns();
        let until_ns = self.wake_ns(now_ns);
        if until_ns <= now_ns + AT_ONCE_NS || !self.may_doze(now_ns, until_ns) {
            return Ok(());
        }
        self.generator.poll.sleep(until_ns.max(now_ns + DOZE_NS_MIN))
    }

    /// Lets in what is due and sends what finds a connection and a session.
    fn send_due(&mut self, now_ns: u64) {
        self.schedule.admit(now_ns);
        self.free.offer_disallowed(now_ns);
        self.send_starts(now_ns);
        while !self.free.is_empty() {
            let Some(taken) = self.users.take(self.generator, &mut self.schedule, now_ns) else { break };
            let Some((slot, free_ns)) = self.take_free(taken.1) else {
                self.users.put_back(taken, &mut self.schedule, self.generator);
                break;
            };
            self.start(slot, taken, free_ns, now_ns);
        }
        while let Some(kind) = self.users.wanted() {
            let added = self.generator.add_user(kind);
            self.starts.add(added);
        }
        self.write_put();
    }

    /// The slot that a user's request gets, and since when it is free.
    fn take_free(&mut self, session: usize) -> Option<(usize, u64)> {
        let LoadRun { free, slots, generator, .. } = self;
        let is_allowed = |slot: usize| {
            let (at, stream) = slots.address(slot);
            generator.connections[at].takes(stream)
        };
        free.take(session, |slot| !slots.are_shared() || is_allowed(slot))
    }

    fn start(&mut self, slot: usize, taken: Taken, free_ns: u64, now_ns: u64) {
        let (waiting, session, session_free_ns) = taken;
        match &mut self.left {
            Some(0) => {
                self.end_before(&waiting, now_ns);
                return self.give_back((slot, session), now_ns);
            }
            Some(left) => *left -= 1,
            None => {}
        }
        let sendable_ns = waiting.sendable_ns(session_free_ns.max(free_ns));
        let request = self.slots.request_mut(slot);
        let Chosen { drawn, operation, used_up } = self.users.write_request(self.generator, session, request);
        if let Some(feed) = used_up {
            return self.out_of_rows(feed, (slot, session), &waiting, now_ns);
        }
        self.results.began(&waiting, drawn);
        if let Some(why) = self.slots.request_mut(slot).unfit.take() {
            self.slots.fill(slot, Active::new(waiting, (session, operation), sendable_ns, 0));
            return self.fail_unfit(slot, &why, now_ns);
        }
        self.put_in(slot, Active::new(waiting, (session, operation), sendable_ns, 0), now_ns);
    }

    /// Has a slot carry a request whose time limit begins now.
    fn put_in(&mut self, slot: usize, mut active: Active, now_ns: u64) {
        let timeout_ns = self.generator.config.scenario.operations[active.operation].timeout_ns;
        active.deadline_ns = now_ns.saturating_add(timeout_ns);
        self.slots.fill(slot, active);
        self.send_with_others(self.slots.connection(slot));
    }
}

fn unexpected(cause: io::Error) -> LoadError {
    LoadError::System { what: "wait for sockets", cause, fix: "this is unexpected; check the kernel's log" }
}
