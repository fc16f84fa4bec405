//! The hosts of a merged run, and whether its answer depends on them.

use crate::closed::closed;
use crate::{Estimate, HostFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `hosts.json`: which host made which blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hosts {
    /// `assay.hosts/1`
    pub schema: String,
    /// Each host once, in the order of its first block.
    pub hosts: Vec<HostOfRun>,
    /// Each comparison of a metric that is asked about, across the hosts.
    pub across: Vec<AcrossHosts>,
}

/// A host and its part of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostOfRun {
    /// Blocks that it made, ascending.
    pub blocks: Vec<u32>,
    /// Its conditions; where it made several parts, those of the first.
    pub facts: HostFacts,
}

closed! {
    /// Whether a ratio depends on the host.
    HostsVerdict {
        /// The hosts' ratios lie farther apart than their blocks explain.
        Differs = "differs",
        /// They do not.
        NoDifferenceShown = "no-difference-shown",
        /// No difference could be shown with so few blocks.
        TooFewBlocks = "too-few-blocks",
    }
}

/// One comparison on each host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcrossHosts {
    /// Metric identifier.
    pub metric: String,
    /// The variant.
    pub variant: String,
    /// The variant that it is compared with.
    pub baseline: String,
    /// By host, in their order; one without a ratio is left out.
    pub ratios: Vec<HostRatio>,
    /// Standard deviation of the ratio from block to block of a host, percent; absent where no host has two blocks.
    pub within_percent: Option<f64>,
    /// Standard deviation of the hosts' true ratios, percent: what the blocks do not explain. Absent as above.
    pub between_percent: Option<f64>,
    /// Whether it depends on the host.
    pub verdict: HostsVerdict,
}

/// The ratio of a comparison on one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRatio {
    /// Number of the host, from 1.
    pub host: u32,
    /// Blocks in which both variants count.
    pub blocks: u32,
    /// Geometric mean of variant / baseline, with its 95 % interval from three blocks on.
    pub ratio: Estimate,
}
