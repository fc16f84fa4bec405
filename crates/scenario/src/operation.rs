//! A scenario that was compiled.

use crate::chat::Chat;
use crate::data::{Feed, Table};
use crate::extract::Extract;
use crate::grpc::UnaryMethod;
use crate::outside::{Secrets, Sent, sent_file};
use crate::rate::RateSchedule;
use crate::session::SessionRules;
use crate::template::{Source, Template};
use crate::think::Think;
use crate::users::UserKind;
use crate::value::Value;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

/// A checked scenario.
///
/// ```
/// let text = r#"
/// schema = "assay.scenario/1"
/// name = "brokerage-example"
/// setup = ["create-market"]      # once before all load, by one user; what is extracted from the answers, all users have
///
/// [users]                        # kinds of users with their shares; leave it out where there is one kind
/// trader = 95
/// auditor = 5
///
/// [session]
/// start = ["login-page", "login"]    # at session start: the first before the load, outside of the figures; or for kinds: { trader = ["login"] }
/// starts_per_s = 50              # of those, at most so many users a second; default 100
/// restart_after = ["logout"]     # after these a new session begins, whose start counts; or length = { mean = 30 } and end = ["logout"]
/// think_ms = { mean = 500 }      # after an answer, exponential; or evenly { from = 100, to = 900 }, or always 500; default 0
///
/// [values]                       # drawn anew for each request that uses them; session-* once per session
/// user = { kind = "session-range", from = 0, to = 14999 }
/// side = { kind = "list", values = ["buy", "sell"] }
/// symbols = { kind = "range-list", prefix = "s:", from = 0, to = 9999, count = [1, 9], separator = "," }
/// order = { kind = "uuid" }      # or session-uuid, once per session; unix-ms: the time in milliseconds since 1970
/// receipt = { kind = "counter", from = 1 }    # each draw is the next number, for all users together; after `to`, from the beginning
///
/// [rate]                         # of an open loop, over time; `assay load` takes it where it is given no other
/// schedule = "10 to 100 for 1m, 100 for 2m, 100 for 1m spike 900 for 1s every 10s"    # or "10 to 90 in 9 steps for 3m", or "trace FILE"
///
/// [[data]]                       # rows of a file beside this one, whose columns are named as values are: .csv with a header, .json with
/// file = "accounts.csv"          # an array of objects, .ndjson; at most 64 MiB of values
/// order = "once"                 # or sequential (default; begins again after the last row), or random; once: each row is used once, by all
/// per = "session"                # users and injectors together, and the load ends where one is wanted after the last; default: "request"
///
/// [extract]                      # values from right answers, at most 16 KiB: by the text after the first `after` to the next `before`; or by
/// holding = { operation = "portfolio", after = 'data-holding="', before = '"', once = true }    # json = "/items/0/id" (RFC 6901),
/// market = { operation = "create-market", after = "id=", before = ";" }    # regex = 'id=(\d+)' (its first group), header = "X-Id",
/// login-fields = { operation = "login-page", form = "login" }    # field = "csrf" of a form; this one: all hidden fields of a form
///
/// [[operation]]
/// name = "create-market"
/// weight = 0                     # relative, default 1; 0: only where it is named
/// method = "PUT"
/// path = "/markets"
///
/// [[operation]]
/// name = "login-page"
/// weight = 0
/// path = "/login"
///
/// [[operation]]
/// name = "login"
/// weight = 0
/// method = "POST"                # default GET
/// path = "/login"
/// form = { user = "uid:{user}", password = "{password}" }    # or body = "..."
/// hidden = "login-fields"        # sent back before the fields of the form
/// requires = "login-fields"
/// otherwise = "login-page"
/// headers = { X-Api-Key = "${env:API_KEY}" }    # from the environment of whoever starts the load; stored and shown nowhere
/// status = [200, 302]            # default any from 200 to 299, and 304
///
/// [[operation]]
/// name = "portfolio"
/// weight = 90
/// path = "/portfolio?side={side}&symbols={symbols}"
/// follow_redirects = true        # up to ten on the same server, within the request's time, and counted by operation; default false
///
/// [[operation]]
/// name = "audit"
/// weight = { auditor = 10 }      # no other kind does it
/// path = "/audit?market={market}"
/// think_ms = 5000                # takes the place of the session's
///
/// [[operation]]
/// name = "sell"
/// weight = { trader = 6 }
/// method = "POST"
/// path = "/sell"
/// form = { holding = "{holding}" }
/// contains = "Sold"              # must be in the first mebibyte of the body; `{holding}` would be the value that was sent
/// requires = "holding"           # where it is not there, `otherwise` runs, counted under its own name
/// otherwise = "portfolio"
/// forget = { status = 409, values = "holding" }    # after such an answer it is not there any more
/// timeout_ms = 2000              # default 10000, from getting a connection to the whole answer
///
/// [[operation]]
/// name = "logout"
/// weight = 4
/// path = "/logout"
/// "#;
/// assert_eq!(assay_scenario::Scenario::look(text, "example.toml").map_err(|e| e.to_string()), Ok(()));
/// ```
///
/// A chat has `[chat]` instead of operations, and an address that begins with `chat://` or `chats://` (TLS): `room_users = 20` and
/// `message_bytes = 100` are the usual. Each user has a connection of its own; a message is answered when all others of the room have it.
///
/// A value stands in paths and forms percent-encoded, in headers without control characters, in a `body` as it is.
/// With `once` an extracted value is used up by the request that sends it; a correct answer of its operation in which
/// it is not found removes it. In a closed loop the shares of `[users]` are those of users, in an open loop those of
/// requests, and a user who thinks takes none: where all of a kind do, another user comes. Cookies are kept for each session, and sent back after
/// RFC 6265; bodies that are compressed are decoded. Not supported: character entities between `after` and `before`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Sent", into = "Sent")]
pub struct Scenario {
    pub(crate) name: String,
    /// As it was written.
    pub(crate) text: String,
    /// In the file's order.
    pub operations: Vec<Operation>,
    /// Operations that are done once, in order.
    pub setup: Vec<usize>,
    /// What holds for the sessions of all users.
    pub session: SessionRules,
    /// At least one kind.
    pub users: Vec<UserKind>,
    /// The rate of an open loop over time, where the scenario says it.
    pub rate: Option<RateSchedule>,
    /// Values and files that are counted.
    pub(crate) counters: u16,
    pub(crate) feeds: Vec<Feed>,
    pub(crate) secrets: Secrets,
    /// Files that requests send, for injectors; the schema of gRPC before all others.
    pub(crate) files: Vec<Box<[u8]>>,
    /// Services of gRPC whose schema the server is to be asked for.
    pub(crate) asked_services: Vec<String>,
    pub(crate) values: Vec<Value>,
    pub(crate) extracts: Vec<Extract>,
    /// `Cookie` headers whose cookies each user has when a session begins.
    pub cookies: Vec<Template>,
    /// Where it has this, its only operation is to say something.
    pub chat: Option<Chat>,
}

impl From<Scenario> for Sent {
    fn from(scenario: Scenario) -> Sent {
        Sent {
            data: scenario.feeds.iter().map(|feed| Table::clone(&feed.table)).collect(),
            secrets: scenario.secrets.sent(),
            files: scenario.files.iter().map(|file| sent_file(file)).collect(),
            rate: scenario.rate,
            text: scenario.text,
        }
    }
}

/// One kind of request with its checks.
#[derive(Debug, Clone)]
pub struct Operation {
    /// As in the file.
    pub name: String,
    /// In capitals.
    pub method: String,
    /// With the query.
    pub path: Template,
    /// The extract that the path begins with, which is a path of the server by itself.
    pub(crate) path_value: Option<usize>,
    /// Whole header lines.
    pub headers: Template,
    /// Those that its `Cookie` header gives each user at the start of a session.
    pub(crate) cookies: Option<Template>,
    /// Which headers the generator would write otherwise.
    pub sets: OwnHeaders,
    /// Absent where a request has none.
    pub body: Option<Template>,
    /// The method of gRPC that it calls.
    pub grpc: Option<UnaryMethod>,
    /// Its body is filled in as JSON, and is then to be encoded by the method.
    pub(crate) encodes: bool,
    /// Statuses of right answers; none: any that says that all went well.
    pub(crate) statuses: Vec<u16>,
    /// Redirects of the server under load are followed.
    pub follow_redirects: bool,
    pub(crate) contains: Option<Contains>,
    /// Extracts without which `otherwise` runs instead.
    pub(crate) requires: Vec<usize>,
    pub(crate) otherwise: Option<usize>,
    /// From getting a connection to the whole answer.
    pub timeout_ns: u64,
    pub(crate) think: Option<Think>,
    /// The body of the answer is needed, not only its length.
    pub keeps_body: bool,
    /// The head of the answer is needed.
    pub keeps_head: bool,
    /// Server-sent events that make the answer whole; 0: it ends by itself.
    pub events: u32,
    /// Extracts that the answer is searched for.
    pub(crate) extracts: Vec<usize>,
    /// Extracts that are used up by the request.
    pub(crate) uses_up: Vec<usize>,
    /// Statuses of answers after which its user no longer has these extracts.
    pub(crate) forgets: (Vec<u16>, Vec<usize>),
    /// After its answer the user begins a new session.
    pub restarts_session: bool,
}

/// Headers that the generator writes unless an operation sets them itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnHeaders {
    /// `Host`; over HTTP/2 the `:authority`.
    pub host: bool,
    /// `User-Agent`.
    pub user_agent: bool,
    /// `Accept`.
    pub accept: bool,
    /// `Connection: close`: no request follows on the connection.
    pub closes: bool,
}

/// What a body must hold.
#[derive(Debug, Clone)]
pub(crate) enum Contains {
    /// Always the same.
    Text(Box<Finder<'static>>),
    /// With values, as they are in the request.
    Filled(Template),
}

impl Operation {
    /// Says something in a chat.
    pub(crate) fn say(chat: &Chat, think: Option<Think>) -> Operation {
        let mut text = Template::default();
        text.literal(&chat.text());
        Operation {
            name: "say".to_owned(),
            method: "SAY".to_owned(),
            path: Template::default(),
            path_value: None,
            headers: Template::default(),
            cookies: None,
            sets: OwnHeaders::default(),
            body: Some(text),
            grpc: None,
            encodes: false,
            statuses: Vec::new(),
            follow_redirects: false,
            contains: None,
            requires: Vec::new(),
            otherwise: None,
            timeout_ns: chat.timeout_ns,
            think,
            keeps_body: false,
            keeps_head: false,
            events: 0,
            extracts: Vec::new(),
            uses_up: Vec::new(),
            forgets: (Vec::new(), Vec::new()),
            restarts_session: false,
        }
    }

    /// What of `contains` is to be filled in with the request.
    pub fn contains(&self) -> Option<&Template> {
        match &self.contains {
            Some(Contains::Filled(template)) => Some(template),
            Some(Contains::Text(_)) | None => None,
        }
    }

    /// The method of gRPC by which its body is to be encoded once it is filled in.
    pub fn encoder(&self) -> Option<&UnaryMethod> {
        self.grpc.as_ref().filter(|_| self.encodes)
    }

    /// Its path begins with a value that is a whole path of the server.
    pub fn has_whole_path(&self) -> bool {
        self.path_value.is_some()
    }

    /// Whether its user forgets values after an answer of this status.
    pub fn forgets_at(&self, status: u16) -> bool {
        self.forgets.0.contains(&status)
    }

    /// Extracts that its request holds.
    pub(crate) fn uses(&self) -> impl Iterator<Item = usize> {
        let templates = [Some(&self.path), Some(&self.headers), self.body.as_ref(), self.contains()];
        let templates = templates.into_iter().flatten();
        templates.flat_map(Template::sources).filter_map(|source| match source {
            Source::Extracted(at) => Some(at),
            Source::Drawn(_) | Source::Column(..) | Source::Secret(_) => None,
        })
    }

    /// The text that a body should hold and does not; `filled` is what [`Operation::contains`] was filled to.
    pub fn lacks<'a>(&'a self, filled: &'a [u8], body: &[u8]) -> Option<&'a [u8]> {
        match &self.contains {
            Some(Contains::Text(text)) => text.find(body).is_none().then(|| text.needle()),
            Some(Contains::Filled(_)) => memchr::memmem::find(body, filled).is_none().then_some(filled),
            None => None,
        }
    }

    /// Whether a correct answer may have this status.
    pub fn expects(&self, status: u16) -> bool {
        match self.statuses.as_slice() {
            [] => matches!(status, 200..=299 | 304),
            statuses => statuses.contains(&status),
        }
    }

    /// RFC 9110 section 9.2.2: may be sent again when a kept-alive connection turns out to be closed.
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE")
    }
}
