//! What changed between two accounts of CPU time.

use super::SampledFrame;
use crate::Problem;
use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// Unit of a change's weights.
    WeightUnit {
        /// Nanoseconds of CPU time for each request: both accounts know their requests.
        NsPerRequest = "ns-per-request",
        /// Bytes allocated for each request.
        BytesPerRequest = "bytes-per-request",
        /// A share of each account's whole, 0 to 1.
        Share = "share",
    }
}

closed! {
    /// Where compared stacks are from.
    StackSource {
        /// Samples of the processors.
        Samples = "samples",
        /// The flight recorder's samples of threads that ran Java.
        RecordedJava = "recorded-java",
        /// The flight recorder's samples of allocation.
        RecordedAllocation = "recorded-allocation",
    }
}

/// Two accounts, and what changed from the first to the second: what `assay time diff --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeChange {
    /// `assay.time-change/1`
    pub schema: String,
    /// The first account.
    pub before: TimeSubject,
    /// The second.
    pub after: TimeSubject,
    /// Unit of the weights of `total` and `roles`.
    pub unit: WeightUnit,
    /// All CPU time.
    pub total: ChangedPart,
    /// By role, the largest change first.
    pub roles: Vec<ChangedPart>,
    /// By stack, each source that both accounts have.
    pub stacks: Vec<ChangedStacks>,
    /// What could not be compared.
    pub problems: Vec<Problem>,
}

/// An account in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSubject {
    /// The process.
    pub pid: u32,
    /// Name of the program.
    pub program: String,
    /// Wall-clock time of the last reading, RFC 3339.
    pub taken_at: String,
    /// From the first to the last reading.
    pub duration_ns: u64,
    /// CPU time of the process.
    pub cpu_ns: u64,
    /// Requests in this time.
    pub requests: Option<f64>,
}

/// A weight before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedPart {
    /// Its subject.
    pub name: String,
    /// In the first account.
    pub before: f64,
    /// In the second.
    pub after: f64,
}

/// Stacks of both accounts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedStacks {
    /// Where they are from.
    pub source: StackSource,
    /// Unit of their weights.
    pub unit: WeightUnit,
    /// Samples that each account's stacks rest on: before and after.
    pub samples: (u64, u64),
    /// Names of frames.
    pub frames: Vec<SampledFrame>,
    /// Stacks, the largest change first; bounded by what the accounts list.
    pub stacks: Vec<ChangedStack>,
    /// Weight of stacks that the accounts do not list: before and after.
    pub other: (f64, f64),
}

/// A stack with its weight before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedStack {
    /// Numbers of frames in `frames`, the root first.
    pub frames: Vec<u32>,
    /// In the first account.
    pub before: f64,
    /// In the second.
    pub after: f64,
}
