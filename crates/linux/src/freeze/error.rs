//! Why a process could not be stopped.

use crate::{Denial, LinuxError};
use std::io;

/// Why a process could not be stopped. It goes on in every case.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// Somebody else traces it, and there can be only one.
    #[error(
        "process {pid} is traced by process {tracer_pid} ({tracer}), and there can be only one tracer; end that one, or look without a freeze"
    )]
    Traced {
        /// The process.
        pid: u32,
        /// Who traces it.
        tracer_pid: u32,
        /// Name of that.
        tracer: String,
    },
    /// The kernel refuses.
    #[error("cannot stop process {pid}: permission denied: {denial}")]
    Denied {
        /// The process.
        pid: u32,
        /// Why, and what to do.
        denial: Denial,
    },
    /// A process cannot stop itself and go on looking.
    #[error("a process cannot stop itself for a reading")]
    Own,
    /// A thread did not stop in time: it is inside the kernel and cannot be interrupted, or threads come faster than
    /// they are stopped.
    #[error(
        "process {pid} did not stop within {waited_ms} ms: {what}; look without a freeze, or allow more time"
    )]
    TooSlow {
        /// The process.
        pid: u32,
        /// How long it was tried.
        waited_ms: u64,
        /// Which thread, or how many.
        what: String,
    },
    /// Its threads could not be listed.
    #[error(transparent)]
    Linux(#[from] LinuxError),
    /// A call failed otherwise.
    #[error("cannot stop process {pid}: {call}: {source}")]
    System {
        /// The process.
        pid: u32,
        /// The call.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}
