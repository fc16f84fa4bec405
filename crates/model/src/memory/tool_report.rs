//! Memory of a process as another tool reported it: the stored form of `assay memory FILE`.

use crate::Problem;
use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// A tool whose report is read.
    MemoryTool {
        /// The kernel's `/proc/PID/smaps`.
        Smaps = "smaps",
        /// `pmap -X PID` or `pmap -XX PID`.
        Pmap = "pmap",
        /// `jcmd PID VM.native_memory`.
        Nmt = "native-memory-tracking",
    }
}

/// What a report of another tool shows. Figures that it does not have are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryToolReport {
    /// `assay.memory-tool-report/1`
    pub schema: String,
    /// Version of Assay that read it.
    pub assay_version: String,
    /// Name of the file.
    pub file: String,
    /// What made it.
    pub tool: MemoryTool,
    /// The process, where the report names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pid: Option<u32>,
    /// All of it, by the report's own total where it has one.
    pub total: ReportedMemory,
    /// Parts, the largest first. They add up to the total, unless a problem says otherwise.
    pub entries: Vec<ReportedEntry>,
    /// Code that allocates, the largest first: parts of the entries once more. Only a detail of native memory tracking has it. Bounded.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub call_sites: Vec<ReportedEntry>,
    /// What is wrong with the file.
    pub problems: Vec<Problem>,
}

/// A part of what a tool reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedEntry {
    /// From the area, or the category of native memory tracking, to the entry: `["stacks", "[stack]"]`, `["Class", "malloc"]`.
    pub path: Vec<String>,
    /// Mappings, or blocks of malloc.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
    /// Its bytes.
    #[serde(flatten)]
    pub memory: ReportedMemory,
}

/// Bytes that a tool reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedMemory {
    /// Bytes of the address space.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reserved_bytes: Option<u64>,
    /// Bytes that the JVM may use, resident or not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub committed_bytes: Option<u64>,
    /// Resident bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resident_bytes: Option<u64>,
    /// Resident bytes, each divided by the number of processes that share it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pss_bytes: Option<u64>,
    /// Bytes in swap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub swap_bytes: Option<u64>,
}

impl ReportedMemory {
    /// The figures of both together; one that either lacks is absent.
    #[must_use]
    pub fn and(self, other: ReportedMemory) -> ReportedMemory {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        ReportedMemory {
            reserved_bytes: sum(self.reserved_bytes, other.reserved_bytes),
            committed_bytes: sum(self.committed_bytes, other.committed_bytes),
            resident_bytes: sum(self.resident_bytes, other.resident_bytes),
            pss_bytes: sum(self.pss_bytes, other.pss_bytes),
            swap_bytes: sum(self.swap_bytes, other.swap_bytes),
        }
    }

    /// The bytes by which parts are ordered: resident ones where the tool knows them, else committed ones.
    pub fn weight_bytes(&self) -> u64 {
        self.resident_bytes.or(self.committed_bytes).unwrap_or(0)
    }
}
