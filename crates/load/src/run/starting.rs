//! Requests that begin sessions outside of the figures: how they are sent, and what follows their answers.

use super::LoadRun;
use super::slots::Active;
use super::users::Chosen;
use crate::generator::Generator;
use crate::schedule::Waiting;

/// No arrival: before all that is recorded.
const NO_ARRIVAL: Waiting = Waiting { intended_ns: 0, admitted_ns: 0, user: None, is_behind_others: false };

impl LoadRun<'_> {
    /// Sends what begins sessions, as far as connections are free.
    pub(super) fn send_starts(&mut self, now_ns: u64) {
        let is_over = self.timing.has_ended(now_ns);
        while !self.free.is_empty()
            && let Some(session) = self.starts.next(now_ns, is_over)
        {
            let Some((slot, free_ns)) = self.take_free(session) else {
                return self.starts.put_back(session);
            };
            let request = self.slots.request_mut(slot);
            let chosen = self.users.write_request(self.generator, session, request);
            if let Some(why) = self.why_not_sent(session, &chosen) {
                self.free.put(slot, now_ns);
                self.starts.failed(session, now_ns, || why);
                self.generator.sessions[session].begin_again();
                continue;
            }
            if let Some(why) = self.slots.request_mut(slot).unfit.take() {
                let active = Active::new(NO_ARRIVAL, (session, chosen.operation), free_ns, 0);
                self.slots.fill(slot, Active { is_of_start: true, ..active });
                self.fail_unfit(slot, &why, now_ns);
                continue;
            }
            let active = Active::new(NO_ARRIVAL, (session, chosen.operation), free_ns, 0);
            self.put_in(slot, Active { is_of_start: true, ..active }, now_ns);
        }
    }

    /// Why an operation of a start cannot be sent: no row is left, or what it requires was not in the answer to the operation that is
    /// to give it, which would be sent once more.
    fn why_not_sent(&self, session: usize, chosen: &Chosen) -> Option<String> {
        let Generator { config, sessions, .. } = &*self.generator;
        let scenario = &config.scenario;
        if let Some((file, rows)) = chosen.used_up.and_then(|feed| scenario.rows_of(feed)) {
            return Some(format!(
                "all {rows} rows of {file} were used, each by one user: fewer users, more rows, or order = \"sequential\""
            ));
        }
        let is_again = chosen.operation != chosen.drawn
            && scenario.users[sessions[session].kind].begins_with(chosen.operation);
        is_again.then(|| {
            let name = |at: usize| &scenario.operations[at].name;
            let (wanted, instead) = (name(chosen.drawn), name(chosen.operation));
            format!("{wanted} could not be sent: no answer to {instead} held what it requires")
        })
    }

    /// A request of the start of a session ended.
    pub(super) fn start_went_on(&mut self, session: usize, done_ns: u64, is_right: bool) {
        if !is_right {
            return;
        }
        let Generator { config, sessions, .. } = &mut *self.generator;
        if sessions[session].is_to_start(&config.scenario) {
            return self.starts.goes_on(session);
        }
        sessions[session].has_begun();
        self.starts.succeeded(session, done_ns, self.timing.is_measured(done_ns));
        self.users.join(session, &mut self.schedule, self.generator, done_ns);
    }
}
