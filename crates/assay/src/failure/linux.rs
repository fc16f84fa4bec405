//! Failures of commands that exist on Linux alone.

use super::{Failure, Kind};
use assay_linux::LinuxError;
use assay_load::LoadError;
use assay_memory::{MemoryError, PageOutError, RecordError, TrimError};
use assay_study::StudyError;

/// A process that is not there is wrong use; a refusal of the kernel is the environment's, and its message names the
/// missing permission.
impl From<LinuxError> for Failure {
    fn from(error: LinuxError) -> Self {
        let kind = if error.is_absent() { Kind::Input } else { Kind::Environment };
        Failure { kind, message: error.to_string() }
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
