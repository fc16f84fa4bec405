//! What simulated users do: weighted operations with sessions, values and checks, read from a TOML file
//! (`assay.scenario/1`) and compiled once.
//!
//! A session runs the operations of `[session] start` in order, then draws by the weights of its kind of user, from a deck that all users
//! of the kind share. After an operation of `restart_after`, or after so many as `length` says and those of `end`, a new session begins: no
//! cookies, no session values, no extracted values.

mod chat;
mod compile;
mod compile_operation;
mod cookies;
mod data;
mod deck;
mod error;
mod extract;
mod file;
mod forms;
pub mod generate;
mod grpc;
mod missing;
mod mistakes;
mod multipart;
mod names;
mod operation;
mod origins;
mod outside;
mod part;
mod rate;
mod ready_made;
mod reflection;
mod session;
mod shared;
mod template;
mod think;
mod user;
mod users;
mod value;

pub use chat::{Chat, MESSAGE_BYTES_MAX};
pub use compile_operation::GRPC_HEADERS;
pub use deck::Deck;
pub use error::ScenarioError;
pub use extract::{Answered, Missed};
pub use grpc::{UnaryMethod, message_of};
pub use operation::{Operation, OwnHeaders, Scenario};
pub use outside::Secrets;
pub use part::Part;
pub use rate::{RATE_PER_S_MAX, RateSchedule, RateWalk};
pub use ready_made::{READY_MADE, ReadyMade};
pub use reflection::{REFLECTION_PATHS, Reflection};
pub use session::SessionRules;
pub use shared::Shared;
pub use template::Template;
pub use user::{Drawn, User};
pub use users::{Apportionment, UserKind};

use crate::outside::{Outside, Sent};
use crate::think::Think;
use assay_text::file::{TextError, read_text};
use std::path::Path;

/// Longest scenario file that is read, bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read, or is wrong: all mistakes with file, line and, where one is near, the right word.
    pub fn read(path: &Path) -> Result<Scenario, ScenarioError> {
        let named = path.display().to_string();
        let text = read_text(path, FILE_BYTES_MAX).map_err(|error| match error {
            TextError::File(cause) => ScenarioError::File { path: named.clone(), cause },
            TextError::Line(line, what) => ScenarioError::Mistakes(vec![format!("{named}:{line}: {what}")]),
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        compile::compile(&text, &named, &Outside::Here(folder)).map_err(ScenarioError::Mistakes)
    }

    /// Reads a scenario from `text`; `source` names it in messages. Files that it names are looked for in the current folder.
    ///
    /// # Errors
    /// As of `read`.
    pub fn parse(text: &str, source: &str) -> Result<Scenario, ScenarioError> {
        compile::compile(text, source, &Outside::Here(Path::new(""))).map_err(ScenarioError::Mistakes)
    }

    /// Length of the shortest secret, bytes.
    pub const SECRET_BYTES_MIN: usize = outside::SECRET_BYTES_MIN;

    /// Reads a scenario from `text` that has its secrets, by the names of variables, from here instead of from the environment, and names no
    /// files.
    ///
    /// # Errors
    /// As of `read`.
    pub fn with_secrets(
        text: &str,
        source: &str,
        secrets: Vec<(String, String)>,
    ) -> Result<Scenario, ScenarioError> {
        let (data, files, rate) = (Vec::new(), Vec::new(), None);
        let outside = Outside::Sent(Sent { text: text.to_owned(), data, secrets, files, rate });
        compile::compile(text, source, &outside).map_err(ScenarioError::Mistakes)
    }

    /// Mistakes in the text of a scenario, whether or not its outside inputs are there.
    ///
    /// # Errors
    /// As of `read`.
    pub fn look(text: &str, source: &str) -> Result<(), ScenarioError> {
        compile::compile(text, source, &Outside::Absent).map(drop).map_err(ScenarioError::Mistakes)
    }

    /// Its secrets, which must not be shown.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Of a file with rows that are used once each: its name, and how many it has.
    pub fn rows_of(&self, feed: usize) -> Option<(&str, u64)> {
        self.feeds.get(feed).map(|feed| (feed.file.as_str(), feed.table.rows()))
    }

    /// Files whose rows so many users at once share, though each row is meant for one user: names, and how many rows they have.
    pub fn shared_rows(&self, users: u64) -> impl Iterator<Item = (&str, u64)> {
        let shared = self.feeds.iter().filter(move |feed| feed.is_shared_by(users));
        shared.map(|feed| (feed.file.as_str(), feed.table.rows()))
    }

    /// The name of a value that is taken from answers, and whether a request uses it up.
    pub fn extracted(&self, extract: usize) -> (&str, bool) {
        self.extracts.get(extract).map_or(("", false), |one| (one.name.as_str(), one.once))
    }

    /// What an answer holds instead of a value that was not found in it, in a few words and without any value.
    pub fn instead_of(&self, extract: usize, answer: &Answered) -> String {
        self.extracts.get(extract).map_or_else(String::new, |one| missing::instead(&one.place, answer))
    }

    /// What its users share, before any load.
    pub fn shared(&self) -> Shared {
        Shared::new(self.counters)
    }

    /// As it was written; of a plain URL, what could be written for it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether its users say something to each other, each on a connection of its own.
    pub fn is_chat(&self) -> bool {
        self.chat.is_some()
    }

    /// Whether it calls methods of gRPC.
    pub fn calls_grpc(&self) -> bool {
        !self.asked_services.is_empty() || self.operations.iter().any(|operation| operation.grpc.is_some())
    }

    /// The address that its users speak to, of a server that answers HTTP at this one: a chat server does both on one port.
    pub fn address_of(&self, http: &str) -> String {
        match http.strip_prefix("http").filter(|_| self.is_chat()) {
            // `s://` stays: TLS.
            Some(rest) => format!("chat{rest}"),
            None => http.to_owned(),
        }
    }

    /// So many users, and the few more that fill the rooms of a chat.
    pub fn in_whole_rooms(&self, users: u32) -> u32 {
        let of_room = self.chat.as_ref().map_or(1, |chat| chat.room_users as u32);
        users.next_multiple_of(of_room)
    }

    /// The scenario's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of its operations, in the file's order.
    pub fn operation_names(&self) -> impl Iterator<Item = &str> {
        self.operations.iter().map(|operation| operation.name.as_str())
    }

    /// Checks that all names are those of operations.
    ///
    /// # Errors
    /// The first that is not, with those that are.
    pub fn check_operations(&self, names: &[String]) -> Result<(), ScenarioError> {
        let known = || self.operation_names().collect::<Vec<_>>();
        let unknown = names.iter().find(|name| !known().contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| {
            Err(ScenarioError::Operation { name: name.clone(), known: known().join(", ") })
        })
    }

    /// For each operation, whether it is among the names; all are among none.
    pub fn are_among(&self, names: &[String]) -> Vec<bool> {
        self.operation_names().map(|name| names.is_empty() || names.iter().any(|n| n == name)).collect()
    }

    /// The longest time limit of a request: what draining takes at most.
    pub fn timeout_max(&self) -> std::time::Duration {
        let longest_ns = self.operations.iter().map(|operation| operation.timeout_ns).max();
        std::time::Duration::from_nanos(longest_ns.unwrap_or(0))
    }

    /// Whether sessions of a kind of users begin with a request to this path, without its query: where a server sends them, they have to
    /// begin again.
    pub fn begins_at(&self, kind: usize, path: &[u8]) -> bool {
        self.users[kind].start.iter().any(|at| self.operations[*at].path.is_path(path))
    }

    /// Names of the operations that begin the session of a user, in order, of the kind with the most.
    pub fn start_operations(&self) -> Vec<&str> {
        let longest = self.users.iter().map(|kind| &kind.start).max_by_key(|start| start.len());
        longest.into_iter().flatten().map(|at| self.operations[*at].name.as_str()).collect()
    }

    /// How long users think after an answer, on average over what they do, seconds.
    pub fn think_mean_s(&self) -> f64 {
        let thought = self.operations.iter().map(|one| one.think.map_or(0.0, Think::mean_s));
        self.asked_shares().iter().zip(thought).map(|(share, mean_s)| share * mean_s).sum()
    }

    /// Shares that the operations should have of all requests, in the file's order: those of each kind of users, by its
    /// share. `otherwise` is left out, since how often it runs depends on the server's answers.
    pub fn asked_shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.operations.len()];
        for kind in &self.users {
            let of_kind = kind.asked_shares(self.session.length, |at| self.operations[at].restarts_session);
            shares.iter_mut().zip(of_kind).for_each(|(sum, share)| *sum += kind.share * share);
        }
        shares
    }
}

impl TryFrom<Sent> for Scenario {
    type Error = ScenarioError;

    fn try_from(sent: Sent) -> Result<Scenario, ScenarioError> {
        let text = sent.text.clone();
        compile::compile(&text, "scenario", &Outside::sent(sent)?).map_err(ScenarioError::Mistakes)
    }
}

/// The JSON schema of scenario files.
pub fn scenario_schema() -> serde_json::Value {
    schemars::schema_for!(file::ScenarioFile).to_value()
}

#[cfg(test)]
mod outside_tests;
#[cfg(test)]
mod tests;
