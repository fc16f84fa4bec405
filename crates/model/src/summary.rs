//! `summary.json`: what the run says.

use crate::{ClaimCheck, Decision, Estimate, Finding, LatencyPoint, Problem, Provenance, StudyRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// `assay.summary/5`
    pub schema: String,
    /// Who made it.
    pub provenance: Provenance,
    /// Name of the study.
    pub study: String,
    /// Variants in the study's order.
    pub variants: Vec<VariantSummary>,
    /// Every variant against its baseline, for every metric that both have.
    pub comparisons: Vec<Comparison>,
    /// How metrics grow with each factor whose levels are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalings: Vec<Scaling>,
    /// What the figures say, in plain words.
    pub findings: Vec<Finding<StudyRule>>,
    /// What the run says to published values and claims.
    #[serde(default, skip_serializing_if = "ClaimCheck::is_empty")]
    pub claims: ClaimCheck,
    /// Of a run with a budget: how far the answer to each question is, for each variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
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
    /// The variant that it is compared with.
    pub baseline: String,
    /// Blocks in which both count.
    pub blocks: u32,
    /// Geometric mean of the blocks' ratios variant / baseline, with its 95 % interval. In a run with a budget the intervals of metrics that
    /// are asked for hold at every number of blocks at once.
    pub ratio: Estimate,
    /// Whether a difference is shown.
    pub shown: bool,
    /// The same in words.
    pub verdict: Verdict,
}

/// How a metric grows with a factor whose levels are numbers, such as connections: as the level to the power of `exponent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// Metric identifier.
    pub metric: String,
    /// The factor.
    pub factor: String,
    /// Levels of the other factors, which are the same throughout.
    pub others: BTreeMap<String, String>,
    /// Levels of the factor that have a value in each of the blocks, ascending.
    pub levels: Vec<f64>,
    /// Blocks with a value at each of the levels.
    pub blocks: u32,
    /// Mean of the blocks' exponents, with its 95 % interval. 1: proportional to the level; 0: constant.
    pub exponent: Estimate,
    /// The largest factor between the geometric mean of a level and the law, 1 or more; far from 1 where no single exponent
    /// describes the growth.
    pub max_residual_ratio: f64,
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
    /// The interval excludes 1, and holds for one server of each variant: another start may differ by more.
    OneServerEach,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 5] = [
        Verdict::Higher,
        Verdict::Lower,
        Verdict::NoDifferenceShown,
        Verdict::TooFewBlocks,
        Verdict::OneServerEach,
    ];

    /// The word in stored files.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Higher => "higher",
            Verdict::Lower => "lower",
            Verdict::NoDifferenceShown => "no-difference-shown",
            Verdict::TooFewBlocks => "too-few-blocks",
            Verdict::OneServerEach => "one-server-each",
        }
    }

    /// A sign and words.
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Higher => "▲ higher",
            Verdict::Lower => "▼ lower",
            Verdict::NoDifferenceShown => "≈ no difference shown",
            Verdict::TooFewBlocks => "? too few blocks",
            Verdict::OneServerEach => "? one server each",
        }
    }

    /// Whether a difference is shown.
    pub const fn is_shown(self) -> bool {
        matches!(self, Verdict::Higher | Verdict::Lower)
    }

    /// The sign alone.
    pub fn sign(self) -> &'static str {
        self.words().split(' ').next().unwrap_or_default()
    }
}
