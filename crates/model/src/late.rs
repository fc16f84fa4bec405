//! Why requests took long.

use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why requests took longer than one limit. Windows in which the server was asked for more than it sustains are not in it:
/// there the queue explains everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitAttribution {
    /// The limit, milliseconds.
    pub limit_ms: f64,
    /// The only operation that it holds for; absent: all that are limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Requests beyond it.
    pub misses: u64,
    /// Events while they waited, most frequent first; one miss may have several causes.
    pub causes: Vec<AttributedCause>,
    /// Misses without any cause that was watched.
    pub unexplained: u64,
}

/// One cause of misses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttributedCause {
    /// What.
    pub cause: LateCause,
    /// Misses that would have kept the limit without the time that this took from them.
    pub misses: u64,
    /// Misses in whose time this happened at all. An event that is frequent is in many of them by chance: compare `expected`.
    pub overlapped: u64,
    /// How many requests of as many, drawn from all, it would have overlapped by chance.
    pub expected: Option<f64>,
}

closed! {
    /// What may take time from a request.
    LateCause {
        /// The collector stopped the JVM.
        GcPause = "gc-pause",
        /// The JVM stopped its threads for something else.
        Safepoint = "safepoint",
        /// The server's threads were ready and waited for a processor.
        RunQueue = "run-queue",
        /// A CPU limit held the server.
        Throttling = "throttling",
        /// The hypervisor ran something else.
        Steal = "steal",
        /// Other processes than the server and the generator used the processors.
        OtherProcesses = "other-processes",
        /// The generator sent late.
        GeneratorLag = "generator-lag",
        /// All connections were busy with earlier requests.
        ConnectionWait = "connection-wait",
    }
}
