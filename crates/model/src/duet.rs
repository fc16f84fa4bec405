//! A duet: two processes that run at the same time, each on its half of the processors.

use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// By which the processors were divided into halves.
    ///
    /// Two hardware threads of a core share its pipeline and its caches: what one side does slows the other down at once.
    HalvesOf {
        /// Whole cores: no core has threads in both halves.
        Cores = "cores",
        /// The hardware threads of the only core: the sides slow each other down.
        ThreadsOfOneCore = "threads-of-one-core",
        /// Single processors, since the kernel does not say which of them share a core.
        Processors = "processors",
    }
}

/// How the pairs of a duet run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedDuet {
    /// The two halves of the processors, as lists of the kernel: `0,2-3`. They have the same number of processors.
    pub halves: [String; 2],
    /// By which they were divided.
    pub halves_of: HalvesOf,
    /// Processors that are left over: a list, empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub left_over: String,
    /// Windows of a pair: an even number, since the halves are swapped in every window.
    pub windows: u32,
    /// JVM options that both sides have beside their own, so that neither derives another number of threads, or another collector, from half
    /// a machine. Empty where the command takes no JVM options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equal_options: Vec<String>,
    /// Options of the study's own that stand in place of such ones: `VARIANT: OPTION`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_options: Vec<String>,
}

/// A window of a duet: which one of its pair it is, where its side ran, and what others did there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DuetWindow {
    /// Number in the pair, from 1. The window of the other side with this number ran at the same time.
    pub number: u32,
    /// The half of the processors that server and load generator had: 1 or 2.
    pub half: u32,
    /// Whether a control group kept the server on that half. Affinity alone did otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_group: bool,
    /// Of that half, what others than server and generator used, 0 to 1. Absent where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_cpu_share: Option<f64>,
    /// Of that half, what the hypervisor took, 0 to 1. Absent where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
}
