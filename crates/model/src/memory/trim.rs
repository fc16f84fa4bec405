//! Freed memory given back: the stored form of `assay memory PID --trim --json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a trim brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryTrim {
    /// `assay.memory-trim/1`
    pub schema: String,
    /// The process.
    pub pid: u32,
    /// Resident bytes before it.
    pub rss_bytes_before: u64,
    /// Resident bytes after it.
    pub rss_bytes_after: u64,
    /// Prediction from the snapshot before; absent where malloc could not be walked or cannot be trimmed.
    pub predicted_bytes: Option<u64>,
    /// By how much the RSS fell, all that the process did meanwhile included; negative when it grew.
    pub actual_bytes: i64,
    /// The JVM's words.
    pub answer: String,
}
