//! The end of a request: what is recorded of it, and who is free after it.

use super::{Active, Run};
use crate::clock;
use crate::generator::Generator;
use crate::measured::ErrorKind;
use crate::recorder::{Recorder, RequestTimes};
use crate::schedule::{OverBound, Waiting};
use crate::window::WindowRecorder;

impl Run<'_> {
    /// Records a finished request and frees its user, who rests at least as long as is said.
    pub(super) fn finish(&mut self, active: &Active, (done_ns, rest_ns): (u64, u64), is_right: bool) {
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
        let ready_ns = done_ns.saturating_add(think_ns.max(rest_ns));
        if active.waiting.user.is_none() {
            self.idle.put(active.session, user.kind, (done_ns, ready_ns));
        }
        self.leave(active.waiting.user, done_ns, ready_ns);
    }

    /// A request found no row that was not used yet: the stretch ends where it should have started, as if it had been planned so.
    pub(super) fn out_of_rows(
        &mut self,
        feed: usize,
        (slot, session): (usize, usize),
        waiting: &Waiting,
        now_ns: u64,
    ) {
        let end_ns = waiting.intended_ns.max(self.start_ns + 1);
        if end_ns < self.end_ns {
            let drain_ns = self.drain_end_ns - self.end_ns;
            self.drain_end_ns = self.drain_end_ns.min(now_ns + drain_ns);
            self.end_ns = end_ns;
            self.schedule.end_at(end_ns);
            self.tally.end_at(end_ns);
            let (file, rows) = self.generator.config.scenario.rows_of(feed).unwrap_or_default();
            let s = (end_ns - self.start_ns) as f64 / 1e9;
            self.tally.note(
                format!("data {file}"),
                format!("all {rows} rows were used, each once; the load ended with them, after {s:.3} s"),
            );
        }
        self.free.put(slot, now_ns);
        if waiting.user.is_none() {
            let kind = self.generator.sessions[session].kind;
            self.idle.put(session, kind, (now_ns, now_ns));
        }
        self.schedule.finish(now_ns, None, now_ns, |_| ());
        // They should have started later.
        while self.schedule.take().is_some() {
            self.schedule.finish(now_ns, None, now_ns, |_| ());
        }
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
    pub(super) fn give_up_the_rest(&mut self) {
        let now_ns = clock::monotonic_ns();
        let why = || "not answered by the end of draining".to_owned();
        for slot in 0..self.slots.len() {
            if self.fail(slot, ErrorKind::Timeout, now_ns, why) {
                self.abandon(slot);
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
