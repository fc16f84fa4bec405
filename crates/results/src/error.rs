//! The errors of run directories, in the kinds for which the program has exit codes.

/// Why a run directory cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// Wrong use: the user can correct it.
    #[error("{0}")]
    Use(String),
    /// The environment lacks something; the message names what adds it.
    #[error("{0}")]
    Environment(String),
    /// An error of Assay itself.
    #[error("{0}")]
    Internal(String),
}

/// A file could not be read or written: a full disk, a missing permission. The message names the path.
impl From<std::io::Error> for RunDirError {
    fn from(error: std::io::Error) -> Self {
        let fix = match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                "; the disk is full: free some space, or choose another folder with --out, then go on with --resume"
            }
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                "; choose a folder that you may write with --out"
            }
            _ => "",
        };
        RunDirError::Environment(format!("{error}{fix}"))
    }
}
