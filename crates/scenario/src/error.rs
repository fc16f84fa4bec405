//! What can be wrong with a scenario.

use std::io;

/// Why a scenario cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file is wrong. All messages name file and line where there is one.
    #[error("{}", .0.join("\n"))]
    Mistakes(Vec<String>),
    /// The file cannot be read.
    #[error("cannot read scenario {path}: {cause}; check the path and its permissions")]
    File {
        /// Path as given.
        path: String,
        /// The system's answer.
        cause: io::Error,
    },
    /// No scenario can be made of what was recorded.
    #[error("{0}")]
    Recording(String),
    /// A name is not that of an operation.
    #[error("operation {name:?} is not in the scenario; it has {known}")]
    Operation {
        /// As given.
        name: String,
        /// The names that there are.
        known: String,
    },
}
