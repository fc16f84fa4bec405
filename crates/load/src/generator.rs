//! The generator: what persists between stretches of load, and how a stretch is run.

use crate::arrivals::{ArrivalLaw, Part, RATE_PER_S_MAX};
use crate::connection::Connection;
use crate::interval_log::IntervalLogs;
use crate::measured::Measured;
use crate::opening::{Patience, open_all};
use crate::poll::Poll;
use crate::run::{Run, Span};
use crate::scenario::Scenario;
use crate::schedule::Schedule;
use crate::session::Session;
use crate::source::{LoadSource, LoadWindow};
use crate::url::BaseUrl;
use crate::window::WindowRecorder;
use crate::{LoadError, clock};
use assay_model::Problem;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const CONNECTIONS_MAX: u32 = 60_000;
const IN_FLIGHT_MAX: u32 = 10_000_000;
const SESSIONS_MAX: u32 = 1_000_000;
const DURATION_MAX: Duration = Duration::from_secs(7 * 86_400);

/// Where the load goes, and within which bounds.
#[derive(Debug, Clone)]
pub struct GeneratorConfig {
    /// Such as `http://127.0.0.1:8080`; a path in it is put before every path of the scenario.
    pub base_url: String,
    /// What the users do.
    pub scenario: Scenario,
    /// Most connections that are open at once.
    pub connections: u32,
    /// Most requests of an open loop in flight, sent or waiting for a connection; arrivals beyond it fail.
    pub in_flight_max: u32,
    /// Users of an open loop: each arrival is a request of the one who has been idle longest, and waits if none is.
    pub sessions: u32,
    /// Seed of every random draw.
    pub seed: u64,
    /// Names of the operations that response-time limits hold for; empty: all.
    pub limited: Vec<String>,
}

impl GeneratorConfig {
    /// The usual bounds: as many sessions as connections, 10,000 requests in flight, seed 1.
    pub fn new(base_url: impl Into<String>, scenario: Scenario, connections: u32) -> Self {
        GeneratorConfig {
            base_url: base_url.into(),
            scenario,
            connections,
            in_flight_max: 10_000,
            sessions: connections,
            seed: 1,
            limited: Vec::new(),
        }
    }
}

/// The law of one stretch of load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Requests start when the arrivals say, whether the server keeps up or not.
    Open {
        /// How intended starts are spread.
        arrivals: ArrivalLaw,
        /// Requests per second.
        rate_per_s: f64,
    },
    /// Each user waits for the answer, thinks, and sends the next request: finds what the server can do at most.
    Closed {
        /// Number of users.
        users: u32,
        /// Time from an answer to the user's next request.
        think: Duration,
    },
}

/// How far a stretch has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Since the start of the stretch.
    pub elapsed: Duration,
    /// Requests that are finished, well or not.
    pub requests: u64,
    /// Of these, answered correctly.
    pub completed: u64,
    /// Of these, failed.
    pub errors: u64,
    /// Requests in flight.
    pub in_flight: u32,
}

/// The connections of a stretch before it begins.
#[derive(Debug)]
pub struct Opened {
    /// How many the stretch may have.
    pub wanted: usize,
    /// Why some of them are not open.
    pub problems: Vec<Problem>,
}

/// When and as which of several generators a stretch is run.
#[derive(Debug)]
pub struct Start {
    /// `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Which part of an open load is this generator's; a closed load is its own.
    pub part: Part,
    /// Of the arrivals.
    pub seed: u64,
    /// Its connections.
    pub opened: Opened,
}

/// A load generator for one server. Its connections and sessions persist between stretches.
///
/// One thread does all: it waits for sockets and for the next intended start with epoll and a timer, so the core
/// that it does not need is left to the server.
pub struct Generator {
    pub(crate) config: GeneratorConfig,
    pub(crate) base: BaseUrl,
    addresses: Vec<SocketAddr>,
    pub(crate) address: SocketAddr,
    pub(crate) poll: Poll,
    pub(crate) connections: Vec<Connection>,
    pub(crate) sessions: Vec<Session>,
    patience: Patience,
    stretches: u64,
}

impl Generator {
    /// Checks the configuration and resolves the host's name; connects to nothing yet.
    ///
    /// # Errors
    /// A URL or a number that cannot be used, an unknown host, or no file descriptors left.
    pub fn new(config: GeneratorConfig) -> Result<Self, LoadError> {
        let base = BaseUrl::parse(&config.base_url)?;
        config.scenario.check_operations(&config.limited)?;
        within("connections", config.connections, 1..=CONNECTIONS_MAX, "use 1 to 60000")?;
        within("in_flight_max", config.in_flight_max, 1..=IN_FLIGHT_MAX, "use 1 to 10000000")?;
        within("sessions", config.sessions, 1..=SESSIONS_MAX, "use 1 to 1000000")?;
        let wrong = |cause: String| LoadError::Url { url: config.base_url.clone(), cause };
        let addresses: Vec<SocketAddr> = (base.host.as_str(), base.port)
            .to_socket_addrs()
            .map_err(|error| wrong(format!("host {:?} cannot be resolved ({error})", base.host)))?
            .collect();
        let address = *addresses.first().ok_or_else(|| wrong("its host has no address".to_owned()))?;
        let connections = (0..config.connections).map(|_| Connection::new()).collect();
        let poll = Poll::new()?;
        Ok(Generator {
            config,
            base,
            addresses,
            address,
            poll,
            connections,
            sessions: Vec::new(),
            patience: Patience::Full,
            stretches: 0,
        })
    }

    /// Runs one stretch of load and drains it; blocks until then. Connections are opened, and those that died since the
    /// last stretch replaced, before it begins; that some stayed closed is among its problems. The first stretch draws
    /// its arrivals from the configured seed, each further one from the next number.
    ///
    /// Draining waits for what is in flight, at most the longest time limit of the scenario. `stop` ends the stretch
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
        let start = self.start(load, duration, stop)?;
        self.run_from(start, load, duration, stop, logs, on_progress)
    }

    /// Makes ready for a load that starts now, with the next seed.
    fn start(&mut self, load: &Load, duration: Duration, stop: &AtomicBool) -> Result<Start, LoadError> {
        let opened = self.ready(load, duration, stop)?;
        let seed = self.config.seed.wrapping_add(self.stretches);
        self.stretches += 1;
        Ok(Start { at_ns: clock::monotonic_ns(), part: Part::WHOLE, seed, opened })
    }

    /// Checks a load, opens the connections that it needs and seats its users. `stop` ends the opening early.
    pub fn ready(&mut self, load: &Load, duration: Duration, stop: &AtomicBool) -> Result<Opened, LoadError> {
        let users = check(load, duration)?;
        let opened = self.connect(self.config.connections.min(users.unwrap_or(u32::MAX)) as usize, stop)?;
        self.seat(users.unwrap_or(self.config.sessions));
        Ok(opened)
    }

    /// Runs a stretch for which the generator is ready. A start in the future is waited for; one in the past is caught
    /// up with, and the lateness shows in the send lag.
    pub(crate) fn run_from(
        &mut self,
        start: Start,
        load: &Load,
        duration: Duration,
        stop: &AtomicBool,
        logs: Option<IntervalLogs>,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        self.record_from(start, load, (Duration::ZERO, duration), stop, (logs, None), on_progress)
    }

    /// The same for a window with what comes before it; the start is that of the settling.
    pub fn window_from(
        &mut self,
        start: Start,
        window: &LoadWindow,
        logs: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let slow_above_ns =
            window.slow_above.map(|above| u64::try_from(above.as_nanos()).unwrap_or(u64::MAX));
        let is_limited = self.config.scenario.are_among(&self.config.limited);
        let recorder = WindowRecorder::new(is_limited, slow_above_ns);
        let times = (window.settle, window.length);
        self.record_from(start, &window.load, times, stop, (logs, Some(recorder)), on_progress)
    }

    /// Loads for a while and goes on with what is recorded, without a pause between the two.
    fn record_from(
        &mut self,
        start: Start,
        load: &Load,
        (settle, duration): (Duration, Duration),
        stop: &AtomicBool,
        (logs, window): (Option<IntervalLogs>, Option<WindowRecorder>),
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let Start { at_ns: begun_ns, part, seed, opened } = start;
        let start_ns = begun_ns + settle.as_nanos() as u64;
        let end_ns = start_ns + duration.as_nanos() as u64;
        let schedule = match load {
            Load::Open { arrivals, rate_per_s } => Schedule::open(
                arrivals.arrivals_of(part, *rate_per_s, seed),
                begun_ns,
                end_ns,
                self.config.in_flight_max,
            ),
            Load::Closed { users, think } => {
                Schedule::closed(*users, think.as_nanos() as u64, begun_ns, end_ns)
            }
        };
        let span = Span { begun_ns, start_ns, end_ns };
        let run = Run::new(self, schedule, opened.wanted, span, logs, window);
        let mut measured = run.execute(*load, seed, stop, on_progress)?;
        // First, since they may explain the others.
        measured.problems.splice(0..0, opened.problems);
        Ok(measured)
    }

    /// Makes sure that `wanted` connections are open, as far as the server accepts them.
    fn connect(&mut self, wanted: usize, stop: &AtomicBool) -> Result<Opened, LoadError> {
        for connection in &mut self.connections {
            if !connection.is_alive() {
                connection.close();
            }
        }
        let is_missing = |at: &usize| self.connections[*at].stream().is_none();
        let mut missing: Vec<usize> = (0..wanted).filter(is_missing).collect();
        let none_is_open = self.connections.iter().all(|connection| connection.stream().is_none());
        if none_is_open && !missing.is_empty() {
            let opened = self.open(missing.remove(0), stop);
            opened.map_err(|cause| LoadError::Connect { url: self.config.base_url.clone(), cause })?;
        }
        // One that is refused is tried again when a request needs it.
        let Generator { connections, address, poll, patience, .. } = self;
        let watch = |connection: &Connection, at| watch(poll, connection, at);
        let unopened = open_all(connections, &missing, address, (*patience, stop), watch);
        *patience = unopened.patience();
        Ok(Opened { wanted, problems: unopened.problems(&self.config.base_url, wanted) })
    }

    /// Opens a connection; the first address of the host that accepts it is kept. Where it was stopped, it may be closed.
    fn open(&mut self, at: usize, stop: &AtomicBool) -> io::Result<()> {
        let others = self.addresses.iter().filter(|other| **other != self.address);
        let addresses: Vec<SocketAddr> = std::iter::once(&self.address).chain(others).copied().collect();
        let mut first = None;
        for address in addresses {
            let Generator { connections, poll, .. } = self;
            let watch = |connection: &Connection, at| watch(poll, connection, at);
            match open_all(connections, &[at], &address, (Patience::Full, stop), watch).into_error() {
                None => {
                    self.address = address;
                    return Ok(());
                }
                Some(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Has the poll watch the socket of a connection.
    pub(crate) fn watch(&self, at: usize) -> io::Result<()> {
        watch(&self.poll, &self.connections[at], at)
    }

    fn seat(&mut self, wanted: u32) {
        for number in self.sessions.len() as u64..u64::from(wanted) {
            self.sessions.push(Session::new(self.config.seed, number, &self.config.scenario));
        }
    }
}

/// Settling and window are one stretch of load; recording begins with the first request whose intended start lies in the
/// window. Each window draws its arrivals from the next seed, as stretches do.
impl LoadSource for Generator {
    fn window(
        &mut self,
        window: &LoadWindow,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        self.logged_window(window, None, stop, on_progress)
    }

    fn logged_window(
        &mut self,
        window: &LoadWindow,
        logs: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let start = self.start(&window.load, window.settle.saturating_add(window.length), stop)?;
        self.window_from(start, window, logs, stop, on_progress)
    }
}

fn watch(poll: &Poll, connection: &Connection, at: usize) -> io::Result<()> {
    match connection.stream() {
        Some(stream) => poll.watch(stream, token(at, connection.generation)),
        None => Err(io::ErrorKind::NotConnected.into()),
    }
}

/// Names the socket that a slot holds now, so that a late event of an earlier one is told apart.
pub(crate) fn token(at: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | at as u64
}

fn within(
    name: &'static str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
    fix: &'static str,
) -> Result<(), LoadError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(LoadError::Setting { name, value: value.to_string(), fix })
}

/// Checks the numbers of a load; returns the users of a closed loop.
fn check(load: &Load, duration: Duration) -> Result<Option<u32>, LoadError> {
    if duration.is_zero() || duration > DURATION_MAX {
        let value = format!("{duration:?}");
        return Err(LoadError::Setting {
            name: "duration",
            value,
            fix: "use more than 0 and at most 7 days",
        });
    }
    match *load {
        Load::Open { rate_per_s, .. } if !(rate_per_s > 0.0 && rate_per_s <= RATE_PER_S_MAX) => {
            let value = rate_per_s.to_string();
            Err(LoadError::Setting { name: "rate_per_s", value, fix: "use more than 0 and at most 10000000" })
        }
        Load::Open { .. } => Ok(None),
        Load::Closed { users, think } => {
            within("users", users, 1..=SESSIONS_MAX, "use 1 to 1000000")?;
            if think > DURATION_MAX {
                let value = format!("{think:?}");
                return Err(LoadError::Setting { name: "think", value, fix: "use at most 7 days" });
            }
            Ok(Some(users))
        }
    }
}
