//! What a recording of the JDK Flight Recorder says of CPU time and garbage: stacks of Java methods.

use super::SampledFrame;
use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// Where a recording is from.
    RecordingOrigin {
        /// A file that was there; its time need not be that of the report.
        File = "file",
        /// Started and stopped for this report, through the JVM's attach mechanism.
        Started = "started",
    }
}

closed! {
    /// Unit of the weights of recorded stacks.
    StackUnit {
        /// Samples of a running thread.
        Samples = "samples",
        /// Bytes allocated.
        Bytes = "bytes",
    }
}

/// A recording: who ran, who was in native methods, and who allocated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeRecording {
    /// Where it is from.
    pub origin: RecordingOrigin,
    /// Start of the recording's first chunk, nanoseconds since 1970.
    pub started_ns: u64,
    /// How long its chunks last together.
    pub duration_ns: u64,
    /// Threads that ran Java; of `jdk.CPUTimeSample` where the recording has it, else of `jdk.ExecutionSample`.
    pub cpu: Option<RecordedStacks>,
    /// Threads in native methods, running or waiting, which the recorder does not distinguish.
    pub native: Option<RecordedStacks>,
    /// Allocation, the class of the object as the leaf.
    pub allocation: Option<RecordedStacks>,
}

/// The stacks of one kind of event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedStacks {
    /// The JDK's names of the events.
    pub events: Vec<String>,
    /// Unit of the weights.
    pub unit: StackUnit,
    /// Events.
    pub count: u64,
    /// Σ of the weights of all events.
    pub weight: u64,
    /// Weight of the recorder's own stacks, which are left out of all other figures; absent where they are among them: in a recording that
    /// was there, and in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder_weight: Option<u64>,
    /// Of the events, those without a stack.
    pub without_stack: u64,
    /// Of the events, those whose stack the recorder cut at its depth (`stackdepth`, 64 by default).
    pub truncated: u64,
    /// Names of frames.
    pub frames: Vec<SampledFrame>,
    /// Stacks, the heaviest first; bounded.
    pub stacks: Vec<RecordedStack>,
    /// Weight of what is not listed.
    pub other_weight: u64,
}

/// A stack with its weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedStack {
    /// Numbers of frames, the root first: role, pool of the thread, then callers before callees.
    pub frames: Vec<u32>,
    /// Samples or bytes.
    pub weight: u64,
}
