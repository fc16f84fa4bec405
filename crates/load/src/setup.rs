//! The one-time requests of a scenario: sent in order, by one user, before the first load.

use crate::LoadError;
use crate::checked::{Exchanged, Reused};
use crate::connection::{Buffer, Connection, Input, State};
use crate::endpoint::Endpoint;
use crate::error_kind::ErrorKind;
use crate::generator::GeneratorConfig;
use crate::protocol::{Answer, Event, Failure};
use crate::redirect::{REDIRECTS_MAX, follow};
use crate::request::Request;
use crate::session::Session;
use assay_scenario::{Drawn, Operation};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The stream that carries them.
const STREAM: usize = 0;
/// Number of the user who sends them: none of those who load.
const USER: u64 = u64::MAX - 1;

impl GeneratorConfig {
    /// Sends the one-time requests of the scenario, unless that was done, and keeps what they gave for all users.
    ///
    /// # Errors
    /// The server cannot be reached, a request got no right answer, or a value was not in the answer.
    pub fn set_up(&self) -> Result<(), LoadError> {
        let scenario = &self.scenario;
        if scenario.setup.is_empty() || self.shared.is_set_up() {
            return Ok(());
        }
        let endpoint = self.endpoint()?;
        let mut user = Session::new(self.seed, USER, 0, scenario, &self.shared);
        let mut connection = endpoint.connection(0);
        let (mut request, mut drawn) = (Request::default(), Drawn::default());
        for operation in scenario.setup.iter().map(|at| &scenario.operations[*at]) {
            let failed = |cause: String| {
                let cause = scenario.secrets().redacted(&cause).into_owned();
                LoadError::SetUp { operation: operation.name.clone(), cause }
            };
            user.write_request(scenario, operation, &endpoint.base, &mut drawn, &mut request);
            if let Some((file, rows)) = drawn.used_up().and_then(|feed| scenario.rows_of(feed)) {
                return Err(failed(format!("all {rows} rows of {file} were used")));
            }
            if let Some(why) = request.unfit.take() {
                return Err(failed(format!("its body {why}")));
            }
            exchange(&mut connection, &endpoint, operation, &mut request, &mut user).map_err(failed)?;
            let answer = connection.answer(STREAM);
            let exchanged = Exchanged { operation, request: &request, answer };
            let mut reused = Reused::default();
            exchanged
                .take(&mut user, scenario, &endpoint.base, &mut reused)
                .map_err(|wrong| failed(wrong.detail(answer, scenario.secrets())))?;
            if let Some(name) = user.missing(scenario, operation) {
                let instead = reused.remarks.first_missed(scenario).map_or("", |(_, instead)| instead);
                return Err(failed(format!("its answer does not hold {name:?}: {instead}")));
            }
        }
        user.into_user().give_to_all();
        Ok(())
    }
}

/// Sends a request, and reads the answer; follows redirects where the operation does.
fn exchange(
    connection: &mut Connection,
    endpoint: &Endpoint,
    operation: &Operation,
    request: &mut Request,
    user: &mut Session,
) -> Result<(), String> {
    let is_pushed = |request: &Request, answer: &Answer| {
        let wrong = |reused| Exchanged { operation, request, answer }.wrong(reused).map(|wrong| wrong.kind());
        endpoint.is_pushed_to() && wrong(&mut Reused::default()) == Some(ErrorKind::Content)
    };
    let until = Instant::now() + Duration::from_nanos(operation.timeout_ns);
    for redirects in 0.. {
        let keep_alive = answer(connection, &endpoint.addresses, request, until, &is_pushed)?;
        let answer = connection.answer(STREAM);
        let from = request.destination(&endpoint.base);
        // One that is refused is named by the load, whose users get it as well.
        for cookie in answer.set_cookies() {
            let _ = user.set_cookie(cookie, from);
        }
        let follows = operation.follow_redirects
            && redirects < REDIRECTS_MAX
            && follow(request, answer, &endpoint.base, user.cookies());
        if !keep_alive {
            connection.close();
        }
        if !follows {
            break;
        }
    }
    Ok(())
}

/// Writes a request and reads until an answer is whole that was not pushed; says whether the connection can carry another request.
fn answer(
    connection: &mut Connection,
    addresses: &[SocketAddr],
    request: &Request,
    until: Instant,
    is_pushed: &dyn Fn(&Request, &Answer) -> bool,
) -> Result<bool, String> {
    let mut buffer = Buffer::new();
    if !connection.is_alive(&mut buffer) {
        connection.close();
        open(connection, addresses, until, &mut buffer)?;
    }
    connection.send(STREAM, request);
    loop {
        connection.write().map_err(|error| error.to_string())?;
        match answered(connection, &mut buffer, &|answer| is_pushed(request, answer)) {
            Ok(Some(keep_alive)) => return Ok(keep_alive && connection.is_in_step()),
            Ok(None) => wait(connection, until)?,
            Err(failure) => return Err(failure.to_string()),
        }
    }
}

/// Reads once; says, where the answer is whole, whether the connection can carry another request.
fn answered(
    connection: &mut Connection,
    buffer: &mut Buffer,
    is_pushed: &dyn Fn(&Answer) -> bool,
) -> Result<Option<bool>, Failure> {
    let event = match connection.read(buffer)? {
        Input::Nothing => None,
        Input::End => connection.end()?,
        Input::Bytes { mut bytes, .. } => loop {
            let (taken, mut event) = connection.feed(bytes)?;
            bytes = &bytes[taken..];
            if matches!(event, Some(Event::Answered { .. })) && is_pushed(connection.answer(STREAM)) {
                connection.await_next(STREAM);
                event = None;
            }
            // Behind an event that does not end the answer comes the rest of it.
            event = event.filter(|event| !matches!(event, Event::Streamed { .. } | Event::Room));
            if event.is_some() || bytes.is_empty() {
                break event;
            }
        },
    };
    Ok(match event {
        Some(Event::Answered { keep_alive, .. }) => Some(keep_alive),
        Some(Event::Failed { why, .. }) => {
            return Err(Failure::Protocol(format!("the server reset the stream: {why}").into()));
        }
        Some(Event::Leaving) if connection.is_undone(STREAM) => return Err(Failure::ClosedBefore),
        Some(
            Event::Streamed { .. } | Event::Leaving | Event::Room | Event::Pushed | Event::Delivered { .. },
        )
        | None => None,
    })
}

/// Opens the connection to the first address that accepts it.
fn open(
    connection: &mut Connection,
    addresses: &[SocketAddr],
    until: Instant,
    buffer: &mut Buffer,
) -> Result<(), String> {
    let mut why = "its host has no address".to_owned();
    for address in addresses {
        let opened = connection.open(address).and_then(|()| {
            while connection.state() == State::Opening && !connection.advance(buffer)? {
                wait(connection, until).map_err(io::Error::other)?;
            }
            Ok(())
        });
        match opened {
            Ok(()) => return Ok(()),
            Err(error) => why = error.to_string(),
        }
        connection.close();
    }
    Err(why)
}

/// Until something can be read, or written if something is still to be.
fn wait(connection: &Connection, until: Instant) -> Result<(), String> {
    let left = until.saturating_duration_since(Instant::now());
    let Some(stream) = connection.stream().filter(|_| !left.is_zero()) else {
        return Err("no whole answer in time".to_owned());
    };
    let flags = if connection.wants_write() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    match poll(&mut [PollFd::new(stream, flags)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
