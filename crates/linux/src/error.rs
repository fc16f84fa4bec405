//! Why something could not be read from the kernel: the input, the cause and, where there is one, the fix.

use crate::{Denial, ProcRoot};
use assay_model::Problem;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::io;
use std::path::{Path, PathBuf};

/// Text that does not have the form that the kernel documents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}, line {line}: {item}: {what}", path = .path.display())]
pub struct ParseError {
    /// The file that the text came from.
    pub path: PathBuf,
    /// Line, counted from 1.
    pub line: u64,
    /// What was being read: a key or the name of a field.
    pub item: String,
    /// What is wrong with it.
    pub what: String,
}

impl ParseError {
    pub(crate) fn new(path: &Path, line: u64, item: impl Into<String>, what: impl Into<String>) -> Self {
        ParseError { path: path.to_owned(), line, item: item.into(), what: what.into() }
    }
}

/// Why a value could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LinuxError {
    /// The file or call gave an error.
    #[error("cannot read {path}: {source}{fix}", path = .path.display(), fix = fix_of(source))]
    Read {
        /// The file, or the name of the call.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The file is larger than anything that the kernel writes there.
    #[error("{path} is larger than {bytes_max} bytes: not what the kernel writes there", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        bytes_max: u64,
    },
    /// The text is not in the documented form.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The kernel refuses, for a reason that could be found.
    #[error("cannot read {path}: permission denied: {denial}", path = .path.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        denial: Denial,
    },
    /// The process has no memory to look at.
    #[error(
        "process {pid} has no memory: it has ended, became another program, or is a thread of the kernel"
    )]
    NoMemory {
        /// The process.
        pid: u32,
    },
}

impl LinuxError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        LinuxError::Read { path: path.to_owned(), source }
    }

    /// A file of a process that could not be opened or read; a refusal is explained.
    pub(crate) fn read_of(proc: &ProcRoot, pid: u32, path: &Path, source: io::Error) -> Self {
        LinuxError::read(path, source).explained(proc, pid)
    }

    /// A refusal with its reason; other errors as they are.
    pub(crate) fn explained(self, proc: &ProcRoot, pid: u32) -> Self {
        let LinuxError::Read { path, source } = self else { return self };
        // Where processes are hidden, those of other users look as if they were not there.
        let denial = match source.kind() {
            io::ErrorKind::PermissionDenied if path.ends_with("mem") => proc.explain_denied(pid),
            io::ErrorKind::PermissionDenied => proc.explain_denied_look(pid),
            io::ErrorKind::NotFound if exists_for_signals(pid) => proc.explain_denied_look(pid),
            _ => return LinuxError::Read { path, source },
        };
        LinuxError::Denied { path, denial }
    }

    /// Whether the kernel has no such file: the process is gone, or the feature is not built in.
    ///
    /// A process that ends between `open` and `read` gives `ESRCH` instead of `ENOENT`.
    pub fn is_absent(&self) -> bool {
        match self {
            LinuxError::Read { source, .. } => {
                source.kind() == io::ErrorKind::NotFound || source.raw_os_error() == Some(libc::ESRCH)
            }
            LinuxError::NoMemory { .. } => true,
            LinuxError::Denied { .. } | LinuxError::TooLarge { .. } | LinuxError::Parse(_) => false,
        }
    }
}

/// Whether a process that `/proc` does not show is there all the same, and belongs to somebody else.
fn exists_for_signals(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::PERM))
}

fn fix_of(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "; run as the user of that process, or as root",
        io::ErrorKind::NotFound => "; the process has ended, or this kernel does not have the file",
        _ => "",
    }
}

impl From<&LinuxError> for Problem {
    fn from(error: &LinuxError) -> Problem {
        match error {
            LinuxError::NoMemory { pid } => Problem::new(format!("process {pid}"), error.to_string()),
            LinuxError::Read { path, .. }
            | LinuxError::Denied { path, .. }
            | LinuxError::TooLarge { path, .. } => {
                Problem::new(path.display().to_string(), error.to_string())
            }
            LinuxError::Parse(e) => {
                Problem::at_line(e.path.display().to_string(), e.line, format!("{}: {}", e.item, e.what))
            }
        }
    }
}
