//! The end of a request: its answer is checked, or it fails; what is recorded of it, and which slot and user are free after it.

use super::LoadRun;
use super::free_slots::REST_NS;
use super::slots::Active;
use super::streams::events_of;
use crate::checked::{Exchanged, Wrong, status_of};
use crate::clock;
use crate::delivery_tracker::DeliveryState;
use crate::error_kind::ErrorKind;
use crate::generator::{Generator, GeneratorConfig};
use crate::protocol::{Answer, Failure};
use crate::recorder::RequestTimes;
use crate::redirect::{REDIRECTS_MAX, follow};
use crate::schedule::{OverBound, Waiting};
use assay_scenario::Secrets;

/// How often a request is sent again that the server refused without processing it. However often would be safe (RFC 9113 section 8.7),
/// but a server that refuses everything would be asked without end.
const TAKEN_BACK_MAX: u8 = 10;
const NS_PER_MS: u64 = 1_000_000;

impl LoadRun<'_> {
    /// The answer of a slot was whole at this time.
    pub(super) fn answered(&mut self, slot: usize, keep_alive: bool, done_ns: u64) {
        self.answered_ns = Some(done_ns);
        let (at, stream) = self.slots.address(slot);
        let Some(mut active) = self.slots.take(slot) else { return self.close(at) };
        let LoadRun { generator, slots, results, reused, starts, .. } = &mut *self;
        let Generator { config, endpoint, connections, sessions, .. } = &mut **generator;
        let (scenario, connection) = (&config.scenario, &mut connections[at]);
        let request = slots.request_mut(slot);
        let operation = &scenario.operations[active.operation];
        let session = &mut sessions[active.session];
        let answer = connection.answer(stream);
        if let Some(events) = events_of(&mut active, answer, done_ns) {
            results.tally.streamed(active.operation, active.waiting.intended_ns, events);
        }
        for cookie in answer.set_cookies() {
            let from = request.destination(&endpoint.base);
            session.set_cookie(cookie, from).unwrap_or_else(|(name, why)| reused.remarks.refused(name, why));
        }
        let follows = operation.follow_redirects
            && active.redirects < REDIRECTS_MAX
            && follow(request, answer, &endpoint.base, session.cookies());
        connection.answered += 1;
        if follows {
            results.tally.redirected(active.operation, active.waiting.intended_ns);
            if !keep_alive {
                self.close(at);
            }
            active.redirects += 1;
            active.is_put = false;
            self.slots.fill(slot, active);
            return self.send(at);
        }
        let answer = connection.answer(stream);
        let intended_ns = active.waiting.intended_ns;
        let ends = !active.is_of_start && session.ends_after(scenario, operation);
        let exchanged = Exchanged { operation, request, answer };
        let error = match exchanged.take(session, scenario, &endpoint.base, reused) {
            Ok(()) if active.is_of_start => None,
            Ok(()) => {
                session.was_served();
                results.tally.answered(active.operation, intended_ns, done_ns);
                None
            }
            Err(wrong) if active.is_of_start => {
                let detail = || format!("{} {}", operation.name, wrong.detail(answer, scenario.secrets()));
                starts.failed(active.session, done_ns, detail);
                session.begin_again();
                Some(wrong.kind())
            }
            Err(wrong) => {
                let detail = || wrong.detail(answer, scenario.secrets());
                results.tally.failed(Some(active.operation), intended_ns, wrong.kind(), detail);
                // `otherwise` renews a value that was forgotten.
                let is_ended = !ends && !operation.forgets_at(answer.status);
                if is_ended && session.was_ended_by(answer, scenario, &endpoint.base.prefix) {
                    session.begin_again();
                    starts.add_ended(active.session);
                }
                Some(wrong.kind())
            }
        };
        if !active.is_of_start {
            let received = (status_of(operation, answer), answer.body_bytes);
            results.tally.received(active.operation, intended_ns, received, error);
        }
        if ends {
            session.restart();
        }
        if !keep_alive {
            self.close(at);
        }
        self.free.put(slot, done_ns);
        self.finish(&active, (done_ns, 0), error.is_none());
        self.send_held(at);
    }

    /// Fails the request of a slot; returns whether there was one.
    pub(super) fn fail(
        &mut self,
        slot: usize,
        kind: ErrorKind,
        now_ns: u64,
        detail: impl FnOnce() -> String,
    ) -> bool {
        let Some(active) = self.slots.take(slot) else { return false };
        let operation = &self.generator.config.scenario.operations[active.operation];
        let detail = || detail() + &active.streamed.how_far(operation, kind, now_ns);
        if active.is_of_start {
            let why = || format!("{} {}: {}", operation.name, kind.name(), detail());
            self.starts.failed(active.session, now_ns, why);
            self.generator.sessions[active.session].begin_again();
            return true;
        }
        self.results.tally.failed(Some(active.operation), active.waiting.intended_ns, kind, detail);
        let session = &mut self.generator.sessions[active.session];
        if session.ends_after(&self.generator.config.scenario, operation) {
            session.restart();
        }
        let rest_ns = if self.deliveries.is_some() && kind != ErrorKind::Timeout { REST_NS } else { 0 };
        self.finish(&active, (now_ns, rest_ns), false);
        true
    }

    /// Whether the server sent something unasked where the answer of a slot is awaited: it does not hold what that must hold. What comes
    /// next may.
    pub(super) fn is_pushed(&mut self, slot: usize) -> bool {
        let is_pushed = self.generator.endpoint.is_pushed_to()
            && self.unfit(slot, |wrong, _, _| wrong.kind()) == Some(ErrorKind::Content);
        if is_pushed && let Some(active) = self.slots.active_mut(slot) {
            active.pushed += 1;
            let (at, stream) = self.slots.address(slot);
            self.generator.connections[at].await_next(stream);
            self.generator.spoken.pushed += 1;
        }
        is_pushed
    }

    /// Something of what is wrong with what came last on a slot, if it does not answer its request.
    fn unfit<T>(&mut self, slot: usize, of: impl FnOnce(&Wrong, &Answer, &Secrets) -> T) -> Option<T> {
        let LoadRun { generator, slots, reused, .. } = self;
        let Generator { config: GeneratorConfig { scenario, .. }, connections, .. } = &**generator;
        let (at, stream) = slots.address(slot);
        let operation = &scenario.operations[slots.active(slot)?.operation];
        let answer = connections[at].answer(stream);
        let wrong = Exchanged { operation, request: slots.request(slot), answer }.wrong(reused)?;
        Some(of(&wrong, answer, scenario.secrets()))
    }

    /// Why a request has no answer within its time limit.
    fn unanswered(&mut self, slot: usize, limit_ms: u64) -> (ErrorKind, String) {
        let pushed = self.slots.active(slot).map_or(0, |active| active.pushed);
        let last = if 0 < pushed {
            self.unfit(slot, |wrong, answer, secrets| (wrong.kind(), wrong.detail(answer, secrets)))
        } else {
            None
        };
        match last {
            Some((kind, last)) => {
                let messages =
                    if pushed == 1 { "1 message".to_owned() } else { format!("{pushed} messages") };
                (kind, format!("{messages} within {limit_ms} ms, none of them the answer; the last: {last}"))
            }
            None => (ErrorKind::Timeout, format!("no whole answer within {limit_ms} ms")),
        }
    }

    /// Fails requests whose time limit has passed.
    pub(super) fn time_out(&mut self, now_ns: u64) {
        let mut from = 0;
        while let Some((slot, operation)) = self.slots.overdue(from, now_ns) {
            let limit_ms = self.generator.config.scenario.operations[operation].timeout_ns / NS_PER_MS;
            let (kind, why) = self.unanswered(slot, limit_ms);
            self.abandon(slot);
            self.fail(slot, kind, now_ns, || why);
            self.free.put(slot, now_ns);
            self.send_held(self.slots.connection(slot));
            from = slot + 1;
        }
        self.slots.renew_deadline_floor();
    }

    /// Has a request sent again that the server did not process, unless that was done often.
    pub(super) fn takes_back(&mut self, slot: usize) -> bool {
        let Some(active) = self.slots.active_mut(slot).filter(|active| active.taken_back < TAKEN_BACK_MAX)
        else {
            return false;
        };
        active.taken_back += 1;
        active.is_put = false;
        self.results.tally.sent_again(active.waiting.intended_ns);
        true
    }

    /// A message came on a connection. The message of a user is answered when all who should have it do.
    pub(super) fn delivered(&mut self, at: usize, sender: usize, generation: u32, number: u64) {
        let Some(tracker) = &mut self.deliveries else { return };
        match tracker.deliver(at, sender, generation, number) {
            DeliveryState::Due => (),
            DeliveryState::NotDue | DeliveryState::Again => return,
            DeliveryState::Invented => {
                let what = format!("a delivery of message {number} of user {sender}, who did not say it");
                return self.broken(at, &Failure::Protocol(what.into()));
            }
        }
        let now_ns = clock::monotonic_ns();
        if self.timing.is_measured(now_ns) {
            tracker.counts.within += 1;
        }
        let is_it = |slot: &usize| self.slots.put_on(*slot).is_some_and(|active| active.number == number);
        let Some(slot) = self.slots.of(sender).find(is_it) else { return };
        if let Some(active) = self.slots.active(slot)
            && self.timing.is_recorded(active.waiting.intended_ns)
        {
            tracker.counts.times.saturating_record(now_ns.saturating_sub(active.waiting.intended_ns));
        }
        self.one_delivery_less(slot, now_ns);
    }

    /// One delivery less is due of the message of a slot.
    pub(super) fn one_delivery_less(&mut self, slot: usize, now_ns: u64) {
        let Some(active) = self.slots.active_mut(slot) else { return };
        active.due = active.due.saturating_sub(1);
        if active.due == 0 {
            self.answered(slot, true, now_ns);
        }
    }

    /// Records a finished request and frees its user, who rests at least as long as is said.
    fn finish(&mut self, active: &Active, (done_ns, rest_ns): (u64, u64), is_right: bool) {
        if active.is_of_start {
            return self.start_went_on(active.session, done_ns, is_right);
        }
        let times = RequestTimes {
            intended_ns: active.waiting.intended_ns,
            sendable_ns: active.sendable_ns,
            sent_ns: active.sent_ns,
            done_ns,
        };
        self.results.ended(Some(active.operation), &times, is_right);
        match self.users.finished(active, self.generator, (done_ns, rest_ns)) {
            Some(ready_ns) => self.leave(active.waiting.user, done_ns, ready_ns),
            None => self.leave(None, done_ns, done_ns),
        }
    }

    /// Takes a request out of those in flight, and records what the bound kept out until now.
    fn leave(&mut self, user: Option<u32>, done_ns: u64, ready_ns: u64) {
        let LoadRun { schedule, results, .. } = self;
        schedule.finish(done_ns, user, ready_ns, |OverBound { intended_ns, until_ns }| {
            let why = || "too many requests in flight already".to_owned();
            results.never_began(intended_ns, until_ns, ErrorKind::OverBound, why);
        });
    }

    /// A request found no row that was not used yet: the load ends at its intended start.
    pub(super) fn out_of_rows(
        &mut self,
        feed: usize,
        (slot, session): (usize, usize),
        waiting: &Waiting,
        now_ns: u64,
    ) {
        if let Some(s) = self.end_before(waiting, now_ns) {
            let (file, rows) = self.generator.config.scenario.rows_of(feed).unwrap_or_default();
            self.results.tally.note(
                format!("data {file}"),
                format!("all {rows} rows were used, each once; the load ended with them, after {s:.3} s"),
            );
        }
        self.give_back((slot, session), now_ns);
    }

    /// Ends the load with the intended start of a request that is not sent; returns the seconds that are recorded. Absent where it ends
    /// no later anyway.
    pub(super) fn end_before(&mut self, waiting: &Waiting, now_ns: u64) -> Option<f64> {
        let (end_ns, s) = self.timing.end_before(waiting.intended_ns, now_ns)?;
        self.end_at(end_ns);
        Some(s)
    }

    /// A request that was taken is not sent, and neither are those that wait behind it.
    pub(super) fn give_back(&mut self, (slot, session): (usize, usize), now_ns: u64) {
        self.free.put(slot, now_ns);
        self.users.give_back(session, self.generator, now_ns);
        self.schedule.finish(now_ns, None, now_ns, |_| ());
        // They should have started later.
        while self.users.give_up().or_else(|| self.schedule.take()).is_some() {
            self.schedule.finish(now_ns, None, now_ns, |_| ());
        }
    }

    /// Fails a request that cannot be sent: the values in its message do not fit the schema.
    pub(super) fn fail_unfit(&mut self, slot: usize, why: &str, now_ns: u64) {
        self.fail(slot, ErrorKind::Content, now_ns, || format!("not sent: its body {why}"));
        self.free.put(slot, now_ns);
    }

    /// Fails what draining could not wait for.
    pub(super) fn give_up_the_rest(&mut self) {
        let now_ns = clock::monotonic_ns();
        let why = || "not answered by the end of draining".to_owned();
        for slot in 0..self.slots.len() {
            if self.fail(slot, ErrorKind::Timeout, now_ns, why) {
                self.abandon(slot);
            }
        }
        while let Some(Waiting { intended_ns, user, .. }) =
            self.users.give_up().or_else(|| self.schedule.take())
        {
            self.results.never_began(intended_ns, now_ns, ErrorKind::Timeout, why);
            self.leave(user, now_ns, now_ns);
        }
    }
}
