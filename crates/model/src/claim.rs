//! What others say about the metrics of a study, and what the run makes of it.

use crate::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who says something, and of what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimSubject {
    /// Who says it. Claims and published values of one source speak of the same measurements.
    pub source: String,
    /// Where in the source it stands, for example `conclusion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Metric identifier.
    pub metric: String,
    /// Level of the first factor that it is about; once it is judged, the name of the variant, if the run has it.
    pub variant: String,
    /// Level, or once it is judged variant, that it compares with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// Which way a metric goes, where a source gives no figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It is larger than that of the baseline.
    Rises,
    /// It is smaller.
    Falls,
}

/// A claim of a study file: that a variant changes a metric by so much (`change_percent` from `baseline`) or in a `direction`, or has
/// such a `value` of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Whose claim it is, and what it is about.
    #[serde(flatten)]
    pub about: ClaimSubject,
    /// Claimed change of the metric from `baseline` to `variant`, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_percent: Option<f64>,
    /// Claimed direction of the metric from `baseline` to `variant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Claimed value, in the metric's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// How far off it may be, percent of the baseline or of the value. Default: half a unit of its last digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub within_percent: Option<f64>,
    /// Levels of the other factors that it holds for; empty when it holds for all.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
}

/// Published values and claims of a study, judged against its run and against each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimCheck {
    /// Each statement for each variant that it is about.
    pub judged: Vec<JudgedClaim>,
    /// Statements of one source that cannot both be true, whatever the run measured.
    pub contradictions: Vec<Contradiction>,
}

impl ClaimCheck {
    /// Whether nothing was published or claimed.
    pub fn is_empty(&self) -> bool {
        self.judged.is_empty() && self.contradictions.is_empty()
    }
}

/// A statement about one variant of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedClaim {
    /// Whose statement it is, and what it is about.
    #[serde(flatten)]
    pub about: ClaimSubject,
    /// Whether `stated` and `measured` are ratios to the baseline; otherwise values in the metric's unit.
    pub is_ratio: bool,
    /// The claimed ratio; 1 where only a direction is claimed.
    pub stated: f64,
    /// The direction, where nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// What the run measured; absent where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Estimate>,
    /// The judgement.
    pub verdict: ClaimVerdict,
}

/// What the run says to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// It lies in the measured interval, and the interval is narrow enough to distinguish it from no change and from twice as much.
    Holds,
    /// It lies outside the measured interval.
    DoesNotHold,
    /// It lies in the measured interval, which also has room for no change or for twice as much.
    IntervalTooWide,
    /// The interval would decide, but holds for one server of each variant.
    OneServerEach,
    /// The run has no interval for it.
    NotMeasured,
}

/// Two statements of one source that cannot both be true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contradiction {
    /// The source and subject of both; each has its own place in the source.
    #[serde(flatten)]
    pub about: ClaimSubject,
    /// The one.
    pub one: Statement,
    /// The other.
    pub other: Statement,
}

/// One side of a contradiction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    /// Where in the source it stands, or what it follows from.
    pub place: String,
    /// The ratio to the baseline, or the value.
    pub stated: f64,
}
