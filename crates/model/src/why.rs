//! What is wrong with a process or in a file, by every reader that can say: the stored form of `assay why --json`.

use crate::closed::closed;
use crate::{Finding, GcReport, HostReport, MemoryReport, RuleId, TimeReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// A reader that was asked.
    WhyReader {
        /// Resident memory, and the control group that is charged.
        Memory = "memory",
        /// Log of the collector.
        Gc = "gc",
        /// CPU time.
        Time = "time",
        /// Settings of machine and JVM.
        Host = "host",
    }
}

closed! {
    /// What a cost is a share of.
    CostOf {
        /// The life of the process: it was ended, or will be.
        Process = "process",
        /// The memory limit of the container.
        MemoryLimit = "memory-limit",
        /// Resident memory, where there is no limit.
        Rss = "rss",
        /// CPU time of the process.
        Cpu = "cpu",
        /// Time: the share in which the application was stopped, or waited for memory.
        Stopped = "stopped",
    }
}

/// What a finding costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyCost {
    /// What it is a share of.
    pub of: CostOf,
    /// The share, from 0 to 1.
    pub share: f64,
}

/// A finding of one reader, with its place among those of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyFinding {
    /// The reader that made it.
    pub reader: WhyReader,
    /// The finding.
    pub finding: Finding<RuleId>,
    /// Its cost; absent where the finding has no figure for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<WhyCost>,
    /// Whether it costs enough, or is grave enough, to be an answer.
    pub stands_out: bool,
    /// The finding that brings it about. What helps against that one helps here, and its own step may not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub follows_from: Option<RuleId>,
}

/// A reader that had no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SilentReader {
    /// The reader.
    pub reader: WhyReader,
    /// Why it had none.
    pub why: String,
    /// What would give one, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub enable: Vec<String>,
}

/// What is wrong, the costliest first, and what was looked at for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyReport {
    /// `assay.why/1`
    pub schema: String,
    /// What was asked about: a process by its program and number, or a file.
    pub subject: String,
    /// The process; absent where a file was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pid: Option<u32>,
    /// Findings of all readers: causes with what follows from each, the costliest first.
    pub findings: Vec<WhyFinding>,
    /// Readers that were asked and had no answer.
    pub silent: Vec<SilentReader>,
    /// The command that looks closer at the first finding, or, without one, longer at all.
    pub next: String,
    /// Answer of the reader of memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<MemoryReport>,
    /// Answer of the reader of GC logs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gc: Option<GcReport>,
    /// Answer of the reader of CPU time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<TimeReport>,
    /// Answer of the rules on machine and JVM.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<HostReport>,
}
