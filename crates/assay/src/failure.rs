//! Why the program ends without a result: a message, a fix, and an exit code.

use assay_linux::LinuxError;
use assay_load::LoadError;
use assay_memory::{MemoryError, PageOutError, RecordError, TrimError};
use assay_study::StudyError;
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

/// A server that is not there or a limit of the system is the environment's fault; all else is wrong use.
impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let kind = match error {
            LoadError::Connect { .. } | LoadError::System { .. } | LoadError::Injector { .. } => {
                Kind::Environment
            }
            _ => Kind::Input,
        };
        Failure { kind, message: error.to_string() }
    }
}

/// A process that is not there is wrong use; a refusal of the kernel is the environment's, and its message names the
/// missing permission.
impl From<LinuxError> for Failure {
    fn from(error: LinuxError) -> Self {
        let kind = if error.is_absent() { Kind::Input } else { Kind::Environment };
        Failure { kind, message: error.to_string() }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Linux(error) => error.into(),
            error if matches!(error, MemoryError::NoMappings { .. }) => Failure::input(error.to_string()),
            error => Failure::environment(error.to_string()),
        }
    }
}

/// A process that is no JVM is wrong use; a JVM that cannot be asked, or has no such command, is the environment's.
impl From<TrimError> for Failure {
    fn from(error: TrimError) -> Self {
        match error {
            TrimError::Memory(error) => error.into(),
            error if error.is_wrong_process() => Failure::input(error.to_string()),
            other => Failure::environment(other.to_string()),
        }
    }
}

/// A process that cannot be looked at as ever; swap, rights and kernel are the environment's.
impl From<PageOutError> for Failure {
    fn from(error: PageOutError) -> Self {
        match error {
            PageOutError::Memory(error) => error.into(),
            other => Failure::environment(other.to_string()),
        }
    }
}

/// A file that is something else, or a limit that is too small, is wrong use; a full disk is the environment's.
impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        let kind = match error {
            RecordError::Io { .. } => Kind::Environment,
            _ => Kind::Input,
        };
        Failure { kind, message: error.to_string() }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        let kind = match &error {
            StudyError::Interrupted { .. } => Kind::Interrupted,
            StudyError::Internal(_) => Kind::Internal,
            _ if error.is_environment() => Kind::Environment,
            _ => Kind::Input,
        };
        Failure { kind, message: error.to_string() }
    }
}
