//! The one-time requests of a scenario: sent in order, by one user, before the first load.

use crate::LoadError;
use crate::awaited::{STREAM, answer};
use crate::checked::{Exchanged, Reused};
use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::error_kind::ErrorKind;
use crate::generator::GeneratorConfig;
use crate::protocol::Answer;
use crate::redirect::{REDIRECTS_MAX, follow};
use crate::reflection;
use crate::request::Request;
use crate::session::Session;
use assay_scenario::{Drawn, Operation};
use std::time::{Duration, Instant};

/// Number of the user who sends them: none of those who load.
const USER: u64 = u64::MAX - 1;

impl GeneratorConfig {
    /// Asks the server for the schema of the scenario's services where it is not known, and sends the one-time requests of the scenario,
    /// unless that was done: what they gave is kept for all users.
    ///
    /// # Errors
    /// The server cannot be reached, a request got no right answer, a value was not in the answer, or the scenario does not fit the schema.
    pub fn set_up(&mut self) -> Result<(), LoadError> {
        if let Some(schema) = self.scenario.reflection() {
            let schema = reflection::asked(&self.endpoint()?, schema)
                .map_err(|cause| LoadError::Reflection { url: self.base_url.clone(), cause })?;
            self.scenario = self.scenario.clone().reflected(schema)?;
        }
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
