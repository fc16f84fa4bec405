//! What can go wrong before or around a load run; each error names the input, the cause and the fix.

use assay_scenario::ScenarioError;
use std::borrow::Cow;
use std::io;

/// A server that was reached and is not trusted is there.
fn is_it_there(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => "",
        _ => "; is the server started, and is this its address and port?",
    }
}

/// Where some could and others not, users may share accounts.
fn hint_of_accounts(begun: u64) -> &'static str {
    match begun {
        0 => "",
        _ => {
            "; if the server takes one session of an account only, give each user its own: kind = \"session-counter\", or [[data]] with \
             per = \"session\""
        }
    }
}

/// Why no load could be generated. Failures of single requests are counted in the result instead.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The base URL cannot be used.
    #[error("URL {url:?}: {cause}")]
    Url {
        /// As given.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// TLS cannot be spoken so.
    #[error("TLS: {what}: {cause}")]
    Tls {
        /// The file or the setting.
        what: String,
        /// What is wrong with it, and what mends it.
        cause: String,
    },
    /// The scenario cannot be used.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A one-time request of the scenario failed.
    #[error("set-up request {operation:?}: {cause}; its answer is needed before any load")]
    SetUp {
        /// Name of the operation.
        operation: String,
        /// What was wrong with it.
        cause: String,
    },
    /// The server did not give the schema of its services.
    #[error("[grpc] reflection: {url}: {cause}; or name its file: [grpc] schema = \"FILE.proto\"")]
    Reflection {
        /// The base URL.
        url: String,
        /// What was wrong.
        cause: String,
    },
    /// Users could not begin their sessions.
    #[error("[session] start: {begun} of {users} users began their sessions, and {failed} attempts failed; the first: {cause}{}", hint_of_accounts(*begun))]
    SessionStart {
        /// Users whose sessions began.
        begun: u64,
        /// All users of the load.
        users: u64,
        /// Attempts that failed.
        failed: u64,
        /// The first failure: the operation, and its answer.
        cause: String,
    },
    /// A number in the configuration or the load is out of its range.
    #[error("{name} = {value}: {fix}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Value as given.
        value: String,
        /// What it must be.
        fix: Cow<'static, str>,
    },
    /// No connection could be opened before the run began.
    #[error("cannot connect to {url}: {cause}{}", is_it_there(cause))]
    Connect {
        /// The base URL.
        url: String,
        /// The system's answer.
        cause: io::Error,
    },
    /// The operating system refused something the generator needs.
    #[error("cannot {what}: {cause}; {fix}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        cause: io::Error,
        /// What to do.
        fix: &'static str,
    },
    /// An injector cannot be used.
    #[error("injector {address}: {cause}")]
    Injector {
        /// Host and port, as given.
        address: String,
        /// What is wrong, and what mends it.
        cause: String,
    },
    /// A token file cannot be used.
    #[error("token file {path}: {cause}")]
    Token {
        /// Path as given.
        path: String,
        /// What is wrong, and what mends it.
        cause: String,
    },
}
