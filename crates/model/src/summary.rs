//! `summary.json`: what the run says.

use crate::{ClaimCheck, Estimate, Finding, LatencyPoint, Problem, Provenance, StudyRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// `assay.summary/3`
    pub schema: String,
    /// Who made it.
    pub provenance: Provenance,
    /// Name of the study.
    pub study: String,
    /// Variants in the study's order.
    pub variants: Vec<VariantSummary>,
    /// Every variant against its baseline, for every metric that both have.
    pub comparisons: Vec<Comparison>,
    /// What the figures say, in plain words.
    pub findings: Vec<Finding<StudyRule>>,
    /// What the run says to published values and claims.
    #[serde(default, skip_serializing_if = "ClaimCheck::is_empty")]
    pub claims: ClaimCheck,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VariantSummary {
    /// Name.
    pub name: String,
    /// Level by factor.
    pub levels: BTreeMap<String, String>,
    /// Launches.
    pub trials: u32,
    /// Windows that count.
    pub windows: u32,
    /// Windows left out, with repeats.
    pub left_out: u32,
    /// Reference mode that every launch really had, with `+compact` where headers are compact; absent when
    /// unknown or not the same in all.
    pub mode_read: Option<String>,
    /// Estimate by metric identifier.
    pub metrics: BTreeMap<String, Estimate>,
    /// Percentile curve of response time over the windows that count.
    pub response_curve: Vec<LatencyPoint>,
}

/// One variant against another, paired by block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Metric identifier.
    pub metric: String,
    /// The variant.
    pub variant: String,
    /// What it is compared with.
    pub baseline: String,
    /// Blocks in which both count.
    pub blocks: u32,
    /// Geometric mean of the blocks' ratios variant / baseline, with its 95 % interval.
    pub ratio: Estimate,
    /// Whether a difference is shown: the interval excludes 1.
    pub shown: bool,
    /// The same in words.
    pub verdict: Verdict,
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The variant's value is higher.
    Higher,
    /// The variant's value is lower.
    Lower,
    /// The interval includes 1: no difference shown.
    NoDifferenceShown,
    /// Too few blocks for an interval.
    TooFewBlocks,
}
