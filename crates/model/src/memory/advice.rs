//! The limit that a process needs: what `assay memory advise PID --json` prints.

use crate::{Certainty, Finding, Problem, Provenance, RuleId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A container limit with its arithmetic: `limit_bytes` is Σ of `bound_bytes` over the lines, rounded up to a MiB.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// `assay.memory-advice/4`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// The process.
    pub pid: u32,
    /// Name of the program.
    pub program: String,
    /// The limit that holds the process when everything that is bounded has grown to its bound, and everything that is
    /// not has grown by its margin.
    pub limit_bytes: u64,
    /// By how much direct buffers may outgrow their line in `limit_bytes`: where nobody set a limit for them, the JVM's own
    /// is as large as the heap, which is more than nearly all programs use. Absent where their line has their bound.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub direct_beyond_bytes: Option<u64>,
    /// A limit by observation, beside the worst case: the most that the process has needed so far, and a fifth more. It holds as long as
    /// load and data stay as they were observed. Absent in results of versions that did not work it out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observed_limit_bytes: Option<u64>,
    /// The most that the process has needed so far: resident memory and the kernel's for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observed_peak_bytes: Option<u64>,
    /// In use now: resident memory and the kernel's for it.
    pub now_bytes: u64,
    /// The charge of the control group now, page cache of files and other processes included; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group_bytes: Option<u64>,
    /// The limit in force; absent means none.
    pub current_limit_bytes: Option<u64>,
    /// Its arithmetic.
    pub lines: Vec<AdviceLine>,
    /// Settings that would lower the limit, the biggest gain first.
    pub settings: Vec<Finding<RuleId>>,
    /// What could not be bounded or read.
    pub problems: Vec<Problem>,
}

/// One summand of a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdviceLine {
    /// What: an area, or a kernel figure.
    pub name: String,
    /// Resident now.
    pub now_bytes: u64,
    /// Observed peak, where several snapshots were taken.
    pub peak_bytes: Option<u64>,
    /// What the limit provides for.
    pub bound_bytes: u64,
    /// Where the bound comes from: `MaxHeapSize`, `ReservedCodeCacheSize`, `now + 20 %`.
    pub bound_from: String,
    /// Whether it is a hard bound of the JVM rather than the observed peak and a margin.
    pub is_hard: bool,
    /// What is known of the bound; absent in results of versions that did not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub certainty: Option<Certainty>,
}
