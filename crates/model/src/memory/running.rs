//! The JVMs of a machine: the stored form of `assay memory --json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// JVMs that run, the biggest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunningJvms {
    /// `assay.memory-jvms/1`
    pub schema: String,
    /// The visible ones.
    pub jvms: Vec<RunningJvm>,
    /// Processes that may be JVMs but belong to somebody else.
    pub not_readable: usize,
}

/// A running JVM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunningJvm {
    /// The process.
    pub pid: u32,
    /// Its resident bytes.
    pub rss_bytes: Option<u64>,
    /// Its release, from the file next to its library.
    pub version: Option<String>,
    /// Main class or jar.
    pub program: String,
}
