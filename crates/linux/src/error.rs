//! Why something could not be read from the kernel: the input, the cause and, where there is one, the fix.

use assay_model::Problem;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fmt, io};

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

/// What stands in the way, and the command that removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The cause, as a lower-case fragment.
    pub cause: String,
    /// What to do.
    pub fix: String,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause, self.fix)
    }
}

/// Why a value could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LinuxError {
    /// The file or call gave an error.
    #[error("cannot read {path}: {cause}{fix}", path = .path.display(), cause = cause_of(path, source), fix = fix_of(path, source))]
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

/// Files that every kernel has of every process.
const OF_EVERY_PROCESS: [&str; 5] = ["cmdline", "comm", "maps", "stat", "status"];
const ENDED: &str = "the process has ended";

/// Whether the kernel has this file of each process that there is.
fn is_of_every_process(path: &Path) -> bool {
    let is_number = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    path.file_name().is_some_and(|name| OF_EVERY_PROCESS.iter().any(|known| name == *known))
        && path.parent().and_then(Path::file_name).is_some_and(is_number)
}

/// The kernel's error in words. For a process that has ended it is only a number (`ESRCH`) or "no such file".
fn cause_of(path: &Path, source: &io::Error) -> String {
    match (source.raw_os_error(), source.kind()) {
        (Some(libc::ESRCH), _) => ENDED.to_owned(),
        (_, io::ErrorKind::NotFound) if is_of_every_process(path) => ENDED.to_owned(),
        (_, io::ErrorKind::NotFound) => "there is no such file".to_owned(),
        _ => source.to_string(),
    }
}

fn fix_of(path: &Path, source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "; run as the user of that process, or as root",
        io::ErrorKind::NotFound if !is_of_every_process(path) => {
            "; the process has ended, or this kernel does not have it"
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ended_while_it_was_read_is_told_in_words() {
        let error = LinuxError::read(Path::new("/proc/7/smaps"), io::Error::from_raw_os_error(libc::ESRCH));
        assert_eq!(error.to_string(), "cannot read /proc/7/smaps: the process has ended");
        let told = |path: &str| {
            LinuxError::read(Path::new(path), io::Error::from_raw_os_error(libc::ENOENT)).to_string()
        };
        assert_eq!(told("/proc/7/stat"), "cannot read /proc/7/stat: the process has ended");
        for maybe in ["/proc/7/smaps_rollup", "/proc/schedstat", "/proc/stat"] {
            let text = format!(
                "cannot read {maybe}: there is no such file; the process has ended, or this kernel does not have it"
            );
            assert_eq!(told(maybe), text);
        }
        let error = LinuxError::read(Path::new("/proc/7/smaps"), io::Error::from_raw_os_error(libc::EIO));
        assert!(error.to_string().contains("Input/output error"), "{error}");
    }
}
