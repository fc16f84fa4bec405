//! Why a record could not be written or read.

use std::io;
use std::path::PathBuf;

/// Why a record could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file or folder gave an error.
    #[error("cannot {what} {path}: {source}", path = .path.display())]
    Io {
        /// What was being done.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The file is somebody else's: it is left as it is.
    #[error("{path} is not a record of assay ({why}): give another name", path = .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: &'static str,
    },
    /// It is a record of a number that this version does not read.
    #[error("cannot read {path}: {why}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Which number it is of, and which ones this version reads.
        why: String,
    },
    /// Another program records into it.
    #[error("another assay is recording into {path}", path = .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The record is of another process.
    #[error(
        "{path} is a record of {recorded}, and this is {what}: snapshots of two processes side by side would look like growth\n  \
         give another name to --record",
        path = .path.display()
    )]
    OtherProcess {
        /// The file.
        path: PathBuf,
        /// The process that it holds.
        recorded: String,
        /// The one that was to be added.
        what: String,
    },
    /// Not even the first snapshot and the newest fit.
    #[error(
        "{path}: two snapshots need {needed_bytes} bytes, the limit is {bytes_max}\n  allow more with --record-max-bytes",
        path = .path.display()
    )]
    TooSmall {
        /// The file.
        path: PathBuf,
        /// What they need.
        needed_bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// The file is larger than any record.
    #[error("{path} is larger than {bytes_max} bytes: not a record of assay", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        bytes_max: u64,
    },
}
