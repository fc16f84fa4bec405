//! How a recorded process ended: the last line of a record of memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The end of a recorded process, as its control groups tell it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEnd {
    /// When it was found ended, RFC 3339.
    pub ended_at: String,
    /// Processes of its group that the kernel killed for memory since the last snapshot; absent where the kernel does not count them.
    pub oom_kills: Option<u64>,
    /// How often the charge of its group ran into the group's own limit since then; absent where that is not counted, or the group went away.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit_hits: Option<u64>,
    /// Memory limit at the last snapshot, the tightest of the group and those above; absent means none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit_bytes: Option<u64>,
    /// Processes of the group at the last snapshot. Of several nobody can say which one was killed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub processes: Option<u64>,
}

impl MemoryEnd {
    /// Whether the kernel killed a process of the group for memory.
    pub fn is_killed(&self) -> bool {
        self.oom_kills.is_some_and(|kills| 0 < kills)
    }
}
