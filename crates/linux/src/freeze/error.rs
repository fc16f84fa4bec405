//! Why a process could not be stopped.

use crate::{Denial, LinuxError, ProcRoot};
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

impl FreezeError {
    /// Why a thread could not be seized.
    pub(crate) fn of_seize(proc: &ProcRoot, pid: u32, tid: u32, source: io::Error) -> FreezeError {
        match source.raw_os_error() {
            Some(libc::EPERM) => {}
            Some(libc::ESRCH) => return LinuxError::NoMemory { pid }.into(),
            _ => return FreezeError::System { pid, call: "PTRACE_SEIZE", source },
        }
        let status = proc.read_text_of(pid, &format!("task/{tid}/status")).map(|(_, text)| text);
        let tracer =
            status.ok().and_then(|text| number_of(&text, "TracerPid:")).filter(|tracer| *tracer != 0);
        if let Some(tracer) = tracer {
            // The file names the thread that traces.
            let status = proc.read_text_of(tracer, "status").map(|(_, text)| text).unwrap_or_default();
            let name = status.lines().find_map(|line| line.strip_prefix("Name:")).unwrap_or("").trim();
            let tracer_pid = number_of(&status, "Tgid:").unwrap_or(tracer);
            return FreezeError::Traced { pid, tracer_pid, tracer: name.to_owned() };
        }
        FreezeError::Denied { pid, denial: proc.explain_denied(pid) }
    }
}

fn number_of(status: &str, key: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
}
