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
    /// Why there is no prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_predicted: Option<String>,
    /// By how much the RSS fell, all that the process did meanwhile included; negative when it grew.
    pub actual_bytes: i64,
    /// The JVM's words; empty where a function was called.
    pub answer: String,
    /// The allocator's function that was called in a thread; absent where the JVM was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<TrimCall>,
}

/// A function of the allocator, called in a thread of the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrimCall {
    /// It, with its arguments.
    pub function: String,
    /// The thread.
    pub thread: u32,
    /// For how long this thread was stopped, nanoseconds; the others ran on.
    pub stopped_ns: u64,
    /// Until it returned, nanoseconds; absent if it had not returned after a minute. It goes on then, and the thread restores itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ns: Option<u64>,
}
