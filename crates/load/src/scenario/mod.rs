//! What simulated users do: weighted operations with sessions, values and checks, read from a TOML file
//! (`assay.scenario/1`) and compiled once.
//!
//! A session runs the operations of `[session] start` in order, then draws from the weights, independently each
//! time, from its own seeded stream. After an operation of `restart_after` a new session begins: no cookies, no
//! session values, no extracted values.

mod compile;
mod file;
mod template;
mod value;

pub(crate) use template::{Encoding, Part, Source, Template, encode};
pub(crate) use value::Value;

use crate::LoadError;
use crate::url::BaseUrl;
use memchr::memmem::Finder;
use std::path::Path;

/// Longest scenario file that is read, bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A checked scenario.
///
/// ```
/// let text = r#"
/// schema = "assay.scenario/1"
/// name = "brokerage-example"
///
/// [session]
/// start = ["login"]              # at session start, before the mix is drawn
/// restart_after = ["logout"]     # after these a new session begins
///
/// [values]                       # drawn anew for each request that uses them; session-* once per session
/// user = { kind = "session-range", from = 0, to = 14999 }
/// side = { kind = "list", values = ["buy", "sell"] }
/// symbols = { kind = "range-list", prefix = "s:", from = 0, to = 9999, count = [1, 9], separator = "," }
///
/// [extract]                      # the text after the first `after` to the next `before`, at most 1 KiB
/// holding = { operation = "portfolio", after = 'data-holding="', before = '"', once = true }
///
/// [[operation]]
/// name = "login"
/// weight = 0                     # relative, default 1; 0: only where it is named
/// method = "POST"                # default GET
/// path = "/login"
/// form = { user = "uid:{user}" } # or body = "..."; and headers = { Accept = "..." }
/// status = [200, 302]            # default 200; redirects are not followed
///
/// [[operation]]
/// name = "portfolio"
/// weight = 90
/// path = "/portfolio?side={side}&symbols={symbols}"
///
/// [[operation]]
/// name = "sell"
/// weight = 6
/// method = "POST"
/// path = "/sell"
/// form = { holding = "{holding}" }
/// contains = "Sold"              # must be in the first mebibyte of the body
/// requires = "holding"           # where it is not there, `otherwise` runs, counted under its own name
/// otherwise = "portfolio"
/// timeout_ms = 2000              # default 10000, from getting a connection to the whole answer
///
/// [[operation]]
/// name = "logout"
/// weight = 4
/// path = "/logout"
/// "#;
/// assert_eq!(assay_load::Scenario::parse(text, "example.toml")?.name(), "brokerage-example");
/// # Ok::<(), assay_load::LoadError>(())
/// ```
///
/// A value stands in paths and forms percent-encoded, in headers without control characters, in a `body` as it is.
/// With `once` an extracted value is used up by the request that sends it; a correct answer of its operation in which
/// it is not found removes it. Cookies are kept for each session (their domain, path and later expiry are not
/// supported). Not supported either: https, redirects, compressed answers, HTTP/2, character entities in extracts.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub(crate) name: String,
    pub(crate) operations: Vec<Operation>,
    /// Operations at the start of a session, in order.
    pub(crate) start: Vec<usize>,
    /// Running sums of the weights.
    pub(crate) weight_sums: Vec<f64>,
    pub(crate) values: Vec<Value>,
    pub(crate) extracts: Vec<Extract>,
}

/// One kind of request with its checks.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub name: String,
    pub weight: f64,
    pub method: String,
    pub path: Template,
    /// Whole header lines.
    pub headers: Template,
    pub body: Option<Template>,
    pub statuses: Vec<u16>,
    pub contains: Option<Finder<'static>>,
    /// Extracts without which `otherwise` runs instead.
    pub requires: Vec<usize>,
    pub otherwise: Option<usize>,
    pub timeout_ns: u64,
    /// Extracts that the answer is searched for.
    pub extracts: Vec<usize>,
    /// Extracts that are used up by the request.
    pub uses_up: Vec<usize>,
    pub restarts_session: bool,
}

/// A value taken from an answer.
#[derive(Debug, Clone)]
pub(crate) struct Extract {
    pub name: String,
    pub after: Finder<'static>,
    pub before: Finder<'static>,
    /// A request that sends the value uses it up.
    pub once: bool,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read, or is wrong: all mistakes with file, line and, where one is near, the right word.
    pub fn read(path: &Path) -> Result<Scenario, LoadError> {
        let named = path.display().to_string();
        let text = std::fs::metadata(path)
            .and_then(|facts| {
                if facts.len() > FILE_BYTES_MAX {
                    return Err(std::io::Error::other(format!("longer than {FILE_BYTES_MAX} bytes")));
                }
                std::fs::read_to_string(path)
            })
            .map_err(|cause| LoadError::ScenarioFile { path: named.clone(), cause })?;
        Scenario::parse(&text, &named)
    }

    /// Reads a scenario from `text`; `source` names it in messages.
    ///
    /// # Errors
    /// As of `read`.
    pub fn parse(text: &str, source: &str) -> Result<Scenario, LoadError> {
        compile::compile(text, source).map_err(LoadError::Scenario)
    }

    /// The scenario of a plain URL: one GET. Returns the base URL with it.
    ///
    /// # Errors
    /// The URL is not one that the generator can load.
    pub fn for_url(url: &str) -> Result<(String, Scenario), LoadError> {
        let (base, path) = BaseUrl::split(url)?;
        Ok((base, Scenario::get(&path)))
    }

    fn get(path: &str) -> Scenario {
        let mut literal = Template::default();
        literal.literal(path.as_bytes());
        let operation = Operation {
            name: format!("GET {path}"),
            weight: 1.0,
            method: "GET".to_owned(),
            path: literal,
            headers: Template::default(),
            body: None,
            statuses: vec![200],
            contains: None,
            requires: Vec::new(),
            otherwise: None,
            timeout_ns: 10_000_000_000,
            extracts: Vec::new(),
            uses_up: Vec::new(),
            restarts_session: false,
        };
        Scenario {
            name: path.to_owned(),
            operations: vec![operation],
            start: Vec::new(),
            weight_sums: vec![1.0],
            values: Vec::new(),
            extracts: Vec::new(),
        }
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
    pub fn check_operations(&self, names: &[String]) -> Result<(), LoadError> {
        let known = || self.operation_names().collect::<Vec<_>>();
        let unknown = names.iter().find(|name| !known().contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| {
            Err(LoadError::Operation { name: name.clone(), known: known().join(", ") })
        })
    }

    /// For each operation, whether it is among the names; all are among none.
    pub(crate) fn are_among(&self, names: &[String]) -> Vec<bool> {
        self.operation_names().map(|name| names.is_empty() || names.iter().any(|n| n == name)).collect()
    }

    /// The longest time limit of a request: what draining takes at most.
    pub fn timeout_max(&self) -> std::time::Duration {
        let longest_ns = self.operations.iter().map(|operation| operation.timeout_ns).max();
        std::time::Duration::from_nanos(longest_ns.unwrap_or(0))
    }

    /// The same scenario with another time limit for every request.
    #[must_use]
    pub fn with_timeout(mut self, timeout: std::time::Duration) -> Scenario {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        self.operations.iter_mut().for_each(|operation| operation.timeout_ns = timeout_ns);
        self
    }

    /// Shares that the operations should have of all requests, in the file's order: the weights, thinned by the
    /// requests at session starts. `otherwise` is left out, since how often it runs depends on the server's answers.
    pub fn asked_shares(&self) -> Vec<f64> {
        let sum: f64 = self.operations.iter().map(|operation| operation.weight).sum();
        let restarts: f64 =
            self.operations.iter().filter(|one| one.restarts_session).map(|one| one.weight / sum).sum();
        let requests_per_draw = 1.0 + restarts * self.start.len() as f64;
        let mut shares: Vec<f64> =
            self.operations.iter().map(|one| one.weight / sum / requests_per_draw).collect();
        for started in &self.start {
            shares[*started] += restarts / requests_per_draw;
        }
        shares
    }
}

impl Operation {
    /// The answer's body is needed, not only its length.
    pub fn keeps_body(&self) -> bool {
        self.contains.is_some() || !self.extracts.is_empty()
    }

    /// RFC 9110 section 9.2.2: may be sent again when a kept-alive connection turns out to be closed.
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE")
    }
}

#[cfg(test)]
mod tests;
