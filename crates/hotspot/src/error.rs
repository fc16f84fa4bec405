//! Why a JVM could not be opened.

use std::io;

/// Why a JVM could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum HotspotError {
    /// The file that the process maps could not be opened: deleted or replaced since, or not allowed.
    #[error("cannot open {path} as the process sees it: {source}")]
    Open {
        /// The file, as the kernel names it.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// The file or its structures are not in a form that is known.
    #[error("cannot read {path}: {what}")]
    NotReadable {
        /// The file, as the kernel names it.
        path: String,
        /// What is wrong.
        what: String,
    },
}
