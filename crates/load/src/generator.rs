//! The generator: connections and sessions that persist between load runs.

use crate::LoadError;
use crate::connection::{Buffer, Connection, State};
use crate::endpoint::{Endpoint, Http};
use crate::law::Load;
use crate::opening::{Patience, open_all};
use crate::poll::Poll;
use crate::protocol::chat;
use crate::protocol_counters::ProtocolCounters;
use crate::session::Session;
use crate::session_starts::SessionStarts;
use crate::tls::{Handshakes, TlsOptions};
use crate::user_count;
use assay_model::Problem;
use assay_scenario::{Apportionment, Deck, Part, RateSchedule, Scenario, Shared};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

const CONNECTIONS_MAX: u32 = 60_000;
const IN_FLIGHT_MAX: u32 = 10_000_000;
/// Of requests in flight where nothing else is asked for.
const IN_FLIGHT_USUAL: u32 = 10_000;
pub(crate) const SESSIONS_MAX: u32 = 1_000_000;

/// Where the load goes, and within which bounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorConfig {
    /// Such as `http://127.0.0.1:8080`; a path in it is put before every path of the scenario.
    pub base_url: String,
    /// Servers alike, each with an equal share of the load: a generator loads one server, so several are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<String>,
    /// What the users do.
    pub scenario: Scenario,
    /// Most connections that are open at once.
    pub connections: u32,
    /// Most requests of an open loop in flight, sent or waiting for a connection; arrivals beyond it fail. Absent: 10,000, or as
    /// many as the connections carry at once where that is more.
    pub in_flight_max: Option<u32>,
    /// Users of an open loop who may have a request under way at once: each arrival is a request of the one of its kind who has
    /// been idle longest, or of another user where all of them think or have one under way. Absent: as many as the connections
    /// carry requests at once.
    pub sessions: Option<u32>,
    /// Users of an open loop: exactly so many, and an arrival that finds all of them busy waits for one. Absent: as many as its rate
    /// needs, and more when all are busy.
    pub users: Option<u32>,
    /// What the users share, also with those of generators before and after this one.
    pub shared: Shared,
    /// Seed of every random draw.
    pub seed: u64,
    /// The rate of an open load over time, from the start of each run; `rate_per_s` is then its mean. Absent: always that.
    pub rate: Option<RateSchedule>,
    /// Names of the operations that response-time limits hold for; empty: all.
    pub limited: Vec<String>,
    /// Names of the operations with limits of their own: these are counted apart.
    pub limited_apart: Vec<String>,
    /// How TLS is spoken, with a URL that begins with `https://`.
    pub tls: TlsOptions,
    /// Which HTTP is spoken.
    pub http: Http,
}

impl GeneratorConfig {
    /// The usual bounds: as many sessions and requests in flight as the connections carry, seed 1, HTTP/1.1.
    pub fn new(base_url: impl Into<String>, scenario: Scenario, connections: u32) -> Self {
        GeneratorConfig {
            base_url: base_url.into(),
            replicas: Vec::new(),
            shared: scenario.shared(),
            rate: scenario.rate.clone(),
            scenario,
            connections,
            in_flight_max: None,
            sessions: None,
            users: None,
            seed: 1,
            limited: Vec::new(),
            limited_apart: Vec::new(),
            tls: TlsOptions::default(),
            http: Http::One,
        }
    }
}

impl GeneratorConfig {
    /// How many requests the connections carry at once.
    fn carried(&self) -> u32 {
        let streams = match self.http {
            Http::Two { streams } => streams,
            Http::One if self.scenario.is_chat() => chat::STREAMS as u32,
            Http::One => 1,
        };
        self.connections.saturating_mul(streams)
    }

    /// The bound that [`GeneratorConfig::sessions`] says.
    pub fn sessions_bound(&self) -> u32 {
        self.sessions.unwrap_or_else(|| self.carried().min(SESSIONS_MAX))
    }

    /// The bound that [`GeneratorConfig::in_flight_max`] says.
    pub fn in_flight_bound(&self) -> u32 {
        self.in_flight_max.unwrap_or_else(|| self.carried().clamp(IN_FLIGHT_USUAL, IN_FLIGHT_MAX))
    }

    /// Users that an open loop at this rate begins with.
    pub fn users_at(&self, rate_per_s: f64) -> u32 {
        let of_rate = || {
            let highest_per_s = self.rate.as_ref().map_or(rate_per_s, user_count::highest_per_s);
            let of_part = highest_per_s / f64::from(self.shared.part().of.max(1));
            user_count::of_rate(&self.scenario, of_part, self.sessions_bound()).min(SESSIONS_MAX)
        };
        self.users.unwrap_or_else(of_rate)
    }

    /// Resolves the host's name.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, LoadError> {
        let GeneratorConfig { base_url, scenario, tls, http, shared, .. } = self;
        Endpoint::new(base_url, scenario, (tls, *http), shared.part())
    }
}

/// The connections of a run before it begins.
#[derive(Debug)]
pub struct Opened {
    /// How many the run may have.
    pub wanted: usize,
    /// Why some of them are not open.
    pub problems: Vec<Problem>,
}

/// When a run starts, and its share of the load among several generators.
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

/// A load generator for one server. Its connections and sessions persist between runs.
///
/// One thread does all: it waits for sockets and for the next intended start with epoll and a timer, so the core
/// that it does not need is left to the server.
pub struct Generator {
    pub(crate) config: GeneratorConfig,
    pub(crate) endpoint: Endpoint,
    pub(crate) address: SocketAddr,
    pub(crate) poll: Poll,
    pub(crate) connections: Vec<Connection>,
    pub(crate) sessions: Vec<Session>,
    /// By kind of users: what they draw operations from.
    pub(crate) decks: Vec<Deck>,
    dealing: Apportionment,
    patience: Patience,
    /// Those that no run has reported yet.
    pub(crate) handshakes: Handshakes,
    /// The same of users who began their sessions outside of the figures.
    pub(crate) session_starts: SessionStarts,
    /// The same of what was spoken.
    pub(crate) spoken: ProtocolCounters,
    pub(crate) runs: u64,
    /// After so many requests the run ends that is under way.
    pub(crate) requests_max: Option<u64>,
}

impl Generator {
    /// Checks the configuration and resolves the host's name; connects to nothing yet.
    ///
    /// # Errors
    /// A URL or a number that cannot be used, an unknown host, or no file descriptors left.
    pub fn new(mut config: GeneratorConfig) -> Result<Self, LoadError> {
        if !config.replicas.is_empty() {
            let (value, fix) = (config.replicas.join(" "), "load each by a thread of its own".into());
            return Err(LoadError::Setting { name: "replicas", value, fix });
        }
        config.scenario.check_operations(&config.limited)?;
        config.scenario.check_operations(&config.limited_apart)?;
        within("connections", config.connections, 1..=CONNECTIONS_MAX, "use 1 to 60000")?;
        if let Some(in_flight_max) = config.in_flight_max {
            within("in_flight_max", in_flight_max, 1..=IN_FLIGHT_MAX, "use 1 to 10000000")?;
        }
        if let Some(sessions) = config.sessions {
            within("sessions", sessions, 1..=SESSIONS_MAX, "use 1 to 1000000")?;
        }
        if let Some(users) = config.users {
            let kinds = config.scenario.users.len() as u32;
            within("users", users, 1..=SESSIONS_MAX, "use 1 to 1000000")?;
            let fix = "use at least one of each kind of users, and of injectors so many for each";
            within("users", users, kinds..=SESSIONS_MAX, fix)?;
        }
        let endpoint = config.endpoint()?;
        let address = endpoint.addresses[0];
        if let Some(users) = endpoint.room_users() {
            // Each user has a connection of its own.
            (config.sessions, config.users) = (Some(config.connections), None);
            whole_rooms("connections", config.connections, users)?;
        }
        let connections = (0..config.connections as usize).map(|at| endpoint.connection(at)).collect();
        let poll = Poll::new()?;
        let kinds = config.scenario.users.iter().enumerate();
        let decks = kinds.map(|(at, kind)| kind.deck(config.seed, at)).collect();
        Ok(Generator {
            config,
            address,
            poll,
            connections,
            sessions: Vec::new(),
            decks,
            dealing: Apportionment::default(),
            patience: Patience::Full,
            handshakes: Handshakes::none(),
            session_starts: SessionStarts::none(),
            spoken: endpoint.nothing_spoken(),
            runs: 0,
            requests_max: None,
            endpoint,
        })
    }

    /// Makes sure that `wanted` connections are open, as far as the server accepts them.
    pub(crate) fn connect(&mut self, wanted: usize, stop: &AtomicBool) -> Result<Opened, LoadError> {
        let mut buffer = Buffer::new();
        for at in 0..self.connections.len() {
            if !self.connections[at].is_alive(&mut buffer) {
                self.note_goodbye(at);
                self.connections[at].close();
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
        let Generator { connections, address, poll, patience, handshakes, .. } = self;
        let watch = |connection: &Connection, at| watch(poll, connection, at);
        let unopened = open_all(connections, &missing, address, (*patience, stop), watch);
        *patience = unopened.patience();
        connections.iter_mut().filter_map(Connection::take_handshake).for_each(|one| handshakes.add(one));
        for at in 0..wanted {
            self.greeted(at);
        }
        Ok(Opened { wanted, problems: unopened.problems(&self.config.base_url, wanted) })
    }

    /// The first `count` connections in the order in which requests should be put on them: those that are open and carried none, the
    /// other open ones, those that are to be opened.
    ///
    /// A server may keep a thread for each new connection until its first request came: the JDK's `HttpsServer` does after the TLS
    /// handshake. Where it has fewer threads than it got new connections, requests on others wait until those that hold the threads
    /// carry one. They would wait for ever if these came last.
    pub(crate) fn by_readiness(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|at| match &self.connections[*at] {
            connection if connection.state() != State::Open => 2,
            connection if 0 < connection.answered => 1,
            _ => 0,
        });
        order
    }

    /// Opens a connection; the first address of the host that accepts it is kept. Where it was stopped, it may be closed.
    fn open(&mut self, at: usize, stop: &AtomicBool) -> io::Result<()> {
        let others = self.endpoint.addresses.iter().filter(|other| **other != self.address);
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

    /// Notes what both sides of a connection said before all requests; says whether they did, and that was not noted yet.
    pub(crate) fn greeted(&mut self, at: usize) -> bool {
        let Some(ns) = self.connections[at].take_greeting_ns() else { return false };
        self.spoken.openings.saturating_record(ns);
        self.note_allowed(at);
        true
    }

    /// Notes that the server ends a connection, if it said so and that was not noted yet.
    pub(crate) fn note_goodbye(&mut self, at: usize) {
        if let Some((code, before)) = self.connections[at].take_goodbye() {
            self.spoken.left(code, before);
        }
    }

    /// Notes how many requests the server allows at once.
    pub(crate) fn note_allowed(&mut self, at: usize) {
        self.spoken.allowed(self.connections[at].streams_allowed());
    }

    /// Has the poll watch the socket of a connection.
    pub(crate) fn watch(&self, at: usize) -> io::Result<()> {
        watch(&self.poll, &self.connections[at], at)
    }

    /// Makes sure that there are so many users. Of those of all generators of the load together, each kind has its share; where `of_each`,
    /// there is one of each kind at least.
    pub(crate) fn seat(&mut self, wanted: u32, of_each: bool) {
        let Part { number, of } = self.config.shared.part();
        while self.sessions.len() < wanted as usize {
            let dealt: Vec<usize> =
                (0..of.max(1)).map(|_| self.dealing.next(&self.config.scenario.users)).collect();
            let dealt = dealt.get(number as usize).copied().unwrap_or(0);
            let places = wanted as usize - self.sessions.len();
            let due = if of_each { self.kind_due(places) } else { None };
            self.add_user(due.unwrap_or(dealt));
        }
    }

    /// The first kind without a user, where the places left are no more than such kinds. Users are looked through for the last places
    /// alone.
    fn kind_due(&self, places: usize) -> Option<usize> {
        if self.decks.len() < places {
            return None;
        }
        let is_absent = |kind: &usize| self.sessions.iter().all(|user| user.kind != *kind);
        let absent: Vec<usize> = (0..self.decks.len()).filter(is_absent).collect();
        absent.first().copied().filter(|_| places <= absent.len())
    }

    /// The users of a load, who are there once it is ready.
    pub(crate) fn users_of(&self, load: &Load) -> u32 {
        match load {
            Load::Closed { users, .. } => *users,
            Load::Open { .. } => self.config.users.unwrap_or(self.sessions.len() as u32),
        }
    }

    /// How many sessions may begin in a second.
    pub(crate) fn starts_per_s(&self) -> f64 {
        self.config.scenario.session.starts_per_s / f64::from(self.config.shared.part().of.max(1))
    }

    /// Draws from another seed from now on; sessions, cookies and connections stay.
    pub(crate) fn draw_from(&mut self, seed: u64) {
        self.config.seed = seed;
        self.runs = 0;
        let kinds = self.config.scenario.users.iter().enumerate();
        self.decks = kinds.map(|(at, kind)| kind.deck(seed, at)).collect();
        self.sessions.iter_mut().zip(0..).for_each(|(user, number)| user.reseed(seed, number));
    }

    /// Adds a user of a kind; says which it is.
    pub(crate) fn add_user(&mut self, kind: usize) -> usize {
        let (number, config) = (self.sessions.len(), &self.config);
        self.sessions.push(Session::new(config.seed, number as u64, kind, &config.scenario, &config.shared));
        number
    }
}

/// A room that is not full would get fewer deliveries than the others.
pub(crate) fn whole_rooms(name: &'static str, value: u32, users: usize) -> Result<(), LoadError> {
    if (value as usize).is_multiple_of(users) {
        return Ok(());
    }
    let fix = format!("use a multiple of {users}, the users of a room").into();
    Err(LoadError::Setting { name, value: value.to_string(), fix })
}

fn watch(poll: &Poll, connection: &Connection, at: usize) -> io::Result<()> {
    match connection.stream() {
        Some(stream) => poll.watch(stream, token(at, connection.generation)),
        None => Err(io::ErrorKind::NotConnected.into()),
    }
}

/// Names the socket that a slot holds now, so that a late event of an earlier one is recognised.
pub(crate) fn token(at: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | at as u64
}

pub(crate) fn within(
    name: &'static str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
    fix: &'static str,
) -> Result<(), LoadError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(LoadError::Setting { name, value: value.to_string(), fix: fix.into() })
}
