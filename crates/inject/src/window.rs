//! One window of several injectors, as the controller makes it: arm, compare the clocks, start together, wait, add up.

use crate::PING_EVERY;
use crate::accept::{Expected, accepted};
use crate::clock_offset::ClockOffset;
use crate::link::{Event, Injector};
use crate::merge::{merged, progress};
use crate::message::{Arm, Order, Recorded, Report};
use crate::share::load_of;
use assay_load::{LoadError, LoadWindow, Measured, Part, Progress, monotonic_ns, summary_ms};
use assay_model::{InjectorPart, LostInjector, OperationCount, Problem};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

const NS_PER_S: f64 = 1e9;
/// How long opening the connections to the server may take.
const ARM_MAX: Duration = Duration::from_secs(60);
/// How much longer it may take for each user who may begin a session.
const USER_MAX: Duration = Duration::from_millis(200);
/// Round trips that compare clocks.
const TRIPS: u64 = 16;
/// A round trip that takes longer is of no use.
const TRIP_MAX: Duration = Duration::from_secs(1);
/// From the last comparison of clocks to the start, with the slowest round trip added twice: time for the order to travel.
const LEAD: Duration = Duration::from_millis(50);
/// What an injector may take beyond settling, window and drain.
const RESULT_MAX: Duration = Duration::from_secs(10);
/// How often progress is reported and the stop flag checked.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
const UNASKED: &str = "it sent an unexpected report";
/// How often pings and the end are looked at while waiting.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How an attempt at a window ended.
pub(crate) struct Ended {
    /// Of those that gave a result; absent when nobody did.
    pub measured: Option<Measured>,
    /// Those that were lost within it.
    pub lost: Vec<Problem>,
}

/// An attempt at a window.
pub(crate) struct WindowAttempt<'a> {
    pub injectors: &'a mut [Injector],
    pub events: &'a Receiver<Event>,
    pub operations: &'a [OperationCount],
    /// How many of them have limits of their own.
    pub limited_apart: usize,
    pub drain_max: Duration,
    /// Users of a room of a chat, which are not divided.
    pub room: u32,
    /// At most so many users begin their sessions before it.
    pub users: u32,
    pub window: &'a LoadWindow,
    pub seed: u64,
}

/// What is known of an injector's part.
#[derive(Default)]
struct State {
    /// It takes part in this window.
    part: Option<Part>,
    before: Option<ClockOffset>,
    after: Option<ClockOffset>,
    result: Option<Box<Recorded>>,
    start_late_ns: Option<u64>,
}

/// What waiting brought.
enum Next {
    Report {
        from: usize,
        at_ns: u64,
        report: Report,
    },
    /// An injector was lost.
    Lost,
    /// It is time.
    Due,
}

impl WindowAttempt<'_> {
    /// Makes the window. A loss ends it early.
    pub fn make(self, stop: &AtomicBool, on_progress: &mut dyn FnMut(Progress)) -> Result<Ended, LoadError> {
        let states = self.injectors.iter().map(|_| State::default()).collect();
        let mut making = Making {
            window: self,
            states,
            lost: Vec::new(),
            notes: Vec::new(),
            begun_ns: None,
            is_loading: false,
            next_ping_ns: 0,
            trips: 0,
            stopped: false,
        };
        making.arm(stop)?;
        making.compare_clocks(|state, offset| state.before = Some(offset));
        if making.lost.is_empty() {
            making.start();
            making.wait(stop, on_progress);
            making.compare_clocks(|state, offset| state.after = Some(offset));
        }
        Ok(making.ended())
    }
}

/// A window in the making.
struct Making<'a> {
    window: WindowAttempt<'a>,
    /// For each injector.
    states: Vec<State>,
    /// Those that were lost before they gave a result.
    lost: Vec<Problem>,
    /// What else happened.
    notes: Vec<Problem>,
    /// The agreed start of the load.
    begun_ns: Option<u64>,
    /// Injectors expect to hear from us.
    is_loading: bool,
    next_ping_ns: u64,
    /// Numbers the pings that compare clocks.
    trips: u64,
    stopped: bool,
}

impl Making<'_> {
    fn there(&self) -> Vec<usize> {
        let injectors = self.window.injectors.iter().enumerate();
        injectors.filter(|(_, one)| one.link.is_some()).map(|(at, _)| at).collect()
    }

    /// Sends an order; an injector that cannot be reached is lost.
    fn order(&mut self, to: usize, order: &Order) {
        let told = self.window.injectors[to].link.as_mut().map(|link| link.order(order));
        if let Some(Err(error)) = told {
            self.lose(to, &error.to_string());
        }
    }

    /// Leaves an injector out from now on, and says what is known of what it did.
    fn lose(&mut self, which: usize, why: &str) {
        let injector = &mut self.window.injectors[which];
        let Some(link) = injector.link.take() else { return };
        let (beat, word_ns) = link.last_word();
        let now_ns = monotonic_ns();
        let seconds = |ns: u64| ns as f64 / NS_PER_S;
        let lost = LostInjector {
            why: why.to_owned(),
            noticed_after_s: self.begun_ns.and_then(|begun_ns| Some(seconds(now_ns.checked_sub(begun_ns)?))),
            requests_by_last_report: beat.requests,
            last_report_age_s: seconds(now_ns.saturating_sub(word_ns)),
        };
        let when = match lost.noticed_after_s {
            Some(after_s) => format!("{after_s:.2} s after the start"),
            None => "before the start".to_owned(),
        };
        let source = format!("injector {}", injector.address);
        if self.states[which].result.is_some() {
            let what = format!("lost {when} ({why}), after it gave its result of this window");
            self.notes.push(Problem::new(source, what));
        } else {
            let what = format!(
                "lost {when} ({why}). Its last report, {:.2} s before that, had {} finished requests. Later \
                    requests and all its response times are unknown",
                lost.last_report_age_s, lost.requests_by_last_report
            );
            self.lost.push(Problem::new(source, what));
        }
        injector.lost = Some(lost);
    }

    /// Waits for a report, at most until an instant; pings while the load runs.
    fn next(&mut self, until_ns: u64) -> Next {
        loop {
            let now_ns = monotonic_ns();
            if self.is_loading && self.next_ping_ns <= now_ns {
                self.next_ping_ns = now_ns.saturating_add(PING_EVERY.as_nanos() as u64);
                for to in self.there() {
                    self.order(to, &Order::Ping { number: 0 });
                }
            }
            let Some(rest_ns) = until_ns.checked_sub(now_ns).filter(|rest| *rest > 0) else {
                return Next::Due;
            };
            match self.window.events.recv_timeout(Duration::from_nanos(rest_ns).min(LOOK_EVERY)) {
                // The last events of one that is lost already.
                Ok(event) if self.window.injectors[event.link].link.is_none() => (),
                Ok(Event { what: Ok(Report::Pong { number: 0, .. } | Report::Ready), .. }) => (),
                Ok(Event { link, at_ns, what: Ok(report) }) => {
                    return Next::Report { from: link, at_ns, report };
                }
                Ok(Event { link, what: Err(why), .. }) => {
                    self.lose(link, &why);
                    return Next::Lost;
                }
                Err(RecvTimeoutError::Timeout) => (),
                // Not while this end of it exists in the links' owner; waiting again would spin.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// Hands out the parts and waits until all connections to the server are open.
    fn arm(&mut self, stop: &AtomicBool) -> Result<(), LoadError> {
        let there = self.there();
        let WindowAttempt { window, seed, room, .. } = self.window;
        for (number, &to) in there.iter().enumerate() {
            let part = Part { number: number as u32, of: there.len() as u32 };
            let arm = Arm {
                window: LoadWindow { load: load_of(window.load, part, room)?, ..window.clone() },
                part,
                // By its place in the group: it stays the same when others are lost.
                seed: Part { number: to as u32, of: u32::MAX }.seed(seed),
            };
            if let Some(link) = &self.window.injectors[to].link {
                link.forget_last_word();
            }
            self.states[to].part = Some(part);
            self.order(to, &Order::Arm(arm));
        }
        self.wait_for_armed(there, stop)
    }

    /// Waits for an answer of each, also when one refuses, so that none comes late into the next window. Where the user ends it,
    /// they answer with the connections that are open by then.
    fn wait_for_armed(&mut self, mut missing: Vec<usize>, stop: &AtomicBool) -> Result<(), LoadError> {
        let arm_max = ARM_MAX + USER_MAX * self.window.users;
        let end_ns = monotonic_ns().saturating_add(arm_max.as_nanos() as u64);
        let mut refusal = None;
        let mut is_told = false;
        loop {
            if !is_told && stop.load(Ordering::Relaxed) {
                is_told = true;
                missing.iter().for_each(|to| self.order(*to, &Order::Stop));
            }
            missing.retain(|at| self.window.injectors[*at].link.is_some());
            if missing.is_empty() {
                return refusal.map_or(Ok(()), Err);
            }
            let look_ns = monotonic_ns().saturating_add(PROGRESS_EVERY.as_nanos() as u64);
            match self.next(end_ns.min(look_ns)) {
                Next::Report { from, report: Report::Armed, .. } => missing.retain(|at| *at != from),
                Next::Report { from, report: Report::Refused { why, .. }, .. } => {
                    missing.retain(|at| *at != from);
                    let address = self.window.injectors[from].address.clone();
                    refusal = Some(LoadError::Injector { address, cause: why });
                }
                Next::Report { from, .. } => self.lose(from, UNASKED),
                Next::Due if end_ns <= monotonic_ns() => {
                    for at in missing.clone() {
                        self.lose(at, &format!("it did not open its connections, with the sessions of its users, within {arm_max:?}"));
                    }
                }
                Next::Lost | Next::Due => (),
            }
        }
    }

    /// Several round trips with each injector that is there.
    fn compare_clocks(&mut self, keep: impl Fn(&mut State, ClockOffset)) {
        for with in self.there() {
            let mut best: Option<ClockOffset> = None;
            for _ in 0..TRIPS {
                if let Some(trip) = self.trip(with) {
                    best = Some(best.map_or(trip, |best| best.or_better(trip)));
                }
            }
            match best {
                Some(offset) => keep(&mut self.states[with], offset),
                None => self.lose(with, &format!("it answered no ping within {TRIP_MAX:?}")),
            }
        }
    }

    fn trip(&mut self, with: usize) -> Option<ClockOffset> {
        self.trips += 1;
        let wanted = self.trips;
        let left_ns = monotonic_ns();
        self.order(with, &Order::Ping { number: wanted });
        let end_ns = left_ns.saturating_add(TRIP_MAX.as_nanos() as u64);
        while self.window.injectors[with].link.is_some() {
            match self.next(end_ns) {
                Next::Report { from, at_ns: back_ns, report: Report::Pong { number, at_ns } } => {
                    if (from, number) == (with, wanted) {
                        return Some(ClockOffset::from_trip(left_ns, at_ns, back_ns));
                    }
                }
                Next::Report { from, .. } => self.lose(from, UNASKED),
                Next::Lost => (),
                Next::Due => return None,
            }
        }
        None
    }

    /// Agrees on a start that the order reaches in time.
    fn start(&mut self) {
        let trips_ns = self.states.iter().filter_map(|state| state.before).map(|one| one.uncertainty_ns);
        let lead_ns = (LEAD.as_nanos() as u64).saturating_add(trips_ns.max().unwrap_or(0).saturating_mul(4));
        let begun_ns = monotonic_ns().saturating_add(lead_ns);
        self.begun_ns = Some(begun_ns);
        self.is_loading = true;
        for to in self.there() {
            if let Some(offset) = self.states[to].before {
                self.order(to, &Order::Start { at_ns: offset.theirs(begun_ns) });
            }
        }
    }

    /// Waits for all results. The user, or the loss of an injector, ends the window early.
    fn wait(&mut self, stop: &AtomicBool, on_progress: &mut dyn FnMut(Progress)) {
        let WindowAttempt { window, drain_max, .. } = self.window;
        let longest = window.settle + window.length + drain_max + RESULT_MAX;
        let begun_ns = self.begun_ns.unwrap_or_default();
        let end_ns = begun_ns.saturating_add(u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX));
        let mut is_told = false;
        loop {
            let missing: Vec<usize> =
                self.there().into_iter().filter(|at| self.states[*at].result.is_none()).collect();
            if missing.is_empty() {
                break;
            }
            self.stopped |= stop.load(Ordering::Relaxed);
            if !is_told && (self.stopped || !self.lost.is_empty()) {
                is_told = true;
                missing.iter().for_each(|to| self.order(*to, &Order::Stop));
            }
            let now_ns = monotonic_ns();
            on_progress(self.progress(now_ns.saturating_sub(begun_ns)));
            match self.next(end_ns.min(now_ns.saturating_add(PROGRESS_EVERY.as_nanos() as u64))) {
                Next::Report { from, report: Report::Result(form), .. }
                    if self.states[from].result.is_none() =>
                {
                    self.states[from].result = Some(form);
                }
                Next::Report { from, report: Report::Refused { why, .. }, .. } => self.lose(from, &why),
                Next::Report { from, .. } => self.lose(from, UNASKED),
                Next::Due if end_ns <= monotonic_ns() => {
                    missing.iter().for_each(|at| self.lose(*at, "it gave no result in time"));
                }
                Next::Lost | Next::Due => (),
            }
        }
        self.is_loading = false;
    }

    fn progress(&self, elapsed_ns: u64) -> Progress {
        let beats =
            self.window.injectors.iter().filter_map(|one| one.link.as_ref()).map(|link| link.last_word().0);
        Progress { elapsed: Duration::from_nanos(elapsed_ns), ..progress(beats) }
    }

    /// Adds up what there is.
    fn ended(mut self) -> Ended {
        let mut parts = Vec::new();
        let mut accounts = Vec::new();
        for at in 0..self.states.len() {
            if self.states[at].part.is_none() {
                continue;
            }
            let measured = self.measured(at);
            accounts.push(self.account(at, measured.as_ref()));
            parts.extend(
                measured
                    .map(|measured| (format!("injector {}", self.window.injectors[at].address), measured)),
            );
        }
        let measured = merged(self.window.window.load, self.window.seed, &parts);
        let measured = measured.map(|measured| {
            let mut problems = self.notes;
            problems.extend(measured.problems);
            // A loss ends the window too, but is reported as such.
            Measured { stopped: self.stopped, injectors: accounts, problems, ..measured }
        });
        Ended { measured, lost: self.lost }
    }

    /// The checked result of an injector, on our clock.
    fn measured(&mut self, at: usize) -> Option<Measured> {
        let Recorded { start_late_ns, measured } = *self.states[at].result.take()?;
        self.states[at].start_late_ns = Some(start_late_ns);
        let WindowAttempt { window, seed, operations, limited_apart, .. } = self.window;
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let settle_ns = nanoseconds(window.settle);
        let expected = Expected {
            load: window.load,
            seed,
            settle_ns,
            length_ns: nanoseconds(window.length),
            start_ns: self.begun_ns.unwrap_or_default().saturating_add(settle_ns),
            operations,
            limited_apart,
        };
        let accepted = accepted(measured, &expected);
        accepted.inspect_err(|why| self.lose(at, &format!("its result cannot be used: {why}"))).ok()
    }

    fn account(&self, at: usize, measured: Option<&Measured>) -> InjectorPart {
        let (injector, state) = (&self.window.injectors[at], &self.states[at]);
        let clock = match (state.before, state.after) {
            (Some(before), Some(after)) => Some(before.over(after)),
            (before, _) => before,
        };
        InjectorPart {
            address: injector.address.clone(),
            base_url: injector.base_url.clone(),
            requests: measured.map(|one| one.requests),
            errors: measured.map(Measured::errors),
            completed: measured.map(|one| one.completed),
            send_lag_ms: measured.map(|one| summary_ms(&one.send_lag)).unwrap_or_default(),
            cpu_share: measured.and_then(Measured::generator_cpu_share),
            clock_offset_ns: clock.map(|one| one.offset_ns),
            clock_uncertainty_ns: clock.map(|one| one.uncertainty_ns),
            start_late_ns: state.start_late_ns,
            lost: injector.lost.clone(),
        }
    }
}
