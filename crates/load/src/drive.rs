//! Load runs on a generator.

use crate::arrivals::{Part, RATE_PER_S_MAX};
use crate::connection::Connection;
use crate::generator::GeneratorConfig;
use crate::generator::{Generator, Opened, SESSIONS_MAX, Start, whole_rooms, within};
use crate::interval_log::IntervalLogs;
use crate::law::{Load, Progress, Span};
use crate::measured::Measured;
use crate::run::LoadRun;
use crate::schedule::Schedule;
use crate::source::{LoadSource, LoadWindow};
use crate::tally::Tally;
use crate::window::{Limited, WindowRecorder};
use crate::{LoadError, clock};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Later than any load ends, with room for its drain.
const NEVER_NS: u64 = u64::MAX / 2;
const DURATION_MAX: Duration = Duration::from_secs(7 * 86_400);

impl Generator {
    /// Runs a load and drains it; blocks until then. Connections are opened, and those that died since the
    /// last run replaced, before it begins; that some stayed closed is among its problems. The first run draws
    /// its arrivals from the configured seed, each further one from the next number.
    ///
    /// Draining waits for what is in flight, at most the longest time limit of the scenario. `stop` ends the run
    /// early, and the drain after a second. `on_progress` is called a few times a second from the generator's
    /// thread and should return at once.
    ///
    /// # Errors
    /// A number in `load` that cannot be used, or no connection to the server. Requests that fail are no errors here,
    /// but counted in the result.
    pub fn run(
        &mut self,
        load: &Load,
        duration: Duration,
        stop: &AtomicBool,
        logs: Option<IntervalLogs>,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let window = LoadWindow { load: *load, settle: Duration::ZERO, length: duration, slow_above: None };
        self.logged_window(&window, logs, stop, on_progress)
    }

    /// Runs a load of exactly so many requests, and waits for the last of them; fewer where `longest` is over before. So two servers, of
    /// which one is faster, do the same work.
    ///
    /// # Errors
    /// As of [`Generator::run`].
    pub fn run_requests(
        &mut self,
        load: &Load,
        requests: u64,
        longest: Duration,
        stop: &AtomicBool,
    ) -> Result<Measured, LoadError> {
        self.requests_max = Some(requests);
        let measured = self.run(load, longest, stop, None, &mut |_| ());
        self.requests_max = None;
        measured
    }

    /// Makes ready for a load that starts now, with the next seed.
    fn start(
        &mut self,
        load: &Load,
        duration: Duration,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Start, LoadError> {
        let opened = self.ready(load, duration, stop, on_progress)?;
        let seed = self.config.seed.wrapping_add(self.runs);
        self.runs += 1;
        Ok(Start { at_ns: clock::monotonic_ns(), part: Part::WHOLE, seed, opened })
    }

    /// Checks a load, opens the connections that it needs, seats its users and has them begin their sessions, of which it says how far that
    /// is. `stop` ends it early.
    pub fn ready(
        &mut self,
        load: &Load,
        duration: Duration,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Opened, LoadError> {
        let users = check(load, duration)?;
        if let (Some(of_room), Some(users)) = (self.endpoint.room_users(), users) {
            whole_rooms("users", users, of_room)?;
            let fix = "use at most as many as there are connections, since each has its own";
            within("users", users, 1..=self.config.connections, fix)?;
        }
        self.config.set_up()?;
        // A closed loop reads each answer when it comes.
        let stamps = users.is_none() && self.endpoint.is_only_answered();
        self.connections.iter_mut().for_each(|connection| connection.stamp(stamps));
        let opened = self.connect(self.config.connections.min(users.unwrap_or(u32::MAX)) as usize, stop)?;
        match *load {
            Load::Closed { users, .. } => self.seat(users, false),
            Load::Open { rate_per_s, .. } => self.seat(self.config.users_at(rate_per_s), true),
        }
        self.begin_sessions(self.users_of(load), opened.wanted, stop, on_progress)?;
        Ok(opened)
    }

    /// Has the first so many users begin their sessions who have none.
    fn begin_sessions(
        &mut self,
        users: u32,
        connections: usize,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<(), LoadError> {
        let is_to_start = |at: &usize| self.sessions[*at].is_to_start(&self.config.scenario);
        let starting: Vec<usize> = (0..users as usize).filter(is_to_start).collect();
        if starting.is_empty() {
            return Ok(());
        }
        let begun_ns = clock::monotonic_ns();
        let nothing = Load::Closed { users: 0, think: None };
        let at_once = Span { begun_ns, start_ns: begun_ns, end_ns: begun_ns };
        let Generator { config, .. } = &*self;
        let tally = Tally::new(&config.base_url, &config.scenario, nothing, config.seed, at_once);
        let recorder = WindowRecorder::new(Limited { together: Vec::new(), apart: Vec::new() }, None);
        let span = Span { begun_ns, start_ns: NEVER_NS, end_ns: NEVER_NS };
        let schedule = Schedule::closed(0, begun_ns, begun_ns);
        let run = LoadRun::new(self, schedule, connections, span, None, recorder, tally);
        run.begin_sessions(starting, stop, on_progress)
    }

    /// Runs a window for which the generator is ready, with what comes before it; the start is that of the settling. A start
    /// in the future is waited for; one in the past is caught up with, and the lateness shows in the send lag.
    pub fn window_from(
        &mut self,
        start: Start,
        window: &LoadWindow,
        logs: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let LoadWindow { load, settle, length, slow_above } = window;
        let slow_above_ns = slow_above.map(|above| u64::try_from(above.as_nanos()).unwrap_or(u64::MAX));
        let GeneratorConfig { scenario, limited, limited_apart, .. } = &self.config;
        let of_name = |name: &String| scenario.operation_names().position(|of| of == name);
        let apart = limited_apart.iter().filter_map(of_name).collect();
        let limited = Limited { together: scenario.are_among(limited), apart };
        let recorder = WindowRecorder::new(limited, slow_above_ns);
        let Start { at_ns: begun_ns, part, seed, opened } = start;
        let start_ns = begun_ns + settle.as_nanos() as u64;
        let end_ns = start_ns + length.as_nanos() as u64;
        let schedule = match load {
            Load::Open { arrivals, rate_per_s } => Schedule::open(
                match &self.config.rate {
                    Some(rate) => arrivals.arrivals_along(rate, part, seed),
                    None => arrivals.arrivals_of(part, *rate_per_s, seed),
                },
                begun_ns,
                end_ns,
                self.config.in_flight_bound(),
            ),
            Load::Closed { users, .. } => Schedule::closed(*users, begun_ns, end_ns),
        };
        let span = Span { begun_ns, start_ns, end_ns };
        let tally = Tally::new(&self.config.base_url, &self.config.scenario, *load, seed, span);
        let run = LoadRun::new(self, schedule, opened.wanted, span, logs, recorder, tally);
        let mut measured = run.execute(stop, on_progress)?;
        // First, since they may explain the others.
        measured.problems.splice(0..0, opened.problems);
        Ok(measured)
    }
}

/// Settling and window are one load run; recording begins with the first request whose intended start lies in the
/// window. Each window draws its arrivals from the next seed, as runs do.
impl LoadSource for Generator {
    fn logged_window(
        &mut self,
        window: &LoadWindow,
        logs: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let start =
            self.start(&window.load, window.settle.saturating_add(window.length), stop, on_progress)?;
        self.window_from(start, window, logs, stop, on_progress)
    }

    fn draw_from(&mut self, seed: u64) {
        Generator::draw_from(self, seed);
    }

    fn was_suspended(&mut self) {
        self.connections.iter_mut().for_each(Connection::close);
    }
}

/// Checks the numbers of a load; returns the users of a closed loop.
fn check(load: &Load, duration: Duration) -> Result<Option<u32>, LoadError> {
    if duration.is_zero() || duration > DURATION_MAX {
        let value = format!("{duration:?}");
        return Err(LoadError::Setting {
            name: "duration",
            value,
            fix: "use more than 0 and at most 7 days".into(),
        });
    }
    match *load {
        Load::Open { rate_per_s, .. } if !(rate_per_s > 0.0 && rate_per_s <= RATE_PER_S_MAX) => {
            let value = rate_per_s.to_string();
            Err(LoadError::Setting {
                name: "rate_per_s",
                value,
                fix: "use more than 0 and at most 10000000".into(),
            })
        }
        Load::Open { .. } => Ok(None),
        Load::Closed { users, think } => {
            within("users", users, 1..=SESSIONS_MAX, "use 1 to 1000000")?;
            if let Some(think) = think.filter(|think| *think > DURATION_MAX) {
                let value = format!("{think:?}");
                return Err(LoadError::Setting { name: "think", value, fix: "use at most 7 days".into() });
            }
            Ok(Some(users))
        }
    }
}
