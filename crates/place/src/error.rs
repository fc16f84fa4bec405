//! What ends a task, and what ends a run on several hosts.

use thiserror::Error;

/// Why a worker did not do its task.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// The task itself is wrong, on every host: mistakes in the study file, another version of Assay.
    #[error("{0}")]
    Task(String),
    /// Something of this host or of its connection: another host may do it.
    #[error("{0}")]
    Host(String),
    /// Ctrl-C.
    #[error("interrupted")]
    Stopped,
}

/// Why a run on several hosts has no whole result.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// The description of a place is wrong, or a task is.
    #[error("{0}")]
    Input(String),
    /// Hosts failed until none was left, or a block failed too often.
    #[error("{0}")]
    Hosts(String),
    /// Ctrl-C. Blocks that are complete stay.
    #[error("interrupted")]
    Stopped,
    /// A file of this machine.
    #[error(transparent)]
    File(#[from] std::io::Error),
}
