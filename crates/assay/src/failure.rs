//! Why the program ends without a result: a message, a fix, and an exit code.

#[cfg(target_os = "linux")]
mod linux;

use assay_results::RunDirError;
use std::process::ExitCode;

/// What kind of failure it is; each kind has its documented exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Wrong use or bad input: the user can correct it.
    Input,
    /// The environment lacks something; the message names the command that adds it.
    Environment,
    /// The user stopped it.
    Interrupted,
    /// An error of Assay itself.
    Internal,
}

/// A failure to show.
#[derive(Debug)]
pub struct Failure {
    /// Kind.
    pub kind: Kind,
    /// What failed, on what input, why, and what mends it; may have several lines.
    pub message: String,
}

impl Failure {
    /// Wrong use or bad input.
    pub fn input(message: impl Into<String>) -> Self {
        Failure { kind: Kind::Input, message: message.into() }
    }

    /// Something is missing around us.
    pub fn environment(message: impl Into<String>) -> Self {
        Failure { kind: Kind::Environment, message: message.into() }
    }

    /// The user stopped it.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Failure { kind: Kind::Interrupted, message: message.into() }
    }

    /// An error of Assay itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Failure { kind: Kind::Internal, message: message.into() }
    }

    /// The exit code of this kind. 130 is what shells use for a program ended by Ctrl-C.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::Input => 2,
            Kind::Environment => 3,
            Kind::Interrupted => 130,
            Kind::Internal => 70,
        })
    }
}

/// Writing a result failed: the environment's fault (a full disk, a closed pipe).
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::environment(error.to_string())
    }
}

impl From<RunDirError> for Failure {
    fn from(error: RunDirError) -> Self {
        let kind = match error {
            RunDirError::Use(_) => Kind::Input,
            RunDirError::Environment(_) => Kind::Environment,
            RunDirError::Internal(_) => Kind::Internal,
        };
        Failure { kind, message: error.to_string() }
    }
}
